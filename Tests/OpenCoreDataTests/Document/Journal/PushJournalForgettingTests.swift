import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What was thrown away does not come back.
@Suite struct PushJournalForgettingTests {
    // GB31, N18
    @Test func aRollbackForgetsWhatWasPushedSinceTheLastHandOver() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), main = document.managedObjectContext
        try document.push { $0.make("Item", ["key": "handed over"]) }
        try await document.pushMain()
        try document.push { $0.make("Item", ["key": "thrown away"]) }
        await main.perform { main.rollback() }
        try document.push { $0.make("Item", ["key": "later"]) }
        let again = try fixture.recovered(document)
        #expect(try again.look { try $0.values("Item", "key") } == ["handed over", "later"])
    }

    // GB31
    @Test func aResetForgetsLikeARollback() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), main = document.managedObjectContext
        try document.push { $0.make("Item") }
        await main.perform { main.reset() }
        let again = try fixture.recovered(document)
        #expect(try again.look { try $0.all("Item").isEmpty } && again.pushRecovery == nil)
        // Nothing counts any more: the file is as empty as after a commit.
        try await document.save()
        let empty = document.pushJournalSize
        try document.push { $0.make("Item") }
        await main.perform { main.reset() }
        #expect(document.pushJournalSize == empty)
    }

    // D8
    @Test func revertingForgetsInTheWholeStack() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "stored"]) }
        try await document.save()
        try document.push { $0.make("Item", ["key": "handed over"]) }
        try await document.pushMain()
        try document.push { $0.make("Item", ["key": "pushed"]) }
        let reverted = await withCheckedContinuation { done in
            document.revert(toContentsOf: document.fileURL) { done.resume(returning: $0) }
        }
        #expect(reverted)
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["stored"])
    }

    // GB31
    @Test func refreshingWithoutMergingForgetsTheRow() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), main = document.managedObjectContext
        try document.push { context in for key in ["a", "b"] { context.make("Item", ["key": key, "a": 1]) } }
        try await document.save()
        try document.push { context in try context.all("Item").forEach { $0.setValue(2, forKey: "a") } }
        await main.perform {
            #expect(throws: Never.self) { try main.all("Item", "key == 'a'").forEach { main.refresh($0, mergeChanges: false) } }
        }
        let again = try fixture.recovered(document)
        #expect(try again.look { try $0.all("Item", sort: "key").map { $0.value(forKey: "a") as? Int } } == [1, 2])
    }

    // D7, GB34
    @Test func whatTheStoreRefusedForGoodIsForgotten() async throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory), main = document.managedObjectContext, root = document.root
        memory.observe { if case .save = $0 { throw NSError(domain: NSCocoaErrorDomain, code: 134030) } }
        try document.push { $0.make("Item", ["key": "refused"]) }
        await #expect(throws: NSError.self) { try await document.save() }
        memory.observe(nil)
        for _ in 0..<4 {
            await root.perform(schedule: .enqueued) {}
            await main.perform(schedule: .enqueued) {}
        }
        #expect(!document.hasUnsavedChanges)
        #expect(try fixture.recovered(document, memory: memory).look { try $0.all("Item").isEmpty } && memory.rowCount == 0)
        try document.push { $0.make("Item", ["key": "good"]) }
        #expect(try fixture.recovered(document, memory: memory).look { try $0.values("Item", "key") } == ["good"] && memory.rowCount == 1)
    }

    // GB31
    @Test func pushesThatCancelOutLeaveNothingInTheJournal() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), root = document.root
        try document.push { $0.make("Item", ["key": "stored"]) }
        try await document.save()
        let empty = document.pushJournalSize
        func comeAndGo() throws {
            try document.push { $0.make("Item", ["key": "gone"]) }
            try document.push { context in try context.all("Item", "key == 'gone'").forEach(context.delete) }
        }
        for _ in 0..<3 {
            try comeAndGo()
            #expect(!document.hasUnsavedChanges && document.pushJournalSize == empty)
        }
        // Behind something that is not committed yet: they go with it.
        try document.push { $0.make("Item", ["key": "later"]) }
        try await document.pushMain()
        for _ in 0..<3 { try comeAndGo() }
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["later", "stored"])
        try await root.perform { try root.save() }
        #expect(!document.hasUnsavedChanges && document.pushJournalSize == empty)
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["later", "stored"])
    }

    // GB31
    @Test func aSaveOfWhichNothingIsLeftMovesTheMarkOfSeveralStoresToo() throws {
        let model = Company.model(), coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = (0..<2).map { _ in InMemoryStore(entities: model.entities) }
        for store in stores { coordinator.add(store) }
        var nothing = ChangeSet()
        nothing.journaled = 1...7
        try coordinator.receive(nothing, from: NSManagedObjectContext(.privateQueueConcurrencyType).sender)
        #expect(try stores.map { try $0.pushMark }.max() == 7)
    }
}
