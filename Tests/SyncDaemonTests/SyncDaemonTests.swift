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

    private func withDaemon(_ body: (SyncDaemon) async throws -> Void) async throws -> ExitStatus {
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        do {
            try await body(daemon)
        } catch {
            daemon.deliver(.terminate)
            _ = await status
            throw error
        }
        daemon.deliver(.terminate)
        return await status
    }

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

    private static let changed = TestConfiguration.text.replacing("name = { type = \"string\" }", with: "name = { type = \"string\", index = true }")

    @Test func aChangedModelExchangesTheEngineAndSaysHowFarItIs() async throws {
        let status = try await withDaemon { _ in
            bench.migration.withLock { $0 = "Store brought to the changed model: Country.name was" }
            bench.onMigration.withLock { $0 = DaemonBench.Migrating { tell in [0, 0.4, 0.4, 1].allSatisfy(tell) } }
            bench.write(Self.changed)
            let client = bench.client()
            let response = try await client.reload(wait: true)
            #expect(response == ControlResponse(message: "Configuration 2 is in force: 1 entity of the model changed.", generation: 2))
            await client.shutdown()
        }
        #expect(status == .success)
        #expect(bench.pipeline.calls == [.start, .stop(grace: .seconds(20)), .start, .stop(grace: .seconds(20))])
        #expect(bench.document.closings.withLock { $0 } == 2)
        #expect(bench.predecessors.withLock { $0 } == [false, true])
        let texts = bench.sent.all.compactMap { $0["STATUS"] }
        // The manager is told what is newest.
        #expect(texts.last { $0.hasPrefix("Bringing") } == "Bringing the database to the changed model, 100 %", "\(texts)")
        #expect(bench.entries.all.contains { $0.messageID == .schemaMigrated && $0.message.hasSuffix("Country.name was") })
    }

    @Test func whatIsKnownOfAResourceThatCameWithTheModelIsTold() async throws {
        _ = try await withDaemon { _ in
            let scope = ResourceScope(source: "iso", resource: "extra")
            bench.pipeline.answer { $0.resources.append(ResourceStatus(scope, .degraded, heldDeletes: 7)) }
            let extra = "[[source.resource]]\nname = \"extra\"\nentity = \"Country\"\npath = \"/extra\"\n\n[entity.Country]\n"
            bench.write(Self.changed.replacing("[entity.Country]\n", with: extra))
            let client = bench.client()
            _ = try await client.reload(wait: true)
            let text = try await client.status().daemon.status
            #expect(text.contains("iso/extra holds 7 deletions back until accepted"), "\(text)")
            await client.shutdown()
        }
    }

    @Test func whatStandsAgainstAChangedModelIsSaidBeforeAnythingEnds() async throws {
        _ = try await withDaemon { _ in
            bench.refusal.withLock { $0 = StartFailure(.configuration, "Country.name goes with 3 values") }
            bench.write(Self.changed)
            let client = bench.client()
            let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            #expect(error?.code == .configuration)
            #expect(error?.error == "the new configuration is refused: Country.name goes with 3 values; the old one is kept")
            await client.shutdown()
        }
        #expect(bench.pipeline.calls == [.start, .stop(grace: .seconds(20))])
    }

    @Test func aDocumentThatCannotBeSavedIsNotClosedForAReload() async throws {
        _ = try await withDaemon { _ in
            bench.document.failsToSave.withLock { $0 = true }
            bench.write(Self.changed)
            let client = bench.client()
            await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            await client.shutdown()
        }
        #expect(bench.pipeline.calls == [.start, .stop(grace: .seconds(20))])
    }

    @Test func whereTheChangedModelFailsAfterAllTheOldConfigurationRunsAgain() async throws {
        let status = try await withDaemon { _ in
            bench.failures.withLock { $0 = [StartFailure(.ioError, "the disk is full")] }
            bench.write(Self.changed)
            let client = bench.client()
            let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            #expect(error?.error == "the new configuration is refused: the disk is full; the old one is kept")
            let snapshot = try await client.status()
            #expect(snapshot.daemon.configurationGeneration == 1 && snapshot.daemon.state == "ready")
            await client.shutdown()
        }
        #expect(status == .success)
        #expect(bench.pipeline.calls == [.start, .stop(grace: .seconds(20)), .start, .stop(grace: .seconds(20))])
    }

    @Test func whereNothingCanBeOpenedAnyMoreTheDaemonEndsWithWhatPreventsIt() async throws {
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        bench.failures.withLock { $0 = [StartFailure(.ioError, "gone"), StartFailure(.ioError, "gone")] }
        bench.write(Self.changed)
        daemon.deliver(.hangUp)
        #expect(await status == .ioError)
        #expect(
            bench.entries.all.contains {
                $0.messageID == .reloadFailed
                    && $0.message.contains("cisternd ends: gone; and the document could not be opened again as it was: gone")
            })
        // It is not ready, and does not say so.
        let texts = bench.sent.all.map(\.text)
        #expect(texts.count { $0.hasPrefix("READY=1") } == 1, "\(texts)")
    }

    // Status 78 would keep the unit from being started again, with files that may well fit the store.
    @Test func whatTheWayBackFindsWrongDoesNotKeepTheServiceFromStartingAgain() async throws {
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        bench.failures.withLock { $0 = [StartFailure(.configuration, "first"), StartFailure(.configuration, "second")] }
        bench.write(Self.changed)
        daemon.deliver(.hangUp)
        #expect(await status == .temporaryFailure)
    }

    @Test func aStopGivesAMigrationUp() async throws {
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        bench.onMigration.withLock {
            $0 = DaemonBench.Migrating { tell in
                #expect(tell(0.1))
                daemon.deliver(.terminate)
                return tell(0.2)
            }
        }
        bench.write(Self.changed)
        daemon.deliver(.hangUp)
        #expect(await status == .success)
        #expect(bench.document.closings.withLock { $0 } == 1)
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
