import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What is polled when: the machine without anything around it.
@Suite struct PipelineStateTests {
    private let people = MachineBench.people
    private let teams = MachineBench.teams
    private let news = MachineBench.news

    private func wake(_ bench: MachineBench, after duration: Duration) -> SyncInstant?? { .some(bench.now.instant.advanced(by: duration)) }

    // MARK: Start

    @Test func nothingIsPolledBeforeTheStart() {
        var bench = MachineBench()
        let outputs = bench.configure([MachineBench.plan(people)])
        #expect(outputs.stored.map(\.nextPollAt) == [bench.now.wall])
        #expect(outputs.filter { $0 != .store(outputs.stored[0]) } == [.announce(.scheduled(next: people, at: bench.now.wall))])
        #expect(bench.tell(.due) == [])
        #expect(bench.tell(.started(isArmed: true)).started == [people])
    }

    @Test func aStaggeredStartSpreadsTheFirstPolls() {
        var bench = MachineBench()
        bench.configure([MachineBench.plan(people)], MachineBench.daemon { $0.start = .stagger })
        let outputs = bench.tell(.started(isArmed: true))
        #expect(outputs == [.wake(bench.now.instant.advanced(by: .seconds(15)))])
        #expect(bench.pass(.seconds(15)).started == [people])
    }

    @Test func withoutASchedulePollsWaitToBeAskedFor() {
        var bench = MachineBench()
        bench.configure([MachineBench.plan(people)])
        #expect(bench.tell(.started(isArmed: false)).started == [])
        #expect(bench.pass(.hours(2)).started == [])
        #expect(bench.tell(.asked(people, .control)).started == [people])
        bench.end(people)
        // Where the floor stands before it, the timer is set for what was asked.
        bench.tell(.asked(people, .control))
        #expect(bench.state.wakeTime == bench.now.instant.advanced(by: .seconds(10)))
        #expect(bench.pass(.seconds(10)).started == [people])
    }

    // R9
    @Test func aRestartPollsNoSoonerThanWasStored() {
        var bench = MachineBench()
        bench.configure([MachineBench.plan(people)], stored: [people: bench.stored(people, next: .minutes(50))])
        let outputs = bench.tell(.started(isArmed: true))
        #expect(outputs.started == [])
        #expect(outputs.wake == wake(bench, after: .minutes(50)))
        #expect(bench.pass(.minutes(50)).started == [people])
    }

    @Test func withoutTheGuardARestartPollsAtOnce() {
        var bench = MachineBench()
        let free = MachineBench.daemon { $0.restartGuard = false }
        bench.configure([MachineBench.plan(people)], free, stored: [people: bench.stored(people, next: .minutes(50))])
        #expect(bench.tell(.started(isArmed: true)).started == [people])
    }

    // R9
    @Test func aWaitThatAServerAskedForOutlivesTheRestart() {
        var bench = MachineBench()
        let free = MachineBench.daemon { $0.restartGuard = false }
        bench.configure([MachineBench.plan(people)], free, stored: [people: bench.stored(people, parked: .hours(2))])
        #expect(bench.tell(.started(isArmed: true)).started == [])
        #expect(bench.due(people) == .hours(2))
    }

    @Test func aStoredWaitHoldsForTheWholeOrigin() {
        var bench = MachineBench()
        bench.configure(
            [MachineBench.plan(people), MachineBench.plan(teams), MachineBench.plan(news)], stored: [teams: bench.stored(teams, parked: .hours(2))])
        #expect(bench.tell(.started(isArmed: true)).started == [news])
        #expect(bench.due(people) == .hours(2))
    }

    // K1
    @Test func aStoredWaitFromAWrongClockIsNoLongerThanMaxPark() {
        var bench = MachineBench()
        bench.configure([MachineBench.plan(people)], stored: [people: bench.stored(people, parked: .hours(24 * 400))])
        #expect(bench.due(people) == .hours(24))
    }

    @Test func whatIsPausedStaysPausedAcrossARestart() {
        var bench = MachineBench()
        bench.configure([MachineBench.plan(people)], stored: [people: bench.stored(people, isPaused: true)])
        #expect(bench.tell(.started(isArmed: true)).started == [])
        #expect(bench.due(people) == nil)
    }

    @Test func whatIsDisabledIsNotPolled() {
        var bench = MachineBench()
        bench.configure([MachineBench.plan(people) { $0.isEnabled = false }])
        #expect(bench.tell(.started(isArmed: true)).started == [])
        #expect(bench.status(people)?.health == .disabled)
    }

    // MARK: Runs

