import Foundation
import GRDB
import TestTraits
import Testing

@testable import OpenCoreData

/// A store that is brought to another version of the model by a mapping among the program's resources, when it is opened.
// One after the other: they put what they need among the resources of the program.
@Suite(.serialized) struct MappedMigrationTests {
    private static let types = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType]

    private static func options(infers: Bool) -> [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: infers]
    }

    private static func open<T>(
        _ file: URL, _ model: NSManagedObjectModel, _ type: String = NSSQLiteStoreType, _ options: [AnyHashable: Any] = [:],
        configuration: String? = nil, _ body: (NSManagedObjectContext) throws -> T
    ) throws -> T {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: file, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private static func filled(
        _ mappings: BundledMappings, _ type: String = NSSQLiteStoreType, names: [String?] = ["Ada", "Alan"], configuration: String? = nil
    ) throws -> MigrationFixture {
        let fixture = try MigrationFixture()
        try open(fixture.file, mappings.model(1), type, configuration: configuration) { context in
            for name in names { context.make(mappings.entity, name.map { ["name": $0] } ?? [:]) }
            try context.save()
        }
        return fixture
    }

    /// What there is after an opening with the second version.
    private static func titles(
        _ fixture: MigrationFixture, _ mappings: BundledMappings, _ type: String = NSSQLiteStoreType, infers: Bool = false,
        configuration: String? = nil
    ) throws -> [String] {
        try open(fixture.file, mappings.model(2), type, options(infers: infers), configuration: configuration) { context in
            try context.all(mappings.entity, by: "code").map { "\($0.value(forKey: "title") ?? "∅") \($0.value(forKey: "code") ?? "∅")" }
        }
    }

    // G4
    @Test(arguments: types, [false, true]) func theMappingOfTheProgramIsUsedBeforeAnythingIsInferred(_ type: String, _ infers: Bool) throws {
        let mappings = try BundledMappings(inMain: true), fixture = try Self.filled(mappings, type)
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: fixture.file)
        #expect(try Self.titles(fixture, mappings, type, infers: infers) == ["Ada Ada", "Alan Alan"])
        // It is of the model now, and has other objects.
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: fixture.file)
        #expect(try mappings.model(2).isConfiguration(withName: nil, compatibleWithStoreMetadata: after))
        #expect(after[NSStoreUUIDKey] as? String != before[NSStoreUUIDKey] as? String)
        #expect(try Self.titles(fixture, mappings, type) == ["Ada Ada", "Alan Alan"])
        let files = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(files.allSatisfy { $0.hasPrefix("store.sqlite") }, "\(files)")
    }

    // G4
    @Test(arguments: types) func withoutAMappingTheErrorSaysSoAndNothingChanges(_ type: String) throws {
        let mappings = try BundledMappings(), fixture = try Self.filled(mappings, type), before = try Data(contentsOf: fixture.file)
        let error = #expect(throws: NSError.self) { try Self.titles(fixture, mappings, type) }
        #expect(error?.code == NSMigrationMissingMappingModelError)
        #expect(error?.localizedDescription.contains("no mapping to this one among its resources") == true)
        #expect(try Data(contentsOf: fixture.file) == before)
    }

    // G4
    @Test(arguments: types) func whatFailsLeavesTheOldStore(_ type: String) throws {
        let mappings = try BundledMappings(inMain: true), fixture = try Self.filled(mappings, type, names: ["Ada", nil])
        let before = try Data(contentsOf: fixture.file), names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).sorted()
        let error = #expect(throws: NSError.self) { try Self.titles(fixture, mappings, type) }
        #expect(error?.code == NSMigrationError)
        #expect(try Data(contentsOf: fixture.file) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).sorted() == names)
        let kept = try Self.open(fixture.file, mappings.model(1), type) {
            try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: mappings.entity))
        }
        #expect(kept == 2)
    }

    // G4
    @Test func aMappingThatCannotBeReadIsToldSo() throws {
        let mappings = try BundledMappings(), fixture = try Self.filled(mappings), before = try fixture.dump()
        let broken = mappings.folder.appending(path: "A.xcmappingmodel")
        try BundledMappings.write("<model/>", to: broken)
        let store = StagedStore(
            type: NSSQLiteStoreType, url: fixture.file, model: try mappings.model(2), configurationName: nil, options: Self.options(infers: true))
        let error = #expect(throws: NSError.self) { try MappedMigration(store, bundles: [mappings.bundle()]).run() }
        #expect(error?.code == NSMigrationMissingMappingModelError && error?.localizedDescription.contains(broken.path) == true)
        #expect(try fixture.dump() == before)
    }

    // G4, A11
    @Test func aConfigurationIsMigratedByItself() throws {
        let mappings = try BundledMappings(inMain: true, hasOthers: true)
        let fixture = try Self.filled(mappings, configuration: "alone")
        #expect(try Self.titles(fixture, mappings, configuration: "alone") == ["Ada Ada", "Alan Alan"])
        #expect(try fixture.shell.column("SELECT count(*) FROM sqlite_master WHERE name = 'ZOTHER'") == ["0"])
    }

    // G4, A11
    @Test func aVersionThatDiffersInAnotherConfigurationDoesNotHideTheMapping() throws {
        let mappings = try BundledMappings(inMain: true, hasOthers: true, hasEarlier: true)
        let fixture = try Self.filled(mappings, configuration: "alone")
        #expect(try Self.titles(fixture, mappings, configuration: "alone") == ["Ada Ada", "Alan Alan"])
    }

    // G4
    @Test func everyTargetsStoreIsMigratedByItsOwnMapping() throws {
        let targets = try (0..<2).map { _ in try BundledMappings(package: "Model") }, bundles = try targets.map { try $0.bundle() }
        for target in targets {
            let fixture = try Self.filled(target), options = Self.options(infers: true)
            let store = StagedStore(
                type: NSSQLiteStoreType, url: fixture.file, model: try target.model(2), configurationName: nil, options: options)
            try MappedMigration(store, bundles: bundles).run()
            #expect(try Self.titles(fixture, target) == ["Ada Ada", "Alan Alan"])
        }
    }

    // G4
    @Test(arguments: [[:], [SQLiteRowSumsOption: false]]) func aFileWithSumsKeepsThem(_ more: [String: Bool]) throws {
        let mappings = try BundledMappings(inMain: true), fixture = try MigrationFixture()
        try Self.open(fixture.file, mappings.model(1), NSSQLiteStoreType, [SQLiteRowSumsOption: true]) { context in
            context.make(mappings.entity, ["name": "Ada"], ["name": "Alan"])
            try context.save()
        }
        try Self.open(fixture.file, mappings.model(2), NSSQLiteStoreType, Self.options(infers: false).merging(more) { $1 }) { _ in }
        let report = try SQLiteStoreVerification.verify(fixture.file)
        #expect(report.isSound && report.entities.map(\.rows) == [2] && report.entities.map(\.unknown) == [0])
    }

    // G4
    @Test func whatOthersMadeInTheFileStays() throws {
        let mappings = try BundledMappings(inMain: true), fixture = try Self.filled(mappings), table = "Z" + mappings.entity.uppercased()
        _ = try fixture.shell.rows(
            "CREATE TABLE notes (text); INSERT INTO notes VALUES ('kept'); CREATE VIEW both AS SELECT text FROM notes; CREATE INDEX byName ON \(table)(ZNAME)"
        )
        #expect(try Self.titles(fixture, mappings) == ["Ada Ada", "Alan Alan"])
        #expect(try fixture.shell.column("SELECT text FROM both") == ["kept"])
    }

    // G4
    @Test func whatTheOldVersionKeptUniqueIsNotKeptSoByTheNewOne() throws {
        let mappings = try BundledMappings(inMain: true, wasUnique: true), fixture = try Self.filled(mappings)
        #expect(try !fixture.shell.column("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE INDEX%'").isEmpty)
        try Self.open(fixture.file, mappings.model(2), NSSQLiteStoreType, Self.options(infers: false)) { context in
            for code in ["a", "b"] { context.make(mappings.entity, ["title": "same", "code": code]) }
            try context.save()
        }
        #expect(try fixture.shell.column("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE UNIQUE INDEX%'") == [])
    }

    // G4
    @Test func aTriggerThatDoesNotFitIsRefused() throws {
        let mappings = try BundledMappings(inMain: true), fixture = try Self.filled(mappings), table = "Z" + mappings.entity.uppercased()
        _ = try fixture.shell.rows(
            "CREATE TABLE log (text); CREATE TRIGGER noted AFTER UPDATE ON \(table) BEGIN INSERT INTO log VALUES (new.ZNAME); END")
        let before = try fixture.dump()
        let error = #expect(throws: NSError.self) { try Self.titles(fixture, mappings) }
        #expect(error?.code == NSMigrationError && error?.localizedDescription.contains("noted") == true, "\(error?.localizedDescription ?? "")")
        #expect(try fixture.dump() == before)
    }

    // G4
    @Test func whoCannotHaveTheFileForHimselfChangesNothing() throws {
        let mappings = try BundledMappings(inMain: true), fixture = try Self.filled(mappings), model = try mappings.model(2)
        let other = try DatabaseQueue(path: fixture.file.path)
        try other.inDatabase { database in
            try database.inTransaction(.immediate) {
                let options = Self.options(infers: false).merging([NSPersistentStoreTimeoutOption: 0.1]) { $1 }
                let error = #expect(throws: NSError.self) { try Self.open(fixture.file, model, NSSQLiteStoreType, options) { _ in } }
                #expect(error?.code == NSPersistentStoreTimeoutError)
                return .rollback
            }
        }
        try other.close()
        #expect(try Self.titles(fixture, mappings) == ["Ada Ada", "Alan Alan"])
    }

    // G4, H1
    @Test func theHistoryBeginsAnew() throws {
        let mappings = try BundledMappings(inMain: true), fixture = try MigrationFixture(), model = try mappings.model(2)
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        try Self.open(fixture.file, mappings.model(1), NSSQLiteStoreType, tracking) { context in
            context.make(mappings.entity, ["name": "Ada"])
            try context.save()
        }
        try Self.open(fixture.file, model, NSSQLiteStoreType, Self.options(infers: false).merging(tracking) { $1 }) { context in
            func transactions(_ token: NSPersistentHistoryToken?) throws -> [NSPersistentHistoryTransaction] {
                let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token)) as? NSPersistentHistoryResult
                return try #require(result?.result as? [NSPersistentHistoryTransaction])
            }
            let before = try transactions(nil)
            #expect(before.flatMap { $0.changes ?? [] }.allSatisfy { $0.changeType == .insert })
            context.make(mappings.entity, ["title": "Alan", "code": "Alan"])
            try context.save()
            #expect(try transactions(before.last?.token).count == 1)
        }
    }

    // G4
    @Test func manyOpenersAtOnceAgree() async throws {
        let mappings = try BundledMappings(inMain: true), fixture = try Self.filled(mappings), models = try (0..<4).map { _ in try mappings.model(2) }
        let file = fixture.file
        await withTaskGroup(of: String?.self) { group in
            for model in models {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            do {
                                try Self.open(file, model, NSSQLiteStoreType, Self.options(infers: false)) { _ in }
                                continuation.resume(returning: nil)
                            } catch { continuation.resume(returning: "\(error)") }
                        }
                    }
                }
            }
            for await failure in group { #expect(failure == nil) }
        }
        #expect(try Self.titles(fixture, mappings) == ["Ada Ada", "Alan Alan"])
    }

    // G4
    @Test func whoHasTheOldModelOpenSavesNothingAfterwards() throws {
        let mappings = try BundledMappings(inMain: true), fixture = try Self.filled(mappings)
        try Self.open(fixture.file, mappings.model(1)) { context throws in
            #expect(try Self.titles(fixture, mappings) == ["Ada Ada", "Alan Alan"])
            context.make(mappings.entity, ["name": "Grace"])
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        }
        #expect(try Self.titles(fixture, mappings) == ["Ada Ada", "Alan Alan"])
    }

    // G4
    @Test(.longProcess) func theEndOfTheProcessAtAnyStatementLosesNothing() async throws {
        let mappings = try BundledMappings(inMain: true), seed = try Self.filled(mappings), old = try Data(contentsOf: seed.file)
        let package = mappings.folder.appending(path: "\(mappings.entity).xcdatamodeld").path
        var isThrough = false, number = 1
        while !isThrough {
            let fixture = try MigrationFixture(), path = fixture.file.path, limit = number
            try old.write(to: fixture.file)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, limit = limit as Int, package = package as String] in
                let model = try NSManagedObjectModel(readingContentsOf: URL(fileURLWithPath: package))
                DeadlyStatement.arm(limit)
                try MappedMigrationTests.open(URL(fileURLWithPath: path), model, NSSQLiteStoreType, MappedMigrationTests.options(infers: false)) {
                    _ in
                }
                try Data().write(to: URL(fileURLWithPath: path + ".through"))
                kill(getpid(), SIGKILL)
            }
            isThrough = FileManager.default.fileExists(atPath: path + ".through")
            #expect(try Self.titles(fixture, mappings) == ["Ada Ada", "Alan Alan"], "at statement \(limit)")
            number += 11
        }
        #expect(number > 50)
    }
}
