import Foundation
import Glibc
import SyncControl
import Synchronization

/// A folder of a test's own with a daemon, its tool, servers and the database in it. Everything that was started here ends here.
final class Workshop: Sendable {
    let folder: String
    private let children = Mutex<[Child]>([])

    init() throws {
        // A socket's path has room for 107 bytes, which rules long temporary folders out.
        var parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        if parent.utf8.count > 60 { parent = "/tmp" }
        var template = Array("\(parent)/cistern-e2e-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw Child.Failure(description: "no folder in \(parent)") }
        folder = String(cString: path)
        for name in ["state", "run", "www"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
    }

    deinit { close() }

    /// Ends everything at once and removes the folder.
    func close() {
        for child in children.withLock({ $0 }) { child.signal(SIGKILL) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Programs

    /// Where `swift build` puts the programs: beside the tests, or where CISTERN_BINARIES says.
    static func binary(_ name: String) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let folder = environment["CISTERN_BINARIES"] ?? URL(fileURLWithPath: tests).deletingLastPathComponent().path
        let path = "\(folder)/\(name)"
        guard access(path, X_OK) == 0 else {
            throw Child.Failure(description: "there is no \(path): run `swift build` first, or set CISTERN_BINARIES to the folder of the programs")
        }
        return path
    }

    static var python: String { access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3" }

    private var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for name in ["NOTIFY_SOCKET", "JOURNAL_STREAM", "WATCHDOG_USEC", "CREDENTIALS_DIRECTORY"] { environment[name] = nil }
        environment["STATE_DIRECTORY"] = "\(folder)/state"
        environment["RUNTIME_DIRECTORY"] = "\(folder)/run"
        environment["SWIFT_BACKTRACE"] = "enable=no"
        environment["LIBDISPATCH_LOG"] = "NO"
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return environment
    }

    func start(_ program: String, _ arguments: [String], blockedSignals: [Int32] = []) throws -> Child {
        let child = try Child(program, arguments, environment: environment, folder: folder, blockedSignals: blockedSignals)
        children.withLock { $0.append(child) }
        return child
    }

    /// Runs a program to its end.
    func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: [String], errors: [String]) {
        let child = try start(program, arguments)
        let status = await child.end()
        // A test may run many: each has a pipe.
        children.withLock { $0.removeAll { $0 === child } }
        return (status, child.output, child.errors)
    }

    /// How long `cisternctl` takes with these arguments, in seconds, and what comes of it.
    func timed(_ arguments: String...) async throws -> (seconds: Double, status: Int32, output: [String]) {
        let child = try start(Self.binary("cisternctl"), arguments + ["--socket", "\(folder)/run/control.sock"])
        let status = await child.end()
        return ((child.lifetime ?? .zero) / .seconds(1), status, child.output)
    }

    /// Starts one of the servers under `Fixtures`.
    func server(_ script: String, _ arguments: [String] = []) async throws -> FixtureServer {
        try await FixtureServer(start(Self.python, [TestData.fixture(script)] + arguments))
    }

    // MARK: The daemon

    /// Writes the configuration made of a template under `Fixtures`.
    func configure(_ template: String, _ values: [String: String], edit: (String) -> String = { $0 }) throws {
        var text = try String(contentsOfFile: TestData.fixture(template), encoding: .utf8)
        for (name, value) in values { text = text.replacingOccurrences(of: "@\(name)@", with: value) }
        try configure(text: edit(text))
    }

    func configure(text: String) throws {
        try text.write(toFile: "\(folder)/cisternd.toml", atomically: true, encoding: .utf8)
    }

    /// Starts `cisternd` and returns when it is ready.
    func daemon() async throws -> Child {
        let daemon = try launch()
        try await daemon.line { $0.contains(MessageMark.ready) }
        return daemon
    }

    /// Starts `cisternd` and returns at once.
    func launch(blockedSignals: [Int32] = []) throws -> Child {
        try start(Self.binary("cisternd"), ["--config", "\(folder)/cisternd.toml"], blockedSignals: blockedSignals)
    }

    func control(_ arguments: String...) async throws -> (status: Int32, output: [String], errors: [String]) {
        try await run(Self.binary("cisternctl"), arguments + ["--socket", "\(folder)/run/control.sock"])
    }

    /// `cisternctl sync --wait`: the runs it came to, by the name of the resource.
    ///
    /// - Parameter isFull: everything is asked for, and not only what has changed.
    func sync(_ scope: String? = nil, isFull: Bool = false) async throws -> [String: RunReport] {
        let words = ["sync", "--wait", "--json", "--socket", "\(folder)/run/control.sock"] + (isFull ? ["--full"] : []) + (scope.map { [$0] } ?? [])
        let result = try await run(Self.binary("cisternctl"), words)
        for line in result.output {
            guard let event = try? ControlCoding.decode(SyncProgress.self, from: Data(line.utf8)) else { continue }
            if case .finished(let runs) = event { return Dictionary(uniqueKeysWithValues: runs.map { ("\($0.scope)", $0) }) }
        }
        throw Child.Failure(description: "sync --wait ended with \(result.status): \((result.output + result.errors).joined(separator: "\n"))")
    }

    // MARK: The database

    var store: String { "\(folder)/state/StoreContent/persistentStore" }

    /// The rows of a query, values joined by `|`, as any reader of the file gets them.
    func sql(_ query: String, store: String? = nil) async throws -> [String] {
        let words = ["-readonly", "-batch", "-bail", "-cmd", ".timeout 5000", store ?? self.store, query]
        let result = try await run("sqlite3", words)
        guard result.status == 0 else { throw Child.Failure(description: "\(query)\n\(result.errors.joined(separator: "\n"))") }
        return result.output
    }

    func number(_ query: String) async throws -> Int? { try await sql(query).first.flatMap { Int($0) } }

    /// What SQLite says about the file's integrity: empty if it has nothing to say.
    func damage(store: String? = nil) async throws -> [String] {
        try await sql("PRAGMA integrity_check; PRAGMA foreign_key_check;", store: store).filter { $0 != "ok" }
    }
}

/// The message ids by which the tests know a moment of the daemon's life.
enum MessageMark {
    static let started = "078b0ac9408346a9a3ca5f70defb886c"
    static let ready = "e53e4305486b4a27945dcd242526afc1"
    static let reloaded = "36a2005c57324ea3bf4a4f7e719a79fe"
    static let stopping = "1cc75df53c3548f698fe64f42963b7da"
    static let statusDump = "cfd233b309104597ac9cf0e0ed6e9e8d"
}
