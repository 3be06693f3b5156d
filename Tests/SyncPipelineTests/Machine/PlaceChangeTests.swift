import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// A reload that has another server asked: what the old one asked for, and what was found out about it, is the old one's.
@Suite struct PlaceChangeTests {
    private let people = MachineBench.people

    private func plan(_ url: String = "https://api.example/people", _ change: (inout ResourceConfiguration) -> Void = { _ in })
        -> ResourceConfiguration
    {
        MachineBench.plan(people) {
            $0.url = url
            $0.schedule.every = .minutes(1)
            $0.schedule.jitter = Percentage(percent: 0)
            $0.breaker.failures = 1
            change(&$0)
        }
    }

    private func end(_ bench: inout MachineBench, _ evidence: Breaker.Evidence) throws {
        let run = try #require(bench.run(people))
        var conclusion = bench.conclusion(people, run, .failed)
        conclusion.evidence = evidence
        bench.tell(.ended(people, run: run, conclusion))
        #expect(bench.state.violation(at: bench.now) == nil)
    }

    @Test func theOtherServerIsAskedAtOnce() {
        var bench = MachineBench.polled(plan())
        bench.tell(.told(people, until: bench.now.wall.advanced(by: .hours(2))))
        #expect(bench.due(people) == .hours(2))
        // The same server.
        bench.configure([plan("https://api.example/persons")])
        #expect(bench.due(people) == .hours(2))
        bench.configure([plan("https://new.example/people")])
        #expect(bench.due(people) == .seconds(10))
    }

    @Test func aTimeOfCronIsAwaitedAllTheSame() throws {
        let cron = try CronExpression(parsing: "0 1 * * *")
        var bench = MachineBench.running(plan { $0.schedule.cron = cron })
        bench.tell(.told(people, until: bench.now.wall.advanced(by: .hours(2))))
        #expect(bench.due(people) == .hours(2))
        bench.configure([plan("https://new.example/people") { $0.schedule.cron = cron }])
        #expect(bench.due(people) == .hours(1))
    }

    @Test func whatWasRefusedAtATimeOfCronIsTriedAtOnce() throws {
        let cron = try CronExpression(parsing: "0 * * * *")
        var bench = MachineBench.running(plan { $0.schedule.cron = cron })
        bench.pass(.hours(1))
        try end(&bench, .permanent(404))
        bench.pass(.seconds(30))
        #expect(bench.configure([plan("https://api.example/persons") { $0.schedule.cron = cron }]).started == [people])
    }

    @Test func whatTheOpenRunFindsIsTheOldServers() throws {
        var bench = MachineBench.running(plan())
        bench.configure([plan("https://new.example/people")])
        let until = bench.now.wall.advanced(by: .hours(2))
        bench.tell(.told(people, until: until))
        // The run itself heeds it.
        #expect(bench.state.pacingEnd(of: people, at: bench.now) == until)
        #expect(bench.status(people)?.parkedUntil == nil)
        try end(&bench, .unreachable)
        #expect(bench.status(people)?.breaker == nil && bench.due(people) == .minutes(1))
    }

    @Test func whatTheOldAddressRefusedHoldsNothingBack() throws {
        var bench = MachineBench.running(plan())
        bench.configure([plan("https://api.example/persons")])
        try end(&bench, .permanent(404))
        #expect(bench.due(people) == .minutes(1))
    }
}
