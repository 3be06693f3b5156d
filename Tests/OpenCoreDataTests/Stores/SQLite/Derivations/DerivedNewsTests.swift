import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Who hears that a derived value is another one.
@Suite struct DerivedNewsTests {
    private static func world() throws -> BatchWorld {
        let world = try BatchWorld(.file, DerivedLibrary.model())
        try world.save { context in
            let ada: NSManagedObject = context.make("Author")
            let book: NSManagedObject = context.make("Book")
            ada.setValue("Ada", forKey: "name")
            book.setValue("Diary", forKey: "title")
            book.setValue(ada, forKey: "author")
        }
        return world
    }

    /// A book, which nobody changes when its author gets another name.
    private static func diary(in context: NSManagedObjectContext) throws -> NSManagedObject {
        try context.performAndWait { () throws in
            let diary = try #require(try context.all("Book").first)
            #expect(diary.value(forKey: "loud") as? String == "ADA")
            return diary
        }
    }

    private static func rename(to name: String = "Eve", in context: NSManagedObjectContext) throws {
        try context.performAndWait { () throws in
            try context.all("Author").first?.setValue(name, forKey: "name")
            try context.save()
        }
    }

    @discardableResult
    private static func saveBook(in context: NSManagedObjectContext) throws -> NSManagedObject {
        try context.performAndWait { () throws in
            let book: NSManagedObject = context.make("Book")
            book.setValue("ÄRGER", forKey: "title")
            book.setValue(try context.all("Author").first, forKey: "author")
            try context.save()
            return book
        }
    }

