import SyncTestSupport
import Testing

@testable import SyncPipeline

/// The real clock itself, which no manual one can stand for: that a sleep reaches its deadline, and how it ends before. How long it takes
/// beyond that decides nothing.
@Suite struct SystemClockTests {
    @Test func instantsRunForwards() async throws {
        let clock = SystemClock()
        let start = clock.instant
        try await clock.sleep(until: start.advanced(by: .milliseconds(5)))
        #expect(start.duration(to: clock.instant) >= .milliseconds(5))
        try await clock.sleep(until: start)
    }

    @Test(arguments: [true, false])
    func aSleepEndsWhenItsTaskIsCancelled(isReal: Bool) async {
        let clock: any SyncClock = isReal ? SystemClock() : ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(3600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
