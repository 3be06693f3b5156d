import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// What batch requests mean for a file: its history, its keys, its indexes, and who else uses it meanwhile.
@Suite struct BatchFileTests {
    // B7, H1
    @Test func theHistoryTellsWhatTheyDidAndWhoAsked() throws {
        let model = Shops.model()
        model.entitiesByName["Shop"]?.attributesByName["name"]?.preservesValueInHistoryOnDeletion = true
        let world = try BatchWorld(.file, model), context = world.context
        context.mergePolicy = .mergeByPropertyObjectTrump
        context.transactionAuthor = "importer"
        context.name = "batches"
        try context.performAndWait { () throws in
            try context.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["name": "a"], ["name": "b"]]))
            try context.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["name": "a", "stars": 1], ["name": "c"]]))
            let update = NSBatchUpdateRequest(entityName: "Shop")
            update.predicate = NSPredicate(format: "name == 'b'")
            update.propertiesToUpdate = ["revenue": 1.5, "stars": 2]
            try context.execute(update)
            // Nothing to do is nothing to tell.
            update.predicate = NSPredicate(value: false)
            try context.execute(update)
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Shop")))
        }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let found = try #require(try world.execute(request, as: NSPersistentHistoryResult.self).result as? [NSPersistentHistoryTransaction])
        func inWords(_ change: NSPersistentHistoryChange) -> String {
            let names = change.updatedProperties.map { " " + $0.map(\.name).sorted().joined(separator: " ") } ?? ""
            let kept = change.tombstone?["name"].map { " \($0)" } ?? ""
            return "\(["insert", "update", "delete"][change.changeType.rawValue]) \(change.changedObjectID.key)\(names)\(kept)"
        }
        #expect(
            found.map { ($0.changes ?? []).map(inWords) } == [
                ["insert 1", "insert 2"], ["insert 3", "update 1 name stars"], ["update 2 revenue stars"],
                ["delete 1 a", "delete 2 b", "delete 3 c"],
            ])
        #expect(Set(found.map(\.author)) == ["importer"] && Set(found.map(\.contextName)) == ["batches"])
    }

    // B7, T15
    @Test func everyoneWhoFollowsTheFileIsTold() throws {
        let world = try BatchWorld(.file, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let count = Mutex(0)
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: world.coordinator, queue: nil) { _ in
            count.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try world.insert("Shop", [["name": "a"]])
        #expect(count.withLock { $0 } == 1)
        #expect(errorCode { try world.insert("Shop", [["name": "a"]]) } == 133_021)
        #expect(count.withLock { $0 } == 1)
    }

    // H5
    @Test func aContextThatIsPinnedStaysWhereItIs() throws {
        let world = try BatchWorld(.file), context = world.context
        try world.insert("Shop", [["name": "a", "number": 1]])
        try context.performAndWait { () throws in
            try context.setQueryGenerationFrom(.current)
            #expect(try context.names("Shop") == ["a"])
            try context.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["name": "b"]]))
            #expect(try context.names("Shop") == ["a"])
            try context.setQueryGenerationFrom(nil)
            #expect(try context.names("Shop") == ["a", "b"])
        }
    }

    // I4
    @Test func keysOfObjectsThatAreNotSavedYetAreNotUsed() throws {
        let world = try BatchWorld(.file), context = world.context
        try context.performAndWait { () throws in
            let before = (0..<3).map { context.make("Tag", ["number": $0]) }
            let request = NSBatchInsertRequest(entityName: "Tag", objects: (10..<2_010).map { ["number": $0] })
            request.resultType = .objectIDs
            let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            let after = (3..<3_000).map { context.make("Tag", ["number": 10_000 + $0]) }
            try context.save()
            #expect(Set(ids.map(\.key)).union((before + after).map(\.objectID.key)).count == 5_000)
        }
        #expect(try world.shell.column("SELECT count(*) FROM ZTAG") == ["5000"])
        #expect(try world.shell.column("SELECT Z_MAX >= (SELECT max(Z_PK) FROM ZTAG) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == ["1"])
    }

    // B1
    @Test(arguments: [false, true]) func manyRowsIntoAnEmptyTableHaveAllIndexesAfterwards(collides: Bool) throws {
        let world = try BatchWorld(.file)
        let indexes = try world.shell.column("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name")
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Item") { (row: NSMutableDictionary) in
            number += 1
            if number > 25_000 { return true }
            row["key"] = "k\(collides && number == 24_999 ? 7 : number)"
            row["number"] = number
            return false
        }
        if collides {
            #expect(errorCode { try world.execute(request) } == 133_021)
        } else {
            try world.execute(request)
        }
        #expect(try world.shell.column("SELECT count(*) FROM ZITEM") == [collides ? "0" : "25000"])
        #expect(try world.shell.column("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name") == indexes)
        #expect(try world.shell.column("PRAGMA integrity_check") == ["ok"])
        #expect(try SQLiteStoreVerification.verify(try #require(world.store.url)).isSound)
    }

    // B1, S12
    @Test func aHandlerThatGivesWhatIsNoValueLeavesNothing() throws {
        let world = try BatchWorld(.file)
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Tag") { (row: NSMutableDictionary) in
            number += 1
            row["number"] = number == 24_000 ? "twenty-four thousand" : number
            return number > 30_000
        }
        let error = #expect(throws: NSError.self) { try world.execute(request) }
        #expect(error?.code == 134_060 && error?.localizedDescription.contains("twenty-four thousand is no value of Tag.number") == true)
        #expect(try world.shell.column("SELECT count(*) FROM ZTAG") == ["0"])
        try world.insert("Tag", [["number": 1]])
        #expect(try world.shell.column("SELECT Z_PK FROM ZTAG") == ["1"])
    }

    // B1
    @Test func aPredicateThatSQLHasNoWordsForIsRefused() throws {
        let world = try BatchWorld(.file)
        let update = NSBatchUpdateRequest(entityName: "Shop")
        update.predicate = NSPredicate { _, _ in true }
        update.propertiesToUpdate = ["stars": 1]
        let error = #expect(throws: NSError.self) { try world.execute(update) }
        #expect(error?.code == 134_060 && error?.localizedDescription.contains("a block predicate") == true)
        update.predicate = nil
        update.propertiesToUpdate = ["stars": NSExpression(format: "FUNCTION(name, 'length')")]
        #expect(errorCode { try world.execute(update) } == 134_060)
    }

    // B5: pairs that nobody would ever see again
    @Test func whatWasDeletedIsInNoPair() throws {
        let world = try BatchWorld(.file)
        try world.save { context in
            let items = (0..<3).map { context.make("Book", ["key": "k\($0)", "number": $0]) }
            for number in 3..<5 { context.make("Tag", ["number": number, "items": Set(items)]) }
            context.make("Shelf", ["number": 9, "books": Set(items)])
        }
        let tables = try world.shell.column("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        func pairs() throws -> [Int] { try tables.map { try #require(Int(try world.shell.column("SELECT count(*) FROM \($0)")[0])) }.sorted() }
        #expect(try pairs() == [3, 6])
        try world.execute(batchDelete("Book", "number == 0"))
        #expect(try pairs() == [2, 4])
        try world.execute(batchDelete("Tag"))
        #expect(try pairs() == [0, 2])
        try world.execute(batchDelete("Shelf"))
        #expect(try pairs() == [0, 0])
        #expect(try world.dump().isEmpty)
    }
}
