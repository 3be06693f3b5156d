import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import TestTraits
import Testing

@testable import SyncPipeline

/// What one server sees of three sources in 24 hours with ten restarts: never more requests than configured, none before it allowed one, and none
/// without a validator that it gave. // N12
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress: on busy processors a day takes minutes"))
struct PolitenessAuditStress {
    private static let requests = 8, per = 600, burst = 3, hours = 24
    private static let paths = ["/a/x", "/a/y", "/b/x", "/b/y", "/c/x", "/c/y"]

    /// The server, with its own count.
    private final class Server: Sendable {
        private struct State {
            var random: SeededNumbers
            var sent: [Date] = []
            /// Until when it wants to be left alone, and when it said so last.
            var told = Date.distantPast
            var toldAt = Date.distantPast
            /// What it gave, and what of it is committed.
            var given: [String: String] = [:]
            var known: [String: String] = [:]
            var versions: [String: Int] = [:]
            var counts = Counts()
            var failure: String?
        }

        struct Counts {
            var all = 0, conditional = 0, told = 0, full = 0, failed = 0
        }

        private let state: Mutex<State>

        init(_ seed: Int) { state = Mutex(State(random: SeededNumbers(seed))) }

        var failure: String? { state.withLock { $0.failure } }
        var counts: Counts { state.withLock { $0.counts } }

        func commit() { state.withLock { $0.known = $0.given } }

        func answer(_ request: HTTPRequest, at now: Date) -> StubTransport.Answer {
            state.withLock { Self.answer(&$0, request.address.url.path, request.headers.first(name: "If-None-Match"), now) }
        }

