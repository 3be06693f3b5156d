import Foundation
import SyncControl

/// A run in words.
enum RunText {
    /// `12 inserted, 3 updated`, or `nothing changed`.
    static func changes(_ run: RunReport) -> String {
        let text = run.counts.inWords
        return text.isEmpty ? "nothing changed" : text
    }

    /// One line for the end of a run.
    static func line(_ run: RunReport) -> String {
        let seconds = max(0, run.endedAt.timeIntervalSince(run.startedAt))
        let pages = run.notModifiedPages == run.pages && run.pages > 0 ? "not modified" : "\(run.pages) page\(run.pages == 1 ? "" : "s")"
        switch run.outcome {
        case .succeeded: return "\(run.scope): \(changes(run)) (\(pages), \(RelativeTime.text(seconds)))"
        default: return "\(run.scope): \(run.outcome.rawValue)\(run.error.map { ": " + $0 } ?? "") (\(pages), \(changes(run)))"
        }
    }
}
