import ArgumentParser
import SyncControl

/// `accept-deletes`: the held deletions are real.
struct AcceptDeletesVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "accept-deletes", abstract: "Let the deletions that a guard holds back go through, once.",
        discussion: "Look at `cisternctl status` first: it shows how many there are.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE/RESOURCE")
    var scope: String

    func validate() throws {
        guard scope.split(separator: "/", omittingEmptySubsequences: false).count == 2 else {
            throw ValidationError("\"\(scope)\" is not a resource; write SOURCE/RESOURCE")
        }
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        try surroundings.answer(try await surroundings.withClient(options) { try await $0.acceptDeletes(scope: scope) }, options)
        return .success
    }
}
