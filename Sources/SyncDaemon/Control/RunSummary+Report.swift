import SyncControl
import SyncPipeline

extension RunSummary {
    /// The wire form of a run's report.
    init(_ report: RunReport) {
        self.init(
            scope: report.scope.description, run: report.run, cause: report.cause.rawValue, startedAt: report.startedAt, endedAt: report.endedAt,
            outcome: report.outcome.rawValue, complete: report.isComplete, pages: report.pages, notModifiedPages: report.notModifiedPages,
            bytes: report.bytes, inserted: report.counts.inserted, updated: report.counts.updated, unchanged: report.counts.unchanged,
            deleted: report.counts.deleted, quarantined: report.counts.quarantined, httpStatus: report.httpStatus,
            error: report.error.map { RemoteText.line($0) },
            nextPollAt: report.nextPollAt)
    }
}
