import Foundation
import Glibc
import OpenCoreData
import SyncConfiguration
import SyncPipeline
import Synchronization
import Testing

@testable import SyncDaemon

/// What an error of the store means for the process, and so for whether the service manager starts it again.
@Suite struct DocumentOpeningTests {
    private static func status(_ sqlite: Int?, isMigrating: Bool) -> Int32 {
        let error = NSError(
            domain: NSCocoaErrorDomain, code: 134_080, userInfo: sqlite.map { [NSSQLiteErrorDomain: $0] } ?? [:])
        return DocumentOpening.failure(error, package: "/p", isMigrating: isMigrating).status.rawValue
    }

    @Test func aMigrationThatFailsIsNotTriedAgainUnlessTheDiskOrAnotherProgramHasAPart() {
        #expect(Self.status(1, isMigrating: false) == 70)
        #expect(Self.status(nil, isMigrating: false) == 70)
        #expect(Self.status(1, isMigrating: true) == 78)
        #expect(Self.status(nil, isMigrating: true) == 78)
        for (code, status) in [(5, 75), (13, 74), (10, 74), (11, 74), (14, 73)] as [(Int, Int32)] {
            #expect(Self.status(code, isMigrating: true) == status)
        }
    }

    private static func status(_ error: any Error, isMigrating: Bool) -> Int32 {
        DocumentOpening.failure(error, package: "/p", isMigrating: isMigrating).status.rawValue
    }

    @Test(arguments: [ENOSPC, EDQUOT, EIO, EROFS, EACCES], [false, true])
    func whatASystemCallSaysOfTheDiskIsNoFaultOfTheModel(_ code: Int32, _ isMigrating: Bool) {
        let error = NSError(domain: NSPOSIXErrorDomain, code: Int(code))
        #expect(Self.status(error, isMigrating: isMigrating) == 74)
        let outer = NSError(domain: NSCocoaErrorDomain, code: 134_080, userInfo: [NSUnderlyingErrorKey: error])
        #expect(Self.status(outer, isMigrating: isMigrating) == 74)
    }

    @Test(
        arguments: [.fileWriteOutOfSpace, .fileWriteUnknown, .fileWriteNoPermission, .fileWriteVolumeReadOnly] as [CocoaError.Code], [false, true])
    func aFileThatCannotBeWrittenIsNoFaultOfTheModel(_ code: CocoaError.Code, _ isMigrating: Bool) {
        let error = CocoaError(code)
        #expect(Self.status(error, isMigrating: isMigrating) == 74)
        let outer = NSError(domain: NSCocoaErrorDomain, code: 134_110, userInfo: [NSUnderlyingErrorKey: error])
        #expect(Self.status(outer, isMigrating: isMigrating) == 74)
    }

    @Test func whatFoundationThrowsOfAFullDiskCountsAsAFullDisk() throws {
        let error = try #require(throws: (any Error).self) { try Data([1]).write(to: URL(fileURLWithPath: "/dev/full")) }
        let failure = DocumentOpening.failure(error, package: "/p", isMigrating: true)
        #expect(failure.status == .ioError && failure.code == ENOSPC)
    }

