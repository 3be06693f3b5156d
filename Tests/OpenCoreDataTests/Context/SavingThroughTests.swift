import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Saving through all levels at once.
@Suite struct SavingThroughTests {
    private struct Chain {
        let stack = TestStack()
        let main: NSManagedObjectContext
        let worker: NSManagedObjectContext

        init() {
            main = stack.child(of: stack.root, name: "main")
            worker = stack.child(of: main, name: "worker")
        }
    }

    // GB17
    @Test func everyLevelIsSavedInOneTransaction() throws {
        let chain = Chain()
        try holding(chain.worker, chain.main, chain.stack.root) { () throws in
            let department = chain.stack.root.make("Department", ["name": "Looms"])
            let ada = chain.main.make("Person", ["name": "Ada", "department": chain.main.object(with: department.objectID)])
            chain.main.processPendingChanges()
            let same = chain.worker.object(with: ada.objectID)
            same.setValue(40, forKey: "age")
            let bob = chain.worker.make("Person", ["name": "Bob", "manager": same])
            let requests = try chain.stack.requests { try chain.worker.saveToStore() }
            #expect(requests.map(\.kind).filter { $0 == "save" } == ["save"])
            for context in [chain.worker, chain.main, chain.stack.root] { #expect(!context.hasChanges) }
            #expect(Set(try chain.stack.stored("Person", "name")) == ["Ada", "Bob"])
            #expect(ada.value(forKey: "age") as? Int == 40 && !ada.hasChanges && !bob.hasChanges)
            #expect(!bob.objectID.isTemporaryID)
            #expect(try chain.main.names("Person", "name", "manager.name == 'Ada'") == ["Bob"])
        }
    }

    // GB17, P15
    @Test func whatTheStoreRefusesLeavesEveryLevelAsItWas() throws {
        let chain = Chain()
        try holding(chain.worker, chain.main, chain.stack.root) { () throws in
            let ada = chain.main.make("Person", ["name": "Ada"])
            chain.main.processPendingChanges()
            let bob = chain.worker.make("Person", ["name": "Bob"])
            chain.stack.failSaves(with: [CocoaError(.fileWriteOutOfSpace)])
            #expect(throws: CocoaError.self) { try chain.worker.saveToStore() }
            #expect(bob.isInserted && chain.worker.hasChanges && ada.isInserted)
            #expect(chain.main.insertedObjects.count == 1 && !chain.stack.root.hasChanges)
            #expect(try chain.main.names("Person") == ["Ada"])
            #expect(try chain.stack.stored("Person", "name").isEmpty)
            try chain.worker.saveToStore()
            #expect(Set(try chain.stack.stored("Person", "name")) == ["Ada", "Bob"])
        }
    }

    // GB17, N20
    @Test func aRuleThatALowerLevelBreaksStopsEverything() throws {
        let chain = Chain()
        try holding(chain.worker, chain.main, chain.stack.root) { () throws in
            let nameless = chain.main.make("Person")
            nameless.setValue(nil, forKey: "name")
            chain.worker.make("Person", ["name": "Bob"])
            #expect(throws: NSError.self) { try chain.worker.saveToStore() }
            #expect(chain.worker.insertedObjects.count == 1 && chain.main.insertedObjects == [nameless])
            #expect(try chain.stack.stored("Person", "name").isEmpty)
        }
    }

    // GB17, T4, N25
    @Test func eachLevelPostsWhatItWouldHavePostedByItself() throws {
        let chain = Chain()
        try holding(chain.worker, chain.main, chain.stack.root) { () throws in
            let recorders = [chain.worker, chain.main, chain.stack.root].map {
                NotificationRecorder($0, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange)
            }
            let ada = chain.worker.make("Person", ["name": "Ada"])
            try chain.worker.saveToStore()
            for recorder in recorders {
                #expect(recorder.names == ["ObjectsDidChange", "DidSave"])
                #expect(recorder.objects(NSInsertedObjectsKey).map(\.objectID) == [ada.objectID])
            }
        }
    }

    // GB17, P6
    @Test func theRootsPolicySettlesConflictsForAllLevels() throws {
        let chain = Chain()
        chain.stack.root.mergePolicy = .mergeByPropertyStoreTrump
        try holding(
            chain.worker, chain.main, chain.stack.root,
            do: {
                let item = chain.stack.root.make("Item", ["key": "k", "a": 1, "b": 1])
                try chain.stack.root.save()
                let own = chain.worker.object(with: item.objectID)
                _ = own.value(forKey: "a")
                // Somebody else writes, past this coordinator.
                let row = try #require(try chain.stack.store.rows(for: [item.objectID])[item.objectID])
                let copy = row.copy()
                copy.update(try #require(row.layout.slot(of: "a")), to: .int64(9))
                var changes = ChangeSet()
                changes.set(item.objectID, PendingRow(kind: .updated, row: copy, changed: SlotSet(0..<copy.count), base: row))
                copy.stamp(version: try #require(try chain.stack.store.save(changes).version(of: item.objectID, .updated)))
                own.setValue(2, forKey: "a")
                own.setValue(2, forKey: "b")
                try chain.worker.saveToStore()
                #expect(["a", "b"].map { own.value(forKey: $0) as? Int } == [9, 2])
                #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [9, 2])
                #expect(try ["a", "b"].flatMap { try chain.stack.stored("Item", $0) } == [9, 2])
            })
    }

    // GB11, GB17
    @Test func conflictsWithAParentAreSettledOnTheWay() throws {
        let chain = Chain()
        try holding(chain.worker, chain.main, chain.stack.root) { () throws in
            let item = chain.main.make("Item", ["key": "k", "a": 1, "b": 1])
            try chain.main.saveToStore()
            let own = chain.worker.object(with: item.objectID)
            _ = own.value(forKey: "a")
            item.setValue(10, forKey: "a")
            chain.main.processPendingChanges()
            own.setValue(2, forKey: "a")
            own.setValue(2, forKey: "b")
            chain.worker.parentConflictPolicy = .error
            let error = #expect(throws: NSError.self) { try chain.worker.saveToStore() }
            #expect(error?.code == 133020 && own.isUpdated && item.isUpdated)
            chain.worker.parentConflictPolicy = .mergeByPropertyStoreTrump
            // The store refuses first: what the policy decided is forgotten again.
            chain.stack.failSaves(with: [CocoaError(.fileWriteOutOfSpace)])
            #expect(throws: CocoaError.self) { try chain.worker.saveToStore() }
            #expect(["a", "b"].map { own.value(forKey: $0) as? Int } == [2, 2] && own.isUpdated)
            try chain.worker.saveToStore()
            #expect(["a", "b"].map { own.value(forKey: $0) as? Int } == [10, 2])
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [10, 2])
            #expect(try ["a", "b"].flatMap { try chain.stack.stored("Item", $0) } == [10, 2])
        }
    }
}
