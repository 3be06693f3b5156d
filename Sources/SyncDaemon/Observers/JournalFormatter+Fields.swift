import Foundation
import SyncPipeline
import Systemd

extension JournalFormatter {
    static func make(_ pairs: [(String, String)]) -> [JournalField] {
        pairs.compactMap { JournalField($0.0, $0.1) }
    }

    static func fields(_ scope: ResourceScope, _ run: UUID?, _ more: [(String, String)] = []) -> [JournalField] {
        var pairs = [("CISTERN_SOURCE", scope.source), ("CISTERN_RESOURCE", scope.resource)]
        if let partition = scope.partition { pairs.append(("CISTERN_PARTITION", partition)) }
        // An id128 has no dashes.
        if let run { pairs.append(("CISTERN_RUN", run.uuidString.replacing("-", with: "").lowercased())) }
        return make(pairs + more)
    }

    static func fields(_ report: RunReport) -> [JournalField] {
        var pairs: [(String, String)] = [
            ("CISTERN_CAUSE", report.cause.rawValue), ("CISTERN_OUTCOME", report.outcome.rawValue), ("CISTERN_PAGES", "\(report.pages)"),
            ("CISTERN_BYTES", "\(report.bytes)"),
            ("CISTERN_DURATION_USEC", "\(Int64(max(0, report.endedAt.timeIntervalSince(report.startedAt)) * 1e6))"),
        ]
        if let status = report.httpStatus { pairs.append(("CISTERN_HTTP_STATUS", "\(status)")) }
        if let next = report.nextPollAt { pairs.append(("CISTERN_NEXT_POLL_AT", time(next))) }
        return fields(report.scope, report.run, pairs + counts(report.counts))
    }

    static func counts(_ counts: RecordCounts) -> [(String, String)] {
        RecordCounts.kinds.map { ("CISTERN_\($0.name.uppercased())", "\(counts[keyPath: $0.path])") }
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    static func time(_ date: Date) -> String { date.formatted(.iso8601) }

    static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
