import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

@Suite struct RequestSlotsTests {
    private let clock = ManualClock()
    /// Each body says that it runs and goes on until its task is cancelled.
    private final class Silence: Sendable {
        private let count = Mutex(0)
        private let (starts, started) = AsyncStream.makeStream(of: Int.self)

        var running: Int { count.withLock { $0 } }

        func hold() async {
            started.yield(
                count.withLock {
                    $0 += 1
                    return $0
                })
            let (stream, _) = AsyncStream.makeStream(of: Void.self)
            for await _ in stream {}
            count.withLock { $0 -= 1 }
        }

        func started(_ wanted: Int) async {
            for await number in starts where number >= wanted { return }
        }
    }

    @Test func whoeverKeepsASlotForLongGoesOnBesideTheOthers() async throws {
        let slots = RequestSlots(2, clock: clock), silence = Silence()
        let silent = (0..<2).map { _ in Task { try await slots.run { await silence.hold() } } }
        await silence.started(2)
        let healthy = Task { try await slots.run { 1 } }
        await clock.sleepers(atLeast: 1)
        #expect(clock.deadlines == [SyncInstant(sinceOrigin: RequestSlots.patience)])
        clock.advance(by: RequestSlots.patience)
        #expect(try await healthy.value == 1)
        #expect(silence.running == 2)
        // The next one need not wait at all.
        #expect(try await slots.run { 2 } == 2)
        #expect(clock.deadlines.isEmpty)
        for task in silent { task.cancel() }
        for task in silent { _ = await task.result }
    }

    @Test func noMoreThanSoManyGoOnWithoutASlot() async throws {
        let slots = RequestSlots(1, clock: clock), silence = Silence(), most = 1 + RequestSlots.slowForEach
        let silent = (0...most).map { _ in Task { try await slots.run { await silence.hold() } } }
        for number in 1...most {
            await silence.started(number)
            await clock.sleepers(atLeast: 1)
            clock.advance(by: RequestSlots.patience)
        }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: RequestSlots.patience)
        await clock.sleepers(atLeast: 1)
        #expect(silence.running == most)
        for task in silent { task.cancel() }
        for task in silent { _ = await task.result }
        // All of it is there again.
        #expect(try await slots.run { 3 } == 3)
        #expect(clock.deadlines.isEmpty)
    }

    @Test func aSlotThatWasGivenUpIsNotGivenBackTwice() async throws {
        let slots = RequestSlots(1, clock: clock), silence = Silence()
        let first = Task { try await slots.run { await silence.hold() } }
        await silence.started(1)
        let second = Task { try await slots.run { await silence.hold() } }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: RequestSlots.patience)
        await silence.started(2)
        first.cancel()
        _ = await first.result
        // The second has the only slot.
        let third = Task { try await slots.run { await silence.hold() } }
        await clock.sleepers(atLeast: 1)
        #expect(silence.running == 1)
        second.cancel()
        await silence.started(1)
        _ = await second.result
        #expect(silence.running == 1)
        third.cancel()
        _ = await third.result
    }
}
