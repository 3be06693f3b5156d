import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Saving from a context that is pinned to a state of its stores, and what moves it to another state.
@Suite struct QueryGenerationMovingTests {
    // H5
    @Test func aSaveMovesTheContextToAStateThatContainsIt() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let before = stack.mine.queryGenerationToken
        try stack.set("p", to: 10)
        try stack.set("q", to: 20, in: stack.mine)
        #expect(stack.mine.queryGenerationToken != before && stack.mine.queryGenerationToken != .current)
        #expect(try stack.read() == ["p 10", "q 20"])
        try stack.set("p", to: 11)
        #expect(try stack.read() == ["p 10", "q 20"])
    }

    // H5
    @Test func savingAllLevelsAtOnceMovesTheRoot() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let before = stack.mine.queryGenerationToken, child = stack.child()
        try stack.set("p", to: 10)
        try child.performAndWait { () throws in
            try child.all("Item", "key == 'q'").first?.setValue(20, forKey: "a")
            try child.saveToStore()
        }
        #expect(stack.mine.queryGenerationToken != before)
        #expect(try stack.read() == ["p 10", "q 20"] && stack.read(child) == ["p 10", "q 20"])
    }

    // H5
    @Test func aRowThatChangedSinceTheStateIsAConflictThatShowsTheNewestRow() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let before = stack.mine.queryGenerationToken, mine = stack.mine
        // The first by the coordinator's cache, the second past it.
        for (context, value) in [(stack.theirs, 10), (try stack.elsewhere(), 20)] {
            try stack.set("p", to: value, in: context)
            try mine.performAndWait { () throws in
                let item = try #require(try mine.all("Item").first)
                item.setValue(5, forKey: "a")
                let error = #expect(throws: NSError.self) { try mine.save() }
                #expect(error?.code == CocoaError.Code.managedObjectMerge.rawValue)
                let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
                #expect(conflict?.objectSnapshot?["a"] as? Int == 1)
                #expect((conflict?.persistedSnapshot ?? conflict?.cachedSnapshot)?["a"] as? Int == value)
                // A refusal moves nothing, and refreshing shows the state.
                #expect(mine.queryGenerationToken == before)
                mine.rollback()
                mine.refreshAllObjects()
                #expect(item.value(forKey: "a") as? Int == 1)
            }
        }
        try mine.performAndWait { () throws in
            mine.mergePolicy = .mergeByPropertyObjectTrump
            let item = try #require(try mine.all("Item").first)
            item.setValue(7, forKey: "b")
            try mine.save()
            #expect(item.value(forKey: "a") as? Int == 20 && item.value(forKey: "b") as? Int == 7)
        }
        #expect(try stack.read() == ["p 20"] && stack.read(stack.theirs) == ["p 20"])
    }

    // H5
    @Test func aRowThatWasDeletedSinceTheStateIsAConflictToo() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let mine = stack.mine
        try stack.theirs.performAndWait { () throws in
            for item in try stack.theirs.all("Item") { stack.theirs.delete(item) }
            try stack.theirs.save()
        }
        try mine.performAndWait { () throws in
            let item = try #require(try mine.all("Item").first)
            item.setValue(5, forKey: "a")
            #expect(throws: NSError.self) { try mine.save() }
            mine.mergePolicy = .mergeByPropertyStoreTrump
            try mine.save()
        }
        #expect(try stack.shown() == [])
    }

    // H5
    @Test func aChildThatStartedFromARowThatTheRootSavedSinceMeetsNoConflict() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let child = stack.child()
        let item: NSManagedObject = try child.performAndWait { () throws in
            let item = try #require(try child.all("Item").first)
            #expect(item.value(forKey: "a") as? Int == 1)
            return item
        }
        try stack.set("p", to: 2, in: stack.mine)
        try child.performAndWait { () throws in
            item.setValue(7, forKey: "b")
            try child.save()
        }
        try stack.mine.performAndWait { () throws in
            try stack.mine.save()
            #expect(try stack.mine.all("Item").map { $0.value(forKey: "b") as? Int } == [7])
        }
        #expect(try stack.read(stack.theirs) == ["p 2"])
    }

    // H5
    @Test func aMergeMovesTheContextToTheNewestState() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let mine = stack.mine, recorder = NotificationRecorder(stack.theirs, .NSManagedObjectContextDidSave)
        let items: [NSManagedObject] = try mine.performAndWait { () throws in try mine.all("Item", sort: "key") }
        func values() -> [Int?] { mine.performAndWait { items.map { $0.value(forKey: "a") as? Int } } }
        #expect(values() == [1, 2])
        try stack.set("p", to: 10)
        #expect(values() == [1, 2])
        let saved = try #require(recorder.notifications.first)
        mine.performAndWait { mine.mergeChanges(fromContextDidSave: saved) }
        #expect(values() == [10, 2])
        try stack.set("p", to: 11)
        #expect(try stack.shown() == ["p 10", "q 2"])
        // From outside.
        _ = try stack.files.shell.rows("UPDATE ZITEM SET ZA = 12, Z_OPT = Z_OPT + 1 WHERE ZKEY = 'p'")
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [items[0].objectID]], into: [mine])
        #expect(values() == [12, 2])
        #expect(mine.queryGenerationToken != nil)
        // What the notification does not name keeps the values that it has, as without a pin, until it is refreshed.
        _ = try stack.files.shell.rows("UPDATE ZITEM SET ZA = 13, Z_OPT = Z_OPT + 1")
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [items[0].objectID]], into: [mine])
        #expect(values() == [13, 2])
        #expect(try stack.read() == ["p 13", "q 13"])
    }

    // H5
    @Test func aContextThatMergesByItselfFollowsPinnedOrNot() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let mine = stack.mine
        mine.automaticallyMergesChangesFromParent = true
        let item: NSManagedObject = try mine.performAndWait { () throws in try #require(try mine.all("Item").first) }
        #expect(mine.performAndWait { item.value(forKey: "a") as? Int } == 1)
        try stack.set("p", to: 2)
        // The merge was queued before this block.
        #expect(mine.performAndWait { item.value(forKey: "a") as? Int } == 2)
        #expect(mine.queryGenerationToken != nil)
        // A write that nobody merges is not seen.
        _ = try stack.files.shell.rows("UPDATE ZITEM SET ZA = 3, Z_OPT = Z_OPT + 1")
        #expect(try stack.read() == ["p 2"])
    }

    // H5
    @Test func resettingMovesOnAndRollingBackAndRefreshingDoNot() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let mine = stack.mine, before = mine.queryGenerationToken
        try stack.set("p", to: 2)
        mine.performAndWait {
            mine.rollback()
            mine.refreshAllObjects()
        }
        #expect(mine.queryGenerationToken == before)
        mine.performAndWait { mine.reset() }
        #expect(mine.queryGenerationToken == .current)
        #expect(try stack.shown() == ["p 2"])
        try stack.set("p", to: 3)
        #expect(try stack.shown() == ["p 2"])
        // One that is not pinned does not become so.
        stack.theirs.performAndWait { stack.theirs.reset() }
        #expect(stack.theirs.queryGenerationToken == nil)
    }

    // H5
    @Test func aResultsControllerShowsTheStateUntilTheContextMerges() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let mine = stack.mine, recorder = NotificationRecorder(stack.theirs, .NSManagedObjectContextDidSave)
        try mine.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "a < 10")
            request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: mine, sectionNameKeyPath: nil, cacheName: nil)
            let delegate = ResultsRecorder()
            controller.delegate = delegate
            try controller.performFetch()
            func keys() -> [String?] { (controller.fetchedObjects ?? []).map { $0.value(forKey: "key") as? String } }
            #expect(keys() == ["p", "q"])
            try stack.theirs.performAndWait { () throws in
                try stack.theirs.all("Item", "key == 'p'").first?.setValue(5, forKey: "a")
                stack.theirs.make("Item", ["key": "r", "a": 4])
                try stack.theirs.save()
            }
            try controller.performFetch()
            #expect(keys() == ["p", "q"])
            delegate.shown = Shown(controller)
            mine.mergeChanges(fromContextDidSave: try #require(recorder.notifications.first))
            #expect(keys() == ["q", "r", "p"])
            #expect(delegate.objects.count == 2)
        }
    }

    // T12
    @Test func onlyThePinnedContextOfASQLiteStoreNamesItsStateWhenItHasSaved() throws {
        func token(_ context: NSManagedObjectContext) throws -> NSQueryGenerationToken? {
            let recorder = NotificationRecorder(context, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs)
            try context.performAndWait { () throws in
                context.make("Item", ["key": UUID().uuidString, "a": 1])
                try context.save()
            }
            #expect(recorder.names.first == "DidSave")
            return recorder.notifications.first?.userInfo?[NSManagedObjectContext.NotificationKey.queryGeneration.rawValue] as? NSQueryGenerationToken
        }
        let stack = try PinnedStack()
        try stack.pin()
        let named = try #require(try token(stack.mine))
        #expect(named == stack.mine.queryGenerationToken && named != .current)
        #expect(NSManagedObjectContextQueryGenerationKey == "newQueryGeneration")
        // Others can be set to it.
        #expect(try token(stack.theirs) == nil)
        #expect(try stack.shown(stack.theirs).count == 2)
        try stack.theirs.performAndWait { () throws in try stack.theirs.setQueryGenerationFrom(named) }
        #expect(try stack.shown(stack.theirs).count == 1)
        #expect(try token(stack.child()) == nil)
        let memory = TestStack()
        try memory.root.performAndWait { () throws in
            try memory.root.setQueryGenerationFrom(.current)
            _ = try memory.root.all("Item")
        }
        #expect(try token(memory.root) == nil)
    }
}
