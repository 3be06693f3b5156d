import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Of two stores in memory the first commits, and the second then can't: what belongs to the first is saved in every respect.
@Suite struct PartlySavedTests {
    private let stores: SeveralStores
    private let root: NSManagedObjectContext
    /// The entities of the store that commits first, and of the one that does not commit.
    private let first: String
    private let second: String

    init() throws {
        stores = try SeveralStores([.memory, .memory])
        root = stores.context()
        let sorted = zip(SeveralStores.names, stores.stores).sorted {
            ($0.1.identifier ?? "") < ($1.1.identifier ?? "")
        }
        (first, second) = (sorted[0].0, sorted[1].0)
    }

    private func store(_ name: String) throws -> InMemoryStore {
        try #require(try stores.store(name) as? InMemoryStore)
    }

    /// Expects that a save commits in the first store and in no other.
    private func saveFirst(_ context: NSManagedObjectContext, through: Bool = false) throws {
        try store(second).observe { if case .commit = $0 { throw CocoaError(.fileWriteOutOfSpace) } }
        let error = #expect(throws: NSError.self) {
            through ? try context.saveToStore() : try context.save()
        }
        #expect(error?.code == CocoaError.Code.persistentStoreIncompleteSave.rawValue)
        try store(second).observe(nil)
    }

    /// A stored object of each store.
    private func pair() throws -> (first: NSManagedObject, second: NSManagedObject) {
        let made = (root.make(first, ["x": 1]), root.make(second, ["x": 1]))
        try root.save()
        return made
    }

    private func overwrite(_ object: NSManagedObject, x: Int64) throws {
        let store = try store(try #require(object.entity.name))
        let id = object.objectID
        let row = try #require(try store.rows(for: [id])[id])
        let copy = row.copy()
        let slot = try #require(row.layout.slot(of: "x"))
        copy.update(slot, to: .int64(x))
        var changes = ChangeSet()
        changes.set(id, PendingRow(kind: .updated, row: copy, changed: SlotSet([slot]), base: row))
        _ = try store.save(changes)
    }

    @Test func whatWasCheckedInAStoreThatCommittedIsNotCheckedAgain() throws {
        try root.performAndWait {
            let pair = try pair()
            let changed = try self.pair()
            for object in [pair.first, pair.second] { root.detectConflicts(for: object) }
            for object in [changed.first, changed.second] { object.setValue(2, forKey: "x") }
            try saveFirst(root)
            #expect(!changed.first.hasChanges && changed.second.isUpdated)
            try overwrite(pair.first, x: 8)
            try root.save()
            #expect(!root.hasChanges)
        }
    }

    @Test func whatWasToBeCheckedInTheOtherStillIs() throws {
        try root.performAndWait {
            let pair = try pair()
            let changed = try self.pair()
            root.detectConflicts(for: pair.second)
            for object in [changed.first, changed.second] { object.setValue(2, forKey: "x") }
            try saveFirst(root)
            try overwrite(pair.second, x: 8)
            let error = #expect(throws: NSError.self) { try root.save() }
            #expect(error?.code == CocoaError.Code.managedObjectMerge.rawValue)
        }
    }

    @Test func whatIsUndoneAfterItIsUnsaved() throws {
        try root.performAndWait {
            let pair = try pair()
            let key = RelationshipKey(
                owner: pair.first.objectID, toMany: try #require(pair.first.toManyNumber("links")))
            root.undoManager = UndoManager()
            pair.first.mutableSetValue(forKey: "links").add(pair.first)
            pair.second.setValue(2, forKey: "x")
            try saveFirst(root)
            #expect(try store(first).relatedIDs(key) == [pair.first.objectID])
            root.undo()
            #expect(pair.first.isUpdated && pair.second.value(forKey: "x") as? Int == 1)
            try root.save()
            #expect(try store(first).relatedIDs(key).isEmpty)
        }
    }

    @Test func rowsWithoutAnObjectThatAreStillUnsavedAreSavedInTheirObjectsLater() throws {
        let child = stores.child(of: root)
        try holding(child, root) {
            let ids = try { () throws -> [NSManagedObjectID] in
                let pair = try pair()
                return [pair.first.objectID, pair.second.objectID]
            }()
            root.reset()
            for id in ids { child.object(with: id).setValue(2, forKey: "x") }
            try child.save()
            try saveFirst(root)
            let object = try root.existingObject(with: ids[1])
            #expect(object.isUpdated && root.registeredObjects == [object])
            try root.save()
            #expect(!object.hasChanges)
        }
    }

    @Test func whatAPolicyDecidedIsTold() throws {
        try root.performAndWait {
            let pair = try pair()
            let listener = ListenerByID()
            root.mergePolicy = .mergeByPropertyStoreTrump
            listener.follow(root)
            pair.first.setValue(2, forKey: "y")
            pair.second.setValue(2, forKey: "y")
            try overwrite(pair.first, x: 8)
            try saveFirst(root)
            #expect(
                pair.first.value(forKey: "x") as? Int == 8 && pair.first.value(forKey: "y") as? Int == 2)
            #expect(listener.heard.last?.refreshed == [pair.first.objectID])
        }
    }

    @Test func eachLevelTellsOfThePartThatItHandedOn() throws {
        let worker = stores.child(of: root)
        try holding(worker, root) {
            let contexts = [worker, root]
            let made = contexts.map { context in [first, second].map { context.make($0).objectID } }
            let recorders = contexts.map {
                NotificationRecorder($0, .NSManagedObjectContextDidSaveObjectIDs)
            }
            try saveFirst(worker, through: true)
            #expect(recorders.map(\.count) == [1, 1])
            #expect(
                recorders.map { $0.ids(.insertedObjectIDs) } == [[made[0][0]], [made[0][0], made[1][0]]])
            try worker.saveToStore()
            #expect(
                recorders.map { $0.ids(.insertedObjectIDs) } == [[made[0][1]], [made[0][1], made[1][1]]])
        }
    }

    @Test func aPinnedContextSeesThePart() throws {
        let stores = try SeveralStores([.file, .memory])
        let context = stores.context()
        let memory = try #require(stores.stores[1] as? InMemoryStore)
        try context.performAndWait {
            let made = context.make("P", ["x": 1])
            let other = context.make("Q", ["x": 1])
            try context.save()
            try context.setQueryGenerationFrom(.current)
            made.setValue(2, forKey: "x")
            other.setValue(2, forKey: "x")
            memory.observe { if case .commit = $0 { throw CocoaError(.fileWriteOutOfSpace) } }
            #expect(throws: NSError.self) { try context.save() }
            #expect(!made.hasChanges && other.isUpdated)
            context.refreshAllObjects()
            #expect(made.value(forKey: "x") as? Int == 2)
        }
    }
}
