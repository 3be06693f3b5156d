import Foundation
import Glibc
import Logging
import NIOCore
import SyncConfiguration
import SyncControl
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

/// The server on a real socket, with a pipeline that records, asked by the real client.
@Suite(.serialized) struct ControlServerTests {
    private struct Bench {
        let pipeline = FakePipeline()
        let hub = EventHub()
        let lifeCycle: DaemonLifeCycle
        let actions: AsyncStream<DaemonState.Action>
        let server: ControlServer
        let path: String
        let client: ControlClient

        init(
            passed: Bool = false, idleTimeout: TimeAmount = .seconds(300), quota: ConnectionQuota = ConnectionQuota(),
            text: String = TestConfiguration.text
        ) throws {
            let reader = ConfigurationReader(path: "/c/cisternd.toml", files: ConfigurationTexts(["/c/cisternd.toml": text]))
            let reading = reader.read()
            let configuration = try reader.configuration()
            let (actions, input) = AsyncStream<DaemonState.Action>.makeStream()
            self.actions = actions
            lifeCycle = DaemonLifeCycle(
                reading: reading, configuration: configuration, version: "1.2.3", watchdogTimeout: .seconds(60),
                recorder: StatusRecorder(configuration: configuration, now: { Example.start }), actions: input, now: { Example.start })
            lifeCycle.tell(.started)
            path = NSTemporaryDirectory() + "cistern-\(UUID().uuidString.prefix(8)).sock"
            let made = try ControlListener(path: path)
            let listener = passed ? ControlListener(passed: made.descriptor) : made
            let slot = EngineSlot(DaemonEngine(document: FakeDocument(), pipeline: pipeline))
            let backups = BackupRunner(slot, configuration.store, version: "1.2.3", clock: SystemClock(), observe: { _ in })
            let control = DaemonControl(lifeCycle: lifeCycle, pipeline: pipeline, hub: hub, backups: backups)
            server = ControlServer(
                listener: listener, routes: ControlRoutes(backend: control), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                idleTimeout: idleTimeout, quota: quota)
            client = .patient(path)
        }
    }

    private func withBench(
        passed: Bool = false, idleTimeout: TimeAmount = .seconds(300), quota: ConnectionQuota = ConnectionQuota(),
        text: String = TestConfiguration.text, _ body: (Bench) async throws -> Void
    ) async throws {
        let bench = try Bench(passed: passed, idleTimeout: idleTimeout, quota: quota, text: text)
        try await bench.server.start()
        do {
            try await body(bench)
        } catch {
            await bench.client.shutdown()
            await bench.server.stop()
            throw error
        }
        await bench.client.shutdown()
        await bench.server.stop()
        unlink(bench.path)
    }

