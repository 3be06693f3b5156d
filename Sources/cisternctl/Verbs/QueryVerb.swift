import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl

/// `query`: SQL on the store, read-only.
struct QueryVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Ask the store in SQL, read-only.",
        discussion: """
            Works whether cisternd runs or not, for members of the group that may read the store. Start with \
            `cisternctl query 'select * from cistern_status'`. Uses the program sqlite3.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "One or more statements.")
    var sql: String

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let store = try surroundings.configuration(options).document.path + "/StoreContent/persistentStore"
        guard surroundings.exists(store) else {
            throw ControlError(
                "there is no store at \(store), or you may not look there",
                advice: "start cisternd once; become a member of the group cistern to read", code: .unavailable)
        }
        guard let program = Self.find("sqlite3", in: surroundings.environment["PATH"] ?? "/usr/bin:/bin", exists: surroundings.exists) else {
            throw ControlError(
                "the program sqlite3 is not installed", advice: "install it (apt install sqlite3), or open \(store) read-only with another tool",
                code: .unavailable)
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = Self.arguments(store: store, sql: sql, json: options.json, isTerminal: surroundings.console.isTerminal)
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw ControlError("\(program) cannot be started: \(error)", code: .failure)
        }
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0 ? .success : .dataError
    }

    /// For people a table, for programs JSON or columns divided by tabs.
    static func arguments(store: String, sql: String, json: Bool, isTerminal: Bool) -> [String] {
        let form = json ? ["-json"] : isTerminal ? ["-box"] : ["-header", "-separator", "\t", "-list"]
        // -safe: no shell, no files but this one. What follows it cannot be an option.
        return ["-batch", "-bail", "-readonly", "-safe", "-cmd", ".timeout 5000"] + form + [store, sql]
    }

    static func find(_ program: String, in path: String, exists: (String) -> Bool) -> String? {
        path.split(separator: ":").map { "\($0)/\(program)" }.first(where: exists)
    }
}
