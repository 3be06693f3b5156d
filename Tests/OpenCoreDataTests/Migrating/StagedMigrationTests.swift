import Foundation
import OpenCoreData
import Synchronization
import TestTraits
import Testing

/// A store that goes through many versions of a model when it is opened, with code of the program's between them.
@Suite struct StagedMigrationTests {
    /// Version 1 has a name; 2 a note besides; 3 first and last name beside the name; 4 no name.
    private static func version(_ number: Int) -> NSManagedObjectModel {
        var attributes = [StoreModels.attribute("id", .integer64)]
        if number < 4 { attributes.append(StoreModels.attribute("name", .string)) }
        if number > 1 { attributes.append(StoreModels.attribute("note", .string)) }
        if number > 2 { attributes += [StoreModels.attribute("first", .string), StoreModels.attribute("last", .string)] }
        if number > 4 { attributes.append(StoreModels.attribute("mail", .string)) }
        return NSManagedObjectModel(entities: [StoreModels.entity("Person", attributes)])
    }

    private static func reference(_ number: Int) -> NSManagedObjectModelReference {
        let model = version(number)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private static func lightweight(_ numbers: Int...) -> NSLightweightMigrationStage {
        NSLightweightMigrationStage(numbers.map { version($0).versionChecksum })
    }

    private static func names(_ manager: NSStagedMigrationManager) throws {
        let context = try #require(manager.container).newBackgroundContext()
        try context.performAndWait {
            for person in try context.all("Person", by: "id") {
                let parts = (person.value(forKey: "name") as? String ?? "").split(separator: " ")
                person.setValue(parts.first.map(String.init), forKey: "first")
                person.setValue(parts.last.map(String.init), forKey: "last")
            }
            try context.save()
        }
    }

    /// Between 2 and 3 the names are divided, before the name goes.
    private static func stages(_ will: @escaping (NSStagedMigrationManager) throws -> Void = { _ in }) -> [NSMigrationStage] {
        let divide = NSCustomMigrationStage(migratingFrom: reference(2), to: reference(3))
        divide.label = "names"
        divide.willMigrateHandler = { manager, _ in try will(manager) }
        divide.didMigrateHandler = { manager, _ in try names(manager) }
        return [lightweight(1, 2), divide, lightweight(3, 4, 5)]
    }

    private static func staged(_ stages: [NSMigrationStage]) -> [AnyHashable: Any] {
        [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages)]
    }

    private static func filled(_ number: Int) throws -> MigrationFixture {
        let fixture = try MigrationFixture()
        try open(fixture, number, [:]) { context in
            context.make("Person", ["id": 1, "name": "Ada Lovelace"], ["id": 2, "name": "Alan Turing"])
            try context.save()
        }
        return fixture
    }

    private static func open(
        _ fixture: MigrationFixture, _ number: Int, _ options: [AnyHashable: Any], _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        try open(fixture.file, number, options, body)
    }

