import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

// snippet: hooks
final class Loan: NSManagedObject {
    @Managed var since: Date?
    @Managed var reader: String?
    @Managed var label: String?

    override func awakeFromInsert() {
        since = Date()
    }

    override func willSave() {
        let wanted = reader.map { "lent to \($0)" }
        if label != wanted { label = wanted }  // only where it differs: what is set here makes another round
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        if reader == "" { throw CocoaError(.validationStringTooShort) }
    }
}
// end

/// The examples of the guide "Objects and faults".
@Suite struct ObjectsGuideTests {
    private func request(_ sort: String = "title") -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: sort, ascending: true)]
        return request
    }

    /// A file with authors of two books each, read by a stack that remembers nothing of them.
    private func shelves(_ authors: Int) throws -> SQLiteStack {
        let stack = try SQLiteStack(libraryModel())
        try stack.root.performAndWait { () throws in
            for number in 0..<authors {
                let author = Author(context: stack.root)
                author.name = "author \(number)"
                for volume in 0..<2 {
                    let book = Book(context: stack.root)
                    book.title = "book \(number * 2 + volume)"
                    book.copies = Int64(number * 2 + volume)
                    book.author = author
                }
            }
            try stack.root.save()
        }
        stack.forget()
        return stack
    }

    // L1, L3, L20
    @Test func anObjectsLife() throws {
        let context = context(on: try LibraryFixture().coordinator())
        try context.performAndWait { () throws in
            // snippet: life
            let book = Book(context: context)  // inserted, with its defaults
            book.title = "Emma"
            assert(book.isInserted && book.objectID.isTemporaryID)

            try context.save()  // clean, with its own place in the store
            assert(!book.hasChanges && !book.objectID.isTemporaryID)

            book.copies = 2  // updated
            assert(book.isUpdated && book.changedValues().keys.contains("copies"))

            context.delete(book)  // deleted, until the save
            assert(book.isDeleted)

            try context.save()  // gone, and without a context
            assert(book.managedObjectContext == nil)
            // end
            #expect(try titles(in: context) == [])
        }
    }

    // L2, L17, L27
    @Test func hooksAreCalledAtTheirTurn() throws {
        let loan = Company.entity("Loan", Loan.self)
        loan.properties = [Company.attribute("since", .date), Company.attribute("reader", .string), Company.attribute("label", .string)]
        let stack = TestStack(NSManagedObjectModel(entities: [loan]))
        try stack.root.performAndWait { () throws in
            let loan = Loan(context: stack.root)
            #expect(loan.since != nil)
            loan.reader = ""
            #expect(throws: CocoaError(.validationStringTooShort)) { try stack.root.save() }
            loan.reader = "Ada"
            try stack.root.save()
            #expect(loan.label == "lent to Ada" && !stack.root.hasChanges)
        }
        #expect(try stack.stored("Loan", "label") == ["lent to Ada"])
    }

    // L10, L11, L12, F9
    @Test func aFaultIsFilledWhenItIsAsked() throws {
        let stack = try shelves(1), context = stack.root
        let id = try context.performAndWait { try #require(try context.fetch(request()).first).objectID }
        stack.forget()
        let reads = try stack.selects {
            try context.performAndWait { () throws in
                // snippet: fault
                let book = context.object(with: id) as? Book  // asks nobody
                assert(book?.isFault == true)
                let title = book?.title  // asks the parents, then the store
                assert(book?.isFault == false)
                let same = try context.existingObject(with: id)  // throws if there is none
                assert(same === book)  // one object per ID and context
                // end
                #expect(title == "book 0")
            }
        }
        #expect(reads == 1)
    }

    // L23
    @Test func aContextHoldsWhatIsUnsavedAndNothingElse() throws {
        let stack = try shelves(3), context = stack.root
        try context.performAndWait { () throws in
            // snippet: retained
            try context.fetch(request()).first?.copies = 9
            assert(context.registeredObjects.count == 1)  // the changed one; nobody uses the others

            try context.save()
            assert(context.registeredObjects.isEmpty)  // and now nobody uses that one
            // end
            #expect(try context.fetch(request()).first?.copies == 9)
        }
    }

    // L13, N12
    @Test func refreshingShowsWhatTheParentHas() throws {
        let stack = try shelves(1), context = stack.root
        let other = OpenCoreDataTests.context(on: stack.coordinator)
        try context.performAndWait { () throws in
            let book = try #require(try context.fetch(request()).first)
            book.price = 5
            try other.performAndWait { () throws in
                try other.fetch(request()).first?.copies = 7
                try other.save()
            }
            #expect(book.copies == 0)
            // snippet: refresh
            context.refresh(book, mergeChanges: true)  // what the parent has, under the changes made here
            assert(book.copies == 7 && book.price == 5)

            context.refresh(book, mergeChanges: false)  // a fault again; the changes are dropped
            assert(book.isFault && book.price == 0)
            // end
            #expect(!context.hasChanges)
        }
    }

    // R1, R3, R5, R6
    @Test func relationshipsKeepBothSidesAndRulesDecideOnDeletion() throws {
        let context = context(on: try LibraryFixture().coordinator())
        try context.performAndWait { () throws in
            // snippet: relationships
            let author = Author(context: context)
            author.name = "Anne Brontë"
            let book = Book(context: context)
            book.title = "Agnes Grey"
            book.author = author  // author.books has it now
            assert(author.books == [book])

            let sequel = Book(context: context)
            sequel.title = "The Tenant of Wildfell Hall"
            author.books.insert(sequel)  // and sequel.author is the author
            assert(sequel.author === author)
            try context.save()

            context.delete(author)  // books cascade:
            context.processPendingChanges()  // at the end of the event,
            assert(book.isDeleted && sequel.isDeleted)  // they are deleted too
            try context.save()
            // end
            #expect(try titles(in: context) == [])
        }
    }

    // F10
    @Test func prefetchingIsOneQueryARelationship() throws {
        let stack = try shelves(20), context = stack.root
        try stack.expect(selects: 2) {
            try context.performAndWait { () throws in
                // snippet: prefetch
                let request = NSFetchRequest<Author>(entityName: "Author")
                request.relationshipKeyPathsForPrefetching = ["books"]
                let authors = try context.fetch(request)  // two queries,
                let copies = authors.map { $0.books.reduce(0) { $0 + $1.copies } }  // and none for the books here
                // end
                #expect(copies.reduce(0, +) == (0..<40).reduce(0, +))
            }
        }
    }

    // F11
    @Test func aBatchIsLoadedWhenItsFirstObjectIsUsed() throws {
        let stack = try shelves(100), context = stack.root
        try stack.expect(selects: 3) {
            try context.performAndWait { () throws in
                // snippet: batches
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.sortDescriptors = [NSSortDescriptor(key: "copies", ascending: true)]
                request.fetchBatchSize = 50
                let books = try context.fetch(request)  // one query for the IDs; 200 faults
                _ = books[0].title  // one query for the first 50 rows
                _ = books[120].title  // one query for rows 100 to 149
                // end
                #expect(books.count == 200 && books[149].copies == 149)
            }
        }
    }

    // V1, V2, V3
    @Test func aControllerReportsWhatChanges() throws {
        let stack = try shelves(2), context = stack.root
        try context.performAndWait { () throws in
            // snippet: controller
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "copies > 0")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let list = BookList()
            controller.delegate = list
            try controller.performFetch()
            list.titles = (controller.fetchedObjects ?? []).map(\.title)
            // end
            #expect(list.titles == ["book 1", "book 2", "book 3"])
            let book = Book(context: context)
            book.title = "book 0, again"
            book.copies = 1
            controller.fetchedObjects?.last?.copies = 0
            controller.fetchedObjects?.first?.title = "Middlemarch"
            context.processPendingChanges()
            #expect(list.titles == ["Middlemarch", "book 0, again", "book 2"])
        }
    }
}

// snippet: delegate
/// Titles kept in step with a controller that has no sections.
final class BookList: NSFetchedResultsControllerDelegate {
    var titles: [String] = []
    private var removed: [Int] = []
    private var inserted: [(row: Int, title: String)] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        // Old places are those before the change, new ones those after it.
        if let old = indexPath { removed.append(old.row) }
        if type != .delete, let book = anObject as? Book, let row = (newIndexPath ?? indexPath)?.row {
            inserted.append((row, book.title))
        }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        for row in removed.sorted(by: >) { titles.remove(at: row) }
        for (row, title) in inserted.sorted(by: { $0.row < $1.row }) { titles.insert(title, at: row) }
        removed = []
        inserted = []
    }
}
// end