    @Test func theEndOfARunStoresTheNextPoll() {
        var bench = MachineBench.running()
        let outputs = bench.end(people)
        let next = bench.now.wall.addingTimeInterval(3600)
        #expect(
            outputs.stored == [
                StoredSchedule(
                    scope: people, startedAt: bench.now.wall, nextPollAt: next, lastSuccess: bench.now.wall,
                    staleAt: bench.now.wall.addingTimeInterval(3 * 3600))
            ])
        #expect(outputs.reports.map(\.nextPollAt) == [next])
        #expect(bench.state.wakeTime == bench.now.instant.advanced(by: .hours(1)))
    }

    @Test func intervalsCountFromTheStartOfARun() {
        var bench = MachineBench.running()
        bench.pass(.minutes(10))
        bench.end(people)
        #expect(bench.due(people) == .minutes(50))
    }

    @Test func theEndOfAnotherRunChangesNothing() {
        var bench = MachineBench.running()
        #expect(bench.tell(.ended(people, run: 99, bench.conclusion(people, 99))) == [])
        #expect(bench.run(people) == 1)
    }

    @Test func aServerLengthensTheIntervalAndOnlyThat() {
        var bench = MachineBench.running()
        bench.end(people, pacing: ServerPacing(cacheLifetime: .hours(3), pollInterval: nil))
        #expect(bench.due(people) == .hours(3))
        bench.pass(.hours(3))
        bench.end(people, pacing: ServerPacing(cacheLifetime: .seconds(1), pollInterval: nil))
        #expect(bench.due(people) == .hours(1))
    }

    @Test func nothingIsEarly() {
        var bench = MachineBench.polled()
        #expect(bench.pass(.seconds(3599.5)).started == [])
        #expect(bench.pass(.seconds(0.5)).started == [people])
    }

    @Test func timesCloseTogetherShareAWakeUp() {
        var bench = MachineBench.running(MachineBench.plan(people), MachineBench.plan(teams), MachineBench.plan(news))
        bench.end(people)
        bench.end(teams, pacing: ServerPacing(cacheLifetime: nil, pollInterval: .seconds(3600.25)))
        bench.end(news, pacing: ServerPacing(cacheLifetime: nil, pollInterval: .seconds(3600.5)))
        #expect(bench.state.wakeTime == bench.now.instant.advanced(by: .seconds(3600.25)))
        #expect(bench.pass(.seconds(3600.25)).started == [people, teams])
        #expect(bench.state.resources[news]?.due != nil)
    }

    @Test func theLongestOverdueBeginsFirst() {
        var bench = MachineBench.running(MachineBench.plan(people), MachineBench.plan(news))
        bench.end(people, pacing: ServerPacing(cacheLifetime: nil, pollInterval: .hours(2)))
        bench.end(news)
        #expect(bench.pass(.hours(9)).started == [news, people])
    }

    // K1
    @Test func eightHoursOfSuspensionMakeOnePoll() {
        var bench = MachineBench.polled()
        #expect(bench.pass(.hours(8)).started == [people])
        #expect(bench.tell(.due).started == [])
        bench.end(people)
        #expect(bench.due(people) == .hours(1))
    }

    // K1
    @Test func aWallClockThatIsSetBackMovesNoDueTime() {
        var bench = MachineBench.polled()
        bench.now = Moment(wall: bench.now.wall.addingTimeInterval(-86_400), instant: bench.now.instant)
        #expect(bench.pass(.hours(1)).started == [people])
    }

    @Test func aRunBeyondItsTimeIsCancelledOnce() {
        var bench = MachineBench.running(MachineBench.plan(people) { $0.limits.maxRunTime = .minutes(5) })
        #expect(bench.pass(.seconds(329)).cancelled == [])
        #expect(bench.pass(.seconds(1)).cancelled == [people])
        #expect(bench.pass(.hours(1)).cancelled == [])
        bench.end(people, .cancelled)
        // It was no success, and is not begun again at once.
        #expect((bench.due(people) ?? .zero) >= .seconds(10))
    }

    @Test func aFailureIsPolledAgainAtItsTime() {
        var bench = MachineBench.running()
        bench.end(people, .failed)
        #expect(bench.due(people) == .hours(1))
        #expect(bench.status(people)?.health == .degraded)
    }

    // MARK: Freshness

    // R15
    @Test func whatIsTooOldSaysSoByTheClock() {
        var bench = MachineBench.polled(MachineBench.plan(people) { $0.limits.maxRunTime = .hours(48) })
        bench.pass(.hours(1))
        bench.pass(PipelineState.noticeable)
        // A run that does not end must not keep old data looking current.
        #expect(bench.state.wakeTime == bench.now.instant.advanced(by: .seconds(7198)))
        #expect(bench.pass(.seconds(7197)).degraded.isEmpty)
        #expect(bench.pass(.seconds(1)).degraded == [people: true])
        #expect(bench.status(people)?.isDegraded == true)
        #expect(bench.end(people).degraded == [people: false])
    }

    // R15
    @Test func whatWasTooOldAtTheStartSaysSo() {
        var bench = MachineBench()
        let outputs = bench.configure([MachineBench.plan(people)], stored: [people: bench.stored(people, lastSuccess: .zero - .hours(9))])
        #expect(outputs.degraded == [people: true])
    }

    @Test func whatWasNeverFetchedHasItsTimeFromTheStart() {
        var bench = MachineBench.running()
        bench.end(people, .failed)
        bench.pass(.hours(1))
        bench.end(people, .failed)
        #expect(bench.status(people)?.isDegraded == false)
        #expect(bench.pass(.hours(2)).degraded == [people: true])
    }

    @Test func heldDeletionsAreDegradedUntilACompleteRunHasNone() {
        var bench = MachineBench.running()
        #expect(bench.end(people, held: 3).degraded == [people: true])
        bench.pass(.hours(1))
        #expect(bench.end(people, .failed).degraded.isEmpty)
        bench.pass(.hours(1))
        #expect(bench.end(people).degraded == [people: false])
    }

    @Test func whatIsPausedIsNotJudged() {
        var bench = MachineBench.polled()
        bench.tell(.paused(people))
        #expect(bench.pass(.hours(9)).degraded.isEmpty)
        #expect(bench.tell(.resumed(people)).degraded == [people: true])
    }

    // MARK: Stop

    @Test func aStopLetsPagesFinishAndWaitsForTheSave() {
        var bench = MachineBench.running()
        let outputs = bench.tell(.stopping(grace: .seconds(20)))
        #expect(outputs == [.endAfterPage(people, run: 1), .save, .wake(bench.now.instant.advanced(by: .seconds(20)))])
        #expect(bench.pass(.seconds(3)).cancelled == [])
        #expect(!bench.end(people, .cancelled).contains(.stopped))
        // What the run left behind is committed as well.
        let settled = bench.tell(.committed)
        #expect(settled.contains(.save) && !settled.contains(.stopped))
        #expect(bench.tell(.committed).contains(.stopped))
    }

    @Test func afterTheGraceRunsAreCancelledAndASecondLaterNobodyWaits() {
        var bench = MachineBench.running()
        bench.tell(.asked(people, .control, waiter: 1))
        bench.tell(.stopping(grace: .seconds(20)))
        #expect(bench.pass(.seconds(20)).cancelled == [people])
        #expect(bench.state.wakeTime == bench.now.instant.advanced(by: .seconds(1)))
        #expect(!bench.pass(.seconds(0.5)).contains(.stopped))
        #expect(bench.pass(.seconds(0.5)).contains(.stopped))
    }

    @Test func aSaveThatNeverEndsDoesNotKeepAStopWaiting() {
        var bench = MachineBench.polled()
        #expect(!bench.tell(.stopping(grace: .zero)).contains(.stopped))
        #expect(bench.pass(.seconds(1)).contains(.stopped))
    }

    @Test func aSecondStopShortensTheFirst() {
        var bench = MachineBench.running()
        bench.tell(.stopping(grace: .seconds(20)))
        #expect(bench.tell(.stopping(grace: .zero)).cancelled == [people])
        bench.tell(.stopping(grace: .seconds(60)))
        #expect(bench.pass(.seconds(1)).contains(.stopped))
        #expect(bench.tell(.stopping(grace: .zero)) == [.stopped])
    }

    @Test func nothingIsBegunWhileStopping() {
        var bench = MachineBench.running(MachineBench.plan(people), MachineBench.plan(news))
        bench.end(people)
        bench.tell(.stopping(grace: .hours(9)))
        #expect(bench.pass(.hours(1)).started == [])
        #expect(bench.tell(.asked(people, .control, waiter: 1)).answers == [1: nil])
        #expect(bench.tell(.resumed(people)).started == [])
        #expect(bench.configure([MachineBench.plan(people), MachineBench.plan(teams)]).started == [])
    }

    @Test func aRunCutOffByAStopGoesOnSoonAfterTheNextStart() {
        var bench = MachineBench.running()
        bench.pass(.seconds(4))
        bench.tell(.stopping(grace: .zero))
        let stored = bench.end(people, .cancelled).stored
        #expect(stored.map(\.nextPollAt) == [bench.now.wall.addingTimeInterval(6)])
    }

    @Test func aStopAnswersThoseWhoWait() {
        var bench = MachineBench.polled()
        bench.tell(.asked(people, .control, waiter: 1))
        #expect(bench.tell(.stopping(grace: .zero)).answers == [1: nil])
    }

    // MARK: The invariant

    @Test func whatHasNeitherDueTimeNorRunIsSeen() {
        var bench = MachineBench.polled()
        #expect(bench.state.forgotten == nil && bench.state.violation(at: bench.now) == nil)
        bench.state.resources[people]?.due = nil
        #expect(bench.state.forgotten == people)
        #expect(bench.state.violation(at: bench.now) == "api/people has neither a due time nor a run")
    }

    @Test func howFarTheEarliestIsBehindIsSeen() {
        var bench = MachineBench.polled()
        #expect(bench.state.overdue(at: bench.now) == .zero)
        bench.now = Moment(wall: bench.now.wall, instant: bench.now.instant.advanced(by: .hours(3)))
        #expect(bench.state.overdue(at: bench.now) == .hours(2))
    }
}

