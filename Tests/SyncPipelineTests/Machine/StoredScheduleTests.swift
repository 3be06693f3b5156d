import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What the machine has stored of resources, for the next process and for readers of the store.
@Suite struct StoredScheduleTests {
    private let people = MachineBench.people
    private let teams = MachineBench.teams

    @Test func aRunThatTakesItsTimeIsStoredUntilItEnds() {
        var bench = MachineBench.running(MachineBench.plan(people) { $0.limits.maxRunTime = .seconds(100) })
        #expect(bench.state.wakeTime == bench.now.instant.advanced(by: PipelineState.noticeable))
        let deadline = bench.now.wall.advanced(by: .seconds(100) + PipelineState.overrun)
        #expect(bench.pass(PipelineState.noticeable).stored.map(\.runsUntil) == [deadline])
        #expect(bench.pass(.seconds(1)).stored.isEmpty)
        #expect(bench.end(people).stored.map(\.runsUntil) == [nil])
    }

    @Test func aShortRunIsNotStoredWhileItGoesOn() {
        var bench = MachineBench.running()
        #expect(bench.pass(.milliseconds(1999)).stored.isEmpty)
        #expect(bench.end(people).stored.map(\.runsUntil) == [nil])
    }

    @Test func everyPollStoresWhenAllWasSeenLast() {
        var bench = MachineBench.polled()
        let stored = [bench.pass(.hours(1)), bench.end(people)].joined().filter { if case .store = $0 { true } else { false } }
        #expect([PipelineState.Output](stored).stored.map(\.lastSuccess) == [bench.now.wall])
        bench.pass(.hours(1))
        // A failure has seen nothing.
        #expect(bench.end(people, .failed).stored.map(\.lastSuccess) == [bench.now.wall.addingTimeInterval(-3600)])
    }

    @Test func whatTheConfigurationDropsIsStoredAsRemovedAndComesBackAsItWas() {
        var bench = MachineBench.polled(MachineBench.plan(people), MachineBench.plan(teams))
        let gone = bench.configure([MachineBench.plan(people)])
        #expect(gone.stored.map(\.scope) == [teams] && gone.stored.map(\.isRemoved) == [true])
        #expect(bench.configure([MachineBench.plan(people)]).stored.isEmpty)
        let back = bench.configure([MachineBench.plan(people), MachineBench.plan(teams)])
        #expect(back.stored.map(\.scope) == [teams] && back.stored.map(\.isRemoved) == [false])
        #expect(back.stored.map(\.lastSuccess) == gone.stored.map(\.lastSuccess))
    }

    @Test func whatWasDroppedWhileNobodyRanIsStoredAsRemoved() {
        var bench = MachineBench()
        let left = StoredSchedule(scope: teams, nextPollAt: bench.now.wall, runsUntil: bench.now.wall)
        let stored = bench.configure([MachineBench.plan(people)], schedules: [left]).stored.filter { $0.scope == teams }
        #expect(stored == [StoredSchedule(scope: teams, nextPollAt: bench.now.wall, isRemoved: true)])
    }

    @Test func whatIsDisabledIsStoredAsSuch() {
        var bench = MachineBench.polled()
        let disabled = bench.configure([MachineBench.plan(people) { $0.isEnabled = false }])
        #expect(disabled.stored.map(\.isEnabled) == [false] && disabled.stored.map(\.nextPollAt) == [nil])
    }

    // What was disabled or gone meanwhile has no stored next poll; its limit still counts.
    @Test(arguments: [false, true]) func theLimitBetweenTwoPollsCountsAcrossProcesses(isAsked: Bool) {
        var bench = MachineBench()
        let left = StoredSchedule(scope: people, startedAt: bench.now.wall.addingTimeInterval(-4))
        bench.configure([MachineBench.plan(people)], schedules: [left])
        #expect(bench.tell(.started(isArmed: true)).started == [])
        if isAsked { #expect(bench.tell(.asked(people, .control)).started == []) }
        #expect(bench.pass(.seconds(5.5)).started == [])
        #expect(bench.pass(.seconds(0.5)).started == [people])
    }

    // What a crash left open is over when the next process begins.
    @Test func theNextProcessEndsTheRunThatTheLastOneLeftOpen() {
        var bench = MachineBench()
        let left = StoredSchedule(scope: people, runsUntil: bench.now.wall.addingTimeInterval(600))
        #expect(bench.configure([MachineBench.plan(people)], schedules: [left]).stored.map(\.runsUntil) == [nil])
    }

    @Test func whatIsStoredAlreadyIsNotStoredAgain() {
        var bench = MachineBench.polled()
        let known = bench.state.recorded.values.map { $0 }
        var next = MachineBench()
        next.now = bench.now
        let status = bench.stored(people, next: .hours(1), lastSuccess: .zero)
        #expect(next.configure([MachineBench.plan(people)], stored: [people: status], schedules: known).stored.isEmpty)
        #expect(bench.configure([MachineBench.plan(people)]).stored.isEmpty)
    }
}
