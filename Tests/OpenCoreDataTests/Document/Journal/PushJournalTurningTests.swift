import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// New objects that turn out to be others, which have their unique keys, between a push and a crash. (GB31)
@Suite struct PushJournalTurningTests {
    private let fixture: JournalFixture
    private let memory: InMemoryStore
    private let document: JournalDocument

    init() throws {
        fixture = try JournalFixture()
        memory = InMemoryStore(entities: fixture.model.entities)
        document = try fixture.made(memory: memory) { $0.root.mergePolicy = .mergeByPropertyObjectTrump }
    }

    /// Another context writes an item of a key.
    private func writeAnother(_ key: String) throws {
        let other = NSManagedObjectContext(.privateQueueConcurrencyType)
        other.persistentStoreCoordinator = document.root.persistentStoreCoordinator
        try other.performAndWait {
            other.make("Item", ["key": key, "a": 1])
            try other.save()
        }
    }

    /// The values of all items after a crash now, and of what nobody could be told.
    private func afterCrash(of copy: URL? = nil) throws -> [[Int?]] {
        let url = try copy ?? fixture.crashed(document)
        let again = try fixture.reopened(url, memory: memory) { $0.root.mergePolicy = .mergeByPropertyObjectTrump }
        #expect(again.pushRecovery?.problems ?? [] == [] && again.keptAside.isEmpty && !again.hasUnsavedChanges)
        return try again.look { try $0.all("Item").map { item in ["a", "b", "c"].map { item.value(forKey: $0) as? Int } } }
    }

    private func saveRoot() throws { try document.root.performAndWait { try document.root.save() } }

    // The note that is written after the commit may come too late; what is written before it holds then.
    @Test(arguments: [true, false])
    func whatIsSaidOfAnObjectThatBecameAnotherAtTheRootsSaveIsSaidOfTheOther(_ isNotedAfterwards: Bool) async throws {
        try writeAnother("k")
        let mine = try document.push { $0.make("Item", ["key": "k", "b": 2]).objectID }
        try await document.pushMain()
        try document.push { $0.object(with: mine).setValue(3, forKey: "c") }
        let writes = Atomic<Int>(0)
        document.observePushJournal { step in
            guard case .write = step, writes.add(1, ordering: .relaxed).oldValue > 0, !isNotedAfterwards else { return }
            throw CocoaError(.fileWriteOutOfSpace)
        }
        try saveRoot()
        #expect(try afterCrash() == [[1, 2, 3]])
        #expect(writes.load(ordering: .relaxed) == 2)
    }

    @Test func whatIsPushedAfterAnObjectBecameAnotherAtTheMainContextsSaveCounts() async throws {
        try writeAnother("k")
        let theirs = try document.look { try #require(try $0.all("Item").first).objectID }
        try document.push { $0.make("Item", ["key": "k", "b": 2, "c": 3]) }
        try document.push { $0.object(with: theirs).setValue(4, forKey: "c") }
        try await document.pushMain()
        try document.push { $0.make("Item", ["key": "k", "b": 5]) }
        #expect(try afterCrash() == [[1, 5, 3]])
    }

    // The push comes in while the store writes.
    @Test(arguments: [false, true])
    func aPushThatNamesAnObjectWhileItBecomesAnotherIsSaidOfTheOther(_ isSavedThrough: Bool) async throws {
        try writeAnother("k")
        let document = document
        let mine = try document.push { $0.make("Item", ["key": "k", "b": 2]).objectID }
        if !isSavedThrough { try await document.pushMain() }
        let asked = Atomic<Int>(0)
        memory.observe { request in
            guard case .save = request else { return }
            // First it finds whose key that is.
            guard asked.add(1, ordering: .relaxed).newValue == 2 else { return }
            let pushed = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = try? document.push { $0.object(with: mine).setValue(3, forKey: "c") }
                pushed.signal()
            }
            pushed.wait()
        }
        if isSavedThrough {
            let main = document.managedObjectContext
            try await main.perform { try main.saveToStore() }
        } else {
            try saveRoot()
        }
        memory.observe(nil)
        #expect(asked.load(ordering: .relaxed) == 2)
        #expect(try afterCrash() == [[1, 2, 3]])
    }

    @Test func aSaveThatFailsMakesNobodyAnother() async throws {
        try writeAnother("k")
        let mine = try document.push { $0.make("Item", ["key": "k", "b": 2]).objectID }
        try await document.pushMain()
        try document.push { $0.object(with: mine).setValue(3, forKey: "c") }
        let asked = Atomic<Int>(0)
        memory.observe { request in
            if case .save = request, asked.add(1, ordering: .relaxed).newValue == 2 { throw CocoaError(.fileWriteOutOfSpace) }
        }
        #expect(throws: CocoaError.self) { try saveRoot() }
        memory.observe(nil)
        let copy = try fixture.crashed(document)
        // Whoever has the key gives it up before the next process starts.
        let other = NSManagedObjectContext(.privateQueueConcurrencyType)
        other.persistentStoreCoordinator = document.root.persistentStoreCoordinator
        try other.performAndWait {
            for item in try other.all("Item") { other.delete(item) }
            try other.save()
        }
        #expect(try afterCrash(of: copy) == [[0, 2, 3]])
    }

    @Test func aSaveIsNotMadeWhereTheJournalCannotTellWhoBecomesAnother() async throws {
        try writeAnother("k")
        try document.push { $0.make("Item", ["key": "k", "b": 2]) }
        try await document.pushMain()
        document.observePushJournal { _ in throw CocoaError(.fileWriteOutOfSpace) }
        let error = #expect(throws: NSError.self) { try saveRoot() }
        #expect(error?.code == 134030 && error?.localizedDescription.contains("push journal can't be written") == true)
        #expect(document.root.performAndWait { document.root.hasChanges })
        document.observePushJournal(nil)
        try saveRoot()
        #expect(try afterCrash() == [[1, 2, 0]])
    }
}
