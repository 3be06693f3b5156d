import Foundation
import GRDB
import Glibc
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import OpenCoreData
@testable import SyncPipeline

/// What two servers were asked, and what they said of when to come again.
private final class PoliteServers: Sendable {
    static let names = ["a/x", "a/y", "b/x", "b/y"]
    static let minInterval = 60.0, rounding = 0.002

    private struct State {
        var process = 0
        var now = Date.distantPast
        var isPatient = true
        /// By resource: when it was asked last, and the tags that it gave; those that are committed must be used.
        var asked: [String: Date] = [:]
        /// By resource: when a run of it began last.
        var begun: [String: Date] = [:]
        var given: [String: String] = [:]
        var known: [String: String] = [:]
        var versions: [String: Int] = [:]
        /// By server: until when it wants to be left alone.
        var told: [String: Date] = [:]
        /// What was said just now: who is on the way already cannot know it.
        var telling: [String: Date] = [:]
        var hung: [Int: (name: String, continuation: CheckedContinuation<StubTransport.Answer, any Error>)] = [:]
        var count = 0
        var conditional = 0
        var random: SeededNumbers
        var history: [String] = []
        var failure: String?
    }

    private enum Reply {
        case now(StubTransport.Answer), hang(Int)
    }

    private let state: Mutex<State>

    init(_ seed: Int, isPatient: Bool) {
        state = Mutex(State(isPatient: isPatient, random: SeededNumbers(seed)))
    }

    var hung: [String] { state.withLock { $0.hung.values.map(\.name) } }
    var failure: String? { state.withLock { state in state.failure.map { "\($0)\n  \(state.history.joined(separator: "\n  "))" } } }
    var counts: (requests: Int, conditional: Int) { state.withLock { ($0.count, $0.conditional) } }

    func note(_ words: String, at now: Date) { state.withLock { $0.history.append("\(now) \(words)") } }

    /// Everything that was said is committed.
    func committed() {
        state.withLock { state in
            state.known = state.given
            state.told.merge(state.telling, uniquingKeysWith: max)
            state.telling = [:]
        }
    }

    func nextProcess() -> Int {
        let (number, hung) = state.withLock { state in
            state.process += 1
            defer { state.hung = [:] }
            return (state.process, state.hung)
        }
        for (_, continuation) in hung.values { continuation.resume(throwing: CancellationError()) }
        return number
    }

    /// What was asked and said while a process ended, from this moment on, may be remembered or not.
    func ended(since moment: Date) {
        state.withLock { state in
            state.telling = [:]
            for name in Self.names {
                if let last = state.asked[name], last >= moment { state.asked[name] = nil }
                if let last = state.begun[name], last >= moment { state.begun[name] = nil }
                if state.given[name] != state.known[name] { (state.given[name], state.known[name]) = (nil, nil) }
            }
        }
    }

    /// A run begins: a poll of its own, however many attempts the one before made.
    func begin(_ name: String, at now: Date) {
        state.withLock { state in
            state.history.append("\(now) \(name) is polled")
            if let last = state.begun[name], now.timeIntervalSince(last) < Self.minInterval - Self.rounding {
                state.failure = state.failure ?? "\(name) was polled \(now.timeIntervalSince(last)) s after the last time"
            }
            state.begun[name] = now
        }
    }

    func change(_ name: String) { state.withLock { $0.versions[name, default: 0] += 1 } }

    /// Lets go of whoever waits.
    func release() {
        let hung = state.withLock { state in
            defer { state.hung = [:] }
            return state.hung
        }
        for (_, continuation) in hung.values { continuation.resume(throwing: FetchError(.reset, detail: "broken by the test")) }
    }

