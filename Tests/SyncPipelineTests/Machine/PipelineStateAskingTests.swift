import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What becomes of what people, servers and configurations want: the machine without anything around it.
@Suite struct PipelineStateAskingTests {
    private let people = MachineBench.people
    private let teams = MachineBench.teams
    private let news = MachineBench.news

    // MARK: Asking

    // The certificate that a client shows is a credential as well.
    @Test func aWaitHoldsForOneCertificate() {
        var bench = MachineBench()
        let one = MachineBench.plan(people) { $0.tls.clientCertificate = .file("/one.pem") }
        let same = MachineBench.plan(teams) { $0.tls.clientCertificate = .file("/one.pem") }
        let other = MachineBench.plan(ResourceScope(source: people.source, resource: "other")) { $0.tls.clientCertificate = .file("/other.pem") }
        bench.configure([one, same, other], stored: [teams: bench.stored(teams, parked: .hours(2))])
        #expect(bench.tell(.started(isArmed: true)).started == [ResourceScope(source: people.source, resource: "other")])
        #expect(bench.due(people) == .hours(2))
    }

    @Test func askingPollsAtOnceAndSaysWhoAsked() {
        var bench = MachineBench.polled()
        bench.pass(.minutes(1))
        let orders = bench.tell(.asked(people, .signal)).orders
        #expect(orders.map(\.scope) == [people])
        #expect(orders.first?.cause == .signal)
        #expect(orders.first?.isWaitedFor == false)
    }

    @Test func askingObeysMinInterval() {
        var bench = MachineBench.polled()
        #expect(bench.tell(.asked(people, .control)).started == [])
        #expect(bench.due(people) == .seconds(10))
        #expect(bench.pass(.seconds(10)).orders.map(\.cause) == [.control])
    }

    @Test func theLimitsCountFromWhenTheServerWasAsked() {
        var bench = MachineBench.running()
        bench.pass(.seconds(8))
        // The run waited for a slot, or for what another was told.
        #expect(bench.tell(.asking(people)) == [])
        bench.pass(.seconds(4))
        bench.end(people)
        #expect(bench.due(people) == .hours(1) - .seconds(4))
        #expect(bench.tell(.asked(people, .control)).started == [])
        #expect(bench.due(people) == .seconds(6))
        // As the next process will find it.
        #expect(bench.state.recorded[people]?.startedAt == bench.now.wall.addingTimeInterval(-4))
    }

