import ArgumentParser
import Foundation
import SyncControl

/// `version`: of the tool, and of the daemon if it answers.
struct VersionVerb: Verb {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the version of the tool and of the running daemon.")

    @OptionGroup var options: CommonOptions

    private struct Versions: Encodable {
        var cisternctl: String
        var cisternd: String?
    }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        // The daemon may not be running; that is not a failure here.
        let daemon = try? await surroundings.withClient(options) { try await $0.version() }
        if options.json {
            let versions = Versions(cisternctl: CisternVersion.current, cisternd: daemon?.version)
            try surroundings.console.json(versions)
        } else {
            surroundings.console.out("cisternctl \(CisternVersion.current)")
            surroundings.console.out(daemon.map { "cisternd \($0.version), process \($0.pid)" } ?? "cisternd does not answer")
        }
        return .success
    }
}
