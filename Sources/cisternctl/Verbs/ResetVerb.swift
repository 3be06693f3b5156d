import ArgumentParser
import SyncControl

/// `reset`: have something forgotten of a resource.
struct ResetVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Forget how far a resource has come, what is known of its pages, or that its server failed.",
        discussion: """
            The rows stay: after a reset nothing is removed that the next complete run still lists. A run that is under way is cut off, and another one \
            follows as soon as the limits allow; otherwise the next run comes when it is due (`cisternctl sync` asks for it now). A wait that a server \
            asked for is ended by `cisternctl resume`.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "SOURCE or SOURCE/RESOURCE")
    var scope: String

    @Flag(help: "Forget how far the runs have come that ask for what has changed: the next one asks for everything.")
    var cursor = false

    @Flag(help: "Forget what is known of pages: the next run asks without conditions, and maps all records again.")
    var validators = false

    @Flag(help: "Forget that the server failed run after run: it is asked as configured again.")
    var breaker = false

    private var parts: Set<ResetPart> {
        var parts: Set<ResetPart> = []
        if cursor { parts.insert(.cursor) }
        if validators { parts.insert(.validators) }
        if breaker { parts.insert(.breaker) }
        return parts
    }

    func validate() throws {
        if parts.isEmpty { throw ValidationError("nothing is to be forgotten; write --cursor, --validators or --breaker") }
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        try surroundings.answer(try await surroundings.withClient(options) { try await $0.reset(scope: scope, parts) }, options)
        return .success
    }
}
