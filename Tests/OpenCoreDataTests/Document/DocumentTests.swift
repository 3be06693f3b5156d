import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

@Suite struct DocumentTests {
    private let clock = ManualDocumentClock()

    private func opened(_ policy: AutosavePolicy = AutosavePolicy(), _ model: NSManagedObjectModel = Company.model()) throws -> TestDocument {
        let document = TestDocument(model, policy: policy, clock: clock)
        try document.openStore(creating: true)
        return document
    }

    /// Returns when everything that was put on the main queue and the root's queue until now, and what that put there, has run.
    private func settle(_ document: TestDocument) async {
        for _ in 0..<4 {
            await document.managedObjectContext.perform(schedule: .enqueued) {}
            await document.root.perform(schedule: .enqueued) {}
        }
    }

    private func insert(_ count: Int, into document: TestDocument) async {
        let main = document.managedObjectContext
        await main.perform { for _ in 0..<count { main.make("Item") } }
    }

    // D1
    @Test func theContextIsAMainQueueContextWithAPrivateParent() {
        let document = TestDocument(clock: clock)
        #expect(document.managedObjectContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(document.managedObjectContext.parent?.concurrencyType == .privateQueueConcurrencyType)
        #expect(document.managedObjectContext.parent?.parent == nil)
        #expect(document.managedObjectContext.persistentStoreCoordinator?.managedObjectModel === document.managedObjectModel)
    }

    // D2, GB38
    @Test func theStoreIsInsideThePackage() {
        let document = TestDocument(clock: clock)
        #expect(TestDocument.persistentStoreName == "persistentStore")
        #expect(document.storeURL == document.fileURL.appendingPathComponent("StoreContent/persistentStore"))
        #expect(document.persistentStoreType(forFileType: "anything") == NSSQLiteStoreType)
    }

    // D3
    @Test func aSavePushesTheMainContextAndWritesOnTheRootsQueue() async throws {
        let document = try opened()
        let wasMain = Mutex<[Bool]>([])
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        document.store.observe { request in
            if case .save = request { wasMain.withLock { $0.append(DispatchQueue.getSpecific(key: mark) == true) } }
        }
        await insert(3, into: document)
        try await document.save()
        #expect(try document.storedCount("Item") == 3 && !document.hasUnsavedChanges)
        #expect(wasMain.withLock { $0 } == [false])
    }

    // D4, GB30
    @Test func anAutosaveComesFifteenSecondsAfterAChange() async throws {
        let document = try opened()
        await insert(1, into: document)
        #expect(clock.due == [15] && document.hasUnsavedChanges)
        clock.advance(by: 14.9)
        await settle(document)
        #expect(document.saves == 0)
        clock.advance(by: 0.1)
        await settle(document)
        #expect(document.saves == 1 && !document.hasUnsavedChanges)
        #expect(try document.storedCount("Item") == 1)
    }

    // D4
    @Test func withoutChangesAutosaveWritesNothing() async throws {
        let document = try opened()
        let answered = await withCheckedContinuation { continuation in document.autosave { continuation.resume(returning: $0) } }
        #expect(answered && document.saves == 0 && clock.due.isEmpty)
    }

    // D13, GB30
    @Test func aBudgetOfChangesSavesAtOnce() async throws {
        let document = try opened(AutosavePolicy(interval: 15, changes: 10))
        await insert(9, into: document)
        await settle(document)
        #expect(document.saves == 0)
        await insert(1, into: document)
        await settle(document)
        #expect(try document.storedCount("Item") == 10 && clock.now == 0)
    }

    // GB30
    @Test func anotherPolicyJudgesTheChangesThatThereAre() async throws {
        let document = try opened(AutosavePolicy(interval: 60, changes: 100))
        await insert(9, into: document)
        await settle(document)
        document.autosavePolicy = AutosavePolicy(interval: 5, changes: 100)
        clock.advance(by: 5)
        await settle(document)
        #expect(try document.storedCount("Item") == 9)
        await insert(9, into: document)
        await settle(document)
        document.autosavePolicy = AutosavePolicy(interval: 60, changes: 9)
        await settle(document)
        #expect(try document.storedCount("Item") == 18 && clock.now == 5)
    }

    // GB30
    @Test func aBudgetOfBytesSavesAtOnce() async throws {
        let document = try opened(AutosavePolicy(bytes: 10_000))
        let main = document.managedObjectContext
        await main.perform { _ = main.make("Item", ["key": String(repeating: "x", count: 20_000)]) }
        await settle(document)
        #expect(try document.storedCount("Item") == 1)
    }

