import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// The examples of the guide "Saving and merging".
@Suite struct SavingGuideTests {
    // MARK: Saving

    // N1, N3
    @Test func aSaveGoesIntoTheParent() throws {
        let library = try LibraryFixture()
        let root = context(on: try library.coordinator())
        // snippet: save-to-parent
        let draft = NSManagedObjectContext(.privateQueueConcurrencyType)
        draft.parent = root

        try draft.performAndWait {
            let book = Book(context: draft)
            book.title = "Villette"
            try draft.save()  // root has it, unsaved
        }
        try root.performAndWait {
            if root.hasChanges { try root.save() }  // the store has it
        }
        // end
        #expect(try root.performAndWait { try titles(in: root) } == ["Villette"])
        #expect(!root.performAndWait { root.hasChanges } && !draft.performAndWait { draft.hasChanges })
    }

    // L27, L28, L29, N21
    @Test func aFailedValidationSaysWhatIsWrongAndChangesNothing() throws {
        let library = try LibraryFixture()
        let root = context(on: try library.coordinator())
        let draft = NSManagedObjectContext(.privateQueueConcurrencyType)
        draft.parent = root
        var complaints: [String] = []
        // snippet: validation
        draft.performAndWait {
            _ = Book(context: draft)  // a book needs a title
            do {
                try draft.save()
            } catch let error as NSError {
                let failures = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
                for failure in failures {
                    let key = failure.userInfo[NSValidationKeyErrorKey] as? String
                    complaints.append("\(failure.code) \(key ?? "?")")
                }
            }
        }
        // end
        #expect(complaints == ["1570 title"])
        #expect(draft.performAndWait { draft.hasChanges } && !root.performAndWait { root.hasChanges })
        draft.performAndWait { draft.rollback() }
        #expect(!draft.performAndWait { draft.hasChanges })
    }

    // MARK: Conflicts

    /// What each policy makes of a conflict: the row has (copies 1, price 1); others saved copies 10 and price 10; mine has price 20 and
    /// another title.
    struct Outcome: CustomTestStringConvertible, Sendable {
        let policy: NSMergePolicy
        let copies: Int64
        let price: Double
        let title: String
        var testDescription: String { "\(policy.mergeType)" }
    }

    /// As the table of the guide has it.
    static let outcomes = [
        Outcome(policy: .error, copies: 10, price: 10, title: "Emma"),
        Outcome(policy: .mergeByPropertyStoreTrump, copies: 10, price: 10, title: "Emma, 2nd"),
        Outcome(policy: .mergeByPropertyObjectTrump, copies: 10, price: 20, title: "Emma, 2nd"),
        Outcome(policy: .overwrite, copies: 1, price: 20, title: "Emma, 2nd"),
        Outcome(policy: .rollback, copies: 10, price: 10, title: "Emma"),
    ]

    /// Two contexts of one coordinator that both read the book; then theirs saves.
    private func conflict(_ policy: NSMergePolicy) throws -> (mine: NSManagedObjectContext, theirs: NSManagedObjectContext, id: NSManagedObjectID) {
        let coordinator = try LibraryFixture().coordinator()
        let mine = context(on: coordinator, policy: policy), theirs = context(on: coordinator)
        let id = try theirs.performAndWait { () throws in
            let book = Book(context: theirs)
            (book.title, book.copies, book.price) = ("Emma", 1, 1)
            try theirs.save()
            return book.objectID
        }
        return (mine, theirs, id)
    }

