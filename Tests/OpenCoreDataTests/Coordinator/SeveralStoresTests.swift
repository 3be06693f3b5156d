import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import TestTraits
import Testing

/// A save into several stores is one save.
@Suite struct SeveralStoresTests {
    // P15, S5
    @Test(.longComputation, arguments: [false, true])
    func aSaveIntoSeveralStoresIsAllOrNothing(_ withFiles: Bool) throws {
        for seed in 0..<(withFiles ? 50 : 150) {
            if let failure = try SeveralStoresRun.failure(seed: seed, withFiles: withFiles) {
                Issue.record("\(failure)")
                return
            }
        }
    }

    private func refusal(_ body: () throws -> Void) -> NSError? { #expect(throws: NSError.self, performing: body) }

    // P15
    @Test func aConflictInAFileIsFoundBeforeAStoreOfOnesOwnWrites() throws {
        let stores = try SeveralStores([.json, .file])
        let context = stores.context(), other = stores.context()
        try holding(context, other) { () throws in
            let q = context.make("Q", ["key": "q"])
            try context.save()
            q.setValue(3, forKey: "x")
            try other.all("Q").first?.setValue(2, forKey: "x")
            try other.save()
            context.make("P", ["key": "p"])
            #expect(refusal { try context.save() }?.code == 133020)
            #expect(try stores.stored("P").isEmpty && context.insertedObjects.count == 1 && context.updatedObjects.count == 1)
            context.mergePolicy = .overwrite
            try context.save()
            #expect(try stores.stored("P").count == 1 && stores.stored("Q").values.allSatisfy { $0.contains("x 3") })
        }
    }

    // P15, S5
    @Test(arguments: [StoreKind.memory, .json])
    func metadataOfOneStoreIsNotWrittenWhereObjectsOfAnotherAreRefused(_ kind: StoreKind) throws {
        let stores = try SeveralStores([.file, kind]), context = stores.context()
        try context.performAndWait { () throws in
            var metadata = stores.coordinator.metadata(for: stores.stores[0])
            metadata["note"] = "Bern"
            stores.coordinator.setMetadata(metadata, for: stores.stores[0])
            context.make("Q", ["key": "q"])
            (stores.stores[1] as? JSONFileStore)?.failSaves(CocoaError(.persistentStoreSave))
            (stores.stores[1] as? InMemoryStore)?.observe { if case .save = $0 { throw CocoaError(.persistentStoreSave) } }
            #expect(refusal { try context.save() }?.code == 134030)
            #expect(try storedMetadata(at: stores.file("P"))["note"] == nil && stores.stores[0].hasUnsavedMetadata)
            (stores.stores[1] as? InMemoryStore)?.observe(nil)
            try context.save()
            #expect(try storedMetadata(at: stores.file("P"))["note"] as? String == "Bern" && stores.stored("Q").count == 1)
        }
    }

    // P15, S5
    @Test func metadataThatOneOfSeveralStoresRefusesIsWrittenInNone() throws {
        let stores = try SeveralStores([.file, .json]), context = stores.context()
        for store in stores.stores {
            var metadata = stores.coordinator.metadata(for: store)
            metadata["note"] = "Bern"
            stores.coordinator.setMetadata(metadata, for: store)
        }
        (stores.stores[1] as? JSONFileStore)?.failSaves(CocoaError(.persistentStoreSave))
        try context.performAndWait { () throws in
            #expect(refusal { try context.save() }?.code == 134030)
            #expect(try storedMetadata(at: stores.file("P"))["note"] == nil)
            try context.save()
            #expect(try storedMetadata(at: stores.file("P"))["note"] as? String == "Bern")
            #expect(stores.stores.allSatisfy { !$0.hasUnsavedMetadata })
        }
    }

    /// Remembers what it was asked.
    // Used on the one thread of its test.
    private final class Noting: NSMergePolicy, @unchecked Sendable {
        private(set) var rounds: [Set<String>] = []

        override func resolve(mergeConflicts list: [Any]) throws {
            rounds.append(Set(list.compactMap { ($0 as? NSMergeConflict)?.sourceObject.entity.name }))
            try super.resolve(mergeConflicts: list)
        }
    }

    // P15
    @Test func aMergePolicySeesTheConflictsOfAllStoresAtOnce() throws {
        let stores = try SeveralStores([.memory, .json, .file])
        let context = stores.context(), other = stores.context(), policy = Noting(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try holding(context, other) { () throws in
            let objects = SeveralStores.names.map { context.make($0, ["key": "k"]) }
            try context.save()
            for object in objects { object.setValue(3, forKey: "y") }
            for name in SeveralStores.names { try other.all(name).first?.setValue(2, forKey: "x") }
            try other.save()
            context.mergePolicy = policy
            try context.save()
            #expect(policy.rounds == [["P", "Q", "R"]])
            for object in objects { #expect(object.value(forKey: "x") as? Int == 2 && object.value(forKey: "y") as? Int == 3) }
        }
    }

    // P15
    @Test func whereACommitFailsAfterAnotherTheRestStaysUnsavedAndIsSavedLater() throws {
        let stores = try SeveralStores([.memory, .file]), context = stores.context(), other = stores.context()
        let memory = try #require(stores.stores[0] as? InMemoryStore)
        try holding(context, other) { () throws in
            let p = context.make("P", ["key": "p"]), q = context.make("Q", ["key": "q"]), r = context.make("Q", ["key": "r"])
            q.mutableSetValue(forKey: "links").add(r)
            memory.observe { if case .commit = $0 { throw CocoaError(.persistentStoreSave) } }
            let saves = NotificationRecorder(context, .NSManagedObjectContextDidSave)
            let error = refusal { try context.save() }
            #expect(error?.code == 134040 && (error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]) == [memory])
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 134030)
            // What is committed is saved in every respect, and others hear of it.
            #expect(try stores.stored("P").isEmpty && stores.stored("Q").count == 2)
            #expect(!q.objectID.isTemporaryID && !q.hasChanges && p.objectID.isTemporaryID && context.insertedObjects == [p])
            #expect(saves.notifications.first?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [q, r])
            // It may be changed again, by this context and others.
            try other.all("Q", "key == 'r'").first?.setValue(5, forKey: "x")
            try other.save()
            q.setValue(7, forKey: "x")
            memory.observe(nil)
            try context.save()
            #expect(!context.hasChanges && !p.objectID.isTemporaryID)
            #expect(try stores.stored("P").count == 1 && stores.stored("Q").values.contains { $0.hasPrefix("v2 key q x 7") })
        }
    }

    // P15, GB17
    @Test func throughAllLevelsTheRestStaysUnsavedWhereItWas() throws {
        let stores = try SeveralStores([.memory, .file]), root = stores.context(), child = stores.child(of: root)
        let memory = try #require(stores.stores[0] as? InMemoryStore)
        try holding(root, child) { () throws in
            let p = child.make("P", ["key": "p"]), q = child.make("Q", ["key": "q"])
            let ofRoot = root.make("P", ["key": "root"]), saved = root.make("Q", ["key": "saved"])
            memory.observe { if case .commit = $0 { throw CocoaError(.persistentStoreSave) } }
            #expect(refusal { try child.saveToStore() }?.code == 134040)
            #expect(child.insertedObjects == [p] && root.insertedObjects == [ofRoot])
            #expect(!q.hasChanges && !saved.hasChanges && !q.objectID.isTemporaryID)
            #expect(try root.names("Q", "key") == ["q", "saved"])
            memory.observe(nil)
            try child.saveToStore()
            #expect(!child.hasChanges && !root.hasChanges)
            #expect(try stores.stored("P").count == 2 && stores.stored("Q").count == 2)
        }
    }

    // P15
    @Test func theSecondOfTwoStoresOfOnesOwnThatRefusesLeavesTheFilesUnwritten() throws {
        let stores = try SeveralStores([.json, .file, .json]), context = stores.context()
        let own = [stores.stores[0], stores.stores[2]].sorted { $0.identifier < $1.identifier }.compactMap { $0 as? JSONFileStore }
        try context.performAndWait { () throws in
            for name in SeveralStores.names { context.make(name, ["key": "k"]) }
            own[1].failSaves(CocoaError(.persistentStoreSave))
            let error = refusal { try context.save() }
            #expect(error?.code == 134040)
            #expect(Set(error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] ?? []) == [own[1], stores.stores[1]])
            #expect(try stores.stored("Q").isEmpty && context.insertedObjects.count == 2)
            try context.save()
            #expect(try SeveralStores.names.allSatisfy { try stores.stored($0).count == 1 } && !context.hasChanges)
        }
    }

    // P15
    @Test(.longProcess) func aFileThatFillsTheDiskAtItsCommitLeavesWhatWasCommittedBefore() async throws {
        // The limit is the process's, so another one tries it.
        await #expect(processExitsWith: .success) { try Self.runIntoTheLimit() }
    }

    private static func runIntoTheLimit() throws {
        signal(SIGXFSZ, SIG_IGN)
        let stores = try SeveralStores([.file, .file]), context = stores.context()
        let order = zip(stores.stores, SeveralStores.names).sorted { $0.0.identifier < $1.0.identifier }.map(\.1)
        try context.performAndWait { () throws in
            context.make(order[0], ["key": "small"])
            // The pages of a transaction go to the log when it is committed.
            for number in 0..<20 { context.make(order[1], ["key": String(repeating: "\(number) ", count: 20_000)]) }
            var limit = rlimit(rlim_cur: 300_000, rlim_max: rlim_t.max)
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }  // RLIMIT_FSIZE
            guard let error = #expect(throws: NSError.self, performing: { try context.save() }) else { exit(3) }
            limit.rlim_cur = rlim_t.max
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(4) }
            guard error.code == 134040, error.userInfo[NSSQLiteErrorDomain] as? Int == 13, error.localizedDescription.contains("File too large")
            else {
                exit(5)
            }
            guard try stores.stored(order[0]).count == 1, try stores.stored(order[1]).isEmpty, context.insertedObjects.count == 20 else { exit(6) }
            try context.save()
            guard try stores.stored(order[0]).count == 1, try stores.stored(order[1]).count == 20, !context.hasChanges else { exit(7) }
        }
    }

