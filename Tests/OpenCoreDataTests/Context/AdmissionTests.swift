import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What of a child's changes comes in, where others have changed the parent since the child read from it.
@Suite struct AdmissionTests {
    private let stack = TestStack(Keyed.model())
    private let main: NSManagedObjectContext
    private let worker: NSManagedObjectContext

    init() {
        main = stack.child(of: stack.root, name: "main")
        worker = stack.child(of: main, name: "worker")
    }

    private func holdingAll(_ body: () throws -> Void) throws { try holding(stack.root, main, worker, do: body) }

    private func admitted(_ changes: ChangeSet, _ read: RowsRead = [:]) throws -> Admission {
        try main.chain.withLock { () throws in try main.admissible(changes, from: worker.sender, read) }
    }

    private func admitted(_ object: NSManagedObject, _ change: PendingRow, _ read: RowsRead = [:]) throws -> Admission {
        var changes = ChangeSet()
        changes.set(object.objectID, change)
        return try admitted(changes, read)
    }

    /// An object that is stored.
    private func stored(_ values: [String: Any], _ entity: String = "Thing") throws -> NSManagedObject {
        let object = stack.root.make(entity, values)
        try stack.root.save()
        return object
    }

    /// An object that was thrown away before it was ever saved.
    private func lost() throws -> NSManagedObject {
        let object = main.make("Thing", ["b": 3])
        main.processPendingChanges()
        main.rollback()
        return object
    }

