import CoreData
import Foundation
import OpenCoreDataConvenience
import Synchronization
import Testing

struct SavingTests {
    private struct Refused: Error {}

    @MainActor private func seen(_ library: Library) throws -> [Int64] {
        try Author.findAll(sortedBy: ["id"], in: library.container.viewContext).map(\.id)
    }

    @MainActor @Test func whatABlockSavesIsInTheViewContextWhenItReturns() async throws {
        let library = try Library()
        let id = try await library.container.save { try Author.findOrCreate(by: "id", value: 1, in: $0).objectID }
        #expect(try seen(library) == [1])
        let author = try #require(try library.container.viewContext.existingObject(with: id) as? Author)
        #expect(!author.objectID.isTemporaryID)
        #expect(author.name == nil)
        try await library.container.save { try #require(try Author.findFirst(by: "id", value: 1, in: $0)).name = "Ada" }
        #expect(author.name == "Ada")
        try await library.container.save { _ = try Author.truncate(in: $0) }
        #expect(try seen(library) == [])
        #expect(author.isDeleted || author.managedObjectContext == nil)
    }

    @MainActor @Test func onTheMainQueueTheViewContextHasItAtOnce() throws {
        let library = try Library()
        let author = try library.container.saveAndWait { try Author.findOrCreate(by: "id", value: 1, in: $0).objectID }
        #expect(try seen(library) == [1])
        let seen = try #require(try library.container.viewContext.existingObject(with: author) as? Author)
        #expect(seen.age == 0)
        try library.container.saveAndWait { try #require(try Author.findFirst(by: "id", value: 1, in: $0)).age = 36 }
        #expect(seen.age == 36)
    }

    @Test func elsewhereTheViewContextHasItBeforeLaterBlocks() async throws {
        let library = try Library()
        try library.container.saveAndWait { _ = try Author.findOrCreate(by: "id", value: 1, in: $0) }
        let view = library.container.viewContext
        let author = try await view.perform { try #require(try Author.findFirst(by: "id", value: 1, in: view)).objectID }
        try library.container.saveAndWait { try #require(try Author.findFirst(by: "id", value: 1, in: $0)).age = 36 }
        let age = try await view.perform { (try view.existingObject(with: author) as? Author)?.age }
        #expect(age == 36)
    }

    @Test func whatThrowsSavesNothing() async throws {
        let library = try Library()
        await #expect(throws: Refused.self) {
            try await library.container.save { context in
                _ = try Author.create(in: context)
                throw Refused()
            }
        }
        #expect(throws: Refused.self) {
            try library.container.saveAndWait { context in
                _ = try Author.create(in: context)
                throw Refused()
            }
        }
        #expect(try library.using { try Author.count(in: $0) } == 0)
    }

    @Test func aSaveThatTheStoreRefusesIsThrown() async throws {
        let library = try Library()
        try await library.container.save { _ = try Book.findOrCreate(by: "isbn", value: "1", in: $0) }
        await #expect(throws: CocoaError.self) {
            try await library.container.save { try Book.create(in: $0).isbn = "1" }
        }
        try await library.container.save(mergePolicy: .mergeByPropertyObjectTrump) {
            let book = try Book.create(in: $0)
            book.isbn = "1"
            book.title = "Notes"
        }
        #expect(try library.using { try Book.findAll(in: $0).map(\.title) } == ["Notes"])
    }

    @Test func aBlockThatChangesNothingSavesNothing() throws {
        let library = try Library()
        let saves = Mutex(0)
        let coordinator = library.container.persistentStoreCoordinator
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: nil, queue: nil) {
            if ($0.object as? NSManagedObjectContext)?.endOfChain === coordinator { saves.withLock { $0 += 1 } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(try library.container.saveAndWait { try Author.count(in: $0) } == 0)
        #expect(saves.withLock { $0 } == 0)
    }
}
