import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Random pushes, cuts, and applying twice.
@Suite struct PushJournalReplayTests {
    // GB31
    @Test(arguments: 0..<12)
    func aReplayGivesTheWorldThatTheContextShowed(_ seed: Int) async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), main = document.managedObjectContext
        var random = SeededRandom(seed: seed + 1)
        // Pushed into main, and what of it has been handed over to the root.
        var world = World(), inRoot = World()
        let numbers = Numbers()
        for step in 1...24 {
            switch random.next(upTo: 10) {
            case 0:
                try await document.pushMain()
                inRoot = world
            case 1:
                try await document.save()
                inRoot = world
            case 2:
                await main.perform { main.rollback() }
                world = inRoot
            default:
                var pushed = world
                try document.push { context in
                    for edit in 0..<1 + random.next(upTo: 3) {
                        let made = pushed.randomEdit(using: &random, next: step * 10 + edit, deletes: true)
                        pushed.apply(made)
                        numbers.make(made, in: context)
                    }
                }
                world = pushed
            }
            if step % 4 == 0 {
                let again = try fixture.recovered(document)
                let found = try again.look { try numbers.world(in: $0) }
                #expect(found == world, "seed \(seed), step \(step)")
                #expect(again.errors.isEmpty)
            }
        }
    }

    // GB31
    @Test func aTailThatWasCutAnywhereIsDroppedAndNothingBeforeIt() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        var ends = [try #require(document.pushJournalSize)]
        for key in ["first", "second", "third"] {
            try document.push { $0.make("Item", ["key": key]) }
            ends.append(try #require(document.pushJournalSize))
        }
        let whole = try fixture.crashed(document), copy = fixture.folder.appendingPathComponent("cut")
        let name = try #require(document.journalFiles.first).lastPathComponent
        // From the middle of the first entry to the end.
        for length in (ends[1] - 5)...ends[3] {
            try FileManager.default.copyItem(at: whole, to: copy)
            let file = copy.appendingPathComponent("StoreContent/PushJournal/\(name)")
            try Data(contentsOf: file).prefix(length).write(to: file)
            let again = try fixture.reopened(copy, .off)
            let count = ends.dropFirst().count { $0 <= length }
            #expect(try again.look { try $0.all("Item").count } == count, "cut to \(length)")
            #expect(again.errors.isEmpty && again.journalFiles.isEmpty)
            try FileManager.default.removeItem(at: copy)
        }
    }

    // GB31
    @Test func aFileCutInItsHeaderIsNoError() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item") }
        let whole = try fixture.crashed(document), name = try #require(document.journalFiles.first).lastPathComponent
        for length in [0, 1, 7, 8, 12, 40] {
            let copy = fixture.folder.appendingPathComponent("header-\(length)")
            try FileManager.default.copyItem(at: whole, to: copy)
            let file = copy.appendingPathComponent("StoreContent/PushJournal/\(name)")
            try Data(contentsOf: file).prefix(length).write(to: file)
            let again = try fixture.reopened(copy)
            #expect(try again.look { try $0.all("Item").isEmpty } && again.errors.isEmpty)
        }
    }

    // GB31
    @Test func aCrashBetweenCommitAndTrimAppliesNothingTwice() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { context in for key in ["kept", "deleted"] { context.make("Item", ["key": key, "a": 1]) } }
        try document.push { try $0.all("Item").forEach { $0.setValue(2, forKey: "a") } }
        let before = try fixture.crashed(document)
        try await document.save()
        // What another writer did since must stand.
        try document.look { context in
            try context.all("Item", "key == 'kept'").first?.setValue(9, forKey: "a")
            try context.all("Item", "key == 'deleted'").forEach(context.delete)
            try context.saveToStore()
        }
        let after = try fixture.crashed(document)
        try Self.copyJournal(from: before, to: after)
        let again = try fixture.reopened(after)
        #expect(try again.look { try $0.all("Item").map { "\($0.value(forKey: "key") ?? "")\($0.value(forKey: "a") ?? "")" } } == ["kept9"])
        #expect(again.pushRecovery == nil && again.journalFiles.isEmpty)
    }

    // GB31
    @Test func theStoresMarkStaysWhereAnotherWriterSetsMetadata() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "a"]) }
        let before = try fixture.crashed(document), other = try fixture.reopened(document.fileURL, .off)
        try await document.save()
        let store = try #require(other.store(0))
        store.metadata["note"] = "mine"
        try other.push { $0.make("Item", ["key": "b"]) }
        try await other.save()
        try document.push { $0.make("Item", ["key": "c"]) }
        try await document.save()
        let after = try fixture.crashed(document)
        try Self.copyJournal(from: before, to: after)
        let again = try fixture.reopened(after)
        #expect(again.pushRecovery == nil)
        #expect(try again.look { try $0.values("Item", "key") } == ["a", "b", "c"])
        // What the other wrote there survives the mark of the first.
        #expect(again.store(0)?.metadata["note"] as? String == "mine")
    }

    // GB31
    @Test func aCrashInTheMiddleOfAReplayIsLikeOneBeforeOrAfterIt() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        let first = try document.push { $0.make("Person", ["name": "P"]).objectID }
        try document.push { $0.object(with: first).setValue($0.make("Department", ["name": "D"]), forKey: "department") }
        let before = try fixture.crashed(document)
        let once = try fixture.recovered(document)
        let after = try fixture.crashed(once)
        try Self.copyJournal(from: before, to: after)
        let twice = try fixture.reopened(after)
        #expect(try twice.look { try $0.all("Person").map { $0.value(forKeyPath: "department.name") as? String } } == ["D"])
        #expect(try twice.look { try $0.all("Department").count } == 1)
        // New objects get keys of their own.
        try twice.push { context in for _ in 0..<600 { context.make("Person") } }
        try await twice.save()
        #expect(try twice.look { try $0.all("Person").count } == 601)
    }

    private static func copyJournal(from: URL, to: URL) throws {
        let journal = to.appendingPathComponent("StoreContent/PushJournal")
        try? FileManager.default.removeItem(at: journal)
        try FileManager.default.copyItem(at: from.appendingPathComponent("StoreContent/PushJournal"), to: journal)
    }
}