    private func row(_ object: NSManagedObject, _ values: [String: Int64], version: Int64 = 1) throws -> RowSnapshot {
        let row = RowSnapshot.make(object.layout, version: version)
        for (name, value) in values { row.update(try #require(object.layout.slot(of: name)), to: .int64(value)) }
        return row
    }

    private func slots(_ object: NSManagedObject, _ names: String...) throws -> SlotSet {
        SlotSet(try names.map { try #require(object.layout.slot(of: $0)) })
    }

    /// An update of `a` to 7 by somebody who had read an older row.
    private func update(_ object: NSManagedObject) throws -> PendingRow {
        PendingRow(kind: .updated, row: try row(object, ["a": 7, "b": 9]), changed: try slots(object, "a"), base: try row(object, ["b": 9]))
    }

    // N16
    @Test func whatWasDeletedSinceItsRowWasReadIsNotThere() throws {
        try holdingAll { () throws in
            let thing = try stored(["a": 1]), id = thing.objectID
            let before = try stack.store.rows(for: [id])
            stack.coordinator.rowCache.remove([id])
            #expect(try main.chain.withLock { () throws in try main.currentRow(of: id, [id: before[id]]) } != nil)
            stack.root.delete(thing)
            try stack.root.save()
            #expect(try main.chain.withLock { () throws in try main.currentRow(of: id, [id: before[id]]) } == nil)
        }
    }

    // MARK: New objects

    // N24: another context had reserved the key, too, and was first.
    @Test func aNewObjectThatIsThereAlreadyIsAnUpdateOfIt() throws {
        try holdingAll {
            let thing = try stored(["a": 1, "b": 2])
            let change = PendingRow(kind: .inserted, row: try row(thing, ["a": 7, "b": 0]), changed: try slots(thing, "a"))
            let now = try #require(try admitted(thing, change).changes[thing.objectID])
            #expect(now.kind == .updated && now.row?["a"] == .int64(7) && now.row?["b"] == .int64(2) && now.base === thing.row)
            #expect(try now.changed == slots(thing, "a"))
        }
    }

    @Test func aRowThatIsNotInMemoryIsAskedFor() throws {
        try holdingAll {
            let thing = try stored(["a": 1, "b": 2]), known = try #require(thing.row)
            stack.coordinator.rowCache.removeAll()
            let change = PendingRow(kind: .inserted, row: try row(thing, ["a": 7]), changed: try slots(thing, "a"))
            let error = #expect(throws: RowsNeeded.self) { _ = try admitted(thing, change) }
            #expect(error?.ids == [thing.objectID])
            #expect(try admitted(thing, change, [thing.objectID: known]).changes[thing.objectID]?.base === known)
            #expect(try admitted(thing, change, [thing.objectID: nil]).changes[thing.objectID]?.kind == .inserted)
        }
    }

    // A deletion that was pushed and then undone.
    @Test func whatIsNewAgainAfterItsDeletionIsNew() throws {
        try holdingAll {
            let thing = try stored(["a": 1]), other = try stored(["a": 1])
            main.delete(main.object(with: thing.objectID))
            main.processPendingChanges()
            var changes = ChangeSet()
            changes.set(thing.objectID, PendingRow(kind: .inserted, row: try row(thing, ["a": 7]), changed: try slots(thing, "a")))
            changes.set(other.objectID, try update(other))
            #expect(try admitted(changes).changes[thing.objectID]?.kind == .inserted)
        }
    }

    // MARK: Objects that are gone

    // N35
    @Test func aDeletionThatIsThereStandsAgainstAnEdit() throws {
        try holdingAll {
            let thing = try stored(["a": 1])
            main.delete(main.object(with: thing.objectID))
            main.processPendingChanges()
            let admission = try admitted(thing, update(thing))
            #expect(admission.changes.isEmpty && admission.corrected == [thing.objectID])
            // Who deletes it, too, has deleted it.
            let again = try admitted(thing, PendingRow(kind: .deleted, row: thing.row, base: thing.row))
            #expect(again.changes.ids(.deleted) == [thing.objectID] && again.corrected.isEmpty)
        }
    }

    // P17, N35: as where a store does not have the row any more.
    @Test func whatBecomesOfAnEditOfALostObjectIsForTheRootsPolicyToSay() throws {
        try holdingAll {
            for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump, .rollback] {
                stack.root.mergePolicy = policy
                let thing = try lost(), change = try update(thing)
                if policy === NSMergePolicy.error {
                    #expect(throws: StoreConflict.self) { _ = try admitted(thing, change) }
                    continue
                }
                let admission = try admitted(thing, change)
                if policy === NSMergePolicy.rollback {
                    #expect(admission.changes.isEmpty && admission.corrected == [thing.objectID])
                } else {
                    #expect(admission.changes.ids(.inserted) == [thing.objectID] && admission.corrected.isEmpty)
                    #expect(admission.changes[thing.objectID]?.row?["a"] == .int64(7))
                }
            }
        }
    }

    @Test func whoeverDeletesALostObjectHasNothingToSay() throws {
        try holdingAll {
            for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump] {
                stack.root.mergePolicy = policy
                let thing = try lost()
                let admission = try admitted(thing, PendingRow(kind: .deleted, row: try row(thing, [:]), base: try row(thing, [:])))
                #expect(admission.changes.isEmpty && admission.corrected == [thing.objectID])
            }
        }
    }

    // Only its to-manys were changed, and who was in them is told elsewhere.
    @Test func whatWasOnlyTouchedIsForgottenWhereItIsLostAndStaysWhereItIsThere() throws {
        try holdingAll {
            let thing = try stored(["a": 1]), gone = try lost()
            for (object, isThere) in [(thing, true), (gone, false)] {
                let row = try #require(object.row), change = PendingRow(kind: .updated, row: row, base: row)
                let admission = try admitted(object, change)
                #expect(admission.changes.updatedCount == (isThere ? 1 : 0) && admission.corrected == (isThere ? [] : [object.objectID]))
            }
        }
    }

    // MARK: Objects that have other values by now

    // N14
    @Test func onlyWhatTheChildSetGoesOverWhatIsThere() throws {
        try holdingAll {
            let thing = try stored(["a": 1, "b": 2]), before = try #require(thing.row)
            let now = try #require(try admitted(thing, update(thing)).changes[thing.objectID])
            #expect(now.kind == .updated && now.row?["a"] == .int64(7) && now.row?["b"] == .int64(2) && now.base === before)
            #expect(try now.changed == slots(thing, "a"))
            // What is unsaved here counts before what is stored.
            let mine = main.object(with: thing.objectID)
            mine.setValue(5, forKey: "b")
            main.processPendingChanges()
            let over = try #require(try admitted(thing, update(thing)).changes[thing.objectID])
            #expect(over.row?["b"] == .int64(5) && over.base === mine.row)
        }
    }

    @Test func aDeletionStartsFromWhatIsThere() throws {
        try holdingAll {
            let thing = try stored(["a": 1]), older = try row(thing, [:])
            let now = try #require(try admitted(thing, PendingRow(kind: .deleted, row: older, base: older)).changes[thing.objectID])
            #expect(now.kind == .deleted && now.row === older && now.base === thing.row)
        }
    }

    @Test func whoHasReadWhatIsThereHandsOverHisOwnRow() throws {
        try holdingAll {
            let thing = try stored(["a": 1, "b": 2]), base = try #require(thing.row), mine = base.copy()
            // Not set on purpose, as values that an object gives itself when it is fetched.
            mine.update(try #require(thing.layout.slot(of: "c")), to: .int64(4))
            let change = PendingRow(kind: .updated, row: mine, changed: try slots(thing, "a"), base: base)
            #expect(try admitted(thing, change).changes[thing.objectID]?.row === mine)
        }
    }

    // N24: its entity was another one before it turned out to be this object.
    @Test func aRowOfAnotherEntityIsNotLaidOverAnything() throws {
        try holdingAll {
            let thing = try stored(["a": 1]), special = stack.root.make("Special"), row = try #require(special.row)
            let admission = try admitted(thing, PendingRow(kind: .deleted, row: row, base: row))
            #expect(admission.changes[thing.objectID]?.row === row && admission.changes[thing.objectID]?.base === row)
        }
    }

    // MARK: Objects that have become others

    // N24: after the child began to save, before its changes came in.
    @Test func whatIsSaidOfAnObjectThatHasBecomeAnotherComesInAsSaidOfTheOther() throws {
        try holdingAll {
            let owner = try stored(["code": "q", "b": 2]), twin = worker.make("Thing", ["code": "q"]), kid = worker.make("Thing")
            kid.setValue(twin, forKey: "parent")
            worker.processPendingChanges()
            var changes = ChangeSet()
            changes.set(twin.objectID, try update(twin))
            changes.set(kid.objectID, PendingRow(kind: .inserted, row: kid.row, changed: try slots(kid, "parent")))
            main.chain.withLock { main.chain.replace([twin.objectID: owner.objectID]) }
            let now = try admitted(changes).changes
            #expect(now.rowCount == 2 && now[kid.objectID]?.row?["parent"] == .objectID(owner.objectID))
            #expect(now[owner.objectID]?.row?["a"] == .int64(7) && now[owner.objectID]?.row?["b"] == .int64(2))
        }
    }
}