    private func failure<Answer>(_ body: () async throws(ControlError) -> Answer) async -> ControlError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "GET /v1/status HTTP/1.1\r\nHost: x\r\nX: ", "GET /v1/version HTTP/1.1\r\nHost: x\r\n\r\n"])
    func aConnectionOnWhichNothingIsAskedForIsClosed(_ beginning: String) async throws {
        try await withBench(idleTimeout: .milliseconds(20)) { bench in
            let socket = try TestSocket.connect(bench.path)
            socket.send(beginning)
            // What was asked for is answered; then, or at once, the end comes. Without the time-out this waits for ever.
            while !socket.receive().isEmpty {}
        }
    }

    @Test func moreConnectionsThanThereIsRoomForAreClosed() async throws {
        try await withBench(quota: ConnectionQuota(total: 100, ofOneUser: 8)) { bench in
            var open: [TestSocket] = []
            for _ in 0..<8 {
                open.append(try TestSocket.connect(bench.path))
                open.last?.send("GET /v1/version HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(open.last?.receive().hasPrefix("HTTP/1.1 200") == true)
            }
            for _ in 0..<50 { #expect(try TestSocket.connect(bench.path).receive().isEmpty) }
            open[0].send("GET /v1/version HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(open[0].receive().hasPrefix("HTTP/1.1 200"), "who is there already is served")
        }
    }

    @Test func versionAndStatusAreAnswered() async throws {
        try await withBench { bench in
            let version = try await bench.client.version()
            #expect(version == ControlVersion(name: "cisternd", version: "1.2.3", pid: getpid()))
            let status = try await bench.client.status()
            #expect(status.resources.map(\.scope) == [Example.countries, Example.languages])
            #expect(status.daemon.state == "ready")
            #expect(status.daemon.watchdog == .init(enabled: true, intervalSeconds: 60))
            #expect(status.generatedAt == Example.start)
        }
    }

    @Test func theRunningConfigurationIsShownWithItsOrigins() async throws {
        try await withBench { bench in
            let configuration = try await bench.client.configuration()
            #expect(configuration.generation == 1)
            #expect(configuration.files == ["/c/cisternd.toml"])
            #expect(configuration.toml.contains("/c/cisternd.toml:4"))
        }
    }

    @Test func aPollIsHandedOnAndAnsweredAtOnce() async throws {
        try await withBench { bench in
            let response = try await bench.client.sync(scope: "iso/countries", full: true)
            #expect(response.message == "iso/countries will be polled, within the limits.")
            #expect(bench.pipeline.calls == [.sync("iso/countries", .control, full: true, wait: false)])
        }
    }

    @Test func aWaitingPollStreamsItsProgress() async throws {
        try await withBench { bench in
            let report = Example.report(counts: Example.counts(200))
            let hub = bench.hub
            bench.pipeline.answer {
                $0.onSync = {
                    hub.send(Example.started())
                    hub.send(Example.page(1))
                    hub.send(Example.page(1, ResourceScope(source: "other", resource: "one")))
                    hub.send(Example.page(2))
                    hub.send(.runFinished(report))
                    return [report]
                }
            }
            let lines = ProgressList()
            let runs = try await bench.client.sync(scope: "iso/countries", full: false) { lines.append($0) }
            #expect(runs == [report])
            #expect(
                lines.all == [
                    .accepted(resources: ["iso/countries"]), .runStarted(scope: "iso/countries"),
                    .page(scope: "iso/countries", page: 1, records: 100, notModified: false),
                    .page(scope: "iso/countries", page: 2, records: 200, notModified: false), .runFinished(report),
                    .finished(runs: [report]),
                ])
        }
    }

    @Test func aReplayIsOfTheResourcesThatKeepBodies() async throws {
        try await withBench(text: TestConfiguration.text + "\n[defaults.schema]\nraw = \"last\"\n") { bench in
            let response = try await bench.client.replay(scope: "iso/countries")
            #expect(response.message == "The archived bodies of iso/countries will be mapped again; no server is asked.")
            let report = Example.report(counts: Example.counts(updated: 2))
            bench.pipeline.answer { $0.onSync = { [report] } }
            let lines = ProgressList()
            #expect(try await bench.client.replay(scope: "iso/countries") { lines.append($0) } == [report])
            #expect(lines.all == [.accepted(resources: ["iso/countries"]), .finished(runs: [report])])
            #expect(bench.pipeline.calls == [.replay("iso/countries", wait: false), .replay("iso/countries", wait: true)])
        }
    }

    @Test func withoutAnArchiveAReplayIsRefused() async throws {
        try await withBench { bench in
            let client = bench.client
            let error = await failure { () async throws(ControlError) in try await client.replay(scope: "iso/countries") }
            #expect(error?.code == .usage && error?.error.hasPrefix("no bodies are kept of iso/countries; write schema") == true, "\(error as Any)")
            #expect(bench.pipeline.calls.isEmpty)
        }
    }

    @Test func aPollThatFailsEndsItsStreamWithTheReason() async throws {
        try await withBench { bench in
            bench.pipeline.answer { $0.onSync = { throw SyncError.stopping } }
            let client = bench.client
            let error = await failure { () async throws(ControlError) in try await client.sync(scope: nil, full: false) { _ in } }
            #expect(error?.code == .unavailable)
            #expect(error?.error == "cisternd is stopping")
        }
    }

    @Test func anUnknownScopeIsNamedWithTheKnownOnes() async throws {
        try await withBench { bench in
            let client = bench.client
            let error = await failure { () async throws(ControlError) in try await client.sync(scope: "iso/contries", full: false) }
            #expect(error?.code == .usage)
            #expect(
                error?.error
                    == "there is no source or resource \"iso/contries\"; the configuration has iso/countries, iso/languages")
            #expect(bench.pipeline.calls.isEmpty)
        }
    }

    @Test func pausedResourcesAreNotExpected() async throws {
        try await withBench { bench in
            bench.pipeline.answer { $0.resources[1] = ResourceStatus(Example.languages, .paused) }
            let lines = ProgressList()
            _ = try await bench.client.sync(scope: nil, full: false) { lines.append($0) }
            #expect(lines.all.first == .accepted(resources: ["iso/countries"]))
        }
    }

    @Test func pauseResumeAcceptedDeletionsAndResetsReachThePipeline() async throws {
        try await withBench { bench in
            _ = try await bench.client.pause(scope: "iso")
            _ = try await bench.client.resume(scope: nil)
            _ = try await bench.client.acceptDeletes(scope: "iso/countries")
            let answer = try await bench.client.reset(scope: "iso", [.cursor, .validators])
            #expect(answer.message == "The cursor and validators of iso are forgotten; the next run does without.")
            #expect(
                bench.pipeline.calls == [
                    .pause("iso"), .resume(nil), .acceptDeletes("iso/countries"), .reset("iso", [.cursor, .validators]),
                ])
        }
    }

    @Test func theQuarantineIsListedUpToTheLimit() async throws {
        try await withBench { bench in
            let records = (0..<3).map { (number: Int) in
                QuarantineEntry(
                    digest: "r\(number)", scope: Example.countries, run: 1, page: 1, record: number, reason: "no key", seenAt: Example.start)
            }
            bench.pipeline.answer { $0.records = records }
            let two = try await bench.client.quarantine(limit: 2)
            #expect(two == Array(records.prefix(2)))
            let last = try await bench.client.quarantine(limit: 2, skip: 2)
            #expect(last == [records[2]])
            let named = try await bench.client.quarantine(id: "r1")
            #expect(named == [records[1]])
            let all = try await bench.client.quarantine()
            #expect(all == records)
        }
    }

    @Test func aReloadIsAskedOfTheLifeCycle() async throws {
        try await withBench { bench in
            _ = try await bench.client.reload(wait: false)
            var actions = bench.actions.makeAsyncIterator()
            #expect(await actions.next() == .announceReady)
            #expect(await actions.next() == .reload)
        }
    }

    @Test func whileStoppingNothingIsBegun() async throws {
        try await withBench { bench in
            bench.lifeCycle.tell(.signal(.terminate))
            let client = bench.client
            #expect(await failure { () async throws(ControlError) in try await client.reload(wait: true) }?.code == .unavailable)
            #expect(await failure { () async throws(ControlError) in try await client.sync(scope: nil, full: false) }?.code == .unavailable)
            let status = try await client.status()
            #expect(status.daemon.state == "stopping")
        }
    }

    @Test func wrongRoutesAndMethodsAreExplained() async throws {
        try await withBench { bench in
            let (unknown, unknownBody) = try await RawRequest.send("GET", "/v1/stat", socket: bench.path)
            #expect(unknown == 404)
            #expect(unknownBody.contains(#""error":"there is no route GET /v1/stat""#))
            let (wrong, wrongBody) = try await RawRequest.send("GET", "/v1/sync", socket: bench.path)
            #expect(wrong == 405)
            #expect(wrongBody == #"{"advice":"use POST /v1/sync","code":64,"error":"GET /v1/sync is not supported"}"# + "\n")
            let (bad, badBody) = try await RawRequest.send("POST", "/v1/sync?ful=1", socket: bench.path)
            #expect(bad == 400)
            #expect(badBody.contains("it takes scope, full, wait"))
        }
    }

    @Test func aPassedSocketIsUsedAndLeftBehind() async throws {
        let bench = try Bench(passed: true)
        try await bench.server.start()
        #expect(try await bench.client.version().version == "1.2.3")
        await bench.client.shutdown()
        await bench.server.stop()
        #expect(access(bench.path, F_OK) == 0)
        unlink(bench.path)
    }

    @Test func aStopEndsOpenConnectionsAndRemovesTheSocket() async throws {
        let bench = try Bench()
        try await bench.server.start()
        #expect(try await bench.client.version().version == "1.2.3")
        // The client keeps its connection; the server does not wait for it.
        await bench.server.stop()
        #expect(access(bench.path, F_OK) != 0)
        let client = bench.client
        #expect(await failure { () async throws(ControlError) in try await client.version() }?.code == .unavailable)
        await bench.client.shutdown()
    }

    @Test func aStopLetsAnOpenStreamSayItsLastLine() async throws {
        let bench = try Bench()
        try await bench.server.start()
        let gate = Gate()
        let begun = Gate()
        bench.pipeline.answer {
            $0.onSync = {
                begun.open()
                await gate.wait()
                return [Example.report()]
            }
        }
        let client = bench.client
        async let runs = client.sync(scope: "iso/countries", full: false) { _ in }
        await begun.wait()
        async let stopped: Void = bench.server.stop(grace: .seconds(60))
        gate.open()
        let summaries = try await runs
        #expect(summaries == [Example.report()])
        await stopped
        await client.shutdown()
    }
}
