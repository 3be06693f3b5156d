import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Tokens of states, how long they keep a state, and which stores have any.
@Suite struct QueryGenerationTokenTests {
    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as NSError).code }
    }

    // H5
    @Test func aStateKeepsTheLogUntilItsLastTokenIsGone() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        try stack.set("p", to: 2)
        #expect(try stack.checkpoint().first == "1")
        var token = stack.mine.queryGenerationToken
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(nil) }
        #expect(token != nil && token != .current)
        #expect(try stack.checkpoint().first == "1")
        token = nil
        #expect(try stack.checkpoint() == ["0", "0", "0"])
    }

    // H5
    @Test func aStateGoesWithItsContext() throws {
        let stack = try PinnedStack()
        try stack.pin()
        var pinned: NSManagedObjectContext? = stack.another()
        try pinned?.performAndWait { () throws in
            try pinned?.setQueryGenerationFrom(.current)
            _ = try pinned?.all("Item")
        }
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(nil) }
        try stack.theirs.performAndWait { () throws in
            stack.theirs.make("Item", ["key": "p"])
            try stack.theirs.save()
        }
        #expect(try stack.checkpoint().first == "1")
        pinned = nil
        #expect(try stack.checkpoint() == ["0", "0", "0"])
    }

    // H5
    @Test func eachSaveOfAPinnedContextLetsGoOfTheStateBefore() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        for value in 2..<20 { try stack.set("p", to: value, in: stack.mine) }
        try stack.mine.performAndWait { () throws in
            stack.mine.reset()
            #expect(stack.mine.queryGenerationToken == .current)
        }
        #expect(try stack.checkpoint() == ["0", "0", "0"])
        #expect(try stack.shown() == ["p 19"])
    }

    // H5
    @Test func aStoreThatIsRemovedLetsGoOfItsStates() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let token = try #require(stack.mine.queryGenerationToken), file = stack.files.file
        let store = try #require(stack.coordinator.persistentStores.first)
        try stack.coordinator.remove(store)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path + "-wal")).isEmpty)
        #expect(code { _ = try stack.shown() } == CocoaError.Code.coreData.rawValue)
        // The same file again is another store, which the state knows nothing of.
        try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
        #expect(try stack.shown() == [] && stack.shown(stack.theirs) == ["p 1"])
        stack.theirs.performAndWait { #expect(code { try stack.theirs.setQueryGenerationFrom(token) } == CocoaError.Code.coreData.rawValue) }
        #expect(stack.theirs.queryGenerationToken == nil)
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(.current) }
        #expect(try stack.shown() == ["p 1"])
    }

    // H5
    @Test(.timeLimit(.minutes(60))) func aStateOfSomebodyElseDoesNotHoldUpClosing() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        // Waits for a lock that is in the way of a save for longer than the test may take.
        let elsewhere = try stack.elsewhere(options: [NSPersistentStoreTimeoutOption: 3600])
        try stack.set("p", to: 2, in: elsewhere)
        let other = try #require(elsewhere.persistentStoreCoordinator)
        try other.remove(try #require(other.persistentStores.first))
        #expect(try stack.shown() == ["p 1"])
    }

    // H5
    @Test func aContextOfAStoreInMemoryIsNotPinned() throws {
        let stack = TestStack()
        let other = stack.independent()
        try holding(stack.root, other) { () throws in
            try stack.root.setQueryGenerationFrom(.current)
            #expect(try stack.root.all("Item").isEmpty)
            #expect(stack.root.queryGenerationToken == nil)
            other.make("Item", ["key": "p"])
            try other.save()
            #expect(try stack.root.names("Item", "key") == ["p"])
            stack.root.make("Item", ["key": "q"])
            try stack.root.save()
            stack.root.reset()
            #expect(stack.root.queryGenerationToken == nil)
            #expect(try stack.root.names("Item", "key") == ["p", "q"])
        }
    }

    // H5
    @Test func ofSeveralStoresThoseWithAPastArePinnedAndTheOthersReadAsTheyAre() throws {
        let files = try StoreFixture(Company.model())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: files.model)
        coordinator.add(files.store)
        let memory = InMemoryStore(entities: try [files.entity("Track"), files.entity("Playlist")])
        coordinator.add(memory)
        let mine = PinnedStack.context(coordinator), theirs = PinnedStack.context(coordinator)
        try holding(mine, theirs) { () throws in
            let item = theirs.make("Item", ["key": "p", "a": 1]), track = theirs.make("Track", ["title": "old"])
            try theirs.save()
            // The SQLite store comes first and keeps every entity; a track is put into memory past the context.
            var changes = ChangeSet()
            let entity = try files.entity("Track")
            let id = NSManagedObjectID(entity: entity, key: 900, store: memory.identity, isTemporary: true)
            changes.set(id, PendingRow(kind: .inserted, row: try files.row("Track", ["title": .string("in memory")])))
            for (id, version) in try memory.save(changes).versions { changes[id]?.row?.stamp(version: version) }
            id.makePermanent()
            try mine.setQueryGenerationFrom(.current)
            #expect(try mine.names("Track", "title") == ["in memory", "old"])
            let inMemory = mine.object(with: id), inFile = mine.object(with: track.objectID)
            #expect(inMemory.value(forKey: "title") as? String == "in memory" && inFile.value(forKey: "title") as? String == "old")
            item.setValue(2, forKey: "a")
            track.setValue("new", forKey: "title")
            theirs.object(with: id).setValue("changed", forKey: "title")
            try theirs.save()
            #expect(try mine.names("Item", "key", "a == 1") == ["p"])
            mine.refreshAllObjects()
            #expect(inMemory.value(forKey: "title") as? String == "changed" && inFile.value(forKey: "title") as? String == "old")
            #expect(try mine.names("Track", "title") == ["changed", "old"])
            #expect(mine.queryGenerationToken != nil)
        }
    }

    // H5
    @Test func aStoreThatIsAddedLaterIsReadOnceTheStateIsMoved() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let second = try StoreFixture(Company.model())
        try second.insert("Item", ["key": .string("q"), "a": .int64(2), "b": .int64(0), "c": .int64(0)])
        try second.store.close()
        try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: second.file)
        #expect(try stack.shown() == ["p 1"] && stack.shown(stack.theirs) == ["p 1", "q 2"])
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(.current) }
        #expect(try stack.read() == ["p 1", "q 2"])
        // A save into both is seen whole or not at all.
        try stack.theirs.performAndWait { () throws in
            for item in try stack.theirs.all("Item") { item.setValue(5, forKey: "a") }
            try stack.theirs.save()
        }
        #expect(try stack.read() == ["p 1", "q 2"])
    }

    // H5
    @Test func aFileWithoutALogIsReadAsItIsAndKeepsNobodyFromWriting() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let file = stack.files.file
        try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
        _ = try stack.files.shell.rows("PRAGMA journal_mode = DELETE")
        try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: [NSReadOnlyPersistentStoreOption: true])
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(.current) }
        #expect(try stack.shown() == ["p 1"])
        #expect(stack.mine.queryGenerationToken == nil)
        _ = try stack.files.shell.rows("UPDATE ZITEM SET ZA = 2, Z_OPT = Z_OPT + 1")
        #expect(try stack.shown() == ["p 2"])
    }

    // H5
    @Test func aStoreThatIsOpenForReadingOnlyCanBePinned() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let reading = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        try reading.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.files.file, options: [NSReadOnlyPersistentStoreOption: true])
        let context = PinnedStack.context(reading)
        try context.performAndWait { () throws in try context.setQueryGenerationFrom(.current) }
        #expect(try stack.shown(context) == ["p 1"])
        try stack.set("p", to: 2)
        #expect(try stack.shown(context) == ["p 1"] && context.queryGenerationToken != nil)
    }

    // H5
    @Test func aTokenOfAnotherCoordinatorIsRefused() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let elsewhere = try stack.elsewhere()
        elsewhere.performAndWait {
            #expect(code { try elsewhere.setQueryGenerationFrom(stack.mine.queryGenerationToken) } == CocoaError.Code.coreData.rawValue)
        }
        #expect(elsewhere.queryGenerationToken == nil)
    }

    private func archive(_ token: NSQueryGenerationToken) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    }

    private func unarchived(_ data: Data) throws -> NSQueryGenerationToken {
        try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data))
    }

    // H5
    @Test func aTokenCanBeCopiedComparedAndArchived() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let current = try unarchived(archive(.current))
        #expect(current == .current && current.hash == NSQueryGenerationToken.current.hash)
        let token = try #require(stack.mine.queryGenerationToken)
        #expect(token.copy() as? NSQueryGenerationToken == token && token.hash == stack.mine.queryGenerationToken?.hash)
        #expect(token != .current && !token.isEqual("token"))
        let back = try unarchived(archive(token)), other = stack.another()
        #expect(back == token)
        try stack.set("p", to: 2)
        try other.performAndWait { () throws in try other.setQueryGenerationFrom(back) }
        #expect(try stack.shown(other) == ["p 1"])
    }

    // H5
    @Test func anArchivedTokenKeepsNothing() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let data = try archive(#require(stack.mine.queryGenerationToken))
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(nil) }
        let token = try unarchived(data)
        #expect(try token != .current && token == unarchived(archive(token)))
        stack.mine.performAndWait { #expect(code { try stack.mine.setQueryGenerationFrom(token) } == CocoaError.Code.coreData.rawValue) }
        #expect(stack.mine.queryGenerationToken == nil)
    }
}
