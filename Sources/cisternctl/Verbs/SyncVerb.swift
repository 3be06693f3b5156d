import ArgumentParser
import Foundation
import SyncControl

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
            let shown = RunProgress(
                console, json: options.json, doing: "polling", none: "nothing was polled: paused, disabled, or not yet due again")
            let (runs, expected) = try await shown.follow { try await client.sync(scope: scope, full: full, progress: $0) }
            return ControlExitCode.sync(runs, expected: expected)
        }
    }
}