    /// A folder with the document of a configuration.
    private final class Package {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("opening-\(UUID().uuidString.prefix(8))")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: folder) }

        /// - Parameters:
        ///   - type: of an attribute; another one needs the table to be written anew.
        ///   - more: another attribute, of which nothing is lost when it goes.
        func open(
            _ type: String, more: String = "", store: String = "", mayMigrate: Bool = true,
            onStep: @escaping @Sendable (OpeningStep) -> Bool = { _ in true }
        ) throws -> OpenedDocument {
            let path = folder.appendingPathComponent("document").path
            let text = TestConfiguration.text.replacing("version = 1\n", with: "version = 1\n[document]\npath = \"\(path)\"\n\(store)\n")
                .replacing("name = { type = \"string\" }", with: "name = { type = \"\(type)\" }" + (more.isEmpty ? "" : "\nmore = { \(more) }"))
            let configuration = try ConfigurationReader(
                path: "/c/cisternd.toml", files: ConfigurationTexts(["/c/cisternd.toml": text])
            ).configuration()
            return try DocumentOpening(configuration: configuration).open(
                model: try SyncPipeline.model(for: configuration), mayMigrate: mayMigrate, onStep: onStep)
        }

        private var content: URL { folder.appendingPathComponent("document/StoreContent") }
        /// What stands beside the store and its log.
        var beside: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: content.path)) ?? []).filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
                .sorted()
                .filter { $0 != "persistentStore" }
        }
        func place(_ name: String) -> URL { content.appendingPathComponent(name) }

        var lock: String? { try? String(contentsOf: folder.appendingPathComponent("document/.lock"), encoding: .utf8) }
    }

    /// - Parameter more: a value that each object has besides.
    private static func filled(more: String? = nil) async throws -> Package {
        let package = try Package(), opened = try package.open("int32", more: more == nil ? "" : "type = \"string\"")
        let root = opened.document.root
        root.performAndWait {
            for number in 0..<3 {
                let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: root)
                country.setValue("\(number)", forKey: "code")
                country.setValue(number, forKey: "name")
                if let more { country.setValue(more, forKey: "more") }
            }
        }
        try await opened.close()
        return package
    }

    private static func count(_ opened: OpenedDocument) throws -> Int {
        let root = opened.document.root
        return try root.performAndWait { try root.count(for: NSFetchRequest<NSManagedObject>(entityName: "Country")) }
    }

    // It takes as much room as a store, until somebody restores again.
    @Test func whatAKilledRestoreHasCopiedGoes() async throws {
        let package = try await Self.filled(), copy = package.folder.appendingPathComponent("document/.restoring/StoreContent")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        try Data([1]).write(to: copy.appendingPathComponent("persistentStore"))
        let opened = try package.open("int32")
        #expect(try Self.count(opened) == 3)
        #expect(!FileManager.default.fileExists(atPath: package.folder.appendingPathComponent("document/.restoring").path))
        try await opened.close()
    }

    @Test func aMigrationThatIsGivenUpLeavesThePackageAsACleanStopDoes() async throws {
        let package = try await Self.filled(), asked = Atomic(0)
        #expect(throws: StopWanted.self) {
            try package.open("string") { step in
                if case .migrating = step { asked.add(1, ordering: .relaxed).oldValue == 0 } else { true }
            }
        }
        #expect(asked.load(ordering: .relaxed) == 2)
        #expect(package.lock == "clean\n")
        let opened = try package.open("int32", mayMigrate: false)
        #expect(try Self.count(opened) == 3 && opened.migration == nil)
        try await opened.close()
    }

    @Test func aWayBackDoesNotMigrate() async throws {
        let package = try await Self.filled()
        try await package.open("int32", more: "type = \"string\"").close()
        let failure = #expect(throws: StartFailure.self) { try package.open("int32", mayMigrate: false) }
        #expect(failure?.status == .temporaryFailure)
        let opened = try package.open("int32", more: "type = \"string\"", mayMigrate: false)
        #expect(try Self.count(opened) == 3)
        try await opened.close()
    }

    @Test func anIndexIsMadeWhateverTheRuleSaysOfChangedModels() async throws {
        let package = try await Self.filled(more: "x")
        let rule = "[store]\non_schema_change = \"refuse\"", indexed = "type = \"string\", index = true"
        // Neither a migration nor a way that is barred.
        do {
            let opened = try package.open("int32", more: indexed, store: rule, mayMigrate: false)
            #expect(try Self.count(opened) == 3 && opened.migration == nil)
            try await opened.close()
        }
        #expect(package.beside == [])
        let failure = #expect(throws: StartFailure.self) { try package.open("int64", more: indexed, store: rule) }
        #expect(failure?.status == .configuration, "\(failure.map { "\($0)" } ?? "")")
    }

    /// What was told, each with its name alone.
    private final class Steps: Sendable {
        private let list = Mutex<[OpeningStep]>([])
        var all: [OpeningStep] { list.withLock { $0 } }

        /// The words without numbers, each once, as they followed each other.
        var words: [String] {
            all.map { $0.words.filter { !$0.isNumber } }.reduce(into: []) { words, next in if words.last != next { words.append(next) } }
        }

        func hear(_ step: OpeningStep) { list.withLock { $0.append(step) } }
    }

    private static let dropped = "type = \"string\", drop = true"
    /// Longer than what is copied in one step.
    private static let long = String(repeating: "x", count: 3_000_000)

    @Test func everythingThatTakesLongIsToldWithItsSizeOrItsShare() async throws {
        let package = try await Self.filled(more: Self.long), steps = Steps()
        let opened = try package.open("int64", more: Self.dropped, store: "[store]\nintegrity_check = \"quick-on-start\"") {
            steps.hear($0)
            return true
        }
        #expect(
            steps.words == [
                "Opening the database", "Copying the database before the change,  %", "Writing the copy of the database to the disk",
                "Opening the database", "Checking the database", "Opening the database", "Bringing the database to the changed model,  %",
                "Writing the changed database to the disk, which cannot be stopped", "Opening the database",
            ])
        // Three values of three megabytes.
        #expect(steps.all.allSatisfy { ($0.silentBytes ?? .max) > 9_000_000 })
        let shares = steps.all.compactMap { if case .copying(let share) = $0 { share } else { nil } }
        #expect(shares.count > 2 && shares == shares.sorted())
        #expect(package.beside.count == 1 && package.beside[0].hasPrefix("persistentStore.before-"), "\(package.beside)")
        #expect(opened.migration?.hasSuffix("; the store as it was is kept as \(package.place(package.beside[0]).path)") == true)
        #expect(try Self.count(opened) == 3)
        try await opened.close()
    }

    @Test(arguments: [0.0, 0.3, 0.6, 1]) func ofACopyThatIsGivenUpNothingIsLeft(at share: Double) async throws {
        let package = try await Self.filled(more: Self.long)
        #expect(throws: StopWanted.self) {
            try package.open("int64", more: Self.dropped) { step in
                switch step {
                case .copying(let done): done < share
                case .finishingCopy: false
                default: true
                }
            }
        }
        #expect(package.beside == [])
        #expect(package.lock == "clean\n")
        let opened = try package.open("int32", more: "type = \"string\"", mayMigrate: false)
        #expect(try Self.count(opened) == 3 && opened.migration == nil)
        try await opened.close()
    }

    // A process that was killed has left its half of a copy there.
    @Test func halfACopyThatIsLeftGoes() async throws {
        let package = try await Self.filled(more: "x")
        for suffix in ["", "-journal", "-wal"] { try Data("half".utf8).write(to: package.place(".persistentStore.copied" + suffix)) }
        try await package.open("int64", more: Self.dropped).close()
        #expect(package.beside.count == 1 && package.beside[0].hasPrefix("persistentStore.before-"), "\(package.beside)")
    }

    @Test func halfACopyThatIsLeftGoesWhereNothingIsToBeMigrated() async throws {
        let package = try await Self.filled()
        for suffix in ["", "-journal", "-wal"] { try Data("half".utf8).write(to: package.place(".persistentStore.copied" + suffix)) }
        try await package.open("int32").close()
        #expect(package.beside == [])
    }

    @Test func aCopyNeverTakesTheNameOfAnother() async throws {
        let package = try await Self.filled(more: "x")
        let now = Date().timeIntervalSince1970
        // Whatever second it is.
        for second in 0..<600 {
            let time = Date(timeIntervalSince1970: now + Double(second)).formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
            try Data("other".utf8).write(to: package.place("persistentStore.before-\(time)"))
        }
        let opened = try package.open("int64", more: Self.dropped)
        #expect(opened.migration?.hasSuffix("-2") == true, "\(opened.migration ?? "")")
        try await opened.close()
        #expect(package.beside.count == 601)
        let others = try package.beside.filter { !$0.hasSuffix("-2") }.map { try String(contentsOf: package.place($0), encoding: .utf8) }
        #expect(Set(others) == ["other"])
    }

    @Test func whatFailsAfterTheCommitKeepsTheCopyAndNamesIt() async throws {
        let package = try await Self.filled(more: "x"), blocked = package.place("PushJournal")
        // Where a folder is looked for once the store is open.
        try Data().write(to: blocked)
        let failure = try #require(throws: StartFailure.self) { try package.open("int64", more: Self.dropped) }
        let copies = package.beside.filter { $0.hasPrefix("persistentStore.before-") }
        #expect(copies.count == 1)
        let copy = package.place(try #require(copies.first)).path
        #expect(failure.message.hasSuffix("; the store as it was is kept as \(copy)"), "\(failure.message)")
        // The model fits, so that a restart may help, and nobody is told to undo a change that is done.
        #expect(failure.status == .ioError && !failure.message.contains("made for another model"))
        let place = URL(fileURLWithPath: copy)
        let kept = NSPersistentStoreCoordinator(managedObjectModel: try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: place))
        try kept.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = kept
        let values = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Country")).map { $0.value(forKey: "more") as? String }
        }
        #expect(values == ["x", "x", "x"])
        try FileManager.default.removeItem(at: blocked)
        let opened = try package.open("int64", more: Self.dropped)
        #expect(try Self.count(opened) == 3 && opened.migration == nil)
        try await opened.close()
    }

    @Test func aCheckWithoutAMigrationIsToldToo() async throws {
        let package = try await Self.filled(), steps = Steps()
        func open() async throws {
            try await package.open("int32", store: "[store]\nintegrity_check = \"quick-on-start\"") {
                steps.hear($0)
                return true
            }.close()
        }
        try await open()
        #expect(steps.words == ["Opening the database", "Checking the database", "Opening the database"])
        #expect(throws: StopWanted.self) {
            try package.open("int32", store: "[store]\nintegrity_check = \"quick-on-start\"") { if case .checking = $0 { false } else { true } }
        }
    }
}