    func answer(_ request: HTTPRequest, process: Int, at now: Date) async throws -> StubTransport.Answer {
        let url = request.address.url, server = url.host.map { String($0.prefix { $0 != "." }) } ?? "", name = server + url.path
        let reply: Reply = try state.withLock { state in
            guard process == state.process else { throw CancellationError() }
            return Self.reply(&state, server, name, request.headers.first(name: "If-None-Match"), now)
        }
        guard case .hang(let id) = reply else {
            if case .now(let answer) = reply { return answer }
            throw CancellationError()
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isLate = Task.isCancelled
                state.withLock { state in
                    if isLate || process != state.process { return continuation.resume(throwing: CancellationError()) }
                    state.hung[id] = (name, continuation)
                }
            }
        } onCancel: {
            state.withLock { $0.hung.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    private static func reply(_ state: inout State, _ server: String, _ name: String, _ tag: String?, _ now: Date) -> Reply {
        func fail(_ words: String) { state.failure = state.failure ?? words }
        state.count += 1
        if tag != nil { state.conditional += 1 }
        state.history.append("\(now) \(name) is asked, \(tag ?? "whatever it is")")
        // Attempts of one run come one after the other; between runs it is their beginnings that count.
        if !state.isPatient, let last = state.asked[name], now.timeIntervalSince(last) < minInterval - rounding {
            fail("\(name) was asked \(now.timeIntervalSince(last)) s after the last time")
        }
        if let end = state.told[server], now < end.addingTimeInterval(-rounding) {
            fail("\(name) was asked \(end.timeIntervalSince(now)) s too early")
        }
        if let known = state.known[name], tag != known { fail("\(name) was asked for all of it, and \(known) was known; \(tag ?? "no tag")") }
        if state.hung.values.contains(where: { $0.name == name }) { fail("\(name) is asked twice at a time") }
        state.asked[name] = now
        switch state.random.next(upTo: 10) {
        case 0, 1:
            let seconds = [1, 30, 200, 900, 7200, 50_000][state.random.next(upTo: 6)], end = now.addingTimeInterval(Double(seconds))
            // As a date it has whole seconds.
            let isDate = state.random.chance(30), date = HTTPDate.format(end)
            let until = isDate ? Date(timeIntervalSince1970: end.timeIntervalSince1970.rounded(.down)) : end
            state.telling[server] = max(state.telling[server] ?? until, until)
            state.history.append("  \(isDate ? date : "\(seconds) s")")
            return .now(.response(status: state.random.chance(50) ? 429 : 503, headers: ["Retry-After": isDate ? date : "\(seconds)"]))
        case 2: return .now(.response(status: 500))
        case 3:
            state.count += 1
            return .hang(state.count)
        default:
            let version = state.versions[name] ?? 0, current = "\"\(name)-\(version)\""
            state.given[name] = current
            if tag == current { return .now(.response(status: 304, headers: ["ETag": current])) }
            let key = (names.firstIndex(of: name) ?? 0) + 1
            let body = #"[{"id": \#(key), "name": "v\#(version)"}]"#
            return .now(.response(status: 200, headers: ["Content-Type": "application/json", "ETag": current], body: Array(body.utf8)))
        }
    }
}

/// Processes one after the other over one folder, and what is done to them.
struct PoliteLife {
    private let servers: PoliteServers
    private let root: URL
    private let attempts: Int
    private let slots: Int
    private var process: PipelineFixture
    private var every = 10
    private var number = 0
    /// How much of what this process told was looked at.
    private var told = 0
    /// Stops, kills and reloads.
    private var ends = 0

    /// Lives these seeds, up to the first of which something is wrong, in a process of its own: it ends with it.
    static func live(_ seeds: Range<Int>) async throws {
        // Lives ask again and again whether everything rests: what others wait for comes first.
        _ = nice(10)
        var requests = 0, conditional = 0, ends = 0
        for seed in seeds {

            var random = SeededNumbers(seed)
            let attempts = random.chance(60) ? 1 : 4, servers = PoliteServers(seed + 1, isPatient: attempts > 1)
            var life = try await PoliteLife(servers, attempts, slots: [1, 2, 8][random.next(upTo: 3)])
            for _ in 0..<60 where servers.failure == nil { try await life.step(&random) }
            try await life.end()
            ends += life.ends
            requests += servers.counts.requests
            conditional += servers.counts.conditional
            guard let failure = servers.failure else { continue }
            Issue.record("seed \(seed): \(failure)")
            exit(EXIT_FAILURE)
        }
        Evidence.note("\(seeds.count) lives: \(requests) requests, \(conditional) of them conditional, \(ends) stops, kills and reloads")
        // Lives in which nothing happens prove nothing.
        try #require(requests > 20 * seeds.count && conditional > 5 * seeds.count)
    }

    private init(_ servers: PoliteServers, _ attempts: Int, slots: Int) async throws {
        self.servers = servers
        self.attempts = attempts
        self.slots = slots
        root = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-polite-\(UUID().uuidString)")
        process = try await Self.start(servers, Self.configuration(10, attempts, slots), root.appendingPathComponent("0"), now: nil)
        try await rest()
    }

    private static func configuration(_ every: Int, _ attempts: Int, _ slots: Int) -> String {
        let sources = ["a", "b"].map {
            "[[source]]\nname = \"\($0)\"\nbase_url = \"https://\($0).example\"\n" + ["x", "y"].map { ScriptedAPI.resource($0) }.joined()
        }
        return """
            version = 1
            [daemon]
            contact = "test@localhost"
            start = "now"
            max_parallel_requests = \(slots)
            [defaults.schedule]
            every = "\(every)m"
            min_interval = "\(Int(PoliteServers.minInterval))s"
            [defaults.retry]
            attempts = \(attempts)
            \(sources.joined())
            \(ScriptedAPI.entities())
            """
    }

    private static func start(_ servers: PoliteServers, _ toml: String, _ folder: URL, now: Date?) async throws -> PipelineFixture {
        let number = servers.nextProcess(), clock = Mutex<ManualClock?>(nil), start = now ?? Date(timeIntervalSince1970: 1_735_689_600)
        // The first requests may come before the fixture is there; its clock stands still until then.
        let fixture = try await PipelineFixture(toml, folder: folder, now: start, isArmed: true, savesAtOnce: true) { request, _ in
            try await servers.answer(request, process: number, at: clock.withLock { $0 }?.wallTime ?? start)
        }
        clock.withLock { $0 = fixture.clock }
        return fixture
    }

    private mutating func step(_ random: inout SeededNumbers) async throws {
        let name = PoliteServers.names[random.next(upTo: 4)], now = process.clock.wallTime
        switch random.next(upTo: 20) {
        case 0..<9: try await pass([1, 20, 31, 61, 300, 600, 3600, 20_000][random.next(upTo: 8)])
        case 9, 10: process.clock.advanceToNextDeadline()
        case 11, 12:
            servers.note("sync \(name)", at: now)
            _ = try await process.pipeline.sync(name, cause: .control, wait: false)
        case 13: servers.release()
        case 14: servers.change(name)
        case 15, 16:
            ends += 1
            every = [1, 10, 60, 600][random.next(upTo: 4)]
            servers.note("reload, every \(every) m", at: now)
            try await process.pipeline.reload(PipelineFixture.configuration(Self.configuration(every, attempts, slots)))
        case 17: try await stop()
        default: try await kill()
        }
        try await rest()
    }

    /// A run that is under way meets each of its moments: one that is cancelled while it is answered cannot know the answer.
    private mutating func pass(_ seconds: Int) async throws {
        let end = process.clock.instant.advanced(by: .seconds(seconds))
        while process.pipeline.state.withLock({ !$0.runs.isEmpty }), let next = process.clock.deadlines.first, next < end {
            process.clock.advanceToNextDeadline()
            try await rest()
        }
        process.clock.advance(by: max(process.clock.instant.duration(to: end), .zero))
    }

    private mutating func stop() async throws {
        ends += 1
        let now = process.clock.wallTime
        servers.note("another process", at: now)
        try await abandon(process)
        servers.ended(since: now)
        process = try await Self.start(servers, Self.configuration(every, attempts, slots), process.folder, now: process.clock.wallTime)
        told = 0
    }

    /// What is in the files is what the next process finds. Nobody writes meanwhile.
    private mutating func kill() async throws {
        number += 1
        ends += 1
        let next = root.appendingPathComponent("\(number)"), now = process.clock.wallTime, old = process
        servers.note("a kill, and another process", at: now)
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: process.document.storeURL.path, configuration: configuration)
        try await queue.writeWithoutTransaction { [old] database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            try Self.copy(old.folder, to: next)
            try database.execute(sql: "ROLLBACK")
        }
        try queue.close()
        _ = servers.nextProcess()
        try await abandon(old)
        process = try await Self.start(servers, Self.configuration(every, attempts, slots), next, now: now)
        told = 0
    }

    /// Files become shorter meanwhile, and FileManager waits for ever for what is gone.
    private static func copy(_ folder: URL, to other: URL) throws {
        let manager = FileManager.default
        try manager.createDirectory(at: other, withIntermediateDirectories: true)
        for name in try manager.contentsOfDirectory(atPath: folder.path) {
            let file = folder.appendingPathComponent(name), target = other.appendingPathComponent(name)
            var isFolder: ObjCBool = false
            guard manager.fileExists(atPath: file.path, isDirectory: &isFolder) else { continue }
            if isFolder.boolValue { try copy(file, to: target) } else { try Data(contentsOf: file).write(to: target) }
        }
    }

    private func abandon(_ old: PipelineFixture) async throws {
        let isDone = Mutex(false)
        async let stop: Void = { @Sendable in
            await old.pipeline.stop(grace: .zero)
            isDone.withLock { $0 = true }
        }()
        while !isDone.withLock({ $0 }) {
            await Task.yield()
            if !old.clock.deadlines.isEmpty { old.clock.advance(by: .milliseconds(100)) }
        }
        await stop
        try await old.document.close()
    }

    private func end() async throws {
        try await abandon(process)
        try FileManager.default.removeItem(at: root)
    }

    /// Waits until all wait for an answer or for the clock, and what was read is committed.
    private mutating func rest() async throws {
        var calm = 0
        while calm < 3 {
            calm = isResting ? calm + 1 : 0
            if calm == 2 { try await process.pipeline.writer.written() }
            await Task.yield()
        }
        servers.committed()
        let events = process.events
        for case .runStarted(let run) in events.dropFirst(told) { servers.begin("\(run.scope)", at: run.startedAt) }
        told = events.count
    }

    private var isResting: Bool {
        let now = process.clock.instant, hung = servers.hung
        let (wake, runs, isBusy) = process.pipeline.state.withLock { state in
            (state.machine.wakeTime, state.runs.mapValues(\.run.progress), state.isDelivering || !state.outbox.isEmpty || state.machine.isSaving)
        }
        if isBusy || process.document.hasUnsavedChanges || wake.map({ $0 <= now }) ?? false { return false }
        let waiting = process.pipeline.slots.waiting, idle = runs.filter { !hung.contains("\($0.key)") }
        let sleeping = idle.values.count { $0.waitsUntil ?? now > now }
        // One looks for a slot for all that wait for one.
        let sleepers = hung.count + sleeping + [wake != nil, waiting > 0, process.pipeline.writer.waitsUntil != nil].count { $0 }
        return idle.count == sleeping + waiting && process.clock.deadlines.count == sleepers
    }
}