/// Resources that have parts for what another one lists.
@Suite struct ParentScheduleTests {
    private static let children = MachineBench.teams

    private static func plans() -> [ResourceConfiguration] {
        [
            MachineBench.plan(MachineBench.people),
            MachineBench.plan(children) {
                $0.partitions = PartitionConfiguration(as: "p", .parents(.init(resource: "api/people", entity: "Person")))
            },
        ]
    }

    private static func bench() -> MachineBench {
        var bench = MachineBench()
        bench.configure(plans())
        return bench
    }

    @Test func parentsThatAreDueTooArePolledFirst() {
        var bench = Self.bench()
        #expect(bench.tell(.started(isArmed: true)).started == [MachineBench.people])
        #expect(bench.pass(.seconds(20)).started == [])
        #expect(bench.end(MachineBench.people).started == [Self.children])
    }

    @Test(arguments: [RunOutcome.failed, .incomplete, .cancelled]) func howTheirRunEndedDoesNotMatter(outcome: RunOutcome) {
        var bench = Self.bench()
        bench.tell(.started(isArmed: true))
        #expect(bench.end(MachineBench.people, outcome).started.contains(Self.children))
    }

    @Test func nobodyWaitsForParentsForEver() {
        var bench = Self.bench()
        bench.tell(.started(isArmed: true))
        // That the run takes long was noticed before.
        bench.pass(.seconds(3))
        #expect(bench.state.wakeTime.map { bench.now.instant.duration(to: $0) } == PipelineState.parentPatience - .seconds(3))
        #expect(bench.pass(PipelineState.parentPatience).started == [Self.children])
    }

