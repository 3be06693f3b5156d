import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// "Save As" while others are at work.
@Suite struct SavingElsewhereRaceTests {
    /// Pushes items one by one from a worker. Gives how many of its saves succeeded.
    private static func push(_ count: Int, of number: Int, into document: UIManagedDocument) async -> Int {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        var pushed = 0
        for index in 0..<count {
            let isSaved = await worker.perform { () -> Bool in
                worker.make("Item", ["key": "\(number)-\(index)"])
                return (try? worker.save()) != nil
            }
            if isSaved { pushed += 1 }
        }
        return pushed
    }

    // D8, D9
    @Test(arguments: [PushJournaling.off, .written]) func whatWorkersPushMeanwhileIsAtTheLastPlace(journaling: PushJournaling) async throws {
        let folder = try DocumentFolder()
        let document = UIManagedDocument(fileURL: folder.place("0"), model: Company.model(), autosavePolicy: AutosavePolicy(changes: 7))
        document.pushJournaling = journaling
        try #require(await document.save(to: document.fileURL, for: .forCreating))
        let pushed = await withTaskGroup(of: Int.self) { group in
            for number in 0..<3 { group.addTask { await Self.push(40, of: number, into: document) } }
            group.addTask {
                for place in 1...4 {
                    let isSaved = await document.save(to: folder.place("\(place)"), for: .forCreating)
                    #expect(isSaved)
                }
                return 0
            }
            return await group.reduce(0, +)
        }
        #expect(document.fileURL == folder.place("4") && pushed == 120)
        try await document.close()
        let keys = try await folder.keys(in: "4")
        #expect(Set(keys).count == 120 && keys.count == 120)
        #expect(folder.names == ["0", "1", "2", "3", "4"])
    }

    // D8
    @Test func whatWasPushedBeforeTheCallIsInTheNewPlace() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = document.managedObjectContext
        try await worker.perform { () throws in
            worker.make("Item", ["key": "pushed"])
            try worker.save()
        }
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        // Before anything else is saved: as a process that ends now would leave it.
        try FileManager.default.copyItem(at: document.fileURL, to: folder.place("copy"))
        #expect(try await folder.keys(in: "copy") == ["first", "pushed"])
        try await document.close()
    }

    // D4, D8
    @Test func aSaveThatIsAskedForMeanwhileComesAfterIt() async throws {
        let folder = try DocumentFolder(), document = try await folder.made(), main = document.managedObjectContext
        let outcomes = Mutex<[Bool]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            // On the main queue, which both need: neither has begun when the other is asked for.
            main.perform {
                document.save(to: folder.place("new"), for: .forCreating) { success in outcomes.withLock { $0.append(success) } }
                main.make("Item", ["key": "later"])
                document.save(to: document.fileURL, for: .forOverwriting) { success in
                    outcomes.withLock { $0.append(success) }
                    continuation.resume()
                }
            }
        }
        #expect(outcomes.withLock { $0 } == [true, true] && document.fileURL == folder.place("new") && !document.hasUnsavedChanges)
        try await document.close()
        #expect(try await folder.keys(in: "new") == ["first", "later"])
        #expect(folder.names == ["new", "old.book"])
    }

    // D4, D8
    @Test func anAutosaveThatFiresMeanwhileFollowsTheDocument() async throws {
        let folder = try DocumentFolder(), clock = ManualDocumentClock(), document = try await folder.made(clock: clock)
        let store = try #require(document.managedObjectContext.persistentStoreCoordinator?.persistentStores.first)
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: store, queue: nil) { _ in
            let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
            worker.parent = document.managedObjectContext
            worker.performAndWait {
                worker.make("Item", ["key": "meanwhile"])
                #expect(throws: Never.self) { try worker.save() }
            }
            clock.advance(by: 15)
        }
        #expect(await document.save(to: folder.place("new"), for: .forCreating))
        NotificationCenter.default.removeObserver(token)
        clock.advance(by: 15)
        await document.settle()
        #expect(document.unsavedChangeCount == 0 && document.errors.isEmpty)
        try FileManager.default.copyItem(at: document.fileURL, to: folder.place("copy"))
        #expect(try await folder.keys(in: "copy") == ["first", "meanwhile"])
        try await document.close()
        #expect(try await folder.keys(in: "old.book") == ["first"])
    }

    // D8
    @Test func closingComesAfterASaveElsewhereThatWasAskedForBefore() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        await document.insert("second")
        let outcomes = Mutex<[Bool]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            document.save(to: folder.place("new"), for: .forCreating) { success in outcomes.withLock { $0.append(success) } }
            document.close { success in
                outcomes.withLock { $0.append(success) }
                continuation.resume()
            }
        }
        #expect(outcomes.withLock { $0 } == [true, true] && document.fileURL == folder.place("new") && document.documentState.contains(.closed))
        #expect(try await folder.keys(in: "new") == ["first", "second"])
    }

    // D8
    @Test func aSaveElsewhereAfterClosingWasAskedForFindsItClosed() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        let outcomes = Mutex<[Bool]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            document.close { success in outcomes.withLock { $0.append(success) } }
            document.save(to: folder.place("new"), for: .forOverwriting) { success in
                outcomes.withLock { $0.append(success) }
                continuation.resume()
            }
        }
        // It fails, and nothing is made: neither opened again nor copied.
        #expect(outcomes.withLock { $0 } == [true, false] && document.fileURL == folder.place("old.book") && folder.names == ["old.book"])
    }

    // D8
    @Test func ofTwoSavesElsewhereEachMakesItsPlaceAndTheLastOneCounts() async throws {
        let folder = try DocumentFolder(), document = try await folder.made()
        let outcomes = Mutex<[Bool]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            for name in ["a", "b", "b"] {
                document.save(to: folder.place(name), for: .forCreating) { success in
                    let count = outcomes.withLock { outcomes in
                        outcomes.append(success)
                        return outcomes.count
                    }
                    if count == 3 { continuation.resume() }
                }
            }
        }
        #expect(outcomes.withLock { $0 } == [true, true, true] && document.fileURL == folder.place("b"))
        await document.insert("second")
        try await document.close()
        #expect(try await folder.keys(in: "a") == ["first"])
        #expect(try await folder.keys(in: "b") == ["first", "second"])
    }
}
