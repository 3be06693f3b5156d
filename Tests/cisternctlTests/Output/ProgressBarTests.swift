import Foundation
import SyncControl
import SyncReports
import Testing

@testable import cisternctl

@Suite struct ProgressBarTests {
    private func run(_ resource: String, _ outcome: RunOutcome = .succeeded, inserted: Int = 0, error: String? = nil) -> RunReport {
        let start = Date(timeIntervalSince1970: 0)
        var counts = RecordCounts()
        counts.inserted = inserted
        return RunReport(
            run: UUID(), scope: ResourceScope(source: "a", resource: resource), cause: .control, startedAt: start,
            endedAt: start.addingTimeInterval(3), outcome: outcome, isComplete: outcome == .succeeded, pages: 2, counts: counts, error: error)
    }

    @Test func theBarCountsResourcesAndShowsWhatMoves() {
        var bar = ProgressBar()
        #expect(bar.line(width: 80) == "[--------------------] 0/0")
        bar.take(.accepted(resources: ["a/b", "a/c", "a/d", "a/e"]))
        bar.take(.runStarted(scope: "a/b"))
        bar.take(.page(scope: "a/b", page: 2, records: 200, notModified: false))
        #expect(bar.line(width: 80) == "[--------------------] 0/4  a/b: page 2, 200 records")
        bar.take(.runStarted(scope: "a/c"))
        #expect(bar.line(width: 80) == "[--------------------] 0/4  a/c: started (and 1 more)")
        bar.take(.runFinished(run("c")))
        #expect(bar.line(width: 80) == "[#####---------------] 1/4  a/b: page 2, 200 records")
        bar.take(.page(scope: "a/b", page: 3, records: 200, notModified: true))
        #expect(bar.line(width: 80) == "[#####---------------] 1/4  a/b: page 3, not modified")
        bar.take(.retrying(scope: "a/b", page: 3, attempt: 1, delaySeconds: 4, reason: "reset"))
        #expect(bar.line(width: 80) == "[#####---------------] 1/4  a/b: page 3, attempt 1 failed, next in 4s")
        for resource in ["b", "d", "e"] { bar.take(.runFinished(run(resource))) }
        #expect(bar.line(width: 80) == "[####################] 4/4")
    }

    @Test func aNarrowTerminalIsNeverOverrun() {
        var bar = ProgressBar()
        bar.take(.accepted(resources: ["a/b"]))
        bar.take(.page(scope: "a/" + String(repeating: "x", count: 200), page: 1, records: 1, notModified: false))
        for width in [10, 30, 80] { #expect(bar.line(width: width).count < width) }
    }

    @Test func plainReadersGetALineForEachEndAndNoneForEachPage() {
        #expect(ProgressBar.plainLine(.accepted(resources: ["a/b"])) == "polling 1 resource")
        #expect(ProgressBar.plainLine(.page(scope: "a/b", page: 1, records: 1, notModified: false)) == nil)
        #expect(ProgressBar.plainLine(.runFinished(run("b", inserted: 12))) == "a/b: 12 inserted (2 pages, 3s)")
        #expect(
            ProgressBar.plainLine(.runFinished(run("b", .failed, error: "cannot connect")))
                == "a/b: failed: cannot connect (2 pages, nothing changed)")
    }
}
