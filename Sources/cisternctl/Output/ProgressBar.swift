import Foundation
import SyncControl

/// How far a `sync --wait` has come: a bar of resources, and what is being read right now. A value; the verb draws it.
struct ProgressBar {
    private(set) var total = 0
    private(set) var done = 0
    private var current: [(scope: String, text: String)] = []

    mutating func take(_ progress: SyncProgress) {
        switch progress {
        case .accepted(let resources): total = resources.count
        case .runStarted(let scope): say(scope, "started")
        case .page(let scope, let page, let records, let notModified):
            say(scope, notModified ? "page \(page), not modified" : "page \(page), \(records) records")
        case .retrying(let scope, let page, let attempt, let delaySeconds, _):
            say(scope, "page \(page), attempt \(attempt) failed, next in \(RelativeTime.text(delaySeconds))")
        case .parked(let scope, _): say(scope, "the server asks to wait")
        case .runFinished(let run):
            done = min(done + 1, max(total, done + 1))
            current.removeAll { $0.scope == run.scope.description }
        case .finished, .failed: break
        }
    }

    private mutating func say(_ scope: String, _ text: String) {
        current.removeAll { $0.scope == scope }
        current.append((scope, text))
    }

    /// The line, exactly as wide as the terminal allows. The resource that moved last is shown.
    func line(width: Int) -> String {
        let cells = 20
        let full = total == 0 ? 0 : min(cells, done * cells / total)
        var line = "[" + String(repeating: "#", count: full) + String(repeating: "-", count: cells - full) + "] \(done)/\(total)"
        if let last = current.last { line += "  \(last.scope): \(last.text)" }
        if current.count > 1 { line += " (and \(current.count - 1) more)" }
        return line.count < width ? line : line.prefix(max(0, width - 2)) + "…"
    }

    /// What a reader that is not a terminal gets for an event: a line for what matters, nothing for single pages.
    static func plainLine(_ progress: SyncProgress, doing: String = "polling") -> String? {
        switch progress {
        case .accepted(let resources): "\(doing) \(resources.count) resource\(resources.count == 1 ? "" : "s")"
        case .retrying(let scope, let page, let attempt, let delaySeconds, let reason):
            "\(scope): page \(page), attempt \(attempt) failed, next in \(RelativeTime.text(delaySeconds)): \(reason)"
        case .parked(let scope, let until): "\(scope): the server asks to wait until \(until.formatted(.iso8601))"
        case .runFinished(let run): RunText.line(run)
        case .runStarted, .page, .finished, .failed: nil
        }
    }
}
