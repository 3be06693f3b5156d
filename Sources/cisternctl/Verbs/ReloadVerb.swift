import ArgumentParser
import Foundation
import SyncControl

/// `reload`: read the configuration again.
struct ReloadVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Read the configuration again.",
        discussion: "With --wait: 0 if the new one is in force, 78 if it was refused; the old one then stays in force.")

    @OptionGroup var options: CommonOptions

    @Flag(help: "Return when the new configuration is in force or was refused.")
    var wait = false

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let response = try await surroundings.withClient(options) { try await $0.reload(wait: wait) }
        try surroundings.answer(response, options)
        return .success
    }
}

extension Surroundings {
    /// Prints what was done.
    func answer(_ response: ControlResponse, _ options: CommonOptions) throws {
        if options.json { try console.json(response) } else { console.out(response.message) }
    }
}
