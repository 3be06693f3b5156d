import Foundation
import SyncConfiguration
import SyncReports

/// What a replay has found so far, of all parts together.
struct ReplayTally: Sendable {
    var outcome = RunOutcome.succeeded
    private(set) var pages = 0
    private(set) var bytes = 0
    private(set) var counts = RecordCounts()
    private(set) var status: Int?
    private(set) var error: String?
    private(set) var failure: RunFailure?
    /// How many pages the store remembers, and how many of these are not in the archive as they were read last.
    private(set) var known = 0
    private(set) var missing = 0
    /// The one of these that was read the longest ago.
    private var oldest: MissingPage?
    /// How many parts cannot be asked for, and the first of them.
    private var unasked = 0
    private var firstUnasked: String?

    /// A page of which there is no body that is as new as its rows.
    struct MissingPage: Sendable {
        /// What was asked for, with secrets masked.
        let words: String
        let run: Int64
        let readAt: Date?
    }

    /// Takes in what became of a listing's bodies.
    mutating func take(_ tally: RunTally) {
        pages += tally.pages
        bytes += tally.bytes
        counts += tally.counts
        status = tally.status ?? status
        if tally.outcome == .failed, error == nil { (outcome, error, failure) = (.failed, tally.error, tally.failure) }
    }

    /// Takes in what of a listing could not be mapped.
    mutating func take(known: Int, missing: Int, oldest page: MissingPage?) {
        self.known += known
        self.missing += missing
        if let page, oldest.map({ page.run < $0.run }) ?? true { oldest = page }
    }

    /// A part cannot be asked for, so that nobody knows what its records are.
    mutating func miss(_ reason: String, _ partition: Partition) {
        unasked += 1
        if firstUnasked == nil { firstUnasked = "\(partition.name): \(reason)" }
    }

    /// What ended the replay.
    mutating func fail(_ error: any Error) {
        outcome = .failed
        failure = RunFailure(error)
        self.error = error.inWords
    }

    /// Judges the replay when there is no more to come.
    mutating func judge(_ scope: ResourceScope) {
        guard outcome == .succeeded else { return }
        var reasons: [String] = []
        if missing > 0 {
            let since = oldest?.readAt.map { ", read at \(HTTPDate.format($0))" } ?? ""
            reasons.append(
                "\(missing) of \(known) pages are not in the archive as they were read last"
                    + (oldest.map { ", the oldest \($0.words) of run \($0.run)\(since)" } ?? ""))
        }
        if unasked > 0 { reasons.append("\(unasked) parts cannot be asked for; \(firstUnasked ?? "")") }
        if pages == 0, reasons.isEmpty { reasons.append("nothing is in the archive") }
        if reasons.isEmpty { return }
        outcome = .incomplete
        error = reasons.joined(separator: "; ") + "; `cisternctl sync --full \(scope)` asks for everything once more"
    }

    func report(_ start: RunStart, endedAt: Date) -> RunReport {
        RunReport(
            run: start.run, scope: start.scope, cause: start.cause, startedAt: start.startedAt, endedAt: endedAt, outcome: outcome,
            isComplete: false, pages: pages, notModifiedPages: 0, bytes: bytes, counts: counts, httpStatus: status, error: error,
            failure: failure)
    }
}
