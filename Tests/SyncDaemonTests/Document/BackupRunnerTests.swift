import DocumentPackages
import Foundation
import OpenCoreData
import SyncConfiguration
import SyncControl
import SyncTestSupport
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

/// Backups of a real document, by a clock that is moved by hand.
@Suite(.timeLimit(.minutes(60))) struct BackupRunnerTests {
    private final class Bench: Sendable {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backups-\(UUID().uuidString.prefix(8))").path
        let opened: OpenedDocument
        let slot: EngineSlot
        let runner: BackupRunner
        let clock = ManualClock(wallTime: Example.start)
        let configuration: CisternConfiguration
        let events: AsyncStream<SyncEvent>

        /// - Parameter backup: further lines of `[store.backup]`.
        init(_ backup: String = "") throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            configuration = try Self.configuration(folder, backup)
            opened = try DocumentOpening(configuration: configuration).open(model: try SyncPipeline.model(for: configuration))
            slot = EngineSlot(DaemonEngine(document: opened, pipeline: FakePipeline()))
            let (events, input) = AsyncStream<SyncEvent>.makeStream()
            self.events = events
            runner = BackupRunner(slot, configuration.store, version: "1.2.3", clock: clock, observe: { input.yield($0) })
        }

        static func configuration(_ folder: String, _ backup: String) throws -> CisternConfiguration {
            let text = TestConfiguration.text.replacing(
                "version = 1\n",
                with: """
                    version = 1
                    [document]
                    path = "\(folder)/document"
                    [store]
                    min_free_disk = "1MiB"
                    read_group = ""
                    [store.backup]
                    dir = "\(folder)/backup"
                    \(backup)

                    """)
            return try ConfigurationReader(path: "/c/cisternd.toml", files: ConfigurationTexts(["/c/cisternd.toml": text])).configuration()
        }

        var backups: BackupFolder { BackupFolder("\(folder)/backup") }

        func end() async throws {
            runner.stop()
            try await opened.close()
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    private static func made(_ event: SyncEvent?) -> (name: String, removed: Int)? {
        if case .backupMade(let name, _, let removed)? = event { (name, removed) } else { nil }
    }

    @Test func theNextOneIsMadeWhenTheNewestIsOldEnough() async throws {
        let bench = try Bench("every = \"1h\"\nkeep = 2"), clock = bench.clock
        var events = bench.events.makeAsyncIterator()
        bench.runner.start()
        // There is none yet.
        #expect(Self.made(await events.next())?.name == "cistern-20270115T080000Z")
        for (name, removed) in [("cistern-20270115T090000Z", 0), ("cistern-20270115T100000Z", 1), ("cistern-20270115T110000Z", 1)] {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .seconds(3600))
            let made = Self.made(await events.next())
            #expect(made?.name == name && made?.removed == removed, "\(String(describing: made))")
        }
        #expect(try bench.backups.entries().map(\.name.text) == ["cistern-20270115T110000Z", "cistern-20270115T100000Z"])
        try await bench.end()
    }

    @Test func whatAProcessBeforeHasMadeCounts() async throws {
        let bench = try Bench("every = \"1h\""), clock = bench.clock
        var events = bench.events.makeAsyncIterator()
        let before = try await bench.runner.make()
        _ = await events.next()
        clock.advance(by: .seconds(1800))
        // Another process.
        let (told, input) = AsyncStream<SyncEvent>.makeStream()
        let (newest, tellNewest) = AsyncStream<Date?>.makeStream()
        let next = BackupRunner(
            bench.slot, bench.configuration.store, version: "1.2.3", clock: clock, observe: { input.yield($0) }, onNewest: { tellNewest.yield($0) })
        bench.runner.stop()
        next.start()
        for await time in newest {
            #expect(time == Example.start)
            break
        }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(1800))
        var iterator = told.makeAsyncIterator()
        #expect(Self.made(await iterator.next())?.name == "cistern-20270115T090000Z")
        #expect(before.name == "cistern-20270115T080000Z")
        next.stop()
        try await bench.end()
    }

    @Test func aBackupHasWhatWasNotSavedYet() async throws {
        let bench = try Bench(), root = bench.opened.document.root
        await root.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Country", into: root).setValue("de", forKey: "code")
        }
        let report = try await bench.runner.make()
        #expect(report.path == "\(bench.folder)/backup/\(report.name)" && report.document == "\(bench.folder)/document" && report.removed == [])
        let store = URL(fileURLWithPath: "\(report.path)/StoreContent/persistentStore")
        let found = try SQLiteStoreVerification.verify(store)
        #expect(found.isSound)
        #expect(found.entities.first(where: { $0.name == "Country" })?.rows == 1)
        try await bench.end()
    }

    @Test func aBackupThatIsReportedIsThereWhateverTheClockSaidBefore() async throws {
        let bench = try Bench("keep = 1")
        let ahead = DocumentBackup(of: "\(bench.folder)/document", in: bench.backups, version: "1.2.3", leavesFree: 0)
        _ = try ahead.make(at: Example.start.addingTimeInterval(86_400))
        let report = try await bench.runner.make()
        #expect(FileManager.default.fileExists(atPath: report.path) && report.removed == ["cistern-20270116T080000Z"], "\(report)")
        #expect(try bench.backups.entries().map(\.name.text) == [report.name])
        try await bench.end()
    }

    @Test func aFailureIsToldAndTriedAgain() async throws {
        let bench = try Bench("every = \"24h\""), clock = bench.clock
        var events = bench.events.makeAsyncIterator()
        // A file where the folder is to be.
        try Data().write(to: URL(fileURLWithPath: bench.backups.path))
        bench.runner.start()
        guard case .backupFailed(let reason)? = await events.next() else { throw SyncError.cancelled }
        #expect(reason.contains("\(bench.folder)/backup"), "\(reason)")
        try FileManager.default.removeItem(atPath: bench.backups.path)
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(900))
        #expect(Self.made(await events.next()) != nil)
        try await bench.end()
    }

    @Test func withoutRoomWhoAsksIsToldHowMuchIsMissing() async throws {
        let bench = try Bench()
        var store = bench.configuration.store
        store.minFreeDisk = .gibibytes(1 << 20)
        let runner = BackupRunner(bench.slot, store, version: "1.2.3", clock: bench.clock, observe: { _ in })
        let error = await #expect(throws: ControlError.self) { try await runner.make() }
        #expect(
            error?.code == .ioError && error?.error.contains("[store] min_free_disk leaves 1073741824 MiB") == true, "\(String(describing: error))")
        try await bench.end()
    }

    @Test func anotherIntervalCountsAtOnce() async throws {
        let bench = try Bench(), clock = bench.clock
        var events = bench.events.makeAsyncIterator()
        bench.runner.start()
        bench.runner.reload(try Bench.configuration(bench.folder, "every = \"1h\"").store)
        #expect(Self.made(await events.next()) != nil)
        await clock.sleepers(atLeast: 1)
        bench.runner.reload(try Bench.configuration(bench.folder, "every = \"30m\"").store)
        clock.advance(by: .seconds(1800))
        #expect(Self.made(await events.next())?.name == "cistern-20270115T083000Z")
        try await bench.end()
    }

    @Test func oneAtATime() async throws {
        let bench = try Bench(), gate = Gate(), document = SlowDocument(bench.opened, gate)
        let slot = EngineSlot(DaemonEngine(document: document, pipeline: FakePipeline()))
        let runner = BackupRunner(slot, bench.configuration.store, version: "1.2.3", clock: bench.clock, observe: { _ in })
        let first = Task.immediate { try await runner.make() }
        let error = await #expect(throws: ControlError.self) { try await runner.make() }
        #expect(error?.code == .temporaryFailure)
        gate.open()
        _ = try await first.value
        runner.stop()
        let late = await #expect(throws: ControlError.self) { try await runner.make() }
        #expect(late?.code == .unavailable)
        try await bench.end()
    }

    @Test func anExchangeOfEnginesWaitsForTheBackup() async throws {
        let bench = try Bench(), gate = Gate(), document = SlowDocument(bench.opened, gate), pipeline = FakePipeline()
        let slot = EngineSlot(DaemonEngine(document: document, pipeline: pipeline))
        let runner = BackupRunner(slot, bench.configuration.store, version: "1.2.3", clock: bench.clock, observe: { _ in })
        let backup = Task.immediate { try await runner.make() }
        let exchange = Task.immediate {
            try? await slot.exchange(
                grace: .zero, for: { DaemonEngine(document: $0, pipeline: pipeline) }, orAgain: { DaemonEngine(document: $0, pipeline: pipeline) })
        }
        #expect(pipeline.calls == [])
        gate.open()
        _ = try await backup.value
        _ = await exchange.value
        #expect(pipeline.calls.first == .stop(grace: .zero))
        #expect(try bench.backups.entries().count == 1)
        try await bench.end()
    }

    /// A document that takes its time to save.
    private final class SlowDocument: OpenDocument {
        private let document: OpenedDocument
        private let gate: Gate

        init(_ document: OpenedDocument, _ gate: Gate) {
            self.document = document
            self.gate = gate
        }

        var path: String { document.path }
        var unsavedChanges: Int { document.unsavedChanges }
        var oldestUnsavedSeconds: Double? { document.oldestUnsavedSeconds }
        func probe(_ done: @escaping @Sendable () -> Void) { document.probe(done) }
        func save() async throws {
            await gate.wait()
            try await document.save()
        }
        func close() async throws {}
    }
}
