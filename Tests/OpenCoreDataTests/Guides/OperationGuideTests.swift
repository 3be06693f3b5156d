import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

// snippet: operation
/// Makes books of titles, in a context of its own.
// `outcome` is under a lock; everything else is set before the operation is queued.
class ImportOperation: Operation, @unchecked Sendable {
    private let titles: [String]
    private let parent: NSManagedObjectContext
    /// The IDs of the books, or why there are none; nil if it was cancelled.
    let outcome = Mutex<Result<[NSManagedObjectID], any Error>?>(nil)

    init(_ titles: [String], into parent: NSManagedObjectContext) {
        self.titles = titles
        self.parent = parent
    }

    override func main() {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = parent
        worker.performAndWait {
            var books: [Book] = []
            for title in titles {
                if isCancelled { return }  // the worker goes, and with it what it made
                let book = Book(context: worker)
                book.title = title
                books.append(book)
            }
            let result = Result { () throws in
                try worker.save()
                return books.map(\.objectID)
            }
            outcome.withLock { $0 = result }
        }
    }
}
// end

/// The examples of the guide "Concurrency" that run as operations.
@Suite struct OperationGuideTests {
    private func root() throws -> NSManagedObjectContext { context(on: try LibraryFixture().coordinator()) }

    private func main(of root: NSManagedObjectContext) -> NSManagedObjectContext {
        let main = NSManagedObjectContext(.mainQueueConcurrencyType)
        main.parent = root
        return main
    }

    private func wait(for queue: OperationQueue) async {
        await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
    }

    // W1, W2, W4
    @Test func operationsSaveIntoOneMainContext() async throws {
        let root = try root(), main = main(of: root)
        let pages = (0..<12).map { page in (0..<10).map { "book \(page * 10 + $0)" } }
        // snippet: operations
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let imports = pages.map { ImportOperation($0, into: main) }
        for operation in imports { queue.addOperation(operation) }
        // end
        await wait(for: queue)
        let ids = try imports.flatMap { try #require($0.outcome.withLock { $0 }).get() }
        #expect(ids.count == 120 && Set(ids).count == 120)
        // What the operations hand out are IDs; main has an object for each.
        let seen = await main.perform { ids.compactMap { (main.object(with: $0) as? Book)?.title } }
        #expect(seen == pages.flatMap(\.self))
        #expect(await main.perform { main.insertedObjects.count } == 120)
        try await main.perform { try main.save() }
        try await root.perform { try root.save() }
        #expect(!ids.contains { $0.isTemporaryID })
    }

    // W4, GB2
    @MainActor @Test func operationsDoNotWaitForTheMainQueue() throws {
        let root = try root(), main = main(of: root)
        let queue = OperationQueue()
        let imports = (0..<4).map { ImportOperation(["book \($0)"], into: main) }
        // The main queue does nothing else until all of them have saved into its context.
        queue.addOperations(imports, waitUntilFinished: true)
        #expect(try imports.allSatisfy { try $0.outcome.withLock { $0 }?.get().count == 1 })
        #expect(try titles(in: main) == (0..<4).map { "book \($0)" })
    }

    /// Is cancelled while it works, when it has made one book.
    // As its superclass.
    private final class CancelledAfterOne: ImportOperation, @unchecked Sendable {
        private let asked = Mutex(-1)

        override var isCancelled: Bool {
            asked.withLock { asked in
                if asked >= 0 { asked += 1 }
                return asked > 1
            }
        }

        override func main() {
            asked.withLock { $0 = 0 }
            super.main()
            #expect(asked.withLock { $0 } == 2)
        }
    }

    // W3, N35
    @Test func aCancelledOperationLeavesNoTrace() async throws {
        let root = try root(), main = main(of: root)
        let recorder = NotificationRecorder(main, .NSManagedObjectContextObjectsDidChange)
        let queue = OperationQueue()
        let operation = CancelledAfterOne(["Emma", "Persuasion"], into: main)
        queue.addOperation(operation)
        await wait(for: queue)
        #expect(operation.isFinished && operation.outcome.withLock { $0 == nil })
        #expect(try await main.perform { try titles(in: main) } == [])
        #expect(await !main.perform { main.hasChanges })
        #expect(recorder.count == 0)
    }

    // W4
    @Test func operationsThatChangeDifferentPropertiesOfOneBookLoseNothing() async throws {
        let root = try root(), main = main(of: root)
        let id = try await root.perform {
            let book = Book(context: root)
            book.title = "Emma"
            try root.save()
            return book.objectID
        }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let changes: [@Sendable (Book) -> Void] = [{ $0.copies = 7 }, { $0.price = 12.5 }, { $0.isbn = "978" }, { $0.title = "Emma, 2nd" }]
        for change in changes {
            queue.addOperation {
                let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
                worker.parent = main
                worker.performAndWait {
                    guard let book = worker.object(with: id) as? Book else { return }
                    change(book)
                    #expect(throws: Never.self) { try worker.save() }
                }
            }
        }
        await wait(for: queue)
        let seen = await main.perform { () -> [String] in
            guard let book = main.object(with: id) as? Book else { return [] }
            return ["\(book.copies)", "\(book.price)", book.isbn ?? "", book.title]
        }
        #expect(seen == ["7", "12.5", "978", "Emma, 2nd"])
    }
}