    @Test func parentsThatAreNotPolledAreNotWaitedFor() {
        var bench = Self.bench()
        bench.tell(.paused(MachineBench.people))
        #expect(bench.tell(.started(isArmed: true)).started == [Self.children])
    }

    // It had none to ask for. What failed otherwise waits for its own time.
    @Test(arguments: [true, false]) func whatLackedParentsIsPolledOnceTheseAreListed(lacksParents: Bool) {
        var bench = Self.bench()
        bench.tell(.started(isArmed: true))
        bench.end(MachineBench.people, .failed)
        let run = bench.run(Self.children) ?? 0
        var conclusion = bench.conclusion(Self.children, run, .failed)
        conclusion.lacksParents = lacksParents
        bench.tell(.ended(Self.children, run: run, conclusion))
        let due = bench.due(Self.children) ?? .zero
        bench.tell(.asked(MachineBench.people, .control))
        bench.pass(.seconds(10))
        bench.end(MachineBench.people)
        #expect(due > .minutes(10))
        #expect((bench.run(Self.children) != nil || (bench.due(Self.children) ?? .hours(1)) <= .seconds(10)) == lacksParents)
    }

    // It may have ended the process before: that its parents are there does not bring it forward.
    @Test func whatMayHaveEndedTheProcessWaitsLonger() {
        var bench = MachineBench()
        bench.tell(.leftOpen([Self.children: Suspicion(ends: 5, began: bench.now.wall)]))
        bench.configure(Self.plans())
        bench.state.resources[Self.children]?.lacksParents = true
        bench.tell(.started(isArmed: true))
        bench.end(MachineBench.people)
        #expect(bench.run(Self.children) == nil && (bench.due(Self.children) ?? .zero) >= .minutes(10))
    }
}
