import Foundation
import SyncControl

/// A run in words.
enum RunText {
    /// `12 inserted, 3 updated`, or `nothing changed`.
    static func changes(_ run: RunSummary) -> String {
        let parts = [(run.inserted, "inserted"), (run.updated, "updated"), (run.deleted, "deleted"), (run.quarantined, "set aside")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return parts.isEmpty ? "nothing changed" : parts.joined(separator: ", ")
    }

    /// One line for the end of a run.
    static func line(_ run: RunSummary) -> String {
        let seconds = max(0, run.endedAt.timeIntervalSince(run.startedAt))
        let pages = run.notModifiedPages == run.pages && run.pages > 0 ? "not modified" : "\(run.pages) page\(run.pages == 1 ? "" : "s")"
        switch run.outcome {
        case "succeeded": return "\(run.scope): \(changes(run)) (\(pages), \(RelativeTime.text(seconds)))"
        default: return "\(run.scope): \(run.outcome)\(run.error.map { ": " + $0 } ?? "") (\(pages), \(changes(run)))"
        }
    }
}
