import Foundation
import SyncConfiguration
import SyncControl
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

@Suite struct StatusSummaryTests {
    private let now = Example.start

    /// Three sources: iso with two resources, github and weather with one.
    private func configuration(unverified: Bool = false) -> CisternConfiguration {
        var configuration = CisternConfiguration()
        for (name, resources) in [("iso", ["countries", "languages"]), ("github", ["issues"]), ("weather", ["now"])] {
            var source = SourceConfiguration(name: name)
            source.resources = resources.map { ResourceConfiguration(name: $0, source: name, url: "http://x/", entity: "E", key: []) }
            if unverified, name == "github" { source.resources[0].tls.verify = false }
            configuration.sources.append(source)
        }
        return configuration
    }

    private let issues = ResourceScope(source: "github", resource: "issues")

    private func summary(_ events: [SyncEvent] = [], _ configuration: CisternConfiguration? = nil) -> StatusSummary {
        var summary = StatusSummary(configuration: configuration ?? self.configuration())
        for event in events { summary.record(event, at: now) }
        return summary
    }

    @Test func noSourcesIsSaid() {
        #expect(StatusSummary(configuration: CisternConfiguration()).text(at: now) == "No sources configured")
        #expect(StatusSummary(configuration: CisternConfiguration()).readyText(at: now) == "No sources configured")
    }

    @Test func readyCountsSourcesAndNamesTheNext() {
        let summary = summary([.scheduled(next: issues, at: now.addingTimeInterval(240))])
        #expect(summary.readyText(at: now) == "Ready: 3 sources, next github/issues in 4min")
    }

    @Test func idleSaysWhatIsThere() {
        var summary = summary([.scheduled(next: issues, at: now.addingTimeInterval(240))])
        summary.seed([ResourceStatus(Example.countries, .ok, objects: 81_000), ResourceStatus(issues, .ok, objects: 234)], at: now)
        #expect(summary.text(at: now) == "Idle: 3 sources ok, next github/issues in 4min, 81234 objects")
        summary.record(.runFinished(Example.report(issues, counts: Example.counts(10, unchanged: 234))), at: now)
        #expect(summary.text(at: now).hasSuffix(", 81244 objects"))
    }

    @Test func pollingNamesPageAndRecords() {
        let summary = summary([Example.started(issues)] + (1...7).map { Example.page($0, issues) })
        #expect(summary.text(at: now) == "Polling github/issues: page 7, 700 records, 3 sources ok")
    }

    @Test func aReplaySaysNothingOfTheServer() {
        var summary = summary([.runFinished(Example.report(issues, .failed, status: 503))])
        let before = summary.text(at: now)
        for outcome in [RunOutcome.succeeded, .failed, .incomplete] {
            summary.record(
                .runFinished(
                    RunReport(
                        run: Example.run, scope: issues, cause: .replay, startedAt: now, endedAt: now, outcome: outcome, isComplete: false)), at: now)
            #expect(summary.text(at: now) == before)
        }
    }

    @Test func furtherRunsAreCounted() {
        let summary = summary([Example.started(issues), Example.started(Example.countries)])
        #expect(summary.text(at: now) == "Polling iso/countries: page 1, 0 records (and 1 more), 3 sources ok")
    }

