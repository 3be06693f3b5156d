import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// What changes in the document's context while an entry is being written.
@Suite struct PushJournalRaceTests {
    /// Pushes, and runs `meanwhile` in the main context after what comes in was worked out and before it comes in.
    private func push(
        into document: JournalDocument, _ body: (NSManagedObjectContext) throws -> Void,
        meanwhile: @escaping @Sendable (NSManagedObjectContext) throws -> Void
    ) throws {
        let main = document.managedObjectContext, isFirst = Mutex(true)
        document.observePushJournal { _ in
            guard
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else { return }
            try main.performAndWait {
                try meanwhile(main)
                main.processPendingChanges()
            }
        }
        defer { document.observePushJournal(nil) }
        try document.push(body)
    }

    private func items(_ document: JournalDocument) throws -> [String] {
        try document.look {
            try $0.all("Item", sort: "key").map { "\($0.value(forKey: "key") ?? "")\($0.value(forKey: "a") ?? "")\($0.value(forKey: "b") ?? "")" }
        }
    }

    // GB31, N12
    @Test func anEditOfAnotherPropertyMeanwhileStays() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "x"]) }
        try await document.save()
        try push(into: document) {
            try $0.all("Item").first?.setValue(1, forKey: "a")
        } meanwhile: {
            try $0.all("Item").first?.setValue(2, forKey: "b")
        }
        #expect(try items(document) == ["x12"])
        // The main context's own edit is the document's to save.
        #expect(try items(fixture.recovered(document)) == ["x10"])
        try await document.save()
        #expect(try items(fixture.recovered(document)) == ["x12"])
    }

    // GB31, GB2
    @Test func aKeyThatIsTakenMeanwhileRefusesThePushAndItsEntry() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        let error = #expect(throws: NSError.self) {
            try push(into: document) {
                $0.make("Item", ["key": "x", "a": 1])
            } meanwhile: {
                $0.make("Item", ["key": "x", "b": 2])
            }
        }
        #expect(error?.code == 133021)
        #expect(try items(document) == ["x02"] && items(fixture.recovered(document)) == [])
    }

    // GB31, GB2
    @Test func aKeyThatIsTakenMeanwhileMakesThemOneInTheEntryToo() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        document.root.mergePolicy = .mergeByPropertyObjectTrump
        try push(into: document) { context in
            let item = context.make("Item", ["key": "x", "a": 1])
            _ = item
        } meanwhile: {
            $0.make("Item", ["key": "x", "b": 2])
        }
        #expect(try items(document) == ["x12"])
        let again = try fixture.recovered(document)
        #expect(try items(again) == ["x12"] && again.errors.isEmpty)
    }

    // GB31, GB2
    @Test func aTwinThatGoesMeanwhileLeavesTwoObjects() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        document.root.mergePolicy = .mergeByPropertyObjectTrump
        try document.push { $0.make("Item", ["key": "x", "b": 2]) }
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        try push(into: document) {
            $0.make("Item", ["key": "x", "a": 1])
        } meanwhile: {
            try $0.all("Item").first?.setValue("y", forKey: "key")
        }
        #expect(try items(document) == ["x10", "y02"])
        // The new name is the main context's own edit: what the pushes said is one object with either's values, or two; here the first keeps
        // the key, and what can't stand beside it is kept aside.
        let again = try fixture.recovered(document)
        #expect(try items(again).count + again.keptAside.count == 2)
    }
}
