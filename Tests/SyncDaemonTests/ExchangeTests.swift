import Dispatch
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

/// Reloads that the open document cannot follow, with a pipeline that records and an opening that tells what it is told to.
@Suite(.timeLimit(.minutes(60))) struct ExchangeTests {
    private let bench = DaemonBench()

    private func withDaemon(_ body: (SyncDaemon) async throws -> Void) async throws -> ExitStatus { try await bench.run(body) }

    private static let changed = TestConfiguration.text.replacing("name = { type = \"string\" }", with: "name = { type = \"string\", index = true }")

    @Test func aChangedModelExchangesTheEngineAndSaysHowFarItIs() async throws {
        let status = try await withDaemon { _ in
            bench.migration.withLock { $0 = "Store brought to the changed model: Country.name was" }
            bench.onOpening.withLock {
                $0 = DaemonBench.Opening { tell in [0, 0.4, 0.4, 1].allSatisfy { tell(.migrating($0, bytes: 1)) } }
            }
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
            bench.failures.withLock { $0 = [StartFailure(.configuration, "Country.name cannot be converted")] }
            bench.write(Self.changed)
            let client = bench.client()
            let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            #expect(error?.error == "the new configuration is refused: Country.name cannot be converted; the old one is kept")
            #expect(error?.code == .configuration)
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

    @Test(arguments: [OpeningStep.opening(bytes: 1), .checking(bytes: 1), .copying(0.1), .finishingCopy(bytes: 1), .migrating(0.1, bytes: 1)])
    func aStopGivesUpWhatIsDoneToTheDatabase(_ step: OpeningStep) async throws {
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        bench.onOpening.withLock {
            $0 = DaemonBench.Opening { tell in
                #expect(tell(step))
                daemon.deliver(.terminate)
                return tell(step)
            }
        }
        bench.write(Self.changed)
        daemon.deliver(.hangUp)
        #expect(await status == .success)
        #expect(bench.document.closings.withLock { $0 } == 1)
    }

    @Test(arguments: [
        (StartFailure(.ioError, "the disk is full; make room", code: ENOSPC), ControlExitCode.ioError),
        (StartFailure(.cannotCreate, "the file cannot be written", code: EACCES), .ioError),
        (StartFailure(.temporaryFailure, "another program holds the lock", code: EBUSY), .temporaryFailure),
    ]) func whatIsNoFaultOfTheNewConfigurationHasAStatusOfItsOwn(_ failure: StartFailure, _ code: ControlExitCode) async throws {
        let status = try await withDaemon { _ in
            bench.write(Self.changed)
            let client = bench.client()
            for isLate in [false, true] {
                // Before anything ends, and when the new engine is made.
                if isLate { bench.failures.withLock { $0 = [failure] } } else { bench.refusal.withLock { $0 = failure } }
                let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
                #expect(error?.code == code)
                #expect(error?.error == "the new configuration could not be put into force: \(failure.message); the old one is kept")
                bench.refusal.withLock { $0 = nil }
            }
            let snapshot = try await client.status()
            #expect(snapshot.daemon.state == "ready")
            await client.shutdown()
        }
        #expect(status == .success)
    }

    @Test func aFullDiskThatKeepsTheDocumentFromBeingSavedIsNoFaultOfTheNewConfiguration() async throws {
        _ = try await withDaemon { _ in
            let full = NSError(domain: NSCocoaErrorDomain, code: 134_030, userInfo: ["NSSQLiteErrorDomain": 13])
            bench.document.saveError.withLock { $0 = full }
            bench.write(Self.changed)
            let client = bench.client()
            let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            #expect(error?.code == .ioError)
            await client.shutdown()
        }
    }

    @Test func aFullDiskInAReloadThatTheOpenDocumentFollowsIsNoFaultOfItEither() async throws {
        _ = try await withDaemon { _ in
            let full = NSError(domain: NSCocoaErrorDomain, code: 134_030, userInfo: ["NSSQLiteErrorDomain": 13])
            bench.pipeline.answer { $0.onReload = { throw full } }
            bench.write(TestConfiguration.text.replacing("15m", with: "30m"))
            let client = bench.client()
            let error = await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
            #expect(error?.code == .ioError)
            await client.shutdown()
        }
    }

    /// Reloads with the changed model, and does something while the opening stands at this step.
    private func whileOpening<Value: Sendable>(
        _ step: OpeningStep, _ body: (ControlClient) async throws -> Value
    ) async throws -> (response: ControlResponse, value: Value) {
        let (reached, reach) = AsyncStream<Void>.makeStream(), goOn = DispatchSemaphore(value: 0)
        bench.onOpening.withLock {
            $0 = DaemonBench.Opening { tell in
                let isWanted = tell(step)
                reach.finish()
                goOn.wait()
                return isWanted
            }
        }
        bench.write(Self.changed)
        return try await bench.withClient { client in
            let reload = Task { try await client.reload(wait: true) }
            for await _ in reached {}
            let value: Value
            do { value = try await body(client) } catch {
                goOn.signal()
                _ = await reload.result
                throw error
            }
            goOn.signal()
            return (try await reload.value, value)
        }
    }

    @Test func whileTheDatabaseIsBroughtToAModelTheStatusSaysSo() async throws {
        _ = try await withDaemon { _ in
            let (response, snapshot) = try await whileOpening(.migrating(0.4, bytes: 1)) { try await $0.status() }
            #expect(snapshot.document.opening == "Bringing the database to the changed model, 40 %")
            #expect(snapshot.daemon.status == "Bringing the database to the changed model, 40 %" && snapshot.daemon.state == "reloading")
            #expect(response.generation == 2)
            let after = try await bench.withClient { try await $0.status() }
            #expect(after.document.opening == nil && after.daemon.status.hasPrefix("Idle"))
        }
    }

    @Test func whoHasNoPatienceIsToldWhatTheDaemonDoes() async throws {
        let calls = bench.pipeline.stream()
        _ = try await withDaemon { _ in
            _ = try await whileOpening(.migrating(0.4, bytes: 1)) { _ in
                try await bench.withClient(patience: .seconds(5)) { client in
                    let paused = await #expect(throws: ControlError.self) { try await client.pause(scope: nil) }
                    #expect(paused?.code == .temporaryFailure)
                    #expect(
                        paused?.error.hasSuffix(", since it is busy: Bringing the database to the changed model, 40 %") == true, "\(paused as Any)")
                    #expect(paused?.advice == "what was asked for is done afterwards; `cisternctl status` says how far it is")
                    let read = await #expect(throws: ControlError.self) { try await client.quarantine() }
                    #expect(read?.advice == "ask again afterwards; `cisternctl status` says how far it is")
                }
            }
            for await call in calls where call == .pause(nil) { break }
        }
    }

    @Test func whoWaitsForAReloadWaitsAsLongAsTheDaemonWorksAndHearsOnWhat() async throws {
        _ = try await withDaemon { _ in
            try await bench.withClient(pause: .milliseconds(20)) { client in
                let (told, tell) = AsyncStream<String>.makeStream()
                let (response, waiting) = try await whileOpening(.migrating(0.4, bytes: 1)) { _ in
                    // This one's reload comes after the one that is under way.
                    let waiting = Task { try await client.reload(wait: true) { tell.yield($0) } }
                    for await words in told {
                        #expect(words == "Bringing the database to the changed model, 40 %")
                        break
                    }
                    // As long as the patience of somebody else lasts, who does not want to wait.
                    try await bench.withClient(patience: .seconds(2)) { hasty in
                        _ = await #expect(throws: ControlError.self) { try await hasty.pause(scope: nil) }
                    }
                    bench.onOpening.withLock { $0 = nil }
                    return waiting
                }
                #expect(response.generation == 2)
                #expect(try await waiting.value.generation == 3)
            }
        }
    }

    // The manager is not told anything by SQLite itself.
    @Test(arguments: [OpeningStep.committing(bytes: 1), .finishingCopy(bytes: 1), .checking(bytes: 1), .copying(0.4)])
    func theManagerIsAskedForTimeWhileTheDatabaseIsOpened(_ step: OpeningStep) async throws {
        bench.openingPause.withLock { $0 = .milliseconds(1) }
        let messages = bench.sent
        _ = try await withDaemon { _ in
            _ = try await whileOpening(step) { _ in
                while !messages.all.contains(where: { $0["EXTEND_TIMEOUT_USEC"] == "30000000" && $0["STATUS"] == step.words }) { await Task.yield() }
            }
        }
    }

    @Test func aStopThatComesWhileTheNewEngineStartsEndsItInOrder() async throws {
        let daemon = bench.daemon()
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        bench.pipeline.answer { $0.onStart = { daemon.deliver(.terminate) } }
        bench.write(Self.changed)
        daemon.deliver(.hangUp)
        #expect(await status == .success)
        #expect(bench.pipeline.calls == [.start, .stop(grace: .seconds(20)), .start, .stop(grace: .seconds(20))])
        #expect(bench.document.closings.withLock { $0 } == 2)
        #expect(bench.entries.all.contains { $0.messageID == .reloaded })
    }
}
