import SyncTestSupport
import Testing

@testable import SyncPipeline

@Suite struct WakeTimerTests {
    private let clock = ManualClock()

    private func timer(longestSleep: Duration = .seconds(3600)) -> (WakeTimer, AsyncStream<Void>) {
        let (stream, input) = AsyncStream<Void>.makeStream()
        return (WakeTimer(clock: clock, longestSleep: longestSleep) { input.yield() }, stream)
    }

    private func at(_ seconds: Double) -> SyncInstant { SyncInstant(sinceOrigin: .seconds(seconds)) }

    private func fires(_ stream: AsyncStream<Void>) async -> Bool {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next() != nil
    }

    @Test func itFiresAtItsTime() async {
        let (timer, stream) = timer()
        timer.set(at(10))
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(10))] }
        clock.advance(by: .seconds(10))
        #expect(await fires(stream))
        #expect(clock.deadlines.isEmpty)
    }

    @Test func aTimeInThePastFiresAtOnce() async {
        let (timer, stream) = timer()
        timer.set(at(-5))
        #expect(await fires(stream))
    }

    @Test func anotherTimeReplacesTheFirst() async {
        let (timer, stream) = timer()
        timer.set(at(100))
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(100))] }
        timer.set(at(5))
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(5))] }
        clock.advance(by: .seconds(5))
        #expect(await fires(stream))
        timer.set(nil)
        await clock.deadlines { $0.isEmpty }
    }

    @Test func longSleepsAreCut() async {
        let (timer, stream) = timer(longestSleep: .seconds(60))
        timer.set(at(150))
        for wake in [60.0, 120, 150] {
            await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(wake))] }
            clock.advanceToNextDeadline()
        }
        #expect(await fires(stream))
    }

    @Test func aReleasedTimerLeavesNoSleeperBehind() async {
        var timer: WakeTimer? = timer().0
        timer?.set(at(10))
        await clock.sleepers(atLeast: 1)
        timer = nil
        await clock.deadlines { $0.isEmpty }
    }
}