    // D9
    @Test func savingAWorkerMarksTheDocument() async throws {
        let document = try opened()
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        try await worker.perform { () throws -> Void in
            worker.make("Item")
            try worker.save()
        }
        #expect(document.hasUnsavedChanges && document.unsavedChangeCount == 1)
        clock.advance(by: 15)
        await settle(document)
        #expect(try document.storedCount("Item") == 1)
    }

    // D10, GB32
    @Test func workInTheRootCountsAndIsSaved() async throws {
        let document = try opened()
        let root = document.root
        await root.perform { _ = root.make("Item") }
        #expect(document.hasUnsavedChanges && document.unsavedChangeCount == 1)
        try await document.save()
        #expect(try document.storedCount("Item") == 1)
    }

    // D13, GB32
    @Test func itTellsHowMuchIsUnsavedAndForHowLong() async throws {
        let document = try opened()
        #expect(document.unsavedChangeCount == 0 && document.oldestUnsavedChange == nil)
        await insert(3, into: document)
        clock.advance(by: 4)
        await insert(2, into: document)
        #expect(document.unsavedChangeCount == 5 && document.oldestUnsavedChange == 4)
        try await document.save()
        #expect(document.unsavedChangeCount == 0 && document.oldestUnsavedChange == nil)
    }

    // D5, D6
    @Test func handlersAreCalledOnTheMainQueueWithTheOutcome() async throws {
        let document = TestDocument(clock: clock)
        let created = await withCheckedContinuation { continuation in
            document.save(to: document.fileURL, for: .forCreating) { success in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: success)
            }
        }
        #expect(created)
        #expect(FileManager.default.fileExists(atPath: document.storeURL.path) && document.documentState == .normal)
        await insert(1, into: document)
        let overwritten = await withCheckedContinuation { continuation in
            document.save(to: document.fileURL, for: .forOverwriting) { continuation.resume(returning: $0) }
        }
        #expect(overwritten)
        #expect(try document.storedCount("Item") == 1)
    }

    // D7
    @Test func statesHaveApplesRawValues() {
        typealias State = UIManagedDocument.State
        let states: [State] = [.normal, .closed, .inConflict, .savingError, .editingDisabled, .progressAvailable]
        #expect(states.map(\.rawValue) == [0, 1, 2, 4, 8, 16])
        #expect(UIManagedDocument.SaveOperation.forCreating.rawValue == 0)
    }

    // D8
    @Test func openAndCloseChangeTheState() async throws {
        let document = try opened()
        let posted = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: UIManagedDocument.stateChangedNotification, object: document, queue: nil
        ) { notification in
            #expect(notification.userInfo == nil)
            posted.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        await insert(2, into: document)
        try await document.close()
        #expect(document.documentState == .closed && posted.withLock { $0 } == 1)
        #expect(document.store.rowCount == 2)
        let reopened = await withCheckedContinuation { continuation in document.open { continuation.resume(returning: $0) } }
        #expect(reopened && document.documentState == .normal)
        let main = document.managedObjectContext
        #expect(try await main.perform { () throws -> Int in try main.all("Item").count } == 2)
    }

    // D8
    @Test func openingADocumentThatIsNotThereFails() async {
        let document = TestDocument(clock: clock)
        let success = await withCheckedContinuation { continuation in document.open { continuation.resume(returning: $0) } }
        #expect(!success && document.documentState.contains(.closed))
        #expect(document.errors == ["NSCocoaErrorDomain 134080"])
    }

    // D8, GB33
    @Test func revertShowsTheStoredState() async throws {
        let document = try opened()
        let main = document.managedObjectContext, root = document.root
        await insert(1, into: document)
        try await document.save()
        await insert(2, into: document)
        await root.perform { _ = root.make("Item") }
        let reverted = await withCheckedContinuation { continuation in
            document.revert(toContentsOf: document.fileURL) { continuation.resume(returning: $0) }
        }
        #expect(reverted && !document.hasUnsavedChanges)
        #expect(try await main.perform { () throws -> Int in try main.all("Item").count } == 1)
    }

    // D4, GB33, GB34
    @Test func aPermanentFailureIsReportedAndRolledBackOnce() async throws {
        let document = try opened()
        let main = document.managedObjectContext
        await insert(1, into: document)
        try await document.save()
        await main.perform { main.make("Person").setValue(nil, forKey: "name") }
        clock.advance(by: 15)
        await settle(document)
        #expect(document.errors == ["NSCocoaErrorDomain 1570"])
        #expect(document.documentState.contains(.savingError) && !document.hasUnsavedChanges)
        await insert(1, into: document)
        clock.advance(by: 15)
        await settle(document)
        #expect(try document.storedCount("Item") == 2 && document.storedCount("Person") == 0)
        #expect(!document.documentState.contains(.savingError))
    }

    // D7, GB34
    @Test func aRefusalByTheStoreIsRolledBackInTheWholeStack() async throws {
        let document = try opened()
        let main = document.managedObjectContext
        await main.perform { _ = main.make("Item", ["key": "good", "a": 1]) }
        try await document.save()
        document.failSaves(with: [NSError(domain: NSCocoaErrorDomain, code: 134030)])
        await main.perform {
            #expect(throws: Never.self) { try main.all("Item").first?.setValue(2, forKey: "a") }
            main.make("Item", ["key": "bad"])
        }
        await #expect(throws: NSError.self) { try await document.save() }
        await settle(document)
        #expect(!document.hasUnsavedChanges)
        let (keys, values) = try await main.perform { () throws -> ([String], [Int]) in
            try (main.names("Item", "key"), main.all("Item").compactMap { $0.value(forKey: "a") as? Int })
        }
        #expect(keys == ["good"] && values == [1])
        await main.perform { _ = main.make("Item", ["key": "better"]) }
        try await document.save()
        #expect(try document.storedCount("Item") == 2)
    }

    // D7, GB30
    @Test func aTransientFailureKeepsTheChangesAndIsTriedAgainLater() async throws {
        let document = try opened(AutosavePolicy(changes: 2))
        document.failSaves(with: [NSError.storeIsFull, NSError.storeIsFull])
        await insert(2, into: document)
        await settle(document)
        #expect(document.saves == 1 && document.errors == ["NSCocoaErrorDomain 134030"] && document.unsavedChangeCount == 2)
        // More changes do not hammer at a full disk.
        await insert(5, into: document)
        await settle(document)
        #expect(document.saves == 1)
        clock.advance(by: 2)
        await settle(document)
        #expect(document.saves == 2 && document.hasUnsavedChanges)
        clock.advance(by: 2)
        await settle(document)
        #expect(document.saves == 2)
        clock.advance(by: 2)
        await settle(document)
        #expect(document.saves == 3 && !document.hasUnsavedChanges && !document.documentState.contains(.savingError))
        #expect(try document.storedCount("Item") == 7)
    }

    // D13
    @Test func committedReturnsWhenALaterSaveHasEndedAlsoAfterATransientFailure() async throws {
        let document = try opened()
        document.failSaves(with: [NSError.storeIsFull])
        await insert(1, into: document)
        let done = Mutex(false)
        async let committed: Void = {
            try await document.committed()
            done.withLock { $0 = true }
        }()
        await settle(document)
        #expect(!done.withLock { $0 })
        clock.advance(by: 15)
        await settle(document)
        #expect(!done.withLock { $0 })
        clock.advance(by: 2)
        try await committed
        #expect(try document.storedCount("Item") == 1)
        try await document.committed()
    }

    // D13
    @Test func aWriterIsHeldBackUntilEnoughIsSaved() async throws {
        let document = try opened()
        await insert(5, into: document)
        await document.waitUntilUnsaved(isBelow: 6)
        async let waited: Void = document.waitUntilUnsaved(isBelow: 5)
        try await document.save()
        await waited
        #expect(document.unsavedChangeCount == 0)
    }

    // D13
    @Test func aWriterHeldBackGoesOnWhenTheChangesWereRefused() async throws {
        let document = try opened()
        await insert(5, into: document)
        async let waited: Void = document.waitUntilUnsaved(isBelow: 5)
        document.failSaves(with: [NSError(domain: NSCocoaErrorDomain, code: 134030)])
        await #expect(throws: NSError.self) { try await document.save() }
        await waited
    }

    // D13
    @Test func closingSavesWhatIsUnsaved() async throws {
        let document = try opened()
        await insert(4, into: document)
        let closed = await withCheckedContinuation { continuation in document.close { continuation.resume(returning: $0) } }
        #expect(closed && document.store.rowCount == 4 && document.documentState.contains(.closed))
    }

    // D8
    @Test func aDocumentThatCannotBeSavedStaysOpen() async throws {
        let document = try opened()
        await insert(1, into: document)
        document.failSaves(with: [NSError.storeIsFull])
        await #expect(throws: NSError.self) { try await document.close() }
        #expect(!document.documentState.contains(.closed) && document.hasUnsavedChanges)
    }

    // GB28, GB35
    @Test func theMainQueueIsFreeWhileTheStoreIsOpened() async throws {
        let document = TestDocument(clock: clock)
        async let created: Bool = withCheckedContinuation { continuation in
            document.save(to: document.fileURL, for: .forCreating) { continuation.resume(returning: $0) }
        }
        let main = document.managedObjectContext
        await main.perform { _ = main.make("Item") }
        #expect(await created)
        try await document.save()
        #expect(try document.storedCount("Item") == 1)
    }
}
