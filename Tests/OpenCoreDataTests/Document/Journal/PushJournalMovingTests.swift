import Foundation
import Glibc
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// A journal whose document is saved to another place.
@Suite struct PushJournalMovingTests {
    private let fixture: JournalFixture
    private var place: URL { fixture.folder.appendingPathComponent("elsewhere", isDirectory: false) }

    init() throws { fixture = try JournalFixture() }

    /// Runs `body` in the middle of a save to another place: everything was committed, and nothing is copied yet.
    private func moved(_ document: JournalDocument, to url: URL, _ body: @escaping @Sendable () throws -> Void = {}) async throws -> Bool {
        let store = try #require(document.managedObjectContext.persistentStoreCoordinator?.persistentStores.first)
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil) { _ in
            #expect(throws: Never.self) { try body() }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        return await document.save(to: url, for: .forCreating)
    }

    // D8, GB31
    @Test(arguments: [PushJournaling.written, .synchronized])
    func whatIsPushedMeanwhileIsInTheJournalOfTheNewPlace(journaling: PushJournaling) async throws {
        let document = try fixture.opened(journaling), old = document.fileURL
        try document.push { $0.make("Item", ["key": "before"]) }
        #expect(try await moved(document, to: place) { try document.push { _ = $0.make("Item", ["key": "meanwhile"]) } })
        #expect(document.fileURL == place && document.unsavedChangeCount == 1 && document.journalFiles.count == 1)
        let left = try fixture.recovered(document)
        #expect(try left.look { try $0.values("Item", "key") } == ["before", "meanwhile"] && left.errors.isEmpty)
        // At the old place there is nothing to bring back, and nobody has it.
        let former = try fixture.reopened(old)
        #expect(try former.look { try $0.values("Item", "key") } == ["before"] && former.pushRecovery == nil)
        try await former.close()
        try await document.close()
        #expect(document.journalFiles.isEmpty)
    }

    // D8, GB31
    @Test func whatIsPushedAfterwardsIsWrittenDownThere() async throws {
        let document = try fixture.opened()
        #expect(try await moved(document, to: place))
        let id = try document.push { $0.make("Item", ["key": "after"]) }.objectID
        try document.push { try $0.existingObject(with: id).setValue("changed", forKey: "key") }
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["changed"])
        try await document.save()
        try document.push { $0.make("Item", ["key": "more"]) }
        let left = try fixture.recovered(document)
        #expect(try left.look { try $0.values("Item", "key") } == ["changed", "more"] && left.pushRecovery?.pushes == 1)
        try await document.close()
    }

    // D8, GB31
    @Test func anEntryGoesAlongThroughSeveralPlaces() async throws {
        let document = try fixture.opened(), places = (0..<3).map { fixture.folder.appendingPathComponent("place \($0)") }
        try document.push { $0.make("Item", ["key": "before"]) }
        for (number, place) in places.enumerated() {
            #expect(try await moved(document, to: place) { try document.push { _ = $0.make("Item", ["key": "\(number)"]) } })
        }
        let left = try fixture.recovered(document)
        #expect(try left.look { try $0.values("Item", "key") } == ["0", "1", "2", "before"] && left.errors.isEmpty)
        try await document.save()
        #expect(try fixture.recovered(document).pushRecovery == nil)
        try await document.close()
    }

    // D8, GB31
    @Test func whatIsThrownAwayAfterwardsStaysAway() async throws {
        let document = try fixture.opened(), main = document.managedObjectContext
        #expect(try await moved(document, to: place) { try document.push { _ = $0.make("Item", ["key": "meanwhile"]) } })
        await main.perform { main.rollback() }
        #expect(try fixture.recovered(document).look { try $0.all("Item").isEmpty })
        try await document.close()
    }

    // D8, GB31
    @Test func whatIsThrownAwayMeanwhileStaysAway() async throws {
        let document = try fixture.opened(), main = document.managedObjectContext
        #expect(
            try await moved(document, to: place) {
                try document.push { _ = $0.make("Item", ["key": "meanwhile"]) }
                main.performAndWait { main.rollback() }
            })
        #expect(try fixture.recovered(document).look { try $0.all("Item").isEmpty })
        try await document.close()
    }

    // D8, GB31
    @Test func aJournalThatCannotGoAlongKeepsTheDocumentWhereItIs() async throws {
        let document = try fixture.opened(), old = document.fileURL
        try document.push { $0.make("Item", ["key": "before"]) }
        let isMoved = try await moved(document, to: place) {
            try document.push { _ = $0.make("Item", ["key": "meanwhile"]) }
            document.observePushJournal { _ in throw PushJournalFailureTests.full }
        }
        document.observePushJournal(nil)
        #expect(!isMoved && document.fileURL == old && document.errors.count == 1 && !FileManager.default.fileExists(atPath: place.path))
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["before", "meanwhile"])
        // It goes on, and so does the next attempt.
        try document.push { $0.make("Item", ["key": "after"]) }
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["after", "before", "meanwhile"])
        #expect(try await moved(document, to: place))
        #expect(try fixture.recovered(document).look { try $0.values("Item", "key") } == ["after", "before", "meanwhile"])
        try await document.close()
    }

    // D8
    @Test func aDocumentThatWasClosedWithAJournalIsNotCreatedElsewhere() async throws {
        let document = try fixture.opened()
        let store = try #require(document.managedObjectContext.persistentStoreCoordinator?.persistentStores.first)
        // Pushed between the last save and the end.
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil) { _ in
            #expect(throws: Never.self) { try document.push { _ = $0.make("Item", ["key": "late"]) } }
        }
        try await document.close()
        NotificationCenter.default.removeObserver(token)
        #expect(await !document.save(to: place, for: .forCreating))
        #expect(document.errors.map(\.code) == [134070] && !FileManager.default.fileExists(atPath: place.path))
        #expect(await document.open())
        #expect(try document.look { try $0.values("Item", "key") } == ["late"])
        try await document.close()
    }
}
