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

    private func origin(_ host: String) -> Origin { Origin(scheme: "https", host: host, port: 443) }

    @Test func whoeverKeepsASlotForLongGoesOnBesideTheOthers() async throws {
        let slots = RequestSlots(2, clock: clock), silence = Silence()
        let silent = (0..<2).map { number in Task { try await slots.run(for: origin("silent\(number)")) { await silence.hold() } } }
        await silence.started(2)
        let healthy = Task { try await slots.run(for: origin("healthy")) { 1 } }
        await clock.sleepers(atLeast: 1)
        #expect(clock.deadlines == [SyncInstant(sinceOrigin: RequestSlots.patience)])
        clock.advance(by: RequestSlots.patience)
        #expect(try await healthy.value == 1)
        #expect(silence.running == 2)
        // The next one need not wait at all.
        #expect(try await slots.run(for: origin("healthy")) { 2 } == 2)
        #expect(clock.deadlines.isEmpty)
        for task in silent { task.cancel() }
        for task in silent { _ = await task.result }
    }

    @Test func moreSlotsServeWhoWaitsForOne() async throws {
        let slots = RequestSlots(1, clock: clock), silence = Silence()
        let tasks = (0..<3).map { number in Task { try await slots.run(for: origin("host\(number)")) { await silence.hold() } } }
        await silence.started(1)
        while slots.waiting != 2 { await Task.yield() }
        slots.resize(2)
        await silence.started(2)
        #expect(slots.waiting == 1)
        slots.resize(3)
        await silence.started(3)
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }

    @Test func fewerSlotsServeNobodyUntilEnoughAreGivenBack() async throws {
        let slots = RequestSlots(2, clock: clock), silence = Silence()
        let tasks = (0..<2).map { number in Task { try await slots.run(for: origin("host\(number)")) { await silence.hold() } } }
        await silence.started(2)
        slots.resize(1)
        let last = Task { try await slots.run(for: origin("last")) { silence.running } }
        while slots.waiting != 1 { await Task.yield() }
        tasks[0].cancel()
        _ = await tasks[0].result
        #expect(slots.waiting == 1)
        tasks[1].cancel()
        _ = await tasks[1].result
        #expect(try await last.value == 0)
    }

    @Test func noMoreThanSoManyGoOnWithoutASlot() async throws {
        let slots = RequestSlots(1, clock: clock), silence = Silence(), most = 1 + RequestSlots.slowForEach
        let silent = (0...most).map { number in Task { try await slots.run(for: origin("silent\(number)")) { await silence.hold() } } }
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
        #expect(try await slots.run(for: origin("healthy")) { 3 } == 3)
        #expect(clock.deadlines.isEmpty)
    }

    @Test func aSlotThatWasGivenUpIsNotGivenBackTwice() async throws {
        let slots = RequestSlots(1, clock: clock), silence = Silence()
        let first = Task { try await slots.run(for: origin("first")) { await silence.hold() } }
        await silence.started(1)
        let second = Task { try await slots.run(for: origin("second")) { await silence.hold() } }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: RequestSlots.patience)
        await silence.started(2)
        first.cancel()
        _ = await first.result
        // The second has the only slot.
        let third = Task { try await slots.run(for: origin("third")) { await silence.hold() } }
        await clock.sleepers(atLeast: 1)
        #expect(silence.running == 1)
        second.cancel()
        await silence.started(1)
        _ = await second.result
        #expect(silence.running == 1)
        third.cancel()
        _ = await third.result
    }

    @Test func whoWasSlowTakesNobodysPlaceUntilItAnswersInTime() async throws {
        let slots = RequestSlots(1, clock: clock), silence = Silence(), slow = origin("slow"), other = origin("other")
        let first = Task { try await slots.run(for: slow) { await silence.hold() } }
        await silence.started(1)
        let healthy = Task { try await slots.run(for: other) { 1 } }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: RequestSlots.patience)
        #expect(try await healthy.value == 1)
        first.cancel()
        _ = await first.result
        let second = Task { try await slots.run(for: slow) { await silence.hold() } }
        await silence.started(1)
        #expect(try await slots.run(for: other) { 2 } == 2)
        #expect(clock.deadlines.isEmpty)
        second.cancel()
        _ = await second.result
        // It answers at once, and is one of the others again: the next one keeps them waiting.
        #expect(try await slots.run(for: slow) { 3 } == 3)
        let third = Task { try await slots.run(for: slow) { await silence.hold() } }
        await silence.started(1)
        let last = Task { try await slots.run(for: other) { 4 } }
        await clock.sleepers(atLeast: 1)
        #expect(slots.waiting == 1)
        third.cancel()
        #expect(try await last.value == 4)
        _ = await third.result
    }

    @Test func whoWaitsForASlotOfASlowOriginGoesOnBesideTheOthersToo() async throws {
        let slots = RequestSlots(1, clock: clock), silence = Silence(), slow = origin("slow")
        let silent = (0..<3).map { _ in Task { try await slots.run(for: slow) { await silence.hold() } } }
        await silence.started(1)
        while slots.waiting < 2 { await Task.yield() }
        let healthy = Task { try await slots.run(for: origin("other")) { 1 } }
        while slots.waiting < 3 { await Task.yield() }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: RequestSlots.patience)
        #expect(try await healthy.value == 1)
        await silence.started(3)
        #expect(slots.waiting == 0)
        for task in silent { task.cancel() }
        for task in silent { _ = await task.result }
    }
}