    // P1, P5, P6, P7, P8
    @Test(arguments: outcomes) func eachPolicySettlesAConflictInItsWay(_ outcome: Outcome) throws {
        let (mine, theirs, id) = try conflict(outcome.policy)
        // snippet: conflict
        try mine.performAndWait {
            let book = try mine.existingObject(with: id) as? Book  // copies 1, price 1
            try theirs.performAndWait {
                let same = try theirs.existingObject(with: id) as? Book
                same?.copies = 10
                same?.price = 10
                try theirs.save()
            }
            book?.price = 20
            book?.title = "Emma, 2nd"
        }
        // end
        let isRefused = outcome.policy.mergeType == .errorMergePolicyType
        if isRefused {
            let error = #expect(throws: NSError.self) { try mine.performAndWait { try mine.save() } }
            #expect(error?.code == 133020)
        } else {
            try mine.performAndWait { try mine.save() }
        }
        let stored = try context(on: try #require(mine.persistentStoreCoordinator)).read(id)
        #expect(stored == Values(copies: outcome.copies, price: outcome.price, title: outcome.title))
        // Mine shows what is stored, unless nothing was settled.
        let shown = try mine.read(id)
        #expect(shown == (isRefused ? Values(copies: 1, price: 20, title: "Emma, 2nd") : stored))
        #expect(mine.performAndWait { mine.hasChanges } == isRefused)
    }

    // P1, P2, P4
    @Test func aRefusedSaveCanBeSettledByHand() throws {
        let (mine, theirs, id) = try conflict(.error)
        try mine.performAndWait { () throws in
            let book = try mine.existingObject(with: id) as? Book
            try theirs.performAndWait { () throws in
                (theirs.object(with: id) as? Book)?.copies = 10
                try theirs.save()
            }
            book?.price = 20
        }
        var lines: [String] = []
        // snippet: conflict-error
        try mine.performAndWait {
            do {
                try mine.save()
            } catch let error as NSError where error.code == CocoaError.Code.managedObjectMerge.rawValue {
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
                for conflict in conflicts {
                    lines.append("copies: read \(conflict.objectSnapshot?["copies"] ?? "?"), now \(conflict.cachedSnapshot?["copies"] ?? "?")")
                    let book = mine.object(with: conflict.sourceObjectID)
                    mine.refresh(book, mergeChanges: true)  // their values, with mine on top
                }
                try mine.save()
            }
        }
        // end
        #expect(lines == ["copies: read 1, now 10"])
        #expect(try mine.read(id) == Values(copies: 10, price: 20, title: "Emma"))
    }

    // P13
    @Test func anUpsertIsAnInsertUnderATrumpPolicy() throws {
        let coordinator = try LibraryFixture().coordinator()
        let first = context(on: coordinator)
        try first.performAndWait { () throws in
            let book = Book(context: first)
            (book.isbn, book.title, book.copies) = ("978-0", "Emma", 5)
            try first.save()
        }
        // snippet: upsert
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = .mergeByPropertyObjectTrump

        try context.performAndWait {
            let book = Book(context: context)
            book.isbn = "978-0"  // stored already: the stored book gets the new price
            book.title = "Emma"
            book.price = 9.5
            try context.save()
        }
        // end
        let books = try context.performAndWait { () throws -> [Values] in
            try context.fetch(NSFetchRequest<Book>(entityName: "Book")).map { Values(copies: $0.copies, price: $0.price, title: $0.title) }
        }
        #expect(books == [Values(copies: 5, price: 9.5, title: "Emma")])
    }

    // MARK: Merging

    // M1, M4, M5, M6
    @Test func aNotificationIsMergedOnTheReceiversQueue() throws {
        let coordinator = try LibraryFixture().coordinator()
        let mine = context(on: coordinator), theirs = context(on: coordinator)
        // snippet: merge
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: theirs, queue: nil
        ) { notification in
            mine.performAndWait { mine.mergeChanges(fromContextDidSave: notification) }
        }
        // end
        defer { NotificationCenter.default.removeObserver(observer) }
        let id = try theirs.performAndWait { () throws in
            let book = Book(context: theirs)
            book.title = "Emma"
            try theirs.save()
            return book.objectID
        }
        let book = try #require(try mine.performAndWait { try mine.existingObject(with: id) as? Book })
        mine.performAndWait { book.price = 20 }
        try theirs.performAndWait { () throws in
            let same = theirs.object(with: id) as? Book
            same?.copies = 10
            same?.price = 10
            try theirs.save()
        }
        // Their copies came in under my price, and nothing is left to conflict with.
        #expect(try mine.read(id) == Values(copies: 10, price: 20, title: "Emma"))
        try mine.performAndWait { try mine.save() }
        #expect(
            try theirs.performAndWait { () throws in
                theirs.refreshAllObjects()
                return try theirs.read(id)
            } == Values(copies: 10, price: 20, title: "Emma"))
    }

    // M7
    @Test func changesFromOutsideAreMergedByID() throws {
        let coordinator = try LibraryFixture().coordinator()
        let mine = context(on: coordinator), theirs = context(on: coordinator)
        let id = try theirs.performAndWait { () throws in
            let book = Book(context: theirs)
            book.title = "Emma"
            try theirs.save()
            return book.objectID
        }
        let book = try #require(try mine.performAndWait { try mine.existingObject(with: id) as? Book })
        try theirs.performAndWait { () throws in
            (theirs.object(with: id) as? Book)?.copies = 4
            try theirs.save()
        }
        #expect(mine.performAndWait { book.copies } == 0)
        // snippet: merge-remote
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: [id.uriRepresentation()]], into: [mine])
        // end
        #expect(mine.performAndWait { book.copies } == 4)
    }

    // B1, B2, B3, B4
    @Test func manyRowsAreWrittenWithoutObjects() throws {
        let library = try LibraryFixture(), coordinator = try library.coordinator()
        let shown = context(on: coordinator), context = context(on: coordinator)
        let rows: [[String: Any]] = [["isbn": "1", "title": "Emma"], ["isbn": "2", "title": "Shirley", "price": 4.0]]
        // snippet: batch-requests
        try context.performAndWait {
            context.mergePolicy = .mergeByPropertyObjectTrump  // a row whose unique key is there updates it
            let insert = NSBatchInsertRequest(entityName: "Book", objects: rows)
            insert.resultType = .objectIDs
            let inserted = try context.execute(insert) as? NSBatchInsertResult

            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "price > 0")
            update.propertiesToUpdate = ["price": NSExpression(format: "price / 2"), "copies": 10]
            try context.execute(update)

            let old = NSFetchRequest<Book>(entityName: "Book")
            old.predicate = NSPredicate(format: "copies == 0")
            try context.execute(NSBatchDeleteRequest(fetchRequest: old))

            let ids = inserted?.result as? [NSManagedObjectID] ?? []
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [shown])
        }
        // end
        try shown.performAndWait { () throws in
            let books = try shown.fetch(NSFetchRequest<Book>(entityName: "Book"))
            #expect(books.map(\.title) == ["Shirley"] && books.map(\.price) == [2] && books.map(\.copies) == [10])
        }
    }

    // T1, T4, T6
    @Test func aSavePostsThreeNotifications() throws {
        let context = context(on: try LibraryFixture().coordinator())
        let inserted = Mutex(0)
        // snippet: notifications
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
        ) { notification in
            let key = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
            let ids = notification.userInfo?[key] as? Set<NSManagedObjectID> ?? []
            inserted.withLock { $0 += ids.count }
        }
        // end
        defer { NotificationCenter.default.removeObserver(observer) }
        let recorder = NotificationRecorder(
            context, .NSManagedObjectContextWillSave, .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave)
        try context.performAndWait { () throws in
            Book(context: context).title = "Emma"
            try context.save()
        }
        #expect(inserted.withLock { $0 } == 1)
        #expect(recorder.names == ["WillSave", "ObjectsDidChange", "DidSave"])
    }
}

/// A book's values, apart from any context.
private struct Values: Equatable {
    let copies: Int64
    let price: Double
    let title: String
}

extension NSManagedObjectContext {
    fileprivate func read(_ id: NSManagedObjectID) throws -> Values {
        try performAndWait { () throws in
            let book = try #require(try existingObject(with: id) as? Book)
            return Values(copies: book.copies, price: book.price, title: book.title)
        }
    }
}
