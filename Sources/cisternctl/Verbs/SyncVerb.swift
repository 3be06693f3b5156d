import ArgumentParser
import Foundation
import SyncControl
import Synchronization

/// `sync`: poll now.
struct SyncVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Poll now, within the limits of the servers and of the configuration.",
        discussion: "With --wait: 0 if everything was polled and saved, 69 remote down, 75 not now, 76 bad answers, 77 credentials refused.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE or SOURCE/RESOURCE; everything if left out.")
    var scope: String?

    @Flag(help: "Forget what is known about pages that have not changed, and fetch everything.")
    var full = false

    @Flag(help: "Return when everything is fetched and saved.")
    var wait = false

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let console = surroundings.console
        return try await surroundings.withClient(options) { client in
            guard wait else {
                let response = try await client.sync(scope: scope, full: full)
                try surroundings.answer(response, options)
                return .success
            }
            let bar = Mutex(ProgressBar())
            let json = options.json
            let runs = try await client.sync(scope: scope, full: full) { progress in
                bar.withLock { $0.take(progress) }
                Self.draw(progress, bar.withLock { $0 }, console, json: json)
            }
            let expected = bar.withLock { $0.total }
            if !json {
                if console.isTerminal { console.redraw() }
                if runs.isEmpty {
                    console.out("nothing was polled: paused, disabled, or not yet due again")
                } else if console.isTerminal {
                    for run in runs { console.out(RunText.line(run)) }
                }
            }
            return ControlExitCode.sync(runs, expected: expected)
        }
    }

    private static func draw(_ progress: SyncProgress, _ bar: ProgressBar, _ console: Console, json: Bool) {
        if json {
            // An event of strings and numbers always has a JSON form.
            try? console.json(progress)
        } else if console.isTerminal {
            console.redraw(bar.line(width: console.width))
        } else if let line = ProgressBar.plainLine(progress) {
            console.out(line)
        }
    }
}