        private static func answer(_ state: inout State, _ path: String, _ tag: String?, _ now: Date) -> StubTransport.Answer {
            func fail(_ words: String) { state.failure = state.failure ?? "\(now) \(path): \(words)" }
            let most = PolitenessAuditStress.requests, per = Double(PolitenessAuditStress.per)
            // A millisecond for what is rounded on the way through dates.
            state.sent.removeAll { now.timeIntervalSince($0) >= per - 0.001 }
            state.sent.append(now)
            if state.sent.count > most { fail("the \(state.sent.count). request in \(per) s, the first of which came at \(state.sent[0])") }
            if state.sent.count == most { state.counts.full += 1 }
            let beside = state.sent.count { $0 == now }
            if beside > PolitenessAuditStress.burst { fail("\(beside) requests at once") }
            // What goes out with the request that was answered so is under way, and cannot know it.
            if now > state.toldAt, now < state.told.addingTimeInterval(-0.001) { fail("\(state.told.timeIntervalSince(now)) s too early") }
            if let known = state.known[path], tag != known { fail("asked for all of it, and \(known) was known") }
            state.counts.all += 1
            if tag != nil { state.counts.conditional += 1 }
            let choice = state.random.next(upTo: 40)
            var headers: HTTPHeaders = ["Content-Type": "application/json"]
            switch choice {
            case 0, 1:
                tell([1, 40, 200, 3600][state.random.next(upTo: 4)], "Retry-After", &headers, &state, now)
                return .response(status: choice == 0 ? 429 : 503, headers: headers)
            case 2, 3:
                state.counts.failed += 1
                return .response(status: 500)
            case 4, 5:
                headers.add(name: "X-RateLimit-Remaining", value: "0")
                tell([5, 60, 250, 1800][state.random.next(upTo: 4)], "X-RateLimit-Reset", &headers, &state, now)
            case 6: state.versions[path, default: 0] += 1
            default: break
            }
            let version = state.versions[path] ?? 0, current = "\"\(path)-\(version)\""
            state.given[path] = current
            headers.add(name: "ETag", value: current)
            if tag == current { return .response(status: 304, headers: headers) }
            let key = (PolitenessAuditStress.paths.firstIndex(of: path) ?? 0) + 1
            return .response(status: 200, headers: headers, body: Array(#"[{"id": \#(key), "name": "v\#(version)"}]"#.utf8))
        }

        private static func tell(_ seconds: Int, _ name: String, _ headers: inout HTTPHeaders, _ state: inout State, _ now: Date) {
            state.counts.told += 1
            headers.add(name: name, value: "\(seconds)")
            state.told = max(state.told, now.addingTimeInterval(Double(seconds)))
            state.toldAt = now
        }
    }

    private static let toml: String = {
        let sources = ["a", "b", "c"].map { source in
            "[[source]]\nname = \"\(source)\"\nbase_url = \"https://api.example\"\n"
                + ["x", "y"].map { ScriptedAPI.resource($0).replacing("path = \"/\($0)\"", with: "path = \"/\(source)/\($0)\"") }.joined()
        }
        return """
            version = 1
            [daemon]
            contact = "test@localhost"
            start = "now"
            [defaults.schedule]
            every = "5m"
            [defaults.retry]
            attempts = 2
            [defaults.rate]
            requests = \(requests)
            per = "\(per)s"
            burst = \(burst)
            \(sources.joined())
            \(ScriptedAPI.entities())
            """
    }()

    @Test(.longComputation, .timeLimit(.minutes(60)), arguments: [1, 2]) func aDayWithTenRestartsIsPolite(seed: Int) async throws {
        let server = Server(seed), start = Date(timeIntervalSince1970: 1_735_689_600)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-audit-\(UUID().uuidString)")
        var now = start
        for process in 0...10 {
            let end = start.addingTimeInterval(Double(Self.hours * 3600 * (process + 1)) / 11)
            now = try await Self.live(server, in: folder, from: now, until: end)
            if let failure = server.failure {
                Issue.record("seed \(seed), process \(process): \(failure)")
                break
            }
        }
        try FileManager.default.removeItem(at: folder)
        // A day on which nothing happens proves nothing.
        let counts = server.counts
        #expect(counts.all > 150 && counts.conditional > 0 && counts.told > 0 && counts.full > 0 && counts.failed > 0, "\(counts)")
    }

    /// One process.
    /// - Returns: when it ended.
    private static func live(_ server: Server, in folder: URL, from start: Date, until end: Date) async throws -> Date {
        let clock = Mutex<ManualClock?>(nil)
        let fixture = try await PipelineFixture(toml, folder: folder, now: start, isArmed: true, savesAtOnce: true) { request, _ in
            // The first requests may come before the fixture is there; its clock stands still until then.
            server.answer(request, at: clock.withLock { $0 }?.wallTime ?? start)
        }
        clock.withLock { $0 = fixture.clock }
        while true {
            while !isQuiet(fixture) { await Task.yield() }
            try await fixture.pipeline.writer.written()
            server.commit()
            guard fixture.clock.wallTime < end, server.failure == nil else { break }
            let next = fixture.clock.deadlines.first.map { fixture.clock.instant.duration(to: $0) } ?? .seconds(60)
            fixture.clock.advance(by: max(min(next, fixture.clock.wallTime.duration(to: end)), .milliseconds(1)))
        }
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        return fixture.clock.wallTime
    }

    /// Whether all that runs waits for the clock, and sleeps, and what was found is committed.
    private static func isQuiet(_ fixture: PipelineFixture) -> Bool {
        let now = fixture.clock.instant
        let (wake, waits, isBusy) = fixture.pipeline.state.withLock { state in
            (
                state.machine.wakeTime, state.runs.values.map { $0.run.progress.waitsUntil ?? now },
                state.isDelivering || !state.outbox.isEmpty || state.machine.isSaving
            )
        }
        guard !isBusy, !fixture.document.hasUnsavedChanges, wake.map({ $0 > now }) ?? true, waits.allSatisfy({ $0 > now }) else { return false }
        // Who waits for its turn sleeps until the end of its run, or is woken by whoever is before it.
        return waits.isEmpty || fixture.clock.deadlines.contains { $0 > now }
    }
}
