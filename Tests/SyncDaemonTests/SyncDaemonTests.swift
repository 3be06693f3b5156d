import Foundation
import Glibc
import SyncConfiguration
import SyncControl
import Synchronization
import Systemd
import Testing

import enum SyncDaemon.ExitStatus

@testable import SyncDaemon
@testable import SyncPipeline

/// The whole life of a daemon, with a pipeline that records. Signals are delivered by hand; the socket is a real one.
@Suite(.timeLimit(.minutes(60))) struct SyncDaemonTests {
    private let bench = DaemonBench()

    private func withDaemon(_ body: (SyncDaemon) async throws -> Void) async throws -> ExitStatus { try await bench.run(body) }

    @Test func aDaemonSaysReadyWhenTheSocketAnswersAndStopsClean() async throws {
        let status = try await withDaemon { _ in
            let client = bench.client()
            let snapshot = try await client.status()
            #expect(snapshot.daemon.state == "ready")
            await client.shutdown()
        }
        #expect(status == .success)
        #expect(bench.pipeline.calls == [.start, .stop(grace: .seconds(20))])
        #expect(bench.document.closings.withLock { $0 } == 1)
        #expect(access(bench.socket, F_OK) != 0)
        let texts = bench.sent.all.map(\.text)
        #expect(texts.contains { $0.hasPrefix("READY=1\nSTATUS=Ready: 1 source") && $0.hasSuffix("MAINPID=\(getpid())") })
        #expect(texts.contains("STOPPING=1\nSTATUS=Stopping: saving"))
        #expect(bench.entries.all.compactMap(\.messageID) == [.started, .ready, .stopping])
    }

    @Test func aRequestInTheFirstMomentsOfAStartWaitsUntilItCanBeAnswered() async throws {
        let (opened, open) = AsyncStream<Void>.makeStream()
        let resources = [ResourceStatus(Example.countries, .ok)]
        bench.pipeline.answer {
            // Until it has started the pipeline knows of nothing.
            $0.resources = []
            $0.onStart = { for await _ in opened {} }
        }
        var calls = bench.pipeline.stream().makeAsyncIterator()
        let daemon = bench.daemon()
        async let status = daemon.run()
        while let call = await calls.next(), call != .start {}
        let client = bench.client()
        async let answer = client.sync(scope: "iso/countries", full: false)
        // It connects, for somebody listens already.
        _ = try TestSocket.connect(bench.socket)
        bench.pipeline.answer { $0.resources = resources }
        open.finish()
        let message = try await answer.message
        #expect(message == "iso/countries will be polled, within the limits.")
        await client.shutdown()
        daemon.deliver(.terminate)
        let end = await status
        #expect(end == .success)
    }

    @Test func whoSteersIsToldInTheJournal() async throws {
        _ = try await withDaemon { _ in
            let client = bench.client()
            _ = try await client.pause(scope: "iso/countries")
            _ = try await client.sync(scope: nil, full: true)
            _ = try await client.status()
            await client.shutdown()
        }
        let told = bench.entries.all.filter { entry in entry.fields.contains { $0.name == "CISTERN_PEER_UID" } }
        #expect(told.map(\.priority) == [.notice, .notice])
        #expect(told.first?.message.hasPrefix("pause of iso/countries requested by ") == true)
        #expect(told.last?.message.hasPrefix("sync of everything (full) requested by ") == true)
        #expect(told.allSatisfy { $0.fields.contains { $0.name == "CISTERN_PEER_PID" && $0.value == "\(getpid())" } })
    }

    @Test func aBadConfigurationIsStatus78WithEveryProblem() async {
        bench.write(TestConfiguration.text.replacing("every", with: "evry").replacing("entity = \"Country\"", with: "entity = \"Contry\""))
        #expect(await bench.daemon().run() == .configuration)
        let messages = bench.entries.all.filter { $0.priority == .error }.map(\.message)
        #expect(messages.contains { $0.contains("did you mean \"every\"?") })
        #expect(messages.count >= 2)
        #expect(bench.sent.all.contains { $0["STATUS"]?.hasPrefix("Fatal: \(bench.path):") == true })
        #expect(bench.pipeline.calls.isEmpty)
    }

    @Test func aDocumentThatIsInUseIsStatus75() async {
        bench.failure.withLock { $0 = StartFailure(.temporaryFailure, "in use", code: EWOULDBLOCK) }
        #expect(await bench.daemon().run() == .temporaryFailure)
        #expect(bench.sent.all.contains { $0.text == "ERRNO=11\nSTATUS=Fatal: in use" })
        #expect(access(bench.socket, F_OK) != 0)
    }

    @Test func signalsBeforeTheStartAreNotLost() async {
        let daemon = bench.daemon()
        daemon.deliver(.pollNow)
        daemon.deliver(.terminate)
        // The stop is seen before anything is opened.
        #expect(await daemon.run() == .success)
        #expect(bench.pipeline.calls.isEmpty)
    }

    @Test func aPollSignalPollsEverything() async throws {
        let calls = bench.pipeline.stream()
        let status = try await withDaemon { daemon in
            daemon.deliver(.pollNow)
            for await call in calls where call == .sync(nil, .signal, full: false, wait: false) { break }
        }
        #expect(status == .success)
    }

    @Test func aReloadIsAnnouncedAndAnswered() async throws {
        let status = try await withDaemon { _ in
            bench.write(TestConfiguration.text.replacing("15m", with: "30m"))
            let client = bench.client()
            let response = try await client.reload(wait: true)
            #expect(response == ControlResponse(message: "Configuration 2 is in force: 2 resources changed.", generation: 2))
            let running = try await client.configuration()
            #expect(running.toml.contains("30m"))
            await client.shutdown()
        }
        #expect(status == .success)
        #expect(bench.pipeline.calls.contains(.reload))
        let texts = bench.sent.all.map(\.text)
        let reloading = texts.firstIndex { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") && $0.hasSuffix("\nSTATUS=Reloading configuration") }
        let ready = texts.lastIndex { $0.hasPrefix("READY=1\n") }
        #expect(reloading != nil)
        #expect((reloading ?? .max) < (ready ?? .min))
        #expect(bench.entries.all.contains { $0.messageID == .reloaded })
    }

    @Test func aRefusedReloadKeepsTheOldOneAndSaysSo() async throws {
        _ = try await withDaemon { _ in
            bench.write(TestConfiguration.text.replacing("every", with: "evry"))
            let client = bench.client()
            let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            #expect(error?.code == .configuration)
            #expect(error?.description.contains("the old one is kept; correct it and reload again") == true)
            #expect(error?.problems?.first?.hasPrefix("\(bench.path):4: ") == true)
            let snapshot = try await client.status()
            #expect(snapshot.daemon.configurationGeneration == 1)
            #expect(snapshot.daemon.reloadError?.contains("evry") == true)
            await client.shutdown()
        }
        #expect(!bench.pipeline.calls.contains(.reload))
        #expect(bench.sent.all.contains { $0["READY"] == "1" && $0["STATUS"]?.hasSuffix("; old configuration kept") == true })
        #expect(bench.entries.all.contains { $0.messageID == .reloadFailed })
    }

    @Test func aReloadThatNeedsARestartNamesTheSettings() async throws {
        _ = try await withDaemon { _ in
            bench.write(TestConfiguration.text.replacing("version = 1", with: "version = 1\n[document]\npath = \"/elsewhere\""))
            let client = bench.client()
            let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            #expect(error?.error == "restart needed: document.path changed; the old configuration is kept")
            await client.shutdown()
        }
    }

    @Test func aSecondTerminationSkipsThePage() async throws {
        let stops = bench.pipeline.stream()
        let gate = Gate()
        bench.pipeline.answer { $0.onStop = { grace in if grace > .zero { await gate.wait() } else { gate.open() } } }
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        daemon.deliver(.terminate)
        for await call in stops where call == .stop(grace: .seconds(20)) { break }
        daemon.deliver(.terminate)
        #expect(await status == .success)
        #expect(bench.pipeline.calls.suffix(2) == [.stop(grace: .seconds(20)), .stop(grace: .zero)])
    }

    @Test func aDiskErrorEndsTheDaemonWithStatus74() async throws {
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        daemon.hub.send(.saveFailed(reason: "disk I/O error", cause: .disk))
        #expect(await status == .ioError)
        #expect(bench.document.closings.withLock { $0 } == 1)
    }

    @Test func aDocumentThatCannotBeClosedIsStatus74() async throws {
        bench.document.failsToClose.withLock { $0 = true }
        let status = try await withDaemon { _ in }
        #expect(status == .ioError)
    }

    @Test func theStatusIsDumpedIntoTheJournal() async throws {
        _ = try await withDaemon { daemon in
            daemon.deliver(.dumpStatus)
            for await entry in bench.dumped where entry.message.hasPrefix("iso/languages: ok") { break }
        }
        let dump = bench.entries.all.filter { $0.messageID == .statusDump }
        #expect(dump.count == 3)
        #expect(dump[1].message == "iso/countries: ok, 249 objects")
    }

    @Test func savingThatWorksAgainIsSaid() async throws {
        _ = try await withDaemon { daemon in
            daemon.hub.send(.saveFailed(reason: "database or disk is full", cause: .full))
            bench.parts.withLock { $0 }?.tell()
            daemon.hub.send(.saveRecovered)
        }
        #expect(bench.entries.all.contains { $0.message == "saving works again" })
    }
}

/// A gate that is opened once.
final class Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let input: AsyncStream<Void>.Continuation

    init() { (stream, input) = AsyncStream<Void>.makeStream() }
    func open() { input.finish() }
    func wait() async { for await _ in stream {} }
}
