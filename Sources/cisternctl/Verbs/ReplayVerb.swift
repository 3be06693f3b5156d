import ArgumentParser
import SyncControl

/// `replay`: map archived bodies again.
struct ReplayVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Map the bodies in the archive again, as the configuration says now. Asks no server.",
        discussion: """
            For resources with schema.raw. With --wait: 0 if all that is there was mapped and saved, 65 if a body cannot be mapped, 74 if the store cannot \
            be read or written, 75 if pages are not in the archive as they were read last, or not now.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE or SOURCE/RESOURCE; everything that has an archive if left out.")
    var scope: String?

    @Flag(help: "Return when everything is mapped and saved.")
    var wait = false

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let console = surroundings.console
        return try await surroundings.withClient(options) { client in
            guard wait else {
                let response = try await client.replay(scope: scope)
                try surroundings.answer(response, options)
                return .success
            }
            let shown = RunProgress(console, json: options.json, doing: "replaying", none: "nothing was mapped again: paused or disabled")
            let (runs, expected) = try await shown.follow { try await client.replay(scope: scope, progress: $0) }
            return ControlExitCode.replay(runs, expected: expected)
        }
    }
}