    @Test func aFailedSourceIsDegradedWithCauseAgeAndNextTry() {
        let failed = SyncEvent.runFinished(Example.report(issues, .failed, status: nil, next: now.addingTimeInterval(60 * 60)))
        let summary = summary([failed])
        #expect(
            summary.text(at: now.addingTimeInterval(42 * 60))
                == "Degraded: github unreachable for 42min (retry in 18min); 2 of 3 sources ok")
    }

    @Test(
        arguments: [
            (nil, "unreachable"), (503, "answers 503"), (401, "refuses the credentials"), (200, "sends unusable data"),
        ] as [(Int?, String)])
    func theCauseIsInWords(_ status: Int?, _ words: String) {
        let summary = summary([.runFinished(Example.report(issues, .failed, status: status))])
        #expect(summary.text(at: now) == "Degraded: github \(words) for 0s; 2 of 3 sources ok")
    }

    @Test func oneResourceOfASourceIsNamedInFull() {
        let summary = summary([.runFinished(Example.report(Example.languages, .failed, status: 500))])
        #expect(summary.text(at: now) == "Degraded: iso/languages answers 500 for 0s; 2 of 3 sources ok")
    }

    @Test func aSuccessEndsTheTrouble() {
        let summary = summary([.runFinished(Example.report(issues, .failed, status: nil)), .runFinished(Example.report(issues))])
        #expect(summary.text(at: now) == "Idle: 3 sources ok, 0 objects")
    }

    @Test func ageAloneIsDegradedToo() {
        let summary = summary([.freshnessChanged(scope: issues, isDegraded: true, since: now.addingTimeInterval(-7200), heldDeletes: 0)])
        #expect(summary.text(at: now) == "Degraded: github not current for 2h; 2 of 3 sources ok")
    }

    @Test func deletionsThatWaitDoSoWhetherOrNotRunsSucceed() {
        let held = SyncEvent.freshnessChanged(scope: issues, isDegraded: true, since: now, heldDeletes: 1500)
        var summary = summary([.runFinished(Example.report(issues)), held, .runFinished(Example.report(issues))])
        #expect(summary.text(at: now) == "Degraded: github holds 1500 deletions back until accepted; 2 of 3 sources ok")
        summary.record(.freshnessChanged(scope: issues, isDegraded: false, since: now, heldDeletes: 0), at: now)
        #expect(summary.text(at: now) == "Idle: 3 sources ok, 0 objects")
    }

    @Test func theAgeIsJudgedByThePipelineAlone() {
        var summary = summary([.freshnessChanged(scope: issues, isDegraded: true, since: now, heldDeletes: 0)])
        summary.record(.runFinished(Example.report(issues)), at: now)
        #expect(summary.text(at: now) == "Degraded: github not current; 2 of 3 sources ok")
        summary.record(.freshnessChanged(scope: issues, isDegraded: false, since: now, heldDeletes: 0), at: now)
        #expect(summary.text(at: now) == "Idle: 3 sources ok, 0 objects")
    }

    /// A run that found everything as it was, one that did in part, an incomplete one, and one that read all.
    @Test func howManyObjectsThereAreIsWhatThePipelineSays() {
        var summary = summary(), status = ResourceStatus(issues)
        func report(_ outcome: RunOutcome, _ pages: Int, notModified: Int, _ counts: RecordCounts) -> RunReport {
            RunReport(
                run: Example.run, scope: issues, cause: .schedule, startedAt: now, endedAt: now, outcome: outcome, isComplete: outcome == .succeeded,
                pages: pages, notModifiedPages: notModified, counts: counts)
        }
        let runs = [
            report(.incomplete, 1, notModified: 0, Example.counts(5)), report(.succeeded, 2, notModified: 0, Example.counts(20)),
            report(.succeeded, 2, notModified: 2, Example.counts(unchanged: 19)),
            report(.succeeded, 2, notModified: 1, Example.counts(2, unchanged: 20, deleted: 1)),
            report(.incomplete, 1, notModified: 0, Example.counts(3)), report(.failed, 1, notModified: 0, Example.counts(3, deleted: 2)),
        ]
        var counted: [Int?] = []
        for run in runs {
            summary.record(.runFinished(run), at: now)
            status.take(run, heldDeletes: 0, guardName: nil, isCaughtUp: run.isComplete, parkedUntil: nil)
            #expect(summary.resources[issues]?.objects == status.objects)
            counted.append(status.objects)
        }
        #expect(counted == [nil, 20, 20, 22, 22, 22])
    }

    @Test func aSaveThatFailsComesBeforeEverything() {
        var summary = summary([
            .runFinished(Example.report(issues, .failed, status: nil)),
            .saveFailed(reason: "database or disk is full", cause: .full),
        ])
        #expect(summary.text(at: now) == "Degraded: cannot save: database or disk is full; 2 of 3 sources ok")
        summary.record(.saveRecovered, at: now)
        #expect(summary.text(at: now).hasPrefix("Degraded: github unreachable"))
    }

    @Test func aLowDiskIsDegradedAndABacklogIsNot() {
        #expect(
            summary([.held(.lowDisk(free: 3 << 20, minimum: "256MiB"))]).text(at: now)
                .hasPrefix("Degraded: only 3 MiB are free"))
        var summary = summary([.held(.unsavedChanges(20_000))])
        #expect(summary.text(at: now) == "Waiting: 20000 changed objects are waiting for the disk, 3 sources ok")
        summary.record(.resumed, at: now)
        #expect(summary.text(at: now) == "Idle: 3 sources ok")
    }

    @Test func stoppingNamesThePageThatIsFinished() {
        var summary = summary([Example.started(issues)] + (1...7).map { Example.page($0, issues) })
        summary.isStopping = true
        #expect(summary.text(at: now) == "Stopping: finishing page 7 of github/issues")
        summary.record(.runFinished(Example.report(issues, .cancelled)), at: now)
        #expect(summary.text(at: now) == "Stopping: saving")
    }

    @Test func uncheckedCertificatesAreNeverOutOfSight() {
        let summary = summary([], configuration(unverified: true))
        #expect(summary.text(at: now) == "Idle: 3 sources ok, TLS not verified for github")
    }

    @Test func aReloadKeepsWhatIsKnownOfWhatStays() {
        var summary = summary([.runFinished(Example.report(issues, .failed, status: nil))])
        var smaller = configuration()
        smaller.sources.removeAll { $0.name == "weather" }
        summary.reload(smaller)
        #expect(summary.text(at: now) == "Degraded: github unreachable for 0s; 1 of 2 sources ok")
        smaller.sources.removeAll { $0.name == "github" }
        summary.reload(smaller)
        #expect(summary.text(at: now) == "Idle: 1 source ok")
    }
}
