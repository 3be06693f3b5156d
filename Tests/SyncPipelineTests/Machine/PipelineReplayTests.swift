import SyncConfiguration
import Testing

@testable import SyncPipeline

/// Replays beside polls: one after the other, and what is due stays due.
@Suite struct PipelineReplayTests {
    private let people = MachineBench.people

    /// The open replay of a resource ends.
    private func endReplay(_ bench: inout MachineBench, _ outcome: RunOutcome = .succeeded) -> [PipelineState.Output] { bench.end(people, outcome) }

    @Test func aReplayBeginsAtOnceWhateverTheServerWants() {
        var bench = MachineBench.polled()
        bench.tell(.told(people, until: bench.now.wall.advanced(by: .hours(2))))
        let outputs = bench.tell(.replayAsked(people, waiter: 1))
        #expect(outputs.orders.map(\.cause) == [.replay] && outputs.orders.first?.isWaitedFor == true)
        let ended = endReplay(&bench)
        #expect(ended.answers.keys.sorted() == [1] && ended.reports.count == 1)
    }

    @Test func aPollThatFallsDueWaitsForTheReplay() {
        var bench = MachineBench.polled()
        let due = bench.due(people)
        bench.tell(.replayAsked(people))
        #expect(bench.due(people) == nil && bench.run(people) != nil)
        #expect(bench.pass(.hours(2)).started.isEmpty)
        let ended = endReplay(&bench)
        #expect(ended.orders.map(\.cause) == [.schedule], "due was \(String(describing: due))")
    }

    @Test func whatIsNotDueYetIsDueAsItWas() {
        var bench = MachineBench.polled()
        let due = bench.state.resources[people]?.due, fresh = bench.state.resources[people]?.staleTime, status = bench.status(people)
        bench.tell(.replayAsked(people))
        bench.pass(.minutes(1))
        _ = endReplay(&bench, .failed)
        #expect(bench.state.resources[people]?.due == due && bench.state.resources[people]?.staleTime == fresh)
        #expect(bench.status(people)?.consecutiveFailures == 0 && bench.status(people)?.lastReport == status?.lastReport)
    }

    @Test func aReplayWaitsForTheOpenPoll() {
        var bench = MachineBench.running()
        let outputs = bench.tell(.replayAsked(people, waiter: 1))
        #expect(outputs.started.isEmpty && outputs.contains(.hurry(people, run: 1)))
        let ended = bench.end(people)
        #expect(ended.orders.map(\.cause) == [.replay] && ended.answers.isEmpty)
        #expect(endReplay(&bench).answers.count == 1)
        #expect(bench.due(people) != nil)
    }

    // It waits for whoever forgets, as long as nothing runs.
    @Test func aReplayWaitsForWhatIsForgotten() {
        var bench = MachineBench.polled()
        bench.tell(.resetting(people, reset: 1))
        #expect(bench.tell(.replayAsked(people, waiter: 1)).started.isEmpty)
        #expect(bench.state.violation(at: bench.now) == nil)
        #expect(bench.tell(.wasReset(people, reset: 1)).orders.map(\.cause) == [.replay])
        #expect(bench.state.violation(at: bench.now) == nil)
        #expect(endReplay(&bench).answers.keys.sorted() == [1])
    }

    @Test func aReplayThatIsCutOffToForgetSomethingBeginsAnewAfterwards() {
        var bench = MachineBench.polled()
        bench.tell(.replayAsked(people, waiter: 1))
        #expect(bench.tell(.resetting(people, reset: 1)).cancelled == [people])
        #expect(bench.state.violation(at: bench.now) == nil)
        let ended = endReplay(&bench, .cancelled)
        #expect(ended.contains(.mayReset(reset: 1, true)) && ended.answers.isEmpty && ended.started.isEmpty)
        #expect(bench.state.violation(at: bench.now) == nil)
        #expect(bench.tell(.wasReset(people, reset: 1)).orders.map(\.cause) == [.replay])
        #expect(endReplay(&bench).answers.keys.sorted() == [1])
    }

    @Test func aPollThatIsAskedForMeanwhileFollows() {
        var bench = MachineBench.polled()
        bench.pass(.minutes(1))
        bench.tell(.replayAsked(people))
        #expect(bench.tell(.asked(people, .control, waiter: 7)).started.isEmpty)
        let ended = endReplay(&bench)
        #expect(ended.orders.map(\.cause) == [.control] && ended.orders.first?.isWaitedFor == true)
        #expect(bench.end(people).answers.keys.sorted() == [7])
    }

    @Test func severalWhoAskGetOneReplayAfterTheOpenOne() {
        var bench = MachineBench.polled()
        bench.tell(.replayAsked(people, waiter: 1))
        for waiter in 2...4 { bench.tell(.replayAsked(people, waiter: waiter)) }
        let first = endReplay(&bench)
        #expect(first.answers.keys.sorted() == [1] && first.orders.count == 1)
        #expect(endReplay(&bench).answers.keys.sorted() == [2, 3, 4])
    }

    @Test func whatIsPausedIsNotReplayed() {
        var bench = MachineBench.polled()
        bench.tell(.paused(people))
        #expect(bench.tell(.replayAsked(people, waiter: 1)).answers.keys.sorted() == [1])
        #expect(bench.run(people) == nil)
        // A pause while a replay waits.
        bench.tell(.resumed(people))
        bench.pass(.minutes(1))
        #expect(bench.run(people) != nil)
        bench.tell(.replayAsked(people, waiter: 2))
        #expect(bench.tell(.paused(people)).answers.keys.sorted() == [2])
        #expect(bench.end(people).started.isEmpty)
    }

    @Test func aStopCutsAReplayOffAndLeavesNothingToBeServed() {
        var bench = MachineBench.polled()
        bench.tell(.replayAsked(people))
        #expect(bench.tell(.stopping(grace: .zero)).contains(.endAfterPage(people, run: 2)))
        bench.tell(.committed)
        _ = endReplay(&bench, .cancelled)
        #expect(bench.state.unserved.isEmpty)
    }

    @Test func aShorterIntervalCountsAfterTheReplay() {
        var bench = MachineBench.polled()
        bench.tell(.replayAsked(people))
        bench.configure([MachineBench.plan(people) { $0.schedule.every = .minutes(1) }])
        bench.pass(.minutes(2))
        #expect(endReplay(&bench).started == [people])
    }
}
