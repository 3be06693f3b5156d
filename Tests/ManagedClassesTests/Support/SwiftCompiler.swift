import Foundation

/// The compiler that these tests were built with, as far as it can be found, and what reads its object files.
struct SwiftCompiler {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let swiftc: URL
    let nm: URL

    static let found: SwiftCompiler? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders =
            path.split(separator: ":").map(String.init) + ["/opt/swift/usr/bin", "/usr/libexec/swift/bin", "/usr/local/swift/usr/bin", "/usr/bin"]
        func tool(_ name: String) -> URL? {
            folders.map { URL(fileURLWithPath: $0).appending(path: name) }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
        }
        guard let swiftc = tool("swiftc"), let nm = tool("nm") else { return nil }
        return SwiftCompiler(swiftc: swiftc, nm: nm)
    }()

    @discardableResult
    func compile(_ arguments: [String], in folder: URL) throws -> String { try Self.run(swiftc, arguments, in: folder) }

    /// Builds a module, and a library of it.
    func build(_ module: String, _ files: [String], options: [String] = [], in folder: URL) throws {
        try compile(
            options + [
                "-I", ".", "-parse-as-library", "-emit-module", "-emit-library", "-static", "-package-name", "p", "-module-name", module, "-o",
                "lib\(module).a",
            ] + files, in: folder)
    }

    /// The symbols of an object file that somebody else has to define.
    func undefinedSymbols(of object: String, in folder: URL) throws -> Set<String> {
        let lines = try Self.run(nm, ["-u", object], in: folder).split(separator: "\n")
        return Set(lines.compactMap { $0.split(separator: " ").last.map(String.init) })
    }

    @discardableResult
    static func run(_ program: URL, _ arguments: [String], in folder: URL) throws -> String {
        // Into files: a pipe that nobody empties stops whoever fills it.
        let output = folder.appending(path: "output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let handle = try FileHandle(forWritingTo: output), process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        try handle.close()
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(program.lastPathComponent) \(arguments.joined(separator: " ")): \(text)")
        }
        return text
    }
}

/// A folder that is gone with its last user.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "classes-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    @discardableResult
    func write(_ text: String, to path: String) throws -> URL {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file
    }
}
