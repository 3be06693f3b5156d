import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What the machine does while somebody has something forgotten of a resource.
@Suite struct ResetStateTests {
    private let people = MachineBench.people

    @Test func noRunBeginsWhileSomethingIsForgotten() {
        var bench = MachineBench.polled()
        #expect(bench.tell(.resetting(people, reset: 1)).contains(.mayReset(reset: 1, true)))
        #expect(bench.pass(.hours(2)).started == [])
        #expect(bench.tell(.asked(people, .control)).started == [])
        #expect(bench.tell(.wasReset(people, reset: 1)).started == [people])
    }

    @Test func twoWhoForgetWaitForEachOther() {
        var bench = MachineBench.polled()
        bench.tell(.resetting(people, reset: 1))
        bench.tell(.resetting(people, reset: 2))
        bench.pass(.hours(2))
        #expect(bench.tell(.wasReset(people, reset: 1)).started == [])
        #expect(bench.tell(.wasReset(people, reset: 2)).started == [people])
    }

    @Test func aRunIsCutOffFirstAndMadeUpForAfterwards() {
        var bench = MachineBench.polled()
        bench.pass(.minutes(1))
        bench.tell(.asked(people, .control, waiter: 7, isFull: true))
        let outputs = bench.tell(.resetting(people, reset: 1))
        #expect(outputs.cancelled == [people])
        #expect(!outputs.contains(.mayReset(reset: 1, true)))
        let ended = bench.end(people, .cancelled)
        #expect(ended.contains(.mayReset(reset: 1, true)))
        // Who waits for what was cut off gets the report of what comes instead.
        #expect(ended.answers.isEmpty)
        #expect(bench.pass(.minutes(1)).started == [])
        let orders = bench.tell(.wasReset(people, reset: 1)).orders
        #expect(orders.map(\.isFull) == [true])
        #expect(orders.map(\.isWaitedFor) == [true])
        #expect(bench.end(people).answers[7]??.outcome == .succeeded)
    }

    @Test func aRunOfWhatIsPausedIsNotMadeUpFor() {
        var bench = MachineBench.running()
        bench.tell(.paused(people))
        bench.tell(.resetting(people, reset: 1))
        bench.end(people, .cancelled)
        bench.tell(.wasReset(people, reset: 1))
        #expect(bench.pass(.hours(2)).started == [])
    }

    @Test func nothingIsForgottenOnceAStopIsUnderWay() {
        var bench = MachineBench.running()
        bench.tell(.resetting(people, reset: 1))
        // It waits for a run that the stop may give up on.
        #expect(bench.tell(.stopping(grace: .seconds(20))).contains(.mayReset(reset: 1, false)))
        #expect(bench.tell(.resetting(people, reset: 2)).contains(.mayReset(reset: 2, false)))
        #expect(!bench.end(people, .cancelled).contains(.mayReset(reset: 1, true)))
    }
}
