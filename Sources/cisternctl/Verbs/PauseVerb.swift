import ArgumentParser
import SyncControl

/// `pause`: stop polling until `resume`.
struct PauseVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stop polling until `resume`, even across restarts.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE or SOURCE/RESOURCE; everything if left out.")
    var scope: String?

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        try surroundings.answer(try await surroundings.withClient(options) { try await $0.pause(scope: scope) }, options)
        return .success
    }
}

/// `resume`: the end of a pause, or of a wait that a server asked for.
struct ResumeVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Poll again after `pause`, or before the time a server asked to wait for.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE or SOURCE/RESOURCE; everything if left out.")
    var scope: String?

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        try surroundings.answer(try await surroundings.withClient(options) { try await $0.resume(scope: scope) }, options)
        return .success
    }
}
