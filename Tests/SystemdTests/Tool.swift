import Foundation

/// A program that a test runs, and what came of it.
struct Tool {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Whether a program of that name is installed.
    static func isInstalled(_ name: String) -> Bool {
        ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }

    /// Runs it to its end, which may take minutes: on a thread of its own, so that the tests beside it go on. A status above 128 is a signal's.
    static func run(_ arguments: [String]) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try runHere(arguments) }) }
        }
    }

    /// Runs it to its end on this thread: what takes a moment.
    static func runHere(_ arguments: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        // Into files: two pipes read one after the other could fill up.
        let folder = FileManager.default.temporaryDirectory.appending(path: "tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (output, errors) = (folder.appending(path: "out"), folder.appending(path: "err"))
        try Data().write(to: output)
        try Data().write(to: errors)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        let signalled = process.terminationReason == .uncaughtSignal
        return Outcome(
            status: process.terminationStatus + (signalled ? 128 : 0),
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }
}
