import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl

/// `query`: SQL on the store, read-only.
struct QueryVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Query the store in SQL, read-only.",
        discussion: """
            Works whether cisternd runs or not, for members of the group that may read the store. Start with \
            `cisternctl query 'select * from cistern_status'`. Uses the program sqlite3. On a terminal values are printed without their control \
            characters; into a pipe or a file they go as they are.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "One or more statements.")
    var sql: String

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        let store = try surroundings.configuration(options).document.path + "/StoreContent/persistentStore"
        guard surroundings.exists(store) else {
            throw ControlError(
                "there is no store at \(store), or you may not read it",
                advice: "start cisternd once; to read the store, join the group cistern", code: .unavailable)
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
        let console = surroundings.console
        // Values came from servers. A terminal gets them by way of the console; a program gets them as they are.
        let output = console.isTerminal ? Pipe() : nil, errors = Pipe()
        if let output { process.standardOutput = output }
        process.standardError = errors
        do {
            try process.run()
        } catch {
            throw ControlError("\(program) cannot be started: \(error)", code: .failure)
        }
        let isJSON = options.json
        async let shown: Void = Self.forward(output) { isJSON ? console.jsonPart($0) : console.part($0) }
        async let complained: Void = Self.forward(errors) { console.errorPart($0) }
        _ = await (shown, complained)
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0 ? .success : .dataError
    }

    /// Forwards what comes through the pipe, in whole lines unless they are too long, until it ends.
    private static func forward(_ pipe: Pipe?, to show: @escaping @Sendable (String) -> Void) async {
        guard let file = pipe?.fileHandleForReading else { return }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var rest: [UInt8] = []
                while case let data = file.availableData, !data.isEmpty {
                    rest += data
                    let end = Self.end(of: rest)
                    if end > 0 { show(String(decoding: rest[..<end], as: UTF8.self)) }
                    rest.removeFirst(end)
                }
                if !rest.isEmpty { show(String(decoding: rest, as: UTF8.self)) }
                continuation.resume()
            }
        }
    }

    private static let longestLine = 1 << 20

    /// Up to where it can be shown: its last line break, or the last character that is whole.
    static func end(of bytes: [UInt8]) -> Int {
        if let newline = bytes.lastIndex(of: UInt8(ascii: "\n")) { return newline + 1 }
        guard bytes.count > longestLine else { return 0 }
        return bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.count
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
