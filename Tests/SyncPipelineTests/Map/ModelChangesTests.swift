import Foundation
import OpenCoreData
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What a changed `[entity]` means for a store that is there.
@Suite struct ModelChangesTests {
    private static func model(_ attributes: String) throws -> NSManagedObjectModel {
        try SyncPipeline.model(
            for: PipelineFixture.configuration(
                """
                version = 1
                [daemon]
                contact = "test@localhost"
                [[source]]
                name = "api"
                url = "https://api.example/items"
                entity = "Item"
                [entity.Item.attributes]
                id = { type = "int64", optional = false }
                \(attributes)
                """))
    }

    private static let plain = "name = { type = \"string\" }\npage = { type = \"int32\" }"
    private static let indexed = "name = { type = \"string\" }\npage = { type = \"int32\", index = true }"

    /// What becomes of a store of so many objects.
    private static func changes(from former: String, to latter: String, objects: Int) throws -> ModelChanges? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("changes-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("store"), coordinator = NSPersistentStoreCoordinator(managedObjectModel: try model(former))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [SQLiteRowSumsOption: true])
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 0..<objects {
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(number, forKey: "id")
            }
            try context.save()
        }
        try coordinator.remove(store)
        return try ModelChanges(store: url, model: try model(latter), dropped: ["Item.name"])
    }

    @Test func anIndexIsMadeInOnePassOverTheObjects() throws {
        let changes = try #require(try Self.changes(from: Self.plain, to: Self.indexed, objects: 500))
        #expect(changes.all.map(\.words) == ["an index over Item.page is made"])
        #expect(changes.isOfModel && changes.refused.isEmpty && changes.losses.isEmpty)
        #expect(changes.objects == 500 && changes.rows == 500 && changes.seconds > 0)
        #expect(changes.work == "500 objects, gone through once")
    }

    @Test func anIndexThatGoesTakesNoTime() throws {
        let changes = try #require(try Self.changes(from: Self.indexed, to: Self.plain, objects: 5))
        #expect(changes.all.map(\.words) == ["the index over Item.page goes"])
        #expect(changes.isOfModel && changes.rows == 0 && changes.seconds == 0 && changes.work == "")
    }

    @Test func anIndexIsToldAmongOtherChanges() throws {
        let changes = try #require(
            try Self.changes(from: Self.plain, to: Self.indexed + "\nkind = { type = \"string\", index = true }", objects: 5))
        #expect(changes.all.map(\.words) == ["Item.kind is new", "an index over Item.page is made"] && !changes.isOfModel)
    }

    @Test func anIndexThatFollowsItsAttributeToAnotherNameIsNoNews() throws {
        let renamed = "name = { type = \"string\" }\nplace = { type = \"int32\", index = true, renamed_from = \"page\" }"
        let changes = try #require(try Self.changes(from: Self.indexed, to: renamed, objects: 5))
        #expect(changes.all.map(\.words) == ["Item.page is called place"])
    }

    @Test func whereNothingChangesThereIsNothingToTell() throws {
        #expect(try Self.changes(from: Self.indexed, to: Self.indexed, objects: 5) == nil)
    }

    // Row sums are emptied, the column goes, and they are made again.
    @Test func objectsAndPassesAreToldApart() throws {
        let changes = try #require(try Self.changes(from: Self.plain, to: "page = { type = \"int32\" }", objects: 500))
        #expect(changes.objects == 500 && changes.rows == 1500)
        #expect(changes.work == "500 objects, gone through 3 times")
    }

    @Test(
        arguments: [
            ([(1, 1, false)], "1 object, gone through once"), ([(7, 2, false)], "7 objects, gone through twice"),
            ([(7, 1, false), (5, 3, false)], "12 objects, gone through up to 3 times"),
            ([(1, 4, true)], "1 pair of a relationship, gone through 4 times"),
            ([(7, 3, false), (20, 1, true)], "7 objects, gone through 3 times, and 20 pairs of relationships, gone through once"), ([], ""),
        ] as [([(Int, Int, Bool)], String)])
    func whatIsGoneThroughIsSaidInWords(_ passes: [(Int, Int, Bool)], _ words: String) {
        #expect(ModelChanges.words(of: passes.map { StoreMigrationPlan.Pass(rows: $0.0, times: $0.1, arePairs: $0.2) }) == words)
    }
}