    private static func open(
        _ file: URL, _ number: Int, _ options: [AnyHashable: Any], _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version(number))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        defer { try? coordinator.remove(store) }
        try context.performAndWait { try body(context) }
    }

    private static func people(_ fixture: MigrationFixture) throws -> [[String]] {
        try fixture.shell.rows("SELECT first, last FROM Person ORDER BY id")
    }

    // G5
    @Test(arguments: [1, 2]) func aStoreGoesThroughAllStagesFromWhereItIs(_ number: Int) throws {
        let fixture = try Self.filled(number), before = Mutex<[String]>([])
        let stages = Self.stages { manager in
            let context = try #require(manager.container).newBackgroundContext()
            let names = try context.performAndWait { try context.all("Person", by: "id").compactMap { $0.value(forKey: "name") as? String } }
            // The store is of the version before: there is no first name yet.
            #expect(manager.container?.managedObjectModel.versionChecksum == Self.version(2).versionChecksum && manager.container?.name == "names")
            before.withLock { $0 = names }
        }
        let options = Self.staged(stages)
        try Self.open(fixture, 5, options)
        #expect(before.withLock { $0 } == ["Ada Lovelace", "Alan Turing"])
        #expect(try Self.people(fixture) == [["Ada", "Lovelace"], ["Alan", "Turing"]])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Person') WHERE name IN ('name', 'mail')") == ["mail"])
        #expect((options[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager)?.container == nil)
    }

    // G5
    @Test(arguments: [3, 4, 5]) func aStoreBeyondAStageDoesNotGoThroughIt(_ number: Int) throws {
        let fixture = try MigrationFixture()
        try Self.open(fixture, number, [:]) { context in
            context.make("Person", ["id": 1, "first": "Ada"])
            try context.save()
        }
        try Self.open(fixture, 5, Self.staged(Self.stages { _ in Issue.record("the stage is over") }))
        #expect(try Self.people(fixture) == [["Ada", "∅"]])
    }

    // G5
    @Test func aNewStoreNeedsNoStage() throws {
        try Self.open(MigrationFixture(), 5, Self.staged(Self.stages { _ in Issue.record("there is nothing to migrate") }))
    }

    // G5
    @Test func aContainerMigratesInStages() throws {
        let fixture = try Self.filled(1), container = NSPersistentContainer(name: "stages", managedObjectModel: Self.version(5))
        let description = NSPersistentStoreDescription(url: fixture.file)
        description.setOption(NSStagedMigrationManager(Self.stages()), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        for store in container.persistentStoreCoordinator.persistentStores { try container.persistentStoreCoordinator.remove(store) }
        #expect(try Self.people(fixture) == [["Ada", "Lovelace"], ["Alan", "Turing"]])
    }

    // G5
    @Test func backwardsIsRefusedAndNothingChanges() throws {
        let fixture = try Self.filled(1)
        try Self.open(fixture, 5, Self.staged(Self.stages()))
        let before = try fixture.dump()
        for number in [1, 2, 3, 4] {
            let error = #expect(throws: NSError.self) { try Self.open(fixture, number, Self.staged(Self.stages())) }
            #expect(error?.code == NSStagedMigrationBackwardMigrationError)
        }
        #expect(try fixture.dump() == before)
    }

    // G5
    @Test func versionsThatNoStageNamesAreRefused() throws {
        let fixture = try Self.filled(1), before = try fixture.dump()
        func refusal(_ stages: [NSMigrationStage]) throws -> String {
            let error = #expect(throws: NSError.self) { try Self.open(fixture, 5, Self.staged(stages)) }
            #expect(error?.code == NSManagedObjectModelReferenceNotFoundError)
            #expect(try fixture.dump() == before)
            return error?.localizedDescription ?? ""
        }
        let stages = Self.stages(), checksum = Self.version(1).versionChecksum
        #expect(
            try refusal([Self.lightweight(2), stages[1], stages[2]]).contains("that no stage of the migration names: its checksum is \(checksum)"))
        #expect(try refusal([stages[0], stages[1]]).hasPrefix("No stage of the migration names the model"))
        let changed = NSManagedObjectModelReference(model: Self.version(4), versionChecksum: Self.version(2).versionChecksum)
        let stage = NSCustomMigrationStage(migratingFrom: changed, to: Self.reference(3))
        #expect(try refusal([stages[0], stage, stages[2]]).contains("it was changed since"))
        let unknown = NSManagedObjectModelReference(name: "no such model", versionChecksum: Self.version(2).versionChecksum)
        #expect(
            try refusal([stages[0], NSCustomMigrationStage(migratingFrom: unknown, to: Self.reference(3)), stages[2]]).contains("\"no such model\""))
    }

    // G5
    @Test func aReferenceByNameIsFoundWhenItIsNeeded() throws {
        let name = "people \(UUID())", reference = NSManagedObjectModelReference(name: name, versionChecksum: Self.version(2).versionChecksum)
        NSManagedObjectModel.register(Self.version(2), named: name)
        #expect(reference.resolvedModel.versionChecksum == reference.versionChecksum)
        let fixture = try Self.filled(1), stages = Self.stages()
        let stage = NSCustomMigrationStage(migratingFrom: reference, to: Self.reference(3))
        stage.didMigrateHandler = { manager, _ in try Self.names(manager) }
        try Self.open(fixture, 5, Self.staged([stages[0], stage, stages[2]]))
        #expect(try Self.people(fixture) == [["Ada", "Lovelace"], ["Alan", "Turing"]])
    }

    // G5
    @Test func whatAHandlerThrowsEndsTheOpeningAndTheNextGoesOnFromThere() throws {
        struct Refused: Error {}
        let fixture = try Self.filled(1)
        #expect(throws: Refused.self) { try Self.open(fixture, 5, Self.staged(Self.stages { _ in throw Refused() })) }
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Person') WHERE name = 'first'").isEmpty)
        let stages = Self.stages(), stage = try #require(stages[1] as? NSCustomMigrationStage)
        stage.didMigrateHandler = { _, _ in throw Refused() }
        #expect(throws: Refused.self) { try Self.open(fixture, 5, Self.staged(stages)) }
        // The change is made, what comes after it is not: it comes now.
        #expect(try Self.people(fixture) == [["∅", "∅"], ["∅", "∅"]])
        try Self.open(fixture, 5, Self.staged(Self.stages { _ in Issue.record("that change is made") }))
        #expect(try Self.people(fixture) == [["Ada", "Lovelace"], ["Alan", "Turing"]])
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.file).keys.filter {
                $0.hasPrefix("_Open")
            } == [])
    }

    // G5
    @Test(.longProcess) func theEndOfTheProcessAtAStatementOfAStageLosesNothing() async throws {
        let seed = try Self.filled(1), old = try Data(contentsOf: seed.file)
        var isThrough = false, number = 1
        while !isThrough {
            let fixture = try MigrationFixture(), path = fixture.file.path, limit = number
            try old.write(to: fixture.file)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, limit = limit as Int] in
                DeadlyStatement.arm(limit)
                try StagedMigrationTests.open(URL(fileURLWithPath: path), 5, StagedMigrationTests.staged(StagedMigrationTests.stages()))
                try Data().write(to: URL(fileURLWithPath: path + ".through"))
                kill(getpid(), SIGKILL)
            }
            isThrough = FileManager.default.fileExists(atPath: path + ".through")
            try Self.open(fixture.file, 5, Self.staged(Self.stages()))
            #expect(try Self.people(fixture) == [["Ada", "Lovelace"], ["Alan", "Turing"]], "at statement \(limit)")
            number += 9
        }
        #expect(number > 100)
    }

    /// After the change of a stage, whose handler has failed.
    private static func unfinished() throws -> MigrationFixture {
        struct Refused: Error {}
        let fixture = try filled(1), stages = stages()
        (stages[1] as? NSCustomMigrationStage)?.didMigrateHandler = { _, _ in throw Refused() }
        #expect(throws: Refused.self) { try open(fixture, 5, staged(stages)) }
        return fixture
    }

    // G5
    @Test func aStageThatIsNotOverIsNotPassedByWhoKnowsNoStages() throws {
        let fixture = try Self.unfinished(), before = try fixture.dump()
        let error = #expect(throws: NSError.self) { try Self.open(fixture, 5, MigrationFixture.migrating) }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(error?.localizedDescription.hasSuffix("is not over: open it with its NSStagedMigrationManager.") == true)
        let stages = Self.stages()
        let other = #expect(throws: NSError.self) { try Self.open(fixture, 5, Self.staged([stages[0], stages[2]])) }
        #expect(other?.code == NSManagedObjectModelReferenceNotFoundError)
        #expect(other?.localizedDescription.contains("no stage of the migration leads there any more") == true)
        #expect(try fixture.dump() == before)
        try Self.open(fixture, 5, Self.staged(stages))
        #expect(try Self.people(fixture) == [["Ada", "Lovelace"], ["Alan", "Turing"]])
    }

    // G5
    @Test func whatIsRenamedTwiceGoesThroughTheVersionBetween() throws {
        func version(_ name: String, _ was: String?) -> NSManagedObjectModel {
            let attribute = StoreModels.attribute(name, .string)
            attribute.renamingIdentifier = was
            return NSManagedObjectModel(entities: [StoreModels.entity("Person", [attribute])])
        }
        let fixture = try MigrationFixture(), versions = [version("name", nil), version("title", "name"), version("heading", "title")]
        let other = "between \(UUID())"
        NSManagedObjectModel.register(versions[1], named: other)
        try fixture.open(versions[0].entities.map { _ in StoreModels.entity("Person", [StoreModels.attribute("name", .string)]) }) { context in
            context.make("Person", ["name": "Ada"])
            try context.save()
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[2])
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.file,
            options: Self.staged([NSLightweightMigrationStage(versions.map(\.versionChecksum))]))
        try coordinator.remove(store)
        #expect(try fixture.shell.column("SELECT heading FROM Person") == ["Ada"])
    }

    // G5
    @Test func aFileWithoutAnythingInItIsANewStore() throws {
        let fixture = try Self.filled(1), coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.version(1))
        try coordinator.destroyPersistentStore(at: fixture.file, ofType: NSSQLiteStoreType)
        try Self.open(fixture, 5, Self.staged(Self.stages { _ in Issue.record("there is nothing to migrate") }))
        let empty = try MigrationFixture()
        try Data().write(to: empty.file)
        try Self.open(empty, 5, Self.staged(Self.stages()))
    }

    // G5
    @Test func aHandlerThatOpensTheStoreByStagesAgainIsToldSo() throws {
        let fixture = try Self.filled(1)
        let stages = Self.stages { _ in try Self.open(fixture, 5, Self.staged(Self.stages())) }
        let error = #expect(throws: NSError.self) { try Self.open(fixture, 5, Self.staged(stages)) }
        #expect(error?.localizedDescription.hasSuffix("A handler uses the container of its NSStagedMigrationManager.") == true)
        try Self.open(fixture, 5, Self.staged(Self.stages()))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).allSatisfy { !$0.hasSuffix("-stages") })
    }

    // G5
    @Test func manyOpenersAtOnceAgree() async throws {
        let fixture = try Self.filled(1), file = fixture.file
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            do {
                                try Self.open(file, 5, Self.staged(Self.stages()))
                                continuation.resume(returning: nil)
                            } catch { continuation.resume(returning: "\(error)") }
                        }
                    }
                }
            }
            for await failure in group { #expect(failure == nil) }
        }
        #expect(try Self.people(fixture) == [["Ada", "Lovelace"], ["Alan", "Turing"]])
    }

    // G5
    @Test func theOptionTakesAManagerAndNothingElse() throws {
        let error = #expect(throws: NSError.self) { try Self.open(MigrationFixture(), 5, [NSPersistentStoreStagedMigrationManagerOptionKey: "no"]) }
        #expect(error?.localizedDescription.contains("needs an NSStagedMigrationManager, not String") == true)
    }

    // G6
    @Test func aStoreIsMigratedAsAWholeAlsoWhereThatMayBeDeferred() throws {
        let fixture = try Self.filled(1)
        let options = MigrationFixture.migrating.merging([NSPersistentStoreDeferredLightweightMigrationOptionKey: true]) { _, new in new }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.version(5))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.file, options: options)
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('Person') WHERE name IN ('name', 'mail')") == ["mail"])
        try coordinator.finishDeferredLightweightMigrationTask()
        try coordinator.finishDeferredLightweightMigration()
        try coordinator.remove(store)
    }

    // G5
    @Test func aReferenceReadsTheModelThatIsNeeded() throws {
        let folder = ModelFolder()
        try folder.add("<entity name=\"A\"/>", version: "One")
        let package = try folder.add("<entity name=\"A\"/><entity name=\"B\"/>", version: "Two")
        try folder.setCurrent("Two")
        let bundle = try #require(Bundle(path: folder.url.path))
        for (name, model) in try NSManagedObjectModel.versions(inPackageAt: package) {
            let checksum = model.versionChecksum, version = package.appending(path: "\(name).xcdatamodel")
            let references = [
                NSManagedObjectModelReference(fileURL: package, versionChecksum: checksum),
                NSManagedObjectModelReference(fileURL: version, versionChecksum: checksum),
                NSManagedObjectModelReference(entityVersionHashes: model.entityVersionHashesByName, in: bundle, versionChecksum: checksum),
                NSManagedObjectModelReference(name: "Model", in: bundle, versionChecksum: checksum),
                NSManagedObjectModelReference(name: name, in: bundle, versionChecksum: checksum),
            ]
            for reference in references {
                #expect(reference.resolvedModel.entityVersionHashesByName == model.entityVersionHashesByName)
            }
            #expect(references[0].resolvedModel === references[0].resolvedModel)
        }
    }

    // G5
    @Test func aReferenceThatLeadsNowhereIsAnErrorOfTheMigration() throws {
        let fixture = try Self.filled(1), checksum = Self.version(2).versionChecksum, stages = Self.stages(), folder = ModelFolder()
        let package = try folder.add("<entity name=\"A\"/>")
        let references = [
            NSManagedObjectModelReference(fileURL: URL(fileURLWithPath: "/nowhere.xcdatamodeld"), versionChecksum: checksum),
            NSManagedObjectModelReference(fileURL: package, versionChecksum: checksum),
            NSManagedObjectModelReference(entityVersionHashes: ["A": Data([1]), 3: "no"], in: nil, versionChecksum: checksum),
        ]
        for reference in references {
            let stage = NSCustomMigrationStage(migratingFrom: reference, to: Self.reference(3))
            let error = #expect(throws: NSError.self) { try Self.open(fixture, 5, Self.staged([stages[0], stage, stages[2]])) }
            #expect(error?.code == NSManagedObjectModelReferenceNotFoundError, "\(error?.localizedDescription ?? "")")
        }
    }
}
