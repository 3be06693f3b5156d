import ArgumentParser
import Foundation
import SyncControl

/// `status`: what is current and what is not. Exit status 75 if anything is not.
struct StatusVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of each resource, its age, its next poll, and what is wrong.",
        discussion: "Ends with 0 if everything is current, 75 if anything is degraded or was never fetched.")

    @OptionGroup var options: CommonOptions

    @Flag(help: "Print again every two seconds until interrupted.")
    var watch = false

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        try await surroundings.withClient(options) { client in
            while true {
                let snapshot = try await client.status()
                try show(snapshot, surroundings.console)
                guard watch else { return ControlExitCode.status(snapshot) }
                try await Task.sleep(for: .seconds(2))
            }
        }
    }

    private func show(_ snapshot: StatusSnapshot, _ console: Console) throws {
        if options.json {
            try console.json(snapshot, pretty: !watch)
            return
        }
        if watch { console.clear() }
        StatusTable(snapshot: snapshot).show(on: console)
    }
}
