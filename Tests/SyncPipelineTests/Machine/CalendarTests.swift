import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What the machine makes of `cron`, `quiet_hours`, `adaptive`, `overlap` and `catch_up`.
@Suite struct CalendarTests {
    private let people = MachineBench.people
    private let teams = MachineBench.teams

    private func cron(_ text: String, _ change: (inout ScheduleConfiguration) -> Void = { _ in }) throws -> ResourceConfiguration {
        let expression = try CronExpression(parsing: text)
        return MachineBench.plan(people) {
            $0.schedule.cron = expression
            $0.schedule.jitter = Percentage(percent: 0)
            change(&$0.schedule)
        }
    }

    private func quiet(_ hours: String...) throws -> [QuietHours] { try hours.map { try #require(QuietHours($0)) } }

    // The bench begins at midnight UTC.
    private func bench(_ plan: ResourceConfiguration, stored: Duration? = nil, _ daemon: DaemonConfiguration = MachineBench.daemon()) -> MachineBench
    {
        var bench = MachineBench()
        bench.configure([plan], daemon, stored: stored.map { [people: bench.stored(people, next: $0)] } ?? [:])
        bench.tell(.started(isArmed: true))
        return bench
    }

    // MARK: Cron

    @Test func timesOfCronArePolledAndNothingElse() throws {
        var bench = try bench(cron("0 6 * * *"))
        #expect(bench.run(people) == nil && bench.due(people) == .hours(6))
        #expect(bench.pass(.hours(6)).started == [people])
        #expect(bench.end(people).stored.last?.nextPollAt == bench.now.wall.addingTimeInterval(86_400))
        #expect(bench.status(people)?.nextPollAt == bench.now.wall.addingTimeInterval(86_400))
    }

    @Test func aFailureIsPolledAgainAtItsTime() throws {
        var bench = try bench(cron("0 6 * * *"))
        bench.pass(.hours(6))
        bench.end(people, .failed)
        #expect(bench.due(people) == .hours(24))
    }

    // It waited for its turn, or for a server that wants to be left alone.
    @Test func aRunThatAskedForNothingHasNotServedItsTime() throws {
        var bench = try bench(cron("0 6 * * *"))
        bench.pass(.hours(6))
        bench.end(people, .parked, parkedFor: .hours(2))
        #expect(bench.due(people) == .hours(2))
        #expect(bench.pass(.hours(2)).started == [people])
        bench.end(people, .cancelled)
        #expect(bench.due(people) == .seconds(10))
        #expect(bench.pass(.seconds(10)).started == [people])
        // One that asked has, whatever became of it.
        bench.tell(.asking(people))
        bench.end(people, .cancelled)
        #expect(bench.due(people) == .hours(22) - .seconds(10))
    }

    @Test func whatABudgetHasNoRoomForComesWhenARunMayBeOver() throws {
        var bench = try bench(cron("0 6 * * *"))
        bench.pass(.hours(6))
        let run = try #require(bench.run(people))
        var conclusion = bench.conclusion(people, run, .failed)
        conclusion.evidence = .waited
        bench.tell(.ended(people, run: run, conclusion))
        #expect(bench.due(people) == .hours(1))
    }

    @Test func whoAsksIsNotKeptWaitingAndChangesNoTime() throws {
        var bench = try bench(cron("0 6 * * *"))
        bench.pass(.hours(5))
        #expect(bench.tell(.asked(people, .control)).started == [people])
        bench.end(people)
        #expect(bench.due(people) == .hours(1))
    }

    @Test func minIntervalHoldsBetweenARequestAndATime() throws {
        var bench = try bench(cron("0 6 * * *"))
        bench.pass(.hours(6) - .seconds(3))
        bench.tell(.asked(people, .control))
        bench.end(people)
        #expect(bench.due(people) == .seconds(10))
        #expect(bench.pass(.seconds(10)).started == [people])
        bench.end(people)
        #expect(bench.due(people) == .hours(24) - .seconds(7))
    }

    @Test func aServerPutsATimeOffAndLeavesNoneOut() throws {
        var bench = try bench(cron("*/30 * * * *"))
        bench.pass(.minutes(30))
        bench.end(people, pacing: ServerPacing(cacheLifetime: .seconds(2000), pollInterval: nil))
        #expect(bench.due(people) == .seconds(2000))
        bench.pass(.seconds(2000))
        bench.end(people)
        #expect(bench.due(people) == .seconds(1600))
    }

    @Test func jitterOfATimeIsADelayByAShareOfTheTimeToTheNext() throws {
        var bench = try bench(cron("0 6 * * *") { $0.jitter = Percentage(percent: 10) })
        #expect(bench.due(people) == .hours(6) + .seconds(86_400 / 20))
        bench.pass(.hours(6) + .seconds(86_400 / 20))
        bench.end(people)
        #expect(bench.due(people) == .hours(24))
    }

    @Test func aReloadWithOtherTimesCountsAtOnce() throws {
        var bench = try bench(cron("0 6 * * *"))
        bench.configure([try cron("0 3 * * *")])
        #expect(bench.due(people) == .hours(3))
        bench.configure([try cron("0 9 * * *")])
        #expect(bench.due(people) == .hours(9))
        bench.configure([MachineBench.plan(people)])
        #expect(bench.due(people) == .hours(1))
        bench.configure([try cron("0 9 * * *")])
        #expect(bench.due(people) == .hours(9))
    }

    @Test func dataAreStaleWhenThreeTimesHavePassed() throws {
        var bench = try bench(cron("0 6 * * mon-fri"))
        // A Wednesday.
        bench.pass(.hours(6))
        bench.end(people)
        let stale = try #require(bench.state.resources[people]?.staleTime)
        #expect(bench.now.wall(of: stale) == bench.now.wall.addingTimeInterval(5 * 86_400))
    }

    // MARK: Restarts

    @Test func aTimeThatWasMissedWhileNobodyRanIsMadeUpForOnce() throws {
        var one = try bench(cron("0 6 * * *"), stored: .zero - .hours(18))
        #expect(one.run(people) != nil)
        one.end(people)
        #expect(one.due(people) == .hours(6))
        let none = try bench(cron("0 6 * * *") { $0.catchUp = .none }, stored: .zero - .hours(18))
        #expect(none.run(people) == nil && none.due(people) == .hours(6))
    }

    @Test func whatIsMadeUpForIsSpreadAsTheStartSays() throws {
        let bench = try bench(cron("0 6 * * *"), stored: .zero - .hours(18), MachineBench.daemon { $0.start = .stagger })
        #expect(bench.due(people) == .seconds(15))
    }

    @Test func aDelayOfWhichARestartKnowsGoesOn() throws {
        let bench = try bench(cron("0 6 * * *"), stored: .minutes(3))
        #expect(bench.due(people) == .minutes(3))
    }

    @Test func aStoredTimeOfOtherTimesDoesNotCount() throws {
        let bench = try bench(cron("0 6 * * *"), stored: .hours(24 * 3000))
        #expect(bench.due(people) == .hours(6))
    }

    @Test func anIntervalThatWasMissedIsNotMadeUpForEither() throws {
        let plan = MachineBench.plan(people) { $0.schedule.catchUp = .none }
        // An hour is the interval.
        let bench = bench(plan, stored: .zero - .minutes(90))
        #expect(bench.run(people) == nil && bench.due(people) == .minutes(30))
        // A little late is not missed.
        #expect(self.bench(plan, stored: .zero - .seconds(30)).run(people) != nil)
        #expect(self.bench(plan).run(people) != nil)
    }

    // MARK: Overlap

    @Test func aTimeThatPassesDuringARunIsSkippedOrFollows() throws {
        for overlap in ScheduleConfiguration.Overlap.allCases {
            var bench = try bench(cron("0 * * * *") { $0.overlap = overlap })
            bench.pass(.hours(1))
            bench.pass(.minutes(150))
            bench.end(people)
            #expect((bench.run(people) != nil) == (overlap == .queueOne))
            // One follows, however many were passed.
            bench.pass(.minutes(1))
            bench.end(people)
            #expect(bench.run(people) == nil && bench.due(people) == .minutes(29))
        }
    }

    @Test func anIntervalThatPassesDuringARunIsSkippedOrFollows() throws {
        for overlap in ScheduleConfiguration.Overlap.allCases {
            var bench = MachineBench.running(MachineBench.plan(people) { $0.schedule.overlap = overlap })
            bench.pass(.minutes(90))
            bench.end(people)
            if overlap == .queueOne { #expect(bench.run(people) != nil) } else { #expect(bench.due(people) == .seconds(10)) }
        }
    }

    @Test func whatFollowsObeysMinInterval() throws {
        var bench = try bench(
            cron("* * * * *") {
                $0.overlap = .queueOne
                $0.minInterval = .minutes(5)
            })
        bench.pass(.seconds(60))
        bench.pass(.seconds(90))
        bench.end(people)
        #expect(bench.due(people) == .seconds(210))
    }

    // MARK: Quiet hours

    @Test func whatIsDueInQuietHoursIsPutOffToTheirEnd() throws {
        var bench = try bench(cron("*/30 * * * *") { $0.quietHours = (try? self.quiet("01:00-06:00")) ?? [] })
        bench.pass(.minutes(30))
        bench.end(people)
        #expect(bench.due(people) == .minutes(5 * 60 + 30))
        #expect(bench.pass(.minutes(5 * 60 + 30)).started == [people])
        bench.end(people)
        #expect(bench.due(people) == .minutes(30))
    }

    @Test func notEverythingBeginsAtTheEndOfQuietHours() throws {
        let hours = try quiet("00:30-06:00")
        let plan = MachineBench.plan(people) { $0.schedule.quietHours = hours }
        var bench = MachineBench.polled(plan)
        // Half of the jitter of an hour, which is six minutes.
        #expect(bench.due(people) == .hours(6) + .seconds(180))
        #expect(bench.pass(.hours(6)).started == [])
        #expect(bench.pass(.seconds(180)).started == [people])
    }

    @Test func whoAsksIsServedInQuietHours() throws {
        let hours = try quiet("23:00-06:00")
        var bench = bench(MachineBench.plan(people) { $0.schedule.quietHours = hours })
        #expect(bench.run(people) == nil)
        #expect(bench.tell(.asked(people, .signal)).started == [people])
        bench.end(people)
        #expect(bench.due(people) == .hours(6) + .seconds(180))
    }

    @Test func aWaitThatEndsInQuietHoursIsFollowedByNothing() throws {
        let hours = try quiet("01:30-06:00")
        var bench = MachineBench.running(MachineBench.plan(people) { $0.schedule.quietHours = hours })
        bench.end(people, .parked, parkedFor: .hours(3))
        #expect(bench.pass(.hours(3)).started == [])
        #expect(bench.pass(.hours(4)).started == [people])
    }

    @Test func aClockThatIsSetIntoQuietHoursHoldsWhatIsDue() throws {
        let hours = try quiet("22:00-23:30")
        var bench = MachineBench.polled(MachineBench.plan(people) { $0.schedule.quietHours = hours })
        bench.now = Moment(wall: bench.now.wall.advanced(by: .hours(21)), instant: bench.now.instant)
        #expect(bench.pass(.hours(1)).started == [])
        #expect(bench.due(people) == .seconds(5400 + 180))
        // And one that is set forward over them lets it go on.
        bench.now = Moment(wall: bench.now.wall.advanced(by: .hours(3)), instant: bench.now.instant)
        #expect(bench.pass(.zero).started == [people])
    }

    @Test func quietHoursDoNotMakeDataStale() throws {
        let hours = try quiet("00:30-08:00")
        var bench = MachineBench.polled(MachineBench.plan(people) { $0.schedule.quietHours = hours })
        // 08:00, 09:00, 10:00.
        #expect(bench.pass(.hours(8)).degraded.isEmpty)
        let stale = try #require(bench.state.resources[people]?.staleTime)
        #expect(bench.now.instant.duration(to: stale) == .hours(2))
    }

    // MARK: Adaptive

    private func adaptive(_ change: (inout ScheduleConfiguration) -> Void = { _ in }) -> ResourceConfiguration {
        MachineBench.plan(people) {
            $0.schedule.adaptive = true
            change(&$0.schedule)
        }
    }

    private func end(_ bench: inout MachineBench, changed: Int = 0, _ outcome: RunOutcome = .succeeded) {
        guard let run = bench.run(people) else { return }
        var counts = RecordCounts()
        counts.updated = changed
        let conclusion = bench.conclusion(people, run, outcome, counts: counts)
        bench.tell(.ended(people, run: run, conclusion))
    }

    @Test func theIntervalFollowsHowOftenSomethingChanges() throws {
        var bench = MachineBench.running(adaptive())
        // The first one fills the mirror.
        end(&bench, changed: 100)
        #expect(bench.due(people) == .hours(1))
        bench.pass(.hours(1))
        end(&bench, changed: 1)
        #expect(bench.due(people) == .minutes(30) && bench.status(people)?.intervalSeconds == 1800)
        bench.pass(.minutes(30))
        end(&bench)
        #expect(bench.due(people) == .minutes(45))
        bench.pass(.minutes(45))
        end(&bench, changed: 5, .failed)
        #expect(bench.due(people) == .minutes(45))
    }

    @Test func whatSomebodyAskedForSaysNothingOfTheInterval() throws {
        var bench = MachineBench.running(adaptive())
        end(&bench)
        bench.pass(.minutes(1))
        bench.tell(.asked(people, .control))
        end(&bench)
        #expect(bench.due(people) == .hours(1))
    }

    @Test func theIntervalStaysWithinItsBounds() {
        var bench = MachineBench.running(adaptive { $0.maxInterval = .hours(2) })
        for _ in 0..<20 {
            end(&bench)
            if let due = bench.due(people) { bench.pass(due) }
        }
        #expect(bench.status(people)?.intervalSeconds == 7200)
        for _ in 0..<20 {
            end(&bench, changed: 1)
            if let due = bench.due(people) { bench.pass(due) }
        }
        #expect(bench.status(people)?.intervalSeconds == 10)
    }

    @Test func theIntervalOutlivesTheProcess() {
        var first = MachineBench.running(adaptive())
        end(&first)
        first.pass(.hours(1))
        end(&first)
        let stored = StoredSchedule(scope: people, startedAt: first.now.wall, interval: .minutes(90))
        #expect(first.state.recorded[people]?.interval == stored.interval)
        var second = MachineBench()
        second.configure([adaptive()], schedules: [stored])
        second.tell(.started(isArmed: true))
        #expect(second.status(people)?.intervalSeconds == 5400)
        second.configure([MachineBench.plan(people)])
        #expect(second.status(people)?.intervalSeconds == nil)
    }

    @Test func dataAreStaleAfterThreeOfTheIntervalsInForce() throws {
        var bench = MachineBench.running(adaptive())
        end(&bench)
        bench.pass(.hours(1))
        end(&bench, changed: 1)
        let stale = try #require(bench.state.resources[people]?.staleTime)
        #expect(bench.now.instant.duration(to: stale) == .minutes(90))
    }
}
