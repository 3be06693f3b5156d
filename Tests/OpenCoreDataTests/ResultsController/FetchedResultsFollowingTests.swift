import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct FetchedResultsFollowingTests {
    // V3
    @Test func rollbackTakesTheResultsBack() throws {
        try ResultsFixture.use("a1", "a2") { fixture in
            let before = Shown(fixture.controller)
            fixture.stack.root.make("Person", ["name": "a0", "nick": "a"])
            fixture.set("a1", "name", "a9")
            fixture.stack.root.delete(try #require(fixture.people["a2"]))
            fixture.process()
            #expect(fixture.controller.names == ["a0", "a9"])
            fixture.stack.root.rollback()
            #expect(Shown(fixture.controller) == before && fixture.recorder.shown == before && fixture.controller.names == ["a1", "a2"])
        }
    }

    // V3, T8
    @Test func afterAResetTheResultsAreFetchedAgain() throws {
        try ResultsFixture.use("a1", "a2") { fixture in
            let old = try #require(fixture.controller.fetchedObjects)
            fixture.stack.root.make("Person", ["name": "a0", "nick": "a"])
            fixture.set("a1", "name", "a9")
            fixture.process()
            fixture.stack.root.reset()
            #expect(fixture.controller.names == ["a1", "a2"] && fixture.recorder.shown == Shown(fixture.controller))
            #expect(fixture.recorder.objects.map(\.type) == [.delete, .move, .update])
            // The objects are new ones: the old ones have no context any more.
            #expect(fixture.controller.fetchedObjects?.allSatisfy { object in !old.contains { $0 === object } } == true)
        }
    }

    // F8: the window holds whatever changes.
    @Test func theWindowIsKept() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            for name in ["b", "c", "d", "e"] { stack.root.make("Person", ["name": name]) }
            try stack.root.save()
            let controller = stack.root.persons(limit: 2, offset: 1)
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            #expect(controller.names == ["c", "d"])
            stack.root.make("Person", ["name": "a"])
            stack.root.processPendingChanges()
            #expect(controller.names == ["b", "c"] && recorder.lines == ["delete 0.1 -", "insert - 0.0"])
        }
    }

    // V3: an object that a merge policy gave other values is judged by them.
    @Test func whatAMergePolicySettledIsFollowed() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        stack.root.mergePolicy = .mergeByPropertyStoreTrump
        let other = stack.independent()
        let id = try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person", ["name": "b"])
            stack.root.make("Person", ["name": "c"])
            try stack.root.save()
            return ada.objectID
        }
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons("age < 90")
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            let ada = stack.root.object(with: id)
            ada.setValue("a", forKey: "name")
            try other.performAndWait { () throws in
                other.object(with: id).setValue("z", forKey: "name")
                try other.save()
            }
            try stack.root.save()
            #expect(ada.value(forKey: "name") as? String == "z" && controller.names == ["c", "z"])
            #expect(recorder.lines == ["move 0.0 0.1"] && recorder.shown == Shown(controller))
        }
    }

    // V3: a store that can't be read changes nothing; with the next change everything is fetched again.
    @Test func aStoreThatCannotBeReadIsAskedAgain() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        let writer = stack.independent()
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            let id = try writer.performAndWait { () throws in
                let made = writer.make("Person", ["name": "Ada"])
                try writer.save()
                return made.objectID
            }
            stack.coordinator.rowCache.removeAll()
            stack.store.observe { request in if case .rows = request { throw CocoaError(.fileReadUnknown) } }
            stack.root.tellOfRefreshed([id])
            #expect(controller.names.isEmpty && recorder.calls.isEmpty)
            stack.store.observe(nil)
            stack.root.make("Person", ["name": "Bob"])
            stack.root.processPendingChanges()
            #expect(controller.names == ["Ada", "Bob"] && recorder.shown == Shown(controller))
        }
    }

    // V3, N24: where a pushed duplicate becomes one object with another, the sender's results show that one.
    @Test func aDuplicateThatBecameAnotherObjectLeavesTheSendersResults() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let owner = stack.root.make("Item", ["key": "k", "a": 1])
            stack.root.processPendingChanges()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil, cacheName: nil)
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            child.make("Item", ["key": "k", "b": 2])
            child.processPendingChanges()
            #expect(controller.fetchedObjects?.count == 2)
            try child.save()
            child.processPendingChanges()
            #expect(controller.fetchedObjects?.map(\.objectID) == [owner.objectID] && recorder.shown == Shown(controller))
        }
    }

    // V1, V3: the request's entities count, and no others.
    @Test func subentitiesCountAsTheRequestSays() throws {
        let stack = TestStack(), recorder = ResultsRecorder()
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons()
            controller.fetchRequest.includesSubentities = false
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            stack.root.make("Engineer", ["name": "Eva"])
            stack.root.processPendingChanges()
            #expect(recorder.calls.isEmpty)
            controller.fetchRequest.includesSubentities = true
            try controller.performFetch()
            recorder.shown = Shown(controller)
            stack.root.make("Engineer", ["name": "Ada"])
            stack.root.processPendingChanges()
            #expect(controller.names == ["Ada", "Eva"] && recorder.lines == ["insert - 0.0"])
        }
    }

    // V2, F7: what comes in finds its place by the order that the store has, whatever the keys are.
    @Test func whatComesInFindsThePlaceThatTheStoreWouldGiveIt() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("results-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("store"))
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let names = ["b", "B", "a", "Ä", "ä", "z", "Z", "é", "e\u{301}", "ß", "SS", "", "日本", "😀", "10", "9"]
        try context.performAndWait { () throws in
            var all: [(NSFetchedResultsController<NSManagedObject>, ResultsRecorder)] = []
            for (selector, isAscending) in [(SortSelector.compare, true), (.compare, false), (.caseInsensitiveCompare, true)] {
                let controller = context.persons()
                controller.fetchRequest.sortDescriptors = [
                    NSSortDescriptor(key: "nick", ascending: isAscending, selector: selector), NSSortDescriptor(key: "age", ascending: false),
                ]
                let recorder = ResultsRecorder()
                controller.delegate = recorder
                try controller.performFetch()
                recorder.shown = Shown(controller)
                all.append((controller, recorder))
            }
            for (number, name) in names.enumerated() {
                context.make("Person", ["nick": name, "age": number % 3])
                context.make("Person", ["age": number])
                context.processPendingChanges()
            }
            try context.save()
            for (controller, recorder) in all {
                let fetched = try context.fetch(controller.fetchRequest)
                #expect(controller.fetchedObjects == fetched && recorder.shown == Shown(controller))
            }
        }
        try coordinator.remove(store)
    }
}
