import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// Whoever's run was open when the process before came to an unclean end is polled last and alone.
@Suite struct SuspectTests {
    private let people = MachineBench.people
    private let teams = MachineBench.teams
    private let news = MachineBench.news

    /// - Parameter began: how long ago the runs began that were open.
    private func bench(_ suspects: [ResourceScope: Int], began: Duration = .hours(2)) -> MachineBench {
        var bench = MachineBench()
        bench.tell(.leftOpen(suspects.mapValues { Suspicion(ends: $0, began: bench.now.wall.advanced(by: .zero - began)) }))
        bench.configure([people, teams, news].map { MachineBench.plan($0) })
        return bench
    }

    @Test func othersArePolledBefore() {
        var bench = bench([people: 1])
        #expect(bench.tell(.started(isArmed: true)).started == [teams, news].sorted())
        #expect(bench.end(teams).started == [])
        #expect(bench.end(news).started == [people])
        #expect(bench.state.violation(at: bench.now) == nil)
    }

    @Test func nobodyBeginsBesideItForFiveMinutesAndNobodyIsLate() {
        var bench = bench([people: 1])
        bench.tell(.started(isArmed: true))
        bench.end(teams)
        bench.end(news)
        bench.pass(.seconds(10))
        bench.tell(.asked(teams, .control))
        #expect(bench.pass(.seconds(289)).started == [])
        #expect(bench.state.overdue(at: bench.now) == .zero && bench.state.violation(at: bench.now) == nil)
        // A server that holds the run open must not hold the others.
        #expect(bench.state.wakeTime == bench.now.instant.advanced(by: .seconds(1)))
        #expect(bench.pass(.seconds(1)).started == [teams])
        bench.end(people)
        // From then on it is one of them.
        bench.end(teams)
        #expect(bench.pass(.hours(1)).started.sorted() == [people, teams, news].sorted())
    }

    @Test func whoIsAskedForMeanwhileIsPolledWhenItEnds() {
        var bench = bench([people: 1])
        bench.tell(.started(isArmed: true))
        bench.end(teams)
        bench.end(news)
        bench.pass(.seconds(10))
        #expect(bench.tell(.asked(teams, .control)).started == [])
        #expect(bench.end(people).started == [teams])
    }

    @Test func severalArePolledOneAfterTheOther() {
        var bench = bench([people: 1, teams: 1])
        #expect(bench.tell(.started(isArmed: true)).started == [news])
        #expect(bench.end(news).started == [people])
        #expect(bench.end(people).started == [teams])
    }

    // Others that are polled again and again let it come to its turn.
    @Test func afterFiveMinutesItIsPolledBesideOthers() {
        var bench = bench([people: 1])
        bench.tell(.started(isArmed: true))
        for _ in 1...7 {
            for scope in [teams, news] {
                bench.pass(.seconds(20))
                #expect(bench.end(scope).started == [])
                #expect(bench.tell(.asked(scope, .control)).started == [scope])
            }
        }
        #expect(bench.pass(.seconds(20)).started == [people])
        #expect(bench.state.violation(at: bench.now) == nil)
    }

    @Test func afterTheSecondTimeItIsLeftAloneForLongerAndLonger() {
        for (count, minutes) in [(1, 0), (2, 2), (3, 4), (4, 8), (30, 24 * 60)] {
            var bench = bench([people: count])
            bench.tell(.started(isArmed: true))
            bench.end(teams)
            bench.end(news)
            #expect(bench.due(people) == (minutes == 0 ? nil : .seconds(60 * minutes)))
        }
    }

    @Test func whoeverAsksForItGetsIt() {
        var bench = bench([people: 5])
        bench.tell(.started(isArmed: true))
        bench.end(teams)
        bench.end(news)
        #expect(bench.tell(.asked(people, .control)).started == [people])
    }

    @Test func theLimitBetweenTwoPollsCountsFromTheRunThatWasCutOff() {
        var bench = bench([people: 1], began: .seconds(4))
        #expect(bench.tell(.started(isArmed: true)).started == [teams, news].sorted())
        bench.end(teams)
        bench.end(news)
        #expect(bench.tell(.asked(people, .control)).started == [])
        let interval = MachineBench.plan(people).schedule.minInterval.duration
        #expect(bench.pass(interval - .seconds(5)).started == [])
        #expect(bench.pass(.seconds(1)).started == [people])
    }

    @Test func whatAStopDidNotWaitForIsPolledWithTheOthersWhenItsLimitAllows() {
        var bench = bench([people: 0], began: .seconds(4))
        let interval = MachineBench.plan(people).schedule.minInterval.duration
        #expect(bench.tell(.started(isArmed: true)).started == [teams, news].sorted())
        #expect(bench.pass(interval - .seconds(4)).started == [people])
    }

    // A poll that found nothing new is committed a little later; the process may not live to see it.
    @Test func aPollThatTheStoreDoesNotKnowOfCountsForTheNextOne() {
        var bench = MachineBench()
        let began = bench.now.wall.advanced(by: .minutes(-10)), next = bench.now.wall.advanced(by: .minutes(45))
        bench.tell(.leftOpen([people: Suspicion(ends: 0, began: began, nextPoll: next)]))
        bench.configure([people, teams, news].map { MachineBench.plan($0) })
        #expect(bench.due(people) == .minutes(45) && bench.due(teams) == .zero)
        #expect(bench.status(people)?.lastSuccess == began && bench.status(teams)?.lastSuccess == nil)
        #expect(bench.tell(.started(isArmed: true)).started == [teams, news].sorted())
        // What the store knows counts where it is later.
        var other = MachineBench()
        other.tell(.leftOpen([people: Suspicion(ends: 0, began: other.now.wall, nextPoll: next)]))
        other.configure([MachineBench.plan(people)], stored: [people: other.stored(people, next: .hours(2))])
        #expect(other.due(people) == .hours(2))
    }
}
