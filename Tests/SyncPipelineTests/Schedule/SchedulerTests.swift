import Foundation
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

@Suite struct SchedulerTests {
    /// Collects what becomes due and lets a test wait for it.
    private final class Due: Sendable {
        let stream: AsyncStream<Set<String>>
        private let continuation: AsyncStream<Set<String>>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func report(_ keys: Set<String>) { continuation.yield(keys) }

        func next() async -> Set<String>? {
            var iterator = stream.makeAsyncIterator()
            return await iterator.next()
        }
    }

    private let clock = ManualClock()
    private let due = Due()

    private func scheduler(longestSleep: Duration = .seconds(3600)) -> Scheduler<String> {
        Scheduler(clock: clock, longestSleep: longestSleep) { [due] in due.report($0) }
    }

    private func at(_ seconds: Double) -> SyncInstant { SyncInstant(sinceOrigin: .seconds(seconds)) }

    @Test func aKeyBecomesDueOnceAtItsTime() async {
        let scheduler = scheduler()
        scheduler.start()
        scheduler.schedule("a", at: at(10))
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(10))] }
        clock.advance(by: .seconds(10))
        #expect(await due.next() == ["a"])
        #expect(scheduler.dueTimes.isEmpty)
        #expect(clock.deadlines.isEmpty)
    }

    @Test func nothingIsEarly() async {
        let scheduler = scheduler()
        scheduler.start()
        scheduler.schedule("a", at: at(10))
        scheduler.schedule("b", at: at(20))
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(9.999))
        #expect(scheduler.dueTimes.count == 2)
        clock.advance(by: .seconds(0.001))
        #expect(await due.next() == ["a"])
        #expect(scheduler.dueTimes == ["b": at(20)])
    }

    @Test func timesCloseTogetherShareAWakeUp() async {
        let scheduler = scheduler()
        scheduler.schedule("a", at: at(10))
        scheduler.schedule("b", at: at(10.1))
        scheduler.schedule("c", at: at(10.2))
        scheduler.schedule("d", at: at(10.3))
        scheduler.start()
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(10.2))] }
        clock.advance(by: .seconds(10.2))
        #expect(await due.next() == ["a", "b", "c"])
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(10.3))] }
    }

    @Test func anEarlierTimeReplacesTheTimer() async {
        let scheduler = scheduler()
        scheduler.start()
        scheduler.schedule("a", at: at(100))
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(100))] }
        scheduler.expedite("a", to: at(5))
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(5))] }
        scheduler.expedite("a", to: at(50))
        #expect(scheduler.dueTimes == ["a": at(5)])
        clock.advance(by: .seconds(5))
        #expect(await due.next() == ["a"])
    }

    @Test func whatIsOverdueIsDueAtOnce() async {
        clock.advance(by: .seconds(1000))
        let scheduler = scheduler()
        scheduler.start()
        scheduler.schedule("a", at: at(3))
        #expect(await due.next() == ["a"])
    }

    // K1
    @Test func eightHoursOfSuspensionMakeOnePoll() async {
        let scheduler = scheduler()
        scheduler.start()
        scheduler.schedule("a", at: at(60))
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(8 * 3600))
        #expect(await due.next() == ["a"])
        #expect(scheduler.dueTimes.isEmpty)
    }

    @Test func longSleepsAreCut() async {
        let scheduler = scheduler(longestSleep: .seconds(60))
        scheduler.start()
        scheduler.schedule("a", at: at(150))
        for wake in [60.0, 120, 150] {
            await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(wake))] }
            clock.advanceToNextDeadline()
        }
        #expect(await due.next() == ["a"])
    }

    @Test func aHeldKeyWaitsAndKeepsItsTime() async {
        let scheduler = scheduler()
        scheduler.start()
        scheduler.schedule("a", at: at(10))
        scheduler.schedule("b", at: at(20))
        scheduler.hold("a")
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(20))] }
        clock.advance(by: .seconds(20))
        #expect(await due.next() == ["b"])
        scheduler.release("a")
        #expect(await due.next() == ["a"])
    }

    @Test func aReloadForgetsWhatIsGone() async {
        let scheduler = scheduler()
        scheduler.start()
        scheduler.schedule("a", at: at(10))
        scheduler.schedule("b", at: at(20))
        scheduler.replaceAll(with: ["b": at(30), "c": at(40)])
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(30))] }
        clock.advance(by: .seconds(30))
        #expect(await due.next() == ["b"])
        #expect(scheduler.dueTimes == ["c": at(40)])
    }

    @Test func aStoppedSchedulerKeepsItsTimes() async {
        let scheduler = scheduler()
        scheduler.schedule("a", at: at(10))
        scheduler.start()
        await clock.sleepers(atLeast: 1)
        scheduler.stop()
        await clock.deadlines { $0.isEmpty }
        clock.advance(by: .seconds(60))
        #expect(scheduler.dueTimes == ["a": at(10)])
        scheduler.start()
        #expect(await due.next() == ["a"])
    }

    @Test func aReleasedSchedulerLeavesNoSleeperBehind() async {
        var scheduler: Scheduler<String>? = scheduler()
        scheduler?.schedule("a", at: at(10))
        scheduler?.start()
        await clock.sleepers(atLeast: 1)
        scheduler = nil
        await clock.deadlines { $0.isEmpty }
    }
}