    @Test func manyQuestionsAreOnePoll() {
        var bench = MachineBench.polled()
        for _ in 0..<1000 { #expect(bench.tell(.asked(people, .signal)).started == []) }
        #expect(bench.pass(.seconds(10)).started == [people])
        bench.end(people)
        #expect(bench.due(people) == .hours(1))
    }

    @Test func whoWaitsGetsTheReportOfTheirRun() {
        var bench = MachineBench.polled()
        bench.pass(.minutes(1))
        let outputs = bench.tell(.asked(people, .control, waiter: 7))
        #expect(outputs.orders.map(\.isWaitedFor) == [true])
        #expect(outputs.answers.isEmpty)
        #expect(bench.end(people).answers[7]??.run == MachineBench.uuid(2))
    }

    @Test func whoAsksDuringARunGetsTheNextOne() {
        var bench = MachineBench.running()
        bench.pass(.seconds(3))
        #expect(bench.tell(.asked(people, .control, waiter: 7)) == [.hurry(people, run: 1)])
        // What the open run has read may be older than the question.
        #expect(bench.end(people).answers.isEmpty)
        #expect(bench.due(people) == .seconds(7))
        #expect(bench.pass(.seconds(7)).orders.map(\.isWaitedFor) == [true])
        #expect(bench.end(people).answers[7]??.run == MachineBench.uuid(2))
    }

    @Test func askingForWhatIsParkedIsAnsweredAtOnceWithTheTime() {
        var bench = MachineBench.running()
        bench.end(people, .parked, parkedFor: .hours(2))
        let answer = bench.tell(.asked(people, .control, waiter: 1)).answers[1]
        #expect(answer??.outcome == .parked)
        #expect(answer??.nextPollAt == bench.now.wall.addingTimeInterval(7200))
        #expect(answer??.error?.contains("resume api/people") == true)
    }

    @Test func askingForWhatWaitsShortlyWaits() {
        var bench = MachineBench.running()
        bench.end(people, .failed, parkedFor: .minutes(2))
        #expect(bench.tell(.asked(people, .control, waiter: 1)).answers.isEmpty)
        #expect(bench.pass(.minutes(2)).started == [people])
    }

    @Test func askingForWhatIsPausedDisabledOrUnknownIsAnsweredWithNothing() {
        var bench = MachineBench.polled(MachineBench.plan(people), MachineBench.plan(teams) { $0.isEnabled = false })
        bench.tell(.paused(people))
        for (waiter, scope) in [people, teams, news].enumerated() {
            let outputs = bench.tell(.asked(scope, .control, waiter: waiter))
            #expect(outputs == [.answer(waiter: waiter, nil)])
        }
        #expect(bench.pass(.hours(2)).started == [])
    }

    @Test func whoWaitsForMinIntervalIsToldWhenTheServerParksMeanwhile() {
        var bench = MachineBench.polled(MachineBench.plan(people), MachineBench.plan(teams))
        bench.pass(.hours(1))
        bench.end(people)
        bench.tell(.asked(people, .control, waiter: 1))
        let outputs = bench.tell(.told(teams, until: bench.now.wall.addingTimeInterval(7200)))
        #expect(outputs.answers[1]??.outcome == .parked)
        #expect(bench.due(people) == .hours(2))
    }

    @Test func aParkedResourceThatWasAskedForIsPolledAsSoonAsItMayBe() {
        var bench = MachineBench.running(MachineBench.plan(people) { $0.schedule.every = .hours(9) })
        bench.end(people, .parked, parkedFor: .hours(2))
        #expect(bench.due(people) == .hours(9))
        #expect(bench.tell(.asked(people, .signal)).started == [])
        #expect(bench.due(people) == .hours(2))
    }

    @Test func acceptedDeletionsGoWithTheNextRunOnly() {
        var bench = MachineBench.running()
        bench.tell(.asked(people, .control, acceptsDeletes: true))
        bench.end(people)
        #expect(bench.pass(.seconds(10)).orders.map(\.acceptsDeletes) == [true])
        bench.end(people)
        #expect(bench.pass(.hours(1)).orders.map(\.acceptsDeletes) == [false])
    }

    @Test func aFullPollIsTheNextRunThatIsPolledAndNoOther() {
        var bench = MachineBench.running()
        bench.tell(.asked(people, .control, isFull: true))
        bench.end(people)
        #expect(bench.pass(.seconds(10)).orders.map(\.isFull) == [true])
        bench.end(people)
        bench.tell(.paused(people))
        bench.tell(.asked(people, .control, isFull: true))
        #expect(bench.tell(.resumed(people)).orders.map(\.isFull) + bench.pass(.hours(1)).orders.map(\.isFull) == [false])
    }

    // MARK: Waits that servers ask for

    // R9
    @Test func aWaitIsStoredWhileTheRunIsOpen() {
        var bench = MachineBench.running()
        let until = bench.now.wall.addingTimeInterval(120)
        let stored = bench.tell(.told(people, until: until)).stored
        #expect(stored.map(\.nextPollAt) == [until] && stored.map(\.parkedUntil) == [until])
        #expect(bench.status(people)?.parkedUntil == until)
    }

    // R9
    @Test func othersOfTheOriginWaitToo() {
        var bench = MachineBench.polled(MachineBench.plan(people), MachineBench.plan(teams), MachineBench.plan(news))
        bench.pass(.minutes(59))
        bench.tell(.told(people, until: bench.now.wall.addingTimeInterval(600)))
        #expect(bench.pass(.minutes(1)).started == [news])
        #expect(bench.due(teams) == .minutes(9))
        #expect(bench.pass(.minutes(9)).started == [people, teams])
    }

    @Test func anotherCredentialIsAnotherPlace() {
        var bench = MachineBench.polled(
            MachineBench.plan(people), MachineBench.plan(teams) { $0.authentication = .bearer(.init(token: .credential("other"))) })
        bench.tell(.told(people, until: bench.now.wall.addingTimeInterval(7200)))
        #expect(bench.due(people) == .hours(2))
        #expect(bench.due(teams) == .hours(1))
    }

    // R9
    @Test func aWaitIsNeverShortened() {
        var bench = MachineBench.running()
        bench.tell(.told(people, until: bench.now.wall.addingTimeInterval(7200)))
        bench.tell(.told(people, until: bench.now.wall.addingTimeInterval(60)))
        bench.end(people, .failed)
        #expect(bench.due(people) == .hours(2))
    }

    @Test func noWaitIsLongerThanMaxPark() {
        var bench = MachineBench.running(MachineBench.plan(people) { $0.retry.maxPark = .hours(6) })
        bench.end(people, .parked, parkedFor: .hours(24 * 366))
        #expect(bench.due(people) == .hours(6))
    }

    @Test func resumeLiftsAWaitForTheWholeOrigin() {
        var bench = MachineBench.running(MachineBench.plan(people), MachineBench.plan(teams))
        bench.end(teams)
        bench.end(people, .parked, parkedFor: .hours(20))
        #expect(bench.due(teams) == .hours(20))
        let outputs = bench.tell(.resumed(people))
        #expect(Set(outputs.stored.map(\.scope)) == [people, teams])
        #expect(outputs.stored.allSatisfy { $0.parkedUntil == nil })
        #expect(bench.pass(.seconds(10)).started == [people, teams])
    }

    // MARK: Pause

    @Test func aPauseTakesTheDueTimeAndIsStored() {
        var bench = MachineBench.polled()
        let outputs = bench.tell(.paused(people))
        #expect(outputs.stored.map(\.isPaused) == [true] && outputs.stored.map(\.nextPollAt) == [nil])
        #expect(bench.status(people)?.health == .paused)
        #expect(bench.pass(.hours(5)).started == [])
    }

    @Test func aPauseLetsTheOpenRunEnd() {
        var bench = MachineBench.running()
        #expect(bench.tell(.paused(people)).cancelled == [])
        bench.end(people)
        #expect(bench.due(people) == nil)
        #expect(bench.pass(.hours(5)).started == [])
    }

    @Test func resumePollsAsSoonAsTheFloorAllows() {
        var bench = MachineBench.polled()
        bench.tell(.paused(people))
        #expect(bench.tell(.resumed(people)).stored.map(\.isPaused) == [false])
        #expect(bench.pass(.seconds(10)).started == [people])
    }

    @Test func aPauseAnswersThoseWhoWait() {
        var bench = MachineBench.polled()
        bench.tell(.asked(people, .control, waiter: 3))
        #expect(bench.tell(.paused(people)).answers == [3: nil])
    }

    // MARK: Reload

    @Test func aRunThatEndsWhileAReloadLoadsIsPolledAgain() {
        var bench = MachineBench.running()
        // Loaded before the run ended; put into force after.
        let old = bench.stored(people)
        bench.end(people)
        bench.configure([MachineBench.plan(people), MachineBench.plan(news)], stored: [people: old])
        #expect(bench.state.violation(at: bench.now) == nil)
        #expect(bench.due(people) == .hours(1))
        #expect(bench.status(people)?.lastSuccess == bench.now.wall)
        #expect(bench.pass(.hours(1)).started.contains(people))
    }

    @Test func aReloadKeepsRunsAndDueTimes() {
        var bench = MachineBench.running(MachineBench.plan(people), MachineBench.plan(news))
        bench.end(people)
        bench.pass(.minutes(20))
        bench.configure([MachineBench.plan(people), MachineBench.plan(news)])
        #expect(bench.due(people) == .minutes(40))
        #expect(bench.run(news) == 2)
        #expect(bench.end(news).reports.count == 1)
    }

    @Test func aRunOfARemovedResourceIsCancelledAndItsNextPollIsStored() {
        var bench = MachineBench.running(MachineBench.plan(people), MachineBench.plan(news))
        #expect(bench.configure([MachineBench.plan(news)]).cancelled == [people])
        #expect(bench.status(people) == nil)
        let outputs = bench.end(people, .cancelled)
        #expect(outputs.reports.map(\.scope) == [people])
        // Should it come back, in this process or after a restart, the limits count from here.
        #expect(outputs.stored.map(\.nextPollAt) == [bench.now.wall.addingTimeInterval(3600)])
        #expect(bench.due(people) == nil)
    }

    @Test func aResourceThatComesBackWhileItsRunEndsIsPolledAgain() {
        var bench = MachineBench.running()
        bench.configure([])
        bench.configure([MachineBench.plan(people)])
        #expect(bench.state.violation(at: bench.now) == nil)
        bench.end(people, .cancelled)
        #expect(bench.due(people) == .hours(1))
    }

    @Test func aShorterIntervalCountsAtOnceALongerOneLater() {
        var bench = MachineBench.polled()
        bench.pass(.minutes(10))
        bench.configure([MachineBench.plan(people) { $0.schedule.every = .minutes(15) }])
        #expect(bench.due(people) == .minutes(5))
        bench.configure([MachineBench.plan(people) { $0.schedule.every = .hours(5) }])
        #expect(bench.due(people) == .minutes(5))
        bench.pass(.minutes(5))
        bench.end(people)
        #expect(bench.due(people) == .hours(5))
    }

    @Test func aShorterIntervalDoesNotOvertakeTheServer() {
        var bench = MachineBench.running()
        bench.end(people, pacing: ServerPacing(cacheLifetime: nil, pollInterval: .hours(4)))
        bench.configure([MachineBench.plan(people) { $0.schedule.every = .minutes(15) }])
        #expect(bench.due(people) == .hours(4))
    }

    @Test func whatIsDisabledAndEnabledAgainIsPolledAgain() {
        var bench = MachineBench.polled()
        bench.configure([MachineBench.plan(people) { $0.isEnabled = false }])
        #expect(bench.due(people) == nil)
        bench.configure([MachineBench.plan(people)])
        #expect(bench.due(people) == .seconds(10))
        #expect(bench.pass(.seconds(10)).started == [people])
    }

    @Test func whoWaitsForARemovedResourceIsAnswered() {
        var bench = MachineBench.polled()
        bench.tell(.asked(people, .control, waiter: 4))
        #expect(bench.configure([]).answers == [4: nil])
    }

    // MARK: What a stop leaves undone

    @Test func whatSomebodyAskedForAndAStopCutOffIsRemembered() {
        var bench = MachineBench.polled()
        bench.tell(.asked(people, .signal, isFull: true))
        #expect(bench.pass(.seconds(10)).started == [people])
        bench.tell(.stopping(grace: .zero))
        bench.end(people, .cancelled)
        #expect(Array(bench.state.unserved.values) == [UnservedPoll(scope: people, cause: .signal, isFull: true)])
    }

    @Test func whatWasAskedForAndHasNotBegunIsRemembered() {
        var bench = MachineBench.polled()
        bench.tell(.asked(people, .control))
        bench.tell(.stopping(grace: .zero))
        #expect(Array(bench.state.unserved.values) == [UnservedPoll(scope: people, cause: .control, isFull: false)])
    }

    @Test func aRunThatKeepsAStopWaitingIsRemembered() {
        var bench = MachineBench.polled()
        bench.tell(.asked(people, .signal))
        bench.pass(.seconds(10))
        bench.tell(.stopping(grace: .zero))
        bench.tell(.committed)
        #expect(bench.pass(.seconds(1)).contains(.stopped))
        #expect(Array(bench.state.unserved.keys) == [people])
    }

    @Test func aFullPollIsRememberedAlthoughSomebodyHasJoinedIt() {
        for delay in [0.0, 10] {
            var bench = MachineBench.polled()
            bench.tell(.asked(people, .control, isFull: true))
            bench.tell(.asked(people, .control, waiter: 1))
            bench.pass(.seconds(delay))
            bench.tell(.stopping(grace: .zero))
            bench.end(people, .cancelled)
            #expect(Array(bench.state.unserved.values) == [UnservedPoll(scope: people, cause: .control, isFull: true)])
        }
    }

    @Test func whatIsDoneWaitedForOrOnlyScheduledIsNot() {
        var done = MachineBench.polled()
        done.tell(.asked(people, .signal))
        done.pass(.seconds(10))
        done.tell(.stopping(grace: .hours(1)))
        done.end(people)
        var awaited = MachineBench.polled()
        awaited.tell(.asked(people, .control, waiter: 1))
        awaited.pass(.seconds(10))
        awaited.tell(.stopping(grace: .zero))
        awaited.end(people, .cancelled)
        var scheduled = MachineBench.running()
        scheduled.tell(.stopping(grace: .zero))
        scheduled.end(people, .cancelled)
        for bench in [done, awaited, scheduled] { #expect(bench.state.unserved.isEmpty) }
    }
}
