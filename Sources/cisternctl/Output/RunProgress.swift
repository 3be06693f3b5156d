import SyncControl
import Synchronization

/// What a verb shows of runs that it waits for.
struct RunProgress: Sendable {
    private let console: Console
    private let json: Bool
    private let doing: String
    private let none: String

    /// - Parameters:
    ///   - doing: what is done to resources, in one word.
    ///   - none: what is said where nothing ran.
    init(_ console: Console, json: Bool, doing: String, none: String) {
        self.console = console
        self.json = json
        self.doing = doing
        self.none = none
    }

    /// Shows what `body` is told until it has ended.
    ///
    /// - Returns: the runs, and how many resources were to run.
    func follow(
        _ body: (@Sendable (SyncProgress) -> Void) async throws -> [RunReport]
    ) async throws -> (runs: [RunReport], expected: Int) {
        let bar = Mutex(ProgressBar())
        let runs = try await body { progress in
            bar.withLock { $0.take(progress) }
            draw(progress, bar.withLock { $0 })
        }
        let expected = bar.withLock { $0.total }
        if json { return (runs, expected) }
        if console.isTerminal { console.redraw() }
        if runs.isEmpty {
            console.out(none)
        } else if console.isTerminal {
            for run in runs { console.out(RunText.line(run)) }
        }
        return (runs, expected)
    }

    private func draw(_ progress: SyncProgress, _ bar: ProgressBar) {
        if json {
            // An event of strings and numbers always has a JSON form.
            try? console.json(progress)
        } else if console.isTerminal {
            console.redraw(bar.line(width: console.width))
        } else if let line = ProgressBar.plainLine(progress, doing: doing) {
            console.out(line)
        }
    }
}
