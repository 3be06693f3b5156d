import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// The examples of the guide "Concurrency".
@Suite struct ConcurrencyGuideTests {
    // MARK: Queues

    // C2, C4, C6
    @Test func blocksRunOnTheContextsQueue() throws {
        let library = try LibraryFixture()
        let context = context(on: try library.coordinator())
        // snippet: perform
        // Returns at once. The block runs after those that came before it.
        context.perform {
            let book = Book(context: context)
            book.title = "Middlemarch"
        }

        // Returns when the block is done, with its value or its error.
        let count = try context.performAndWait {
            try context.count(for: NSFetchRequest<Book>(entityName: "Book"))
        }
        // end
        #expect(count == 1)
    }

    // C7
    @Test func asynchronousCodeWaitsWithoutAThread() async throws {
        let library = try LibraryFixture()
        let context = context(on: try library.coordinator())
        // snippet: perform-async
        let titles = try await context.perform {
            let book = Book(context: context)
            book.title = "Middlemarch"
            try context.save()
            return try context.fetch(NSFetchRequest<Book>(entityName: "Book")).map(\.title)
        }
        // end
        #expect(titles == ["Middlemarch"])
    }

    // MARK: The three stacks

    // W5, N1
    @Test func workersOfAMainContextThatWrites() async throws {
        let library = try LibraryFixture()
        let model = library.model, file = library.file
        // snippet: stack-main-worker
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: file)

        let main = NSManagedObjectContext(.mainQueueConcurrencyType)
        main.persistentStoreCoordinator = coordinator

        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = main

        try await worker.perform {
            let book = Book(context: worker)
            book.title = "Emma"
            try worker.save()  // main has the book, the file does not
        }
        // end
        #expect(try await main.perform { try titles(in: main) } == ["Emma"])
        #expect(try library.storedTitles() == [])
        // snippet: stack-main-worker-save
        try await main.perform { try main.save() }  // on disk; main's queue did the writing
        // end
        #expect(try library.storedTitles() == ["Emma"])
        try close(coordinator)
    }

    // W5, N1, N33
    @Test func workersOfMainWhoseRootWrites() async throws {
        let library = try LibraryFixture()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.model)
        try coordinator.addPersistentStore(type: .sqlite, at: library.file)
        // snippet: stack-root-main-worker
        let root = NSManagedObjectContext(.privateQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator

        let main = NSManagedObjectContext(.mainQueueConcurrencyType)
        main.parent = root

        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = main

        try await worker.perform {
            let book = Book(context: worker)
            book.title = "Emma"
            try worker.save()  // main has it
        }
        try await main.perform { try main.save() }  // root has it, and main is done
        // end
        #expect(try library.storedTitles() == [])
        #expect(await !main.perform { main.hasChanges })
        #expect(await root.perform { root.hasChanges })
        // snippet: stack-root-main-worker-save
        try await root.perform { try root.save() }  // on disk; root's queue did the writing
        // end
        #expect(try library.storedTitles() == ["Emma"])
        #expect(try await main.perform { try titles(in: main) } == ["Emma"])
        try close(coordinator)
    }

    // W5, N13, M9
    @MainActor @Test func contextsBesideEachOtherKeptInStepByMerging() async throws {
        let library = try LibraryFixture()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.model)
        try coordinator.addPersistentStore(type: .sqlite, at: library.file)
        // snippet: stack-beside
        let main = NSManagedObjectContext(.mainQueueConcurrencyType)
        main.persistentStoreCoordinator = coordinator
        main.automaticallyMergesChangesFromParent = true

        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.persistentStoreCoordinator = coordinator

        let id = try await worker.perform {
            let book = Book(context: worker)
            book.title = "Emma"
            try worker.save()  // on disk; main hears of it
            return book.objectID
        }
        // end
        #expect(try library.storedTitles() == ["Emma"])
        let emma = try #require(main.object(with: id) as? Book)
        #expect(emma.title == "Emma")
        // snippet: stack-beside-merge
        try await worker.perform {
            let book = try worker.existingObject(with: id) as? Book
            book?.copies = 3
            try worker.save()
        }
        await main.perform(schedule: .enqueued) {}  // after the merge, which is queued already
        // end
        #expect(emma.copies == 3)
        #expect(!main.hasChanges)
        try close(coordinator)
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // MARK: What crosses

    // W2, C15, N7, N9
    @Test func anIDNamesTheSameObjectInEveryContext() async throws {
        let library = try LibraryFixture()
        let root = context(on: try library.coordinator())
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = root
        let other = NSManagedObjectContext(.privateQueueConcurrencyType)
        other.parent = root
        // snippet: ids
        let id = try await worker.perform {
            let book = Book(context: worker)
            book.title = "Persuasion"
            try worker.save()
            return book.objectID  // temporary: no store has it yet
        }
        let title = await other.perform {
            (other.object(with: id) as? Book)?.title  // another queue, another object, the same ID
        }
        try await root.perform { try root.save() }
        // end
        #expect(title == "Persuasion")
        #expect(!id.isTemporaryID)
        // The ID from before the save goes on resolving, and it is the one that everybody has now.
        let again = try await other.perform { try other.existingObject(with: id).objectID }
        #expect(again == id && !again.isTemporaryID)
    }

    // C9
    @MainActor @Test func aMainQueueContextIsUsedDirectlyOnTheMainQueue() throws {
        let library = try LibraryFixture()
        let main = NSManagedObjectContext(.mainQueueConcurrencyType)
        main.persistentStoreCoordinator = try library.coordinator()
        let book = Book(context: main)
        book.title = "Emma"
        try main.save()
        #expect(try titles(in: main) == ["Emma"])
    }

    // MARK: Traps

    // C13
    @Test func theMessageOfATrapSaysWhatToDo() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = try context(on: LibraryFixture().coordinator())
            context.name = "import"
            _ = context.registeredObjects
        }.trap(says: "context \"import\" was used outside of its queue. Wrap the access in perform(_:) or performAndWait(_:).")
    }
}
