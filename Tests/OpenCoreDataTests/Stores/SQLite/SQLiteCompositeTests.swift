import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Composite attributes in a file.
// A9
@Suite struct SQLiteCompositeTests {
    private let fixture: MigrationFixture

    init() throws { fixture = try MigrationFixture() }

    @Test func eachElementHasAColumnAndAReaderSeesIt() throws {
        let quake = Quakes.entity()
        quake.uniquenessConstraints = [["code"], ["magnitude.felt"]]
        let richter = try #require((quake.attributesByName["magnitude"] as? NSCompositeAttributeDescription)?.elements[0])
        quake.indexes = [NSFetchIndexDescription(name: "byRichter", elements: [NSFetchIndexElementDescription(property: richter)])]
        try fixture.open([quake]) { context in
            _ = context.quake("a", ["richter": 5.5, "scale": "MW", "felt": ["reports": 3, "since": Date(timeIntervalSinceReferenceDate: 0)]])
            try context.save()
            _ = context.quake("b", ["scale": "ML", "felt": ["reports": 3, "since": Date(timeIntervalSinceReferenceDate: 0)]])
            let error = try #require(#expect(throws: NSError.self) { try context.save() })
            #expect(error.code == 133_021)
        }
        #expect(
            try fixture.shell.rows("SELECT code, magnitude_richter, magnitude_scale, magnitude_felt_reports, magnitude_felt_since FROM Quake")
                == [["a", "5.5", "MW", "3", "2001-01-01T00:00:00Z"]])
        #expect(try fixture.shell.column("SELECT name FROM pragma_table_info('ZQUAKE')").contains("ZMAGNITUDE_FELT_REPORTS"))
        #expect(
            try fixture.shell.column("SELECT sql FROM sqlite_master WHERE name = 'Z_Quake_byRichter'").first?.contains("ZMAGNITUDE_RICHTER") == true)
    }

    @Test func batchRequestsSetElementsAndWholes() throws {
        try fixture.open([Quakes.entity()]) { context in
            try context.execute(
                NSBatchInsertRequest(
                    entityName: "Quake",
                    objects: [
                        ["code": "a", "magnitude": ["richter": 5.5, "felt": ["reports": 1]] as [String: Any]],
                        ["code": "b", "magnitude.scale": "MW"],
                    ]))
            let update = NSBatchUpdateRequest(entityName: "Quake")
            update.predicate = NSPredicate(format: "magnitude.felt.reports == 1")
            update.propertiesToUpdate = ["magnitude.richter": NSExpression(format: "magnitude.richter + 1")]
            try context.execute(update)
            #expect(try context.found("magnitude.richter == 6.5") == ["a"])
            #expect(try context.found("magnitude.scale == 'MW' AND magnitude.richter == nil") == ["b"])
            let whole = NSBatchUpdateRequest(entityName: "Quake")
            whole.propertiesToUpdate = ["magnitude": ["scale": "MB"]]
            try context.execute(whole)
            #expect(try context.found("magnitude.richter == nil AND magnitude.scale == 'MB'") == ["a", "b"])
            let none = NSBatchUpdateRequest(entityName: "Quake")
            none.propertiesToUpdate = ["magnitude": NSExpression(forConstantValue: nil)]
            try context.execute(none)
            #expect(try context.found("magnitude == nil") == ["a", "b"])
            let wrong = NSBatchUpdateRequest(entityName: "Quake")
            wrong.propertiesToUpdate = ["magnitude": ["mercalli": 1]]
            let error = try #require(#expect(throws: NSError.self) { try context.execute(wrong) })
            #expect(error.localizedDescription.contains("has no element mercalli"))
        }
    }

    @Test func historyNamesTheWholeAndKeepsElementsOfTheDeleted() throws {
        let magnitude = Quakes.magnitude()
        magnitude.elements[0].preservesValueInHistoryOnDeletion = true
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        try fixture.open([Quakes.entity(magnitude)], options) { context in
            let quake = context.quake("a", ["richter": 5.5, "scale": "MW"])
            try context.save()
            quake.setValue(6.5, forKeyPath: "magnitude.richter")
            try context.save()
            context.delete(quake)
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
            let changes = try #require(result.result as? [NSPersistentHistoryTransaction]).flatMap { $0.changes ?? [] }
            #expect(changes.map(\.changeType) == [.insert, .update, .delete])
            #expect(changes[1].updatedProperties?.map(\.name) == ["magnitude"])
            #expect((changes[2].tombstone?["magnitude"] as? [String: Any])?["richter"] as? Double == 6.5)
        }
    }

    @Test func aConflictShowsWholes() throws {
        let (context, coordinator, store) = try fixture.connect([Quakes.entity()])
        defer { try? coordinator.remove(store) }
        try context.performAndWait {
            let quake = context.quake("a", ["richter": 5.5, "scale": "MW"])
            try context.save()
            let other = NSManagedObjectContext(.privateQueueConcurrencyType)
            other.persistentStoreCoordinator = coordinator
            try other.performAndWait {
                try other.existingObject(with: quake.objectID).setValue(7, forKeyPath: "magnitude.richter")
                try other.save()
            }
            quake.setValue("MB", forKeyPath: "magnitude.scale")
            let error = try #require(#expect(throws: NSError.self) { try context.save() })
            let conflict = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
            #expect((conflict.objectSnapshot?["magnitude"] as? [String: Any])?["scale"] as? String == "MW")
            #expect(
                (conflict.persistedSnapshot?["magnitude"] as? [String: Any] ?? conflict.cachedSnapshot?["magnitude"] as? [String: Any])?["richter"]
                    as? Double == 7)
            // By property: the elements are properties of their own.
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(quake.value(forKeyPath: "magnitude.richter") as? Double == 7 && quake.value(forKeyPath: "magnitude.scale") as? String == "MB")
        }
    }

    @Test func aDerivedAttributeFollowsAnElement() throws {
        let quake = Quakes.entity(), derived = NSDerivedAttributeDescription()
        (derived.name, derived.type, derived.derivationExpression) = ("upper", .string, NSExpression(format: "uppercase:(magnitude.scale)"))
        quake.properties += [derived]
        try fixture.open([quake]) { context in
            let object = context.quake("a", ["scale": "mw"])
            try context.save()
            #expect(object.value(forKey: "upper") as? String == "MW")
        }
    }

    // MARK: Migration

    @Test func elementsAreAddedRemovedAndRenamedInPlace() throws {
        try fixture.open([Quakes.entity()]) { context in
            _ = context.quake("a", ["richter": 5.5, "scale": "MW", "felt": ["reports": 3]])
            try context.save()
        }
        let value = Quakes.attribute("value", .double), depth = Quakes.attribute("depth", .integer32, isOptional: false, defaultValue: 10)
        value.renamingIdentifier = "richter"
        let strength = Quakes.composite(
            "strength", [value, depth, Quakes.composite("felt", [Quakes.attribute("reports", .integer64)])], isOptional: false)
        strength.renamingIdentifier = "magnitude"
        try fixture.open([Quakes.entity(strength)]) { context in
            let quake = try context.all("Quake", by: "code")[0]
            let found = try #require(quake.value(forKey: "strength") as? [String: Any])
            #expect(found["value"] as? Double == 5.5 && found["depth"] as? Int == 10 && (found["felt"] as? [String: Any])?["reports"] as? Int == 3)
        }
        // And with what the store says of its model.
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.file)
        #expect(NSManagedObjectModel(entities: [Quakes.entity(strength)]).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    /// What a mapping makes of a quake of magnitude 5.5 for a model with a note, in a file of its own.
    private func migrated(_ mapping: (_ old: NSManagedObjectModel, _ new: NSManagedObjectModel) throws -> NSMappingModel) throws -> [[String]] {
        let source = try MigrationFixture(), changed = Quakes.entity(), copy = source.directory.appendingPathComponent("copy.sqlite")
        try source.open([Quakes.entity()]) { context in
            _ = context.quake("a", ["richter": 5.5, "scale": "MW", "felt": ["reports": 3]])
            try context.save()
        }
        changed.properties += [Quakes.attribute("note", .string)]
        let old = NSManagedObjectModel(entities: [Quakes.entity()]), new = NSManagedObjectModel(entities: [changed])
        try NSMigrationManager(sourceModel: old, destinationModel: new)
            .migrateStore(
                from: source.file, sourceType: NSSQLiteStoreType, options: nil, with: mapping(old, new), toDestinationURL: copy,
                destinationType: NSSQLiteStoreType, destinationOptions: nil)
        return try SQLiteShell(file: copy).rows("SELECT code, note, magnitude_richter, magnitude_scale, magnitude_felt_reports FROM Quake")
    }

    @Test func aMappingCopiesWholes() throws {
        #expect(
            try migrated { try NSMappingModel.inferredMappingModel(forSourceModel: $0, destinationModel: $1) } == [["a", "∅", "5.5", "MW", "3"]])
    }

    @Test(arguments: ["$source.magnitude", "FUNCTION($source, 'valueForKey:', 'magnitude')"])
    func aMappingThatNamesTheWholeCopiesIt(format: String) throws {
        let mapping = NSEntityMapping(), whole = NSPropertyMapping(), part = NSPropertyMapping(), model = NSMappingModel()
        (mapping.name, mapping.sourceEntityName, mapping.destinationEntityName) = ("QuakeToQuake", "Quake", "Quake")
        mapping.mappingType = .transformEntityMappingType
        (whole.name, whole.valueExpression) = ("magnitude", NSExpression(format: format))
        (part.name, part.valueExpression) = ("note", NSExpression(format: "$source.magnitude.scale"))
        mapping.attributeMappings = [whole, part]
        model.entityMappings = [mapping]
        #expect(try migrated { _, _ in model } == [["∅", "MW", "5.5", "MW", "3"]])
    }

    @Test func aStoreWithElementsInMemoryOnlyIsMigrated() throws {
        func entity(_ more: [NSPropertyDescription]) -> NSEntityDescription {
            let cache = Quakes.composite("cache", [Quakes.attribute("a", .double)])
            cache.elements[0].isTransient = true
            let quake = Quakes.entity(Quakes.magnitude())
            quake.properties += [cache] + more
            return quake
        }
        try fixture.open([entity([])]) { context in
            _ = context.quake("a", ["scale": "MW"])
            try context.save()
        }
        try fixture.open([entity([Quakes.attribute("note", .string)])]) { context throws in
            #expect(try context.found("magnitude.scale == 'MW'") == ["a"])
        }
    }

    @Test func aPlainAttributeMayHaveADotInItsName() throws {
        let quake = Quakes.entity()
        quake.properties += [Quakes.attribute("a.b", .string)]
        try fixture.open([quake]) { context in
            context.make("Quake", ["a.b": "x"])
            try context.save()
        }
        #expect(try fixture.shell.column("SELECT \"ZA.B\" FROM ZQUAKE") == ["x"])
        #expect(try fixture.shell.column("SELECT \"a.b\" FROM Quake") == ["x"])
    }
}