    // P15
    @Test(.timeLimit(.minutes(60))) func twoCoordinatorsAboveTheSameFilesDoNotWaitForEachOther() throws {
        let stores = try SeveralStores([.file, .file], isSharedByTwo: true, options: [NSPersistentStoreTimeoutOption: 300])
        let beside = try #require(stores.beside)
        // The other way about there, so that only the order of saving is the same.
        let moved = try #require(beside.persistentStores.first), options = moved.options, url = try #require(moved.url)
        try beside.remove(moved)
        try beside.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: moved.configurationName, at: url, options: options)
        let contexts = [stores.context(), stores.context(on: beside)], failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let context = contexts[index]
            context.performAndWait {
                for _ in 0..<50 {
                    for name in ["P", "Q"] { context.make(name, ["key": UUID().uuidString]) }
                    do { try context.save() } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try stores.stored("P").count == 100 && stores.stored("Q").count == 100)
    }

    // P15
    @Test func idsOfSeveralStoresBecomePermanentTogetherOrNotAtAll() throws {
        let stores = try SeveralStores([.json, .file, .json]), context = stores.context()
        let last = try #require(stores.stores[2] as? JSONFileStore)
        try context.performAndWait { () throws in
            let objects = SeveralStores.names.map { context.make($0, ["key": "k"]) }
            last.obtain { _, _ in throw CocoaError(.persistentStoreOperation) }
            #expect(refusal { try context.obtainPermanentIDs(for: objects) }?.code == 134070)
            #expect(objects.allSatisfy { $0.objectID.isTemporaryID })
            #expect(refusal { try context.save() }?.code == 134070)
            #expect(try SeveralStores.names.allSatisfy { try stores.stored($0).isEmpty } && context.insertedObjects.count == 3)
            last.obtain { store, objects in objects.map { store.newObjectID(for: $0.entity, referenceObject: "r") } }
            try context.obtainPermanentIDs(for: objects)
            #expect(objects.allSatisfy { !$0.objectID.isTemporaryID })
            try context.save()
            #expect(try SeveralStores.names.allSatisfy { try stores.stored($0).count == 1 })
        }
    }

