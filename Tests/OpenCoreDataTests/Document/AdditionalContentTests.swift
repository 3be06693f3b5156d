import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What a document keeps beside its store.
@Suite struct AdditionalContentTests {
    // D12
    @Test func contentIsAskedForOnTheMainQueueAndWrittenAndReadElsewhere() async throws {
        let folder = try DocumentFolder(), document = ContentDocument(folder.place("a"))
        document.text = "hello"
        #expect(await document.save(to: document.fileURL, for: .forCreating))
        #expect(document.calls == ["ask for a/AdditionalContent on main", "write"] && document.written == "hello")
        try await document.close()
        let again = ContentDocument(folder.place("a"))
        #expect(await again.open())
        #expect(again.calls == ["read"] && again.text == "hello")
        try await again.close()
    }

    // D12
    @Test func contentIsReadOnlyWhereThereIsSome() async throws {
        let folder = try DocumentFolder()
        try await folder.made().close()
        let document = ContentDocument(folder.place("old.book"))
        #expect(await document.open())
        #expect(document.calls.isEmpty)
        try await document.close()
    }

    // D12
    @Test func whoHasNothingToWriteLeavesWhatWasWritten() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        #expect(!FileManager.default.fileExists(atPath: document.contentURL.path))
        document.text = "hello"
        try await document.save()
        for isOptional in [false, true] {
            (document.text, document.isOptional) = (nil, isOptional)
            try await document.save()
            #expect(document.written == "hello")
        }
        try await document.close()
    }

    // D12
    @Test func aNewContentTakesThePlaceOfTheOldOneAsAWhole() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        document.text = "one"
        try await document.save()
        try Data().write(to: document.contentURL.appendingPathComponent("more"))
        document.text = "two"
        try await document.save()
        #expect(document.originals == [nil, document.contentURL] && document.written == "two")
        #expect(try FileManager.default.contentsOfDirectory(atPath: document.contentURL.path) == ["text"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: document.fileURL.path).sorted() == ["AdditionalContent", "StoreContent"])
        try await document.close()
    }

    // D4, D12
    @Test func aMarkAloneHasContentWrittenByItself() async throws {
        let folder = try DocumentFolder(), clock = ManualDocumentClock(), document = try await folder.made(clock: clock)
        document.text = "typed"
        document.updateChangeCount(.done)
        #expect(document.hasUnsavedChanges && document.written == nil && clock.due.contains(clock.now + 15))
        clock.advance(by: 15)
        await document.settle()
        #expect(document.written == "typed" && !document.hasUnsavedChanges && document.errors.isEmpty)
        try await document.close()
    }

    // D12, D7
    @Test func contentThatCannotBeWrittenLeavesTheOldOneAndTheStoreCommits() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        document.text = "one"
        try await document.save()
        document.text = "two"
        document.failing = [.writing]
        await document.insert("second")
        #expect(await !document.save(to: document.fileURL, for: .forOverwriting))
        #expect(document.errors.count == 1 && document.documentState.contains(.savingError))
        #expect(document.written == "one" && document.unsavedChangeCount == 0 && document.hasUnsavedChanges)
        #expect(try FileManager.default.contentsOfDirectory(atPath: document.fileURL.path).sorted() == ["AdditionalContent", "StoreContent"])
        document.failing = []
        try await document.save()
        #expect(document.written == "two" && !document.hasUnsavedChanges && !document.documentState.contains(.savingError))
        try await document.close()
        #expect(try await folder.keys(in: "old.book") == ["first", "second"])
    }

    // D12, D7
    @Test func contentThatCouldNotBeWrittenIsTriedAgainLaterAndLater() async throws {
        let folder = try DocumentFolder(), clock = ManualDocumentClock(), document = try await folder.made(clock: clock)
        document.text = "typed"
        document.failing = [.writing]
        document.updateChangeCount(.done)
        clock.advance(by: 15)
        await document.settle()
        #expect(document.errors.count == 1)
        // Objects are saved by the policy all the same, and nobody hammers at what fails.
        await document.settle()
        #expect(document.errors.count == 1 && clock.due.contains(clock.now + 2))
        clock.advance(by: 2)
        await document.settle()
        #expect(document.errors.count == 2)
        document.failing = []
        clock.advance(by: 4)
        await document.settle()
        #expect(document.errors.count == 2 && document.written == "typed" && !document.hasUnsavedChanges)
        try await document.close()
    }

    // D12
    @Test func whoCannotSayWhatToWriteFailsTheSaveAndNotTheStore() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        document.failing = [.asking]
        await document.insert("second")
        await #expect(throws: ContentDocument.Failure.self) { try await document.save() }
        #expect(document.unsavedChangeCount == 0 && document.hasUnsavedChanges)
        document.failing = []
        try await document.close()
        #expect(try await folder.keys(in: "old.book") == ["first", "second"])
    }

    // D12
    @Test func whereTheStoreRefusesTheOldContentStays() async throws {
        let folder = try DocumentFolder(), model = Company.model(), store = InMemoryStore(entities: model.entities)
        let document = ContentDocument(folder.place("a"), model: model, memory: store)
        #expect(await document.save(to: document.fileURL, for: .forCreating))
        document.text = "one"
        try await document.save()
        document.text = "two"
        document.updateChangeCount(.done)
        store.observe { request in if case .save = request { throw NSError(domain: NSCocoaErrorDomain, code: 134030) } }
        await document.insert("refused")
        await #expect(throws: NSError.self) { try await document.save() }
        #expect(document.written == "one")
        #expect(try FileManager.default.contentsOfDirectory(atPath: document.fileURL.path).sorted() == ["AdditionalContent", "StoreContent"])
        store.observe(nil)
        await document.settle()
        // The objects are refused for good; the content is not.
        #expect(document.unsavedChangeCount == 0 && document.hasUnsavedChanges)
        try await document.save()
        #expect(document.written == "two")
    }

    // D8, D12
    @Test func contentThatCannotBeReadKeepsTheDocumentClosed() async throws {
        let folder = try DocumentFolder(), made = try await folder.made()
        made.text = "hello"
        made.updateChangeCount(.done)
        try await made.close()
        let document = ContentDocument(folder.place("old.book"))
        document.failing = [.reading]
        #expect(await !document.open())
        #expect(document.documentState.contains(.closed) && document.errors.count == 1)
        #expect(document.managedObjectContext.persistentStoreCoordinator?.persistentStores.isEmpty == true)
        document.failing = []
        #expect(await document.open())
        #expect(document.text == "hello")
        try await document.close()
    }

    // D8, D12
    @Test func revertingReadsTheContentAgain() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        document.text = "stored"
        try await document.save()
        document.text = "typed"
        document.updateChangeCount(.done)
        func reverted() async -> Bool {
            await withCheckedContinuation { continuation in document.revert(toContentsOf: document.fileURL) { continuation.resume(returning: $0) } }
        }
        #expect(await reverted() && document.text == "stored" && !document.hasUnsavedChanges)
        document.failing = [.reading]
        #expect(await !reverted() && document.errors.count == 1)
        document.failing = []
        try await document.close()
    }

    // D12
    @Test func anEndBetweenTwoNamesLosesNothing() async throws {
        let folder = try DocumentFolder(), made = try await folder.made()
        made.text = "hello"
        made.updateChangeCount(.done)
        try await made.close()
        try FileManager.default.moveItem(at: made.contentURL, to: made.fileURL.appendingPathComponent(".AdditionalContent-former"))
        let document = ContentDocument(folder.place("old.book"))
        #expect(await document.open())
        #expect(document.text == "hello" && document.written == "hello")
        try await document.close()
    }

    // D12
    @Test func aClosedDocumentSaysThatItsContentWasNotWritten() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        try await document.close()
        document.text = "late"
        let error = await #expect(throws: NSError.self) { try await document.save() }
        #expect(error?.code == 134030 && document.hasUnsavedChanges && document.written == nil)
    }

    // D8, D12
    @Test func aDocumentInWhichNothingChangedClosesThoughItsContentCannotBeWritten() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        document.text = "one"
        document.failing = [.writing]
        try await document.close()
        #expect(document.documentState.contains(.closed) && document.errors.isEmpty && document.written == nil)
        // Twice is no more than once.
        try await document.close()
        #expect(document.documentState.contains(.closed) && !document.hasUnsavedChanges)
    }

    // D8, D12
    @Test func contentThatCannotBeWrittenKeepsADocumentOpenUntilItIsGivenUp() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        document.text = "one"
        document.failing = [.writing]
        document.updateChangeCount(.done)
        await #expect(throws: ContentDocument.Failure.self) { try await document.close() }
        #expect(!document.documentState.contains(.closed))
        document.updateChangeCount(.cleared)
        try await document.close()
        #expect(document.documentState.contains(.closed))
    }
}
