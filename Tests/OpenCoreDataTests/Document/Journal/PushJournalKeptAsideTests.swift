import Foundation
import Glibc
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What could not be applied stays where it was put.
@Suite struct PushJournalKeptAsideTests {
    /// A package whose journal inserts an item with a key that somebody else has by now.
    private func refused(_ fixture: JournalFixture, _ memory: InMemoryStore) throws -> URL {
        let document = try fixture.opened(memory: memory)
        try document.push { $0.make("Item", ["key": "taken", "a": 1]) }
        let copy = try fixture.crashed(document)
        try PushJournalRecoveryTests.write("Item", ["key": "taken"], to: memory, fixture.model)
        return copy
    }

    // GB31
    @Test func whatALaterRunRefusesStandsBesideWhatAnEarlierOneDid() throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        // Nothing is committed, so the next run counts from the same number.
        let first = try fixture.reopened(try refused(fixture, memory), memory: memory)
        #expect(first.keptAside == ["1.plist"])
        let second = try fixture.reopened(try fixture.crashed(first), memory: memory)
        try second.push { $0.make("Item", ["key": "taken", "a": 2]) }
        let third = try fixture.recovered(second, memory: memory)
        #expect(third.keptAside == ["1.plist", "2-1.plist"])
        let text = try third.textAside()
        #expect(text.contains("<integer>1</integer>") && text.contains("<integer>2</integer>"))
        #expect(third.pushRecovery?.keptAside.map(\.lastPathComponent) == ["2-1.plist"])
    }

    // GB31
    @Test func aReplayThatIsRepeatedKeepsNothingTwice() throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let copy = try refused(fixture, memory), entries = try Data(contentsOf: try #require(JournalDocument(copy, fixture.model).journalFiles.first))
        let first = try fixture.reopened(copy, memory: memory), again = try fixture.crashed(first)
        try entries.write(to: again.appendingPathComponent("StoreContent/PushJournal/0000000000000001.pushes"))
        let second = try fixture.reopened(again, memory: memory)
        #expect(second.keptAside == ["1.plist"] && second.pushRecovery?.keptAside.map(\.lastPathComponent) == ["1.plist"])
    }

    // GB31: what an earlier attempt of the same replay wrote gives way to what the last one did
    @Test func aReplayOfSeveralAttemptsLeavesOneList() async throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        let gone = try document.push { $0.make("Item", ["key": "gone"]).objectID }
        try await document.save()
        try document.push { context in
            context.object(with: gone).setValue(77, forKey: "a")
            context.make("Item", ["key": "taken", "a": 5])
            context.make("Item", ["key": "fine"])
        }
        let copy = try fixture.crashed(document)
        var deletion = ChangeSet()
        deletion.set(gone, PendingRow(kind: .deleted, row: nil))
        _ = try memory.save(deletion)
        try PushJournalRecoveryTests.write("Item", ["key": "taken"], to: memory, fixture.model)
        let again = try fixture.reopened(copy, memory: memory)
        #expect(try again.look { try $0.values("Item", "key") } == ["fine", "taken"] && again.keptAside.count == 1)
        let text = try again.textAside()
        #expect(text.contains("77") && text.contains("<integer>5</integer>"))
    }

    // GB31, GB30
    @Test func whereTheListOfTheRefusedCannotBeKeptTheDocumentDoesNotOpenAndNothingIsGone() throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        try document.push { context in for key in ["taken", "fine"] { context.make("Item", ["key": key]) } }
        let copy = try fixture.crashed(document)
        try PushJournalRecoveryTests.write("Item", ["key": "taken"], to: memory, fixture.model)
        let again = JournalDocument(copy, fixture.model, memory: memory)
        // The list only: that the files of entries could be kept makes it no refusal by the store.
        again.observePushJournal { if case .keep(let name) = $0, name.hasSuffix(".plist") { throw PushJournalFailureTests.full } }
        let error = #expect(throws: NSError.self) { try again.openStore(creating: false) }
        #expect(error?.code == Int(ENOSPC) && again.journalFiles.count == 1 && again.keptAside.isEmpty && memory.rowCount == 1)
        again.observePushJournal(nil)
        try again.openStore(creating: false)
        #expect(try again.look { try $0.values("Item", "key") } == ["fine", "taken"] && again.keptAside.count == 1)
    }

    // GB31
    @Test(arguments: [0o600, 0o664])
    func whatTheJournalHoldsIsReadByWhoeverMayReadTheStore(_ mode: Int) async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(.off)
        try await document.close()
        func setMode(_ url: URL) throws { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path) }
        func found(_ url: URL) throws -> Int? {
            (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
        }
        try setMode(document.storeURL)
        let journaling = try fixture.reopened(document.fileURL)
        try journaling.push { $0.make("Item", ["key": "a"]) }
        let file = try #require(journaling.journalFiles.first), folder = mode == 0o600 ? 0o700 : 0o775
        #expect(try found(file) == mode && found(journaling.pushJournalURL.appendingPathComponent("lock")) == mode)
        #expect(try found(journaling.pushJournalURL) == folder)
        let copy = try fixture.crashed(journaling)
        try setMode(JournalDocument(copy, fixture.model).storeURL)
        let name = try fixture.rewriteEntries(of: copy) { $0[12] ^= 1 }
        let again = try fixture.reopened(copy)
        #expect(try found(again.keptAsideURL) == folder && found(again.keptAsideURL.appendingPathComponent(name)) == mode)
    }
}
