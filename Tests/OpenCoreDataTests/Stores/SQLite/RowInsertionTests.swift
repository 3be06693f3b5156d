import OpenCoreData
import Testing

@testable import OpenCoreData

/// Many new rows, several by one statement, and counting rows without reading them.
@Suite struct RowInsertionTests {
    private func cities(_ count: Int, in fixture: StoreFixture, _ changes: inout ChangeSet) throws -> [NSManagedObjectID] {
        try (0..<count).map { try fixture.insert("City", ["code": .string("c\($0)"), "number": .int64(Int64($0))], into: &changes) }
    }

    /// Numbers around those at which rows begin to go together, and at which some are left over.
    @Test(arguments: [1, 7, 8, 9, 63, 64, 65, 71, 72, 500]) func everyRowIsWrittenOnceUnderItsKeyHoweverManyThereAre(count: Int) throws {
        let fixture = try StoreFixture(StoreModels.keys())
        var changes = ChangeSet()
        let ids = try cities(count, in: fixture, &changes)
        let saved = try fixture.save(changes)
        #expect(ids.allSatisfy { saved.version(of: $0, .inserted) == 1 })
        let stored = try fixture.store.rows(for: ids)
        #expect(
            ids.enumerated().allSatisfy { number, id in
                stored[id]?["code"] == .string("c\(number)") && stored[id]?["number"] == .int64(Int64(number)) && stored[id]?.version == 1
            })
        #expect(try fixture.shell.column("SELECT count(*) FROM ZCITY") == ["\(count)"])
    }

    @Test func theRowOfManyWhosePrimaryKeyIsTakenIsNamedAndNothingIsWritten() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        var changes = ChangeSet()
        let ids = try cities(200, in: fixture, &changes), taken = ids[133]
        _ = try fixture.shell.rows(
            "INSERT INTO ZCITY (Z_PK, Z_ENT, Z_OPT, ZCODE) SELECT \(taken.key), Z_ENT, 1, 'taken' FROM Z_PRIMARYKEY WHERE Z_NAME = 'City'")
        let error = try #require(throws: NSError.self) { try fixture.save(changes) }
        #expect(
            error.localizedDescription.contains("\(taken) can't be inserted") && error.localizedDescription.contains("already has a row \(taken.key)")
        )
        #expect(try fixture.shell.column("SELECT ZCODE FROM ZCITY") == ["taken"])
    }

    @Test func rowsAreCountedAmongKeysAsTheyAreFound() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        var changes = ChangeSet()
        let ids = try cities(300, in: fixture, &changes)
        _ = try fixture.save(changes)
        var plan = FetchPlan(entity: try fixture.entity("City"))
        plan.predicate = try NSPredicate(format: "number < 100 OR number > 250").node.fitted(to: plan.entity)
        for runs in [[ids[0].key...ids[299].key], [ids[50].key...ids[99].key, ids[250].key...ids[251].key], [ids[299].key + 1...Int64.max], []] {
            let wanted = ids.enumerated().count { number, id in (number < 100 || number > 250) && runs.contains { $0.contains(id.key) } }
            #expect(try fixture.store.count(plan, among: runs) == wanted)
        }
    }

    @Test func whatIsUnsavedIsNotCountedByTheStore() throws {
        let stack = try SQLiteStack()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = stack.root
        try child.performAndWait { () throws in
            let entity = try #require(child.endOfChain?.managedObjectModel.entitiesByName["Person"])
            let plan = FetchPlan(entity: entity)
            #expect(try child.count(plan, among: [1...Int64.max]) == 0)
            child.make("Person", ["name": "a"])
            child.processPendingChanges()
            let other = try #require(entity.relationshipsByName["department"]?.destinationEntity)
            #expect(try child.count(FetchPlan(entity: other), among: [1...9]) == 0)
            #expect(try child.count(plan, among: [1...Int64.max]) == nil)
            try child.save()
            #expect(try child.count(plan, among: [1...Int64.max]) == nil)
            try stack.root.performAndWait { () throws in try stack.root.save() }
            #expect(try child.count(plan, among: [1...Int64.max]) == 1)
        }
    }
}