    // P15
    @Test func aWatchedObjectOfAStoreThatIsOnlyReadIsCheckedBeforeAnythingIsWritten() throws {
        let stores = try SeveralStores([.file, .json], isSharedByTwo: true)
        let beside = stores.context(on: stores.beside)
        try beside.performAndWait { () throws in
            beside.make("P", ["key": "p"])
            try beside.save()
        }
        let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        try stores.coordinator.remove(stores.stores[0])
        try stores.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "P", at: stores.file("P"), options: options)
        let context = stores.context()
        try holding(context, beside) { () throws in
            context.detectConflicts(for: try #require(try context.all("P").first))
            context.make("Q", ["key": "q"])
            try beside.all("P").first?.setValue(2, forKey: "x")
            try beside.save()
            #expect(refusal { try context.save() }?.code == 133020)
            #expect(try stores.stored("Q").isEmpty && context.hasChanges)
            context.mergePolicy = .overwrite
            try context.save()
            #expect(try stores.stored("Q").count == 1)
        }
    }
}

/// The same, a hundred thousand times: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct SeveralStoresStress {
    @Test(arguments: 0..<100)
    func aHundredThousandLivesOfSeveralStores(_ part: Int) throws {
        for seed in 1_000_000 + part * 1000..<1_000_000 + (part + 1) * 1000 {
            if let failure = try SeveralStoresRun.failure(seed: seed, withFiles: seed % 2 == 0) {
                Issue.record("\(failure)")
                return
            }
        }
    }
}
