import Foundation
import Glibc
import Synchronization

/// A process that a test started. Its lines of output can be waited for, and it is ended by its number, at the latest with this object.
final class Child: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct Watcher {
        let test: @Sendable (String) -> Bool
        let continuation: CheckedContinuation<String?, Never>
    }

    private struct State {
        /// Standard output, and standard error.
        var output: [String] = []
        var errors: [String] = []
        /// How many lines of both, in the order in which they came, were waited for already.
        var lines: [String] = []
        var read = 0
        var openStreams = 2
        var status: Int32?
        var ended: ContinuousClock.Instant?
        var watcher: Watcher?
        var waiters: [CheckedContinuation<Int32, Never>] = []
    }

    private static let spawning = NSLock()

    let program: String
    let pid: Int32
    private let started = ContinuousClock.now
    private let input: Int32
    private let state = Mutex(State())

    /// - Parameter blockedSignals: signals that are blocked in the process from its first instruction on, so that they wait.
    init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment,
        folder: String? = nil, blockedSignals: [Int32] = []
    ) throws {
        self.program = program
        // One at a time: no other child may get hold of these pipes.
        Self.spawning.lock()
        defer { Self.spawning.unlock() }
        let (inputEnds, outputEnds, errorEnds) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputEnds.read, 0)
        posix_spawn_file_actions_adddup2(&actions, outputEnds.write, 1)
        posix_spawn_file_actions_adddup2(&actions, errorEnds.write, 2)
        // Nothing else: Foundation's Process, in another test at the same time, tells the end of its child by a socket that must not live on in this one.
        _ = closeFrom(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in blockedSignals { sigaddset(&mask, signal) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // `env` becomes the program, so that the number is the program's.
        var words = (["env", "--chdir=\(folder ?? ".")", program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, "env", &actions, &attributes, &words, &variables)
        for descriptor in [inputEnds.read, outputEnds.write, errorEnds.write] { close(descriptor) }
        input = inputEnds.write
        self.pid = pid
        guard code == 0 else {
            for descriptor in [input, outputEnds.read, errorEnds.read] { close(descriptor) }
            throw Failure(description: "\(program) cannot be started: \(String(cString: strerror(code)))")
        }
        read(outputEnds.read) { $0.output.append($1) }
        read(errorEnds.read) { $0.errors.append($1) }
        Thread.detachNewThread { [self] in reap() }
    }

    deinit {
        close(input)
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw Failure(description: "no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private func read(_ descriptor: Int32, _ take: @escaping @Sendable (inout State, String) -> Void) {
        Thread.detachNewThread { [self] in
            guard let file = fdopen(descriptor, "r") else { return }
            var buffer: UnsafeMutablePointer<CChar>?
            var capacity = 0
            while getline(&buffer, &capacity, file) > 0, let text = buffer {
                let line = String(cString: text).trimmingCharacters(in: .newlines)
                step { state in
                    take(&state, line)
                    state.lines.append(line)
                }
            }
            free(buffer)
            fclose(file)
            step { $0.openStreams -= 1 }
        }
    }

    /// Waits for the end without taking it, so that the number stays ours until everybody knows.
    private func reap() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        step { state in
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            state.ended = .now
            state.status = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
        }
    }

    private func step(_ change: (inout State) -> Void) {
        let (found, ended) = state.withLock { state in
            change(&state)
            return (Self.match(&state), Self.ended(&state))
        }
        if let (continuation, line) = found { continuation.resume(returning: line) }
        for (continuation, status) in ended { continuation.resume(returning: status) }
    }

    /// The watcher whose line has come, or never will.
    private static func match(_ state: inout State) -> (CheckedContinuation<String?, Never>, String?)? {
        guard let watcher = state.watcher else { return nil }
        while state.read < state.lines.count {
            let line = state.lines[state.read]
            state.read += 1
            guard watcher.test(line) else { continue }
            state.watcher = nil
            return (watcher.continuation, line)
        }
        guard state.openStreams == 0 else { return nil }
        state.watcher = nil
        return (watcher.continuation, nil)
    }

    private static func ended(_ state: inout State) -> [(CheckedContinuation<Int32, Never>, Int32)] {
        guard let status = state.status, state.openStreams == 0 else { return [] }
        defer { state.waiters = [] }
        return state.waiters.map { ($0, status) }
    }

    var output: [String] { state.withLock { $0.output } }
    var errors: [String] { state.withLock { $0.errors } }
    /// How long the process lived, as the thread knows that waited for it; nil while it lives. A test hears of the end later where others are at work.
    var lifetime: Duration? { state.withLock { $0.ended }.map { $0 - started } }
    var isRunning: Bool { state.withLock { $0.status == nil } }

    /// The next line, after those that were waited for already, of which `test` is true. Throws if the output ends before.
    @discardableResult
    func line(where test: @escaping @Sendable (String) -> Bool) async throws -> String {
        let line = await withCheckedContinuation { continuation in
            step { $0.watcher = Watcher(test: test, continuation: continuation) }
        }
        guard let line else {
            let last = state.withLock { $0.lines.suffix(10).joined(separator: "\n") }
            throw Failure(description: "\(program) ended before the line that was waited for; its last words:\n\(last)")
        }
        return line
    }

    /// The exit status, or 128 and the signal, when the process has ended and everything it wrote was read.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in step { $0.waiters.append(continuation) } }
    }

    func send(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    /// Sends a signal, if the process is still there.
    func signal(_ number: Int32) {
        state.withLock { state in
            if state.status == nil { kill(pid, number) }
        }
    }

    /// Bytes of memory that the process has in no file.
    func anonymousMemory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        guard let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Failure(description: "the memory of \(program) is not told: \(text)")
        }
        return kilobytes << 10
    }
}

/// Of the C library, which shows it only to those who ask for GNU's extensions: the process closes every descriptor from that number on.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func closeFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ from: Int32) -> Int32
