import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// A server that fails is left alone, then asked once, and never given up.
@Suite struct BreakerTests {
    private let people = MachineBench.people
    private let teams = MachineBench.teams
    private let news = MachineBench.news

    /// Polled every minute; three failures open the breaker.
    private static func plan(_ scope: ResourceScope, _ change: (inout ResourceConfiguration) -> Void = { _ in }) -> ResourceConfiguration {
        MachineBench.plan(scope) {
            $0.schedule.every = .minutes(1)
            $0.breaker.failures = 3
            change(&$0)
        }
    }

    private func bench(_ scopes: ResourceScope...) -> MachineBench {
        var bench = MachineBench()
        bench.configure(scopes.map { Self.plan($0) })
        bench.tell(.started(isArmed: true))
        return bench
    }

    /// Ends the open run of a resource.
    @discardableResult
    private func end(_ bench: inout MachineBench, _ scope: ResourceScope, _ evidence: Breaker.Evidence) -> [PipelineState.Output] {
        guard let run = bench.run(scope) else { return [] }
        var conclusion = bench.conclusion(scope, run, evidence == .works ? .succeeded : .failed)
        conclusion.evidence = evidence
        defer { #expect(bench.state.violation(at: bench.now) == nil) }
        return bench.tell(.ended(scope, run: run, conclusion))
    }

    /// Polls it as often as it takes until its run fails so many times.
    private func fail(_ bench: inout MachineBench, _ scope: ResourceScope, _ count: Int, _ evidence: Breaker.Evidence = .unreachable) {
        for _ in 0..<count {
            while bench.run(scope) == nil { bench.pass(.seconds(10)) }
            end(&bench, scope, evidence)
        }
    }

    /// Two runs have failed, one of each, and those that follow are open.
    private func failing(_ change: (inout ResourceConfiguration) -> Void = { _ in }) -> MachineBench {
        var bench = MachineBench()
        bench.configure([Self.plan(people), Self.plan(teams, change)])
        bench.tell(.started(isArmed: true))
        end(&bench, people, .fails)
        end(&bench, teams, .fails)
        bench.pass(.minutes(1))
        return bench
    }

    /// Nobody asks for a minute from now on.
    private func tripped() -> MachineBench {
        var bench = failing()
        end(&bench, teams, .none)
        end(&bench, people, .unreachable)
        return bench
    }

    private func opened(_ outputs: [PipelineState.Output]) -> [BreakerCause] {
        outputs.compactMap { if case .announce(.breakerOpened(_, let cause, _)) = $0 { cause } else { nil } }
    }

    // MARK: Opening

    @Test func afterSoManyFailuresInARowNobodyAsksForAWhile() {
        var bench = MachineBench()
        bench.configure([people, teams, news].map { Self.plan($0) })
        bench.tell(.started(isArmed: true))
        end(&bench, people, .unreachable)
        end(&bench, teams, .unreachable)
        #expect(bench.status(people)?.breaker == nil)
        bench.pass(.minutes(1))
        end(&bench, teams, .none)
        bench.pass(.seconds(20))
        let outputs = end(&bench, people, .unreachable)
        #expect(opened(outputs) == [.failures(count: 3, server: "https://api.example")])
        #expect(bench.due(people) == .minutes(1) && bench.due(teams) == .minutes(1))
        #expect(bench.status(teams)?.breaker == BreakerStatus(.open, until: bench.now.wall.addingTimeInterval(60), openings: 1))
        // Another server is another matter.
        #expect(bench.status(news)?.breaker == nil)
    }

    @Test func oneThatWorksMeanwhileStartsTheCountAnew() {
        var bench = bench(people)
        fail(&bench, people, 2)
        fail(&bench, people, 1, .works)
        fail(&bench, people, 2)
        #expect(bench.status(people)?.breaker == nil)
        fail(&bench, people, 1)
        #expect(bench.status(people)?.breaker?.state == .open)
    }

    // It is reached, and fails for one resource: that need not be so for the others.
    @Test func whatOneResourceAloneSeesConcernsNobodyElse() {
        var bench = bench(people, teams)
        end(&bench, teams, .works)
        fail(&bench, people, 6, .fails)
        #expect(bench.status(teams)?.breaker == nil)
        while bench.run(teams) == nil { bench.pass(.seconds(10)) }
        end(&bench, teams, .fails)
        #expect(bench.status(people)?.breaker?.state == .open)
    }

    @Test func whereThereIsOnlyOneResourceItIsTheServer() {
        var bench = bench(people, news)
        fail(&bench, people, 3, .fails)
        #expect(bench.status(people)?.breaker?.state == .open)
    }

    @Test func whatSaysNothingOfTheServerChangesNothing() {
        var bench = bench(people)
        fail(&bench, people, 2)
        fail(&bench, people, 5, .none)
        #expect(bench.status(people)?.breaker == nil)
        fail(&bench, people, 1)
        #expect(bench.status(people)?.breaker?.state == .open)
    }

    // MARK: Half-open

    @Test func oneResourceFindsOutForTheOthers() {
        var bench = tripped()
        #expect(bench.pass(.seconds(59)).started.isEmpty)
        let first = bench.pass(.seconds(1)).started
        #expect(first.count == 1)
        #expect(bench.pass(.minutes(5)).started.isEmpty)
        #expect(bench.status(teams)?.breaker?.state == .halfOpen)
        // Who is held back is neither late nor forgotten.
        #expect(bench.state.overdue(at: bench.now) == .zero && bench.state.forgotten == nil)
        let others = end(&bench, first[0], .works)
        #expect(Set(others.started + first) == [people, teams])
        #expect(bench.status(teams)?.breaker == nil)
    }

    @Test func eachFailureAfterThatDoublesTheTimeUpToTheLongest() {
        var bench = MachineBench()
        bench.configure([Self.plan(people) { $0.breaker.maxOpen = .minutes(5) }])
        bench.tell(.started(isArmed: true))
        fail(&bench, people, 3)
        for minutes in [1, 2, 4, 5, 5] as [Double] {
            #expect(bench.due(people) == .minutes(minutes))
            #expect(bench.pass(.minutes(minutes)).started == [people])
            end(&bench, people, .unreachable)
        }
        fail(&bench, people, 1, .works)
        fail(&bench, people, 3)
        #expect(bench.due(people) == .minutes(1))
    }

    // The first page proves it: nobody waits for a listing that takes an hour.
    @Test func theFirstAnswerLetsTheOthersGoOn() {
        var bench = tripped()
        let first = bench.pass(.minutes(1)).started
        #expect(bench.tell(.answered(first[0])).started.count == 1)
        // What fails after all opens it as before, for longer.
        #expect(opened(end(&bench, first[0], .fails)) == [.failures(count: 3, server: "https://api.example")])
        #expect(bench.due(first[0]) == .minutes(2))
    }

    // The one that always fails does not keep the other from trying.
    @Test func theOneThatHasNotTriedForTheLongestTriesFirst() {
        var bench = failing { $0.schedule.every = .seconds(150) }
        // The first is due first, and tries, in vain.
        end(&bench, people, .fails)
        #expect(bench.pass(.minutes(1)).started == [people])
        end(&bench, people, .fails)
        // Both are due now.
        #expect(bench.pass(.minutes(2)).started == [teams])
        end(&bench, teams, .fails)
        #expect(bench.pass(.minutes(4)).started == [people])
    }

    @Test func oneThatIsStoppedLetsAnotherTry() {
        var bench = tripped()
        let first = bench.pass(.minutes(1)).started
        #expect(Set(first + end(&bench, first[0], .none).started) == [people, teams])
    }

    // MARK: Who asks

    @Test func whoWaitsIsToldWhyAndWhen() throws {
        var bench = bench(people)
        fail(&bench, people, 3)
        let report = try #require(bench.tell(.asked(people, .control, waiter: 7)).answers[7] ?? nil)
        #expect(report.outcome == .parked && report.nextPollAt == bench.now.wall.addingTimeInterval(60))
        let error = try #require(report.error)
        #expect(error.contains("https://api.example failed run after run") && error.contains("cisternctl resume api/people"))
    }

    @Test func whoWaitedWhenItOpenedIsToldToo() throws {
        var bench = failing()
        end(&bench, teams, .none)
        bench.tell(.asked(teams, .control, waiter: 7))
        #expect(bench.run(teams) == nil)
        let outputs = end(&bench, people, .unreachable)
        #expect((outputs.answers[7] ?? nil)?.outcome == .parked)
    }

    @Test func resumeAsksAtOnce() {
        var bench = tripped()
        bench.pass(.seconds(10))
        #expect(bench.tell(.resumed(people)).started.count == 1)
        #expect(bench.state.resources.running.count == 1)
        #expect(bench.state.violation(at: bench.now) == nil)
    }

    @Test func whatIsForgivenIsForgotten() {
        var bench = tripped()
        bench.pass(.seconds(10))
        #expect(Set(bench.tell(.forgiven(teams)).started) == [people, teams])
        #expect(bench.state.breakers.isEmpty)
    }

    // A time of the calendar is not before itself.
    @Test func whatIsForgivenIsAskedNoSoonerThanItsTimeOfCron() throws {
        let cron = try CronExpression(parsing: "3 * * * *")
        var bench = MachineBench()
        bench.configure([
            Self.plan(people),
            Self.plan(teams) {
                $0.schedule.cron = cron
                $0.schedule.jitter = Percentage(percent: 0)
            },
        ])
        bench.tell(.started(isArmed: true))
        fail(&bench, people, 3)
        #expect(bench.due(teams) == .minutes(1) && bench.due(people) == .minutes(1))
        bench.pass(.seconds(10))
        #expect(bench.tell(.forgiven(people)).started == [people])
        #expect(bench.due(teams) == .seconds(50))
    }

    // MARK: Beside a replay

    @Test func whatAReplayHoldsBackIsLetGoAsWell() {
        var bench = tripped()
        bench.tell(.replayAsked(teams))
        bench.pass(.seconds(10))
        bench.tell(.forgiven(people))
        #expect(bench.end(teams).started == [teams])
    }

    @Test func whatIsForgivenDuringAReplayIsAskedAfterIt() {
        var bench = bench(people)
        end(&bench, people, .permanent(404))
        bench.tell(.replayAsked(people))
        bench.pass(.seconds(10))
        bench.tell(.forgiven(people))
        #expect(bench.end(people).started == [people])
    }

    @Test func aWaitThatIsOverForOneIsOverForWhatAReplayHoldsBack() {
        var bench = bench(people, teams)
        end(&bench, people, .works)
        end(&bench, teams, .works)
        bench.tell(.told(people, until: bench.now.wall.advanced(by: .hours(2))))
        bench.tell(.replayAsked(teams))
        bench.pass(.minutes(1))
        bench.tell(.resumed(people))
        #expect(bench.end(teams).started == [teams])
    }

    // MARK: Restart and reload

    @Test func aRestartKeepsIt() {
        var bench = failing()
        end(&bench, teams, .none)
        let stored = end(&bench, people, .unreachable).stored
        var next = MachineBench()
        next.now = bench.now
        let free = MachineBench.daemon { $0.restartGuard = false }
        next.configure([people, teams].map { Self.plan($0) }, free, schedules: stored.suffix(1))
        #expect(next.tell(.started(isArmed: true)).started.isEmpty)
        #expect(next.pass(.seconds(59)).started.isEmpty)
        let first = next.pass(.seconds(1)).started
        #expect(first.count == 1)
        // It is as often open as it was.
        end(&next, first[0], .unreachable)
        #expect(next.due(first[0]) == .minutes(2))
    }

    // K1
    @Test func aClockThatWasWrongOpensItForNoLongerThanConfigured() {
        var bench = MachineBench()
        let stored = StoredSchedule(scope: people, openUntil: bench.now.wall.addingTimeInterval(1e9), openings: 3)
        bench.configure([Self.plan(people)], schedules: [stored])
        #expect(bench.due(people) == .hours(1))
    }

    @Test func whoseServerIsAnotherOneNowWaitsForNobody() {
        var bench = tripped()
        let first = bench.pass(.minutes(1)).started[0], other = first == people ? teams : people
        // The one that was let through asks somebody else from the next run on.
        let outputs = bench.configure([Self.plan(first) { $0.url = "https://new.example/" }, Self.plan(other)])
        #expect(outputs.started == [other])
        #expect(bench.state.violation(at: bench.now) == nil)
    }

    // MARK: What does not change

    @Test func whatDoesNotChangeByAskingIsNotAskedByTheScheduleForLong() {
        var bench = bench(people, teams)
        let outputs = end(&bench, people, .permanent(404))
        #expect(opened(outputs) == [.permanent(status: 404)])
        #expect(bench.due(people) == .hours(1))
        // That is this resource's affair.
        end(&bench, teams, .works)
        #expect(bench.due(teams) == .minutes(1) && bench.status(people)?.breaker == nil)
    }

    // Others of its kind may be asked sooner; what a setting of the clock, or a replay, finds anew is no sooner than that.
    @Test func whatIsRefusedIsHeldWhateverFindsItsTimeAnew() throws {
        let cron = try CronExpression(parsing: "* * * * *")
        var bench = MachineBench()
        bench.configure([
            Self.plan(people) {
                $0.schedule.cron = cron
                $0.schedule.jitter = Percentage(percent: 0)
            }
        ])
        bench.tell(.started(isArmed: true))
        bench.pass(.minutes(1))
        end(&bench, people, .permanent(404))
        #expect(bench.due(people) == .hours(1))
        bench.tell(.replayAsked(people))
        bench.end(people)
        #expect(bench.due(people) == .hours(1))
        // The clock is set.
        bench.now = Moment(wall: bench.now.wall.advanced(by: .minutes(10)), instant: bench.now.instant)
        bench.tell(.due)
        #expect(bench.due(people) == .hours(1))
        #expect(bench.tell(.forgiven(people)).started.isEmpty)
        #expect(bench.due(people).map { $0 <= .minutes(1) } == true)
    }

    @Test func whoeverAsksForItIsServed() {
        var bench = bench(people)
        end(&bench, people, .permanent(403))
        bench.pass(.seconds(10))
        #expect(bench.tell(.asked(people, .control, waiter: 7)).started == [people])
    }

    @Test func aConfigurationThatMendsItIsTriedAtOnce() {
        var bench = bench(people)
        end(&bench, people, .permanent(404))
        bench.pass(.seconds(30))
        // Nothing of it has changed.
        bench.configure([Self.plan(people)])
        #expect(bench.run(people) == nil)
        bench.configure([Self.plan(people) { $0.url = "https://api.example/persons" }])
        #expect(bench.run(people) != nil)
    }

    @Test func onlyARunThatFailedOfItIsPunished() {
        var bench = bench(people)
        guard let run = bench.run(people) else { return }
        var conclusion = bench.conclusion(people, run)
        conclusion.evidence = .permanent(410)
        #expect(opened(bench.tell(.ended(people, run: run, conclusion))).isEmpty)
        #expect(bench.due(people) == .minutes(1))
    }
}
