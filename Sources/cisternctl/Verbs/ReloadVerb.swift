import ArgumentParser
import Foundation
import SyncControl
import Synchronization

/// `reload`: read the configuration again.
struct ReloadVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Read the configuration again.",
        discussion: """
            With --wait: 0 if the new one is in force, 78 if it was refused, 74 if the disk prevented it, 75 if another program did; the old one then \
            stays in force. If the database has to be brought to a changed model, --wait says how far that is and waits for its end; whoever \
            interrupts it only stops waiting.
            """)

    @OptionGroup var options: CommonOptions

    @Flag(help: "Return when the new configuration is in force or was refused; it waits at most 24 hours.")
    var wait = false

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        try surroundings.answer(try await reload(in: surroundings), options)
        return .success
    }

    private func reload(in surroundings: Surroundings) async throws -> ControlResponse {
        let console = surroundings.console, progress = Mutex(ReloadProgress()), json = options.json
        defer { if progress.withLock({ $0.hasDrawn }) { console.redraw() } }
        return try await surroundings.withClient(options) { client in
            try await client.reload(wait: wait) { words in
                if json { return }
                let isNew = progress.withLock { progress in
                    progress.hasDrawn = console.isTerminal
                    return progress.take(words)
                }
                if console.isTerminal { console.redraw(words) } else if isNew { console.error(words) }
            }
        }
    }
}

/// What has been told while a reload lasts.
struct ReloadProgress: Sendable {
    /// Whether a line on the terminal has to be taken away.
    var hasDrawn = false
    private var last = ""

    /// Whether it is another step; a larger share of the same is not, where each is a line.
    mutating func take(_ words: String) -> Bool {
        let step = words.filter { !$0.isNumber }
        defer { last = step }
        return step != last
    }
}

extension Surroundings {
    /// Prints what was done.
    func answer(_ response: ControlResponse, _ options: CommonOptions) throws {
        if options.json { try console.json(response) } else { console.out(response.message) }
    }
}
