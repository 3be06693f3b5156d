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
        try push(into: document) {
            $0.make("Item", ["key": "x", "a": 1])
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
        try push(into: document) {
            $0.make("Item", ["key": "x", "a": 1])
        } meanwhile: {
            try $0.all("Item").first?.setValue("y", forKey: "key")
        }
        #expect(try items(document) == ["x10", "y02"])
        // The new name is the main context's own edit: what the pushes said is two objects with one key. The first keeps it, and the other is kept
        // aside.
        let again = try fixture.recovered(document)
        #expect(try items(again) == ["x02"] && again.keptAside.count == 1)
        let list = try #require(
            try PropertyListSerialization.propertyList(
                from: Data(contentsOf: again.keptAsideURL.appendingPathComponent(again.keptAside[0])), format: nil) as? [[String: Any]])
        #expect(list.map { ($0["values"] as? [String: Any])?["a"] as? Int } == [1])
    }

    /// Ends the recording while a push waits for its turn.
    private final class EndingRecorder: PushRecorder {
        let main: NSManagedObjectContext
        let writes = Mutex(0)

        init(_ main: NSManagedObjectContext) { self.main = main }

        func inTurn<T>(_ body: () throws -> T) rethrows -> T {
            main.recordPushes(with: nil)
            return try body()
        }

        func unrecorded(_ ids: Set<NSManagedObjectID>) -> Set<NSManagedObjectID> { ids }

        func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws -> UInt64 {
            writes.withLock { count in
                count += 1
                return UInt64(count)
            }
        }

        func forget(_ entries: ClosedRange<UInt64>, only ids: Set<NSManagedObjectID>?) {}
        func willCommit(_ turn: PushTurn) {}
        func didCommit(through entry: UInt64) {}
        func turned(_ turn: PushTurn) {}
    }

    // GB31
    @Test func aPushThatWaitedUntilTheJournalHadEndedIsNotWrittenToIt() throws {
        let fixture = try JournalFixture(), document = try fixture.opened(.off), recorder = EndingRecorder(document.managedObjectContext)
        document.managedObjectContext.recordPushes(with: recorder)
        try document.push { $0.make("Item", ["key": "x"]) }
        #expect(recorder.writes.withLock { $0 } == 0)
        #expect(try items(document) == ["x00"])
    }
}