    // A8
    @Test func aControllerFindsAnObjectByWhatWasDerivedForIt() throws {
        let world = try Self.world(), context = world.context
        let (controller, follower) = context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "key == 'arger'")
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let follower = Follower()
            controller.delegate = follower
            #expect(throws: Never.self) { try controller.performFetch() }
            return (controller, follower)
        }
        let book = try Self.saveBook(in: context)
        try context.performAndWait { () throws in
            #expect(controller.fetchedObjects == [book] && follower.changes == 1)
            book.setValue("B", forKey: "title")
            try context.save()
            // Once as the title changed, and once as the key did.
            #expect(controller.fetchedObjects == [] && follower.changes == 3)
        }
    }

    // Used on the context's queue only.
    private final class Follower: NSFetchedResultsControllerDelegate, @unchecked Sendable {
        var changes = 0

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { changes += 1 }
    }

    // A8
    @Test func aChildThatMergesShowsWhatItsParentSaved() throws {
        let world = try Self.world(), child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = world.context
        child.automaticallyMergesChangesFromParent = true
        let diary = try Self.diary(in: child)
        try Self.rename(in: world.context)
        child.performAndWait { #expect(diary.value(forKey: "loud") as? String == "EVE") }
    }

    // A8
    @Test(arguments: [Notification.Name.NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs])
    func whoMergesANotificationShowsIt(_ name: Notification.Name) throws {
        let world = try Self.world(), other = world.fresh()
        let recorder = NotificationRecorder(world.context, name), diary = try Self.diary(in: other)
        try Self.rename(in: world.context)
        let note = try #require(recorder.notifications.first)
        other.performAndWait {
            if name == .NSManagedObjectContextDidSave {
                other.mergeChanges(fromContextDidSave: note)
            } else {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: note.userInfo ?? [:], into: [other])
            }
            #expect(diary.value(forKey: "loud") as? String == "EVE")
        }
    }

    // A8
    @Test func aValueThatStaysTheSameIsNoNews() throws {
        let world = try Self.world(), other = world.fresh()
        other.automaticallyMergesChangesFromParent = true
        let diary = try Self.diary(in: other), recorder = NotificationRecorder(other, .NSManagedObjectContextObjectsDidChange)
        try Self.rename(to: "ADA", in: world.context)
        other.performAndWait {
            other.processPendingChanges()
            #expect(!recorder.objects(NSRefreshedObjectsKey).contains(diary))
        }
    }

    // A8
    @Test func whoHearsOfTheSaveSeesTheNewValues() throws {
        let world = try Self.world(), diary = try Self.diary(in: world.context)
        // Used on the context's queue only.
        nonisolated(unsafe) var seen: [String?] = []
        // Read where it is told, on its queue.
        nonisolated(unsafe) let object = diary
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: world.context, queue: nil) { note in
            let told = note.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject>
            if told == [object] { seen.append(object.value(forKey: "loud") as? String) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try Self.rename(in: world.context)
        #expect(seen == ["EVE"])
    }

    // A8
    @Test func aChildThatSavesToTheStoreShowsThemWhateverItsParentHadChanged() throws {
        let world = try Self.world(), child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = world.context
        let diary = try Self.diary(in: child)
        try world.context.performAndWait { () throws in
            try world.context.all("Book").first?.setValue("Notes", forKey: "title")
            let fresh: NSManagedObject = world.context.make("Book")
            fresh.setValue("ÄRGER", forKey: "title")
        }
        try child.performAndWait { () throws in
            let fresh = try #require(try child.all("Book", "title BEGINSWITH 'Ä'").first)
            #expect(fresh.value(forKey: "key") == nil)
            try child.all("Author").first?.setValue("Eve", forKey: "name")
            try child.saveToStore()
            #expect(diary.value(forKey: "loud") as? String == "EVE" && fresh.value(forKey: "key") as? String == "arger")
        }
    }

    // A8
    @Test func whoFollowsAContextInBetweenHearsOfThemToo() throws {
        let world = try Self.world(), middle = NSManagedObjectContext(.privateQueueConcurrencyType)
        middle.parent = world.context
        let leaves = (0..<2).map { _ in
            let leaf = NSManagedObjectContext(.privateQueueConcurrencyType)
            leaf.parent = middle
            return leaf
        }
        leaves[1].automaticallyMergesChangesFromParent = true
        let diary = try Self.diary(in: leaves[1])
        try leaves[0].performAndWait { () throws in
            try leaves[0].all("Author").first?.setValue("Eve", forKey: "name")
            try leaves[0].saveToStore()
        }
        leaves[1].performAndWait { #expect(diary.value(forKey: "loud") as? String == "EVE") }
    }

    // A8: a hook's change is an event of its own.
    @Test func whatIsChangedWhileASaveIsToldStaysToBeUndone() throws {
        let world = try Self.world(), diary = try Self.diary(in: world.context)
        // Read and written where it is told, on its queue.
        nonisolated(unsafe) let object = diary
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: world.context, queue: nil) { _ in
            if object.value(forKey: "title") as? String != "Changed" { object.setValue("Changed", forKey: "title") }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let recorder = NotificationRecorder(world.context, .NSManagedObjectContextObjectsDidChange)
        try Self.rename(in: world.context)
        world.context.performAndWait {
            #expect(diary.value(forKey: "loud") as? String == "EVE" && !recorder.objects(NSUpdatedObjectsKey).contains(diary))
            world.context.processPendingChanges()
            #expect(recorder.objects(NSUpdatedObjectsKey).contains(diary))
        }
    }

    // A8, S9: the commit of the second store fails.
    @Test func aPartOfASaveThatIsCommittedShowsThem() throws {
        let model = DerivedLibrary.model(), library = model.entities
        let note = StoreModels.entity("Note", [StoreModels.attribute("text", .string)])
        model.entities = library + [note]
        model.setEntities(library, forConfigurationName: "Library")
        model.setEntities([note], forConfigurationName: "Notes")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("derived-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        func add(_ configuration: String, _ name: String) throws -> NSPersistentStore {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: configuration, at: folder.appendingPathComponent(name), options: nil)
        }
        let first = try add("Library", "l.sqlite")
        var second = try add("Notes", "0.sqlite"), count = 0
        // Stores commit in the order of their identifiers.
        while second.identifier < first.identifier {
            try coordinator.remove(second)
            count += 1
            second = try add("Notes", "\(count).sqlite")
        }
        let context = NSManagedObjectContext(.privateQueueConcurrencyType), other = NSManagedObjectContext(.privateQueueConcurrencyType)
        for context in [context, other] { context.persistentStoreCoordinator = coordinator }
        other.automaticallyMergesChangesFromParent = true
        try context.performAndWait { () throws in
            let ada: NSManagedObject = context.make("Author"), diary: NSManagedObject = context.make("Book")
            ada.setValue("Ada", forKey: "name")
            diary.setValue(ada, forKey: "author")
            try context.save()
            let theirs = try Self.diary(in: other), fresh: NSManagedObject = context.make("Book"), text: NSManagedObject = context.make("Note")
            fresh.setValue("ÄRGER", forKey: "title")
            text.setValue("x", forKey: "text")
            ada.setValue("Eve", forKey: "name")
            try FileManager.default.moveItem(at: try #require(second.url), to: folder.appendingPathComponent("moved"))
            #expect(errorCode { try context.save() } == 134_040)
            #expect(fresh.value(forKey: "key") as? String == "arger" && diary.value(forKey: "loud") as? String == "EVE")
            other.performAndWait { #expect(theirs.value(forKey: "loud") as? String == "EVE") }
        }
    }

    // A8, H1: the history tells what somebody changed.
    @Test func theHistoryDoesNotTellOfThem() throws {
        let world = try Self.world(), token = world.coordinator.currentPersistentHistoryToken(fromStores: nil)
        let book = try Self.saveBook(in: world.context)
        try world.context.performAndWait { () throws in
            book.setValue("B", forKey: "title")
            book.setValue("mine", forKey: "key")
            try world.context.save()
        }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let transactions = try #require(try world.execute(request, as: NSPersistentHistoryResult.self).result as? [NSPersistentHistoryTransaction])
        let changes = transactions.flatMap { $0.changes ?? [] }
        #expect(changes.map(\.changedObjectID) == [book.objectID, book.objectID])
        #expect(changes.last?.updatedProperties?.map(\.name) == ["title"])
    }
}
