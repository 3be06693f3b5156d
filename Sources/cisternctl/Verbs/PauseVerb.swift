import ArgumentParser
import SyncControl

/// `pause`: poll no more until `resume`.
struct PauseVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Poll no more until `resume`, across restarts.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE or SOURCE/RESOURCE; everything if left out.")
    var scope: String?

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        try surroundings.answer(try await surroundings.withClient(options) { try await $0.pause(scope: scope) }, options)
        return .success
    }
}
