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
            ada.setValue("Ada", forKey: "name")
        }
        return world
    }

    private static func ada(in context: NSManagedObjectContext) throws -> NSManagedObject {
        try context.performAndWait { () throws in
            let ada = try #require(try context.all("Author").first)
            #expect(ada.value(forKey: "bookCount") as? Int64 == 0)
            return ada
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
        let ada = try Self.ada(in: child)
        try Self.saveBook(in: world.context)
        child.performAndWait { #expect(ada.value(forKey: "bookCount") as? Int64 == 1) }
    }

    // A8
    @Test(arguments: [Notification.Name.NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs])
    func whoMergesANotificationShowsIt(_ name: Notification.Name) throws {
        let world = try Self.world(), other = world.fresh()
        let recorder = NotificationRecorder(world.context, name), ada = try Self.ada(in: other)
        try Self.saveBook(in: world.context)
        let note = try #require(recorder.notifications.first)
        other.performAndWait {
            if name == .NSManagedObjectContextDidSave {
                other.mergeChanges(fromContextDidSave: note)
            } else {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: note.userInfo ?? [:], into: [other])
            }
            #expect(ada.value(forKey: "bookCount") as? Int64 == 1)
        }
    }

    // A8
    @Test func whoHearsOfTheSaveSeesTheNewValues() throws {
        let world = try Self.world(), ada = try Self.ada(in: world.context)
        // Used on the context's queue only.
        nonisolated(unsafe) var seen: [Int64?] = []
        nonisolated(unsafe) let object = ada
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: world.context, queue: nil) { _ in
            seen.append(object.value(forKey: "bookCount") as? Int64)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try Self.saveBook(in: world.context)
        #expect(seen == [1])
    }

    // A8
    @Test func aChildThatSavesToTheStoreShowsThemWhateverItsParentHadChanged() throws {
        let world = try Self.world(), child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = world.context
        let ada = try Self.ada(in: child)
        try world.context.performAndWait { try world.context.all("Author").first?.setValue("Eve", forKey: "name") }
        try child.performAndWait { () throws in
            let book: NSManagedObject = child.make("Book")
            book.setValue(ada, forKey: "author")
            try child.saveToStore()
            #expect(ada.value(forKey: "bookCount") as? Int64 == 1 && book.value(forKey: "loud") as? String == "EVE")
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
