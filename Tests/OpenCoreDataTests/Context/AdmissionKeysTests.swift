import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Unique keys of what a child hands over, which objects of the parent have, or others of the same push. A card has a number and a name, both unique,
/// and belongs to boxes.
@Suite struct AdmissionKeysTests {
    private let stack: TestStack
    private let main: NSManagedObjectContext
    private let worker: NSManagedObjectContext

    init() {
        let card = Company.entity("Card"), box = Company.entity("Box"), pass = Company.entity("Pass")
        card.properties = [
            Company.attribute("number", .string), Company.attribute("name", .string), Company.attribute("a", .integer64, default: 0),
            Company.attribute("b", .integer64, default: 0),
        ]
        card.uniquenessConstraints = [["number"], ["name"]]
        box.properties = [Company.attribute("a", .integer64, default: 0)]
        pass.properties = [Company.attribute("code", .string, default: "blank")]
        pass.uniquenessConstraints = [["code"]]
        Company.relate(card, "boxes", many: true, box, "cards", many: true)
        stack = TestStack(NSManagedObjectModel(entities: [card, box, pass]))
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        main = stack.child(of: stack.root, name: "main")
        worker = stack.child(of: main, name: "worker")
    }

    private func holdingAll(_ body: () throws -> Void) throws { try holding(stack.root, main, worker, do: body) }

    private func admitted(_ changes: [(NSManagedObject, PendingRow)]) throws -> Admission {
        var set = ChangeSet()
        for (object, change) in changes { set.set(object.objectID, change) }
        do { return try main.chain.withLock { () throws in try main.admissible(set, from: worker.sender, [:]) } } catch let refused as TwinsRefused {
            throw NSError.constraintConflict(refused.twins, from: worker)
        }
    }

    private func conflicts(_ changes: [(NSManagedObject, PendingRow)]) throws -> [NSConstraintConflict] {
        stack.root.mergePolicy = .error
        let error = #expect(throws: NSError.self) { _ = try admitted(changes) }
        #expect(error?.code == 133021)
        return try #require(error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
    }

    /// A card that is stored.
    private func stored(_ number: String, _ values: [String: Any] = [:]) throws -> NSManagedObject {
        let card = stack.root.make("Card", values)
        card.setValue(number, forKey: "number")
        try stack.root.save()
        return card
    }

    /// A card that is unsaved in the main context.
    private func pending(_ number: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let card = main.make("Card", values)
        card.setValue(number, forKey: "number")
        main.processPendingChanges()
        return card
    }

    private func slots(_ object: NSManagedObject, _ names: some Sequence<String>) throws -> SlotSet {
        SlotSet(try names.map { try #require(object.layout.slot(of: $0)) })
    }

    private func row(_ object: NSManagedObject) throws -> RowSnapshot {
        try #require(main.chain.withLock { main.changeInChain(of: object.objectID)?.row } ?? object.row)
    }

    /// An update of a card as a child makes it.
    private func update(_ card: NSManagedObject, _ values: [String: AttributeValue]) throws -> PendingRow {
        let base = try row(card), mine = base.copy()
        for (name, value) in values { mine.update(try #require(card.layout.slot(of: name)), to: value) }
        return PendingRow(kind: .updated, row: mine, changed: try slots(card, values.keys), base: base)
    }

    private func insert(_ values: [String: AttributeValue], _ entity: String = "Card") throws -> (NSManagedObject, PendingRow) {
        let object = worker.make(entity), mine = try #require(object.row).copy()
        for (name, value) in values { mine.update(try #require(object.layout.slot(of: name)), to: value) }
        return (object, PendingRow(kind: .inserted, row: mine, changed: try slots(object, values.keys)))
    }

    // MARK: Who owns a key

    // P11: also where the owner was made later, and says nothing of its key.
    @Test(arguments: ["untouched", "set again", "of unknown origin"])
    func whoHasAKeyIsNoTwinOfWhoIsGivenIt(_ what: String) throws {
        try holdingAll {
            let rival = try stored("1"), owner = try stored("2")
            var touched = try update(owner, what == "set again" ? ["a": .int64(7), "number": .string("2")] : ["a": .int64(7)])
            if what == "of unknown origin" { touched.base = nil }
            let admission = try admitted([(owner, touched), (rival, try update(rival, ["number": .string("2")]))])
            #expect(admission.changes[owner.objectID]?.row?["a"] == .int64(7) && admission.identities.isEmpty)
            #expect(admission.corrected.isEmpty)
        }
    }

    // P11, P13: it is unsaved here, and edited by the same push.
    @Test func anOwnerThatThePushEditsKeepsItsKey() throws {
        try holdingAll {
            let rival = try stored("1"), owner = pending("2")
            #expect(rival.objectID.key < owner.objectID.key)
            let admission = try admitted([
                (owner, try update(owner, ["a": .int64(7)])), (rival, try update(rival, ["number": .string("2"), "b": .int64(3)])),
            ])
            #expect(admission.changes[rival.objectID]?.row?["number"] == .string("1"))
            #expect(admission.changes[owner.objectID]?.row?["a"] == .int64(7) && admission.changes[owner.objectID]?.row?["b"] == .int64(3))
            #expect(admission.corrected == [rival.objectID, owner.objectID])
        }
    }

    // P11: the owner is stored, which nobody here knows, but the push brings it along.
    @Test func anOwnerThatComesWithThePushIsFound() throws {
        try holdingAll {
            let owner = try stored("2"), rival = try stored("1")
            let edit = try update(owner, ["a": .int64(7)])
            let admission = try admitted([(owner, edit), (rival, try update(rival, ["number": .string("2")]))])
            #expect(admission.changes[rival.objectID]?.row?["number"] == .string("1"))
            let kept = try #require(admission.changes[owner.objectID])
            #expect(kept.base === edit.base && kept.kind == .updated && kept.row?["a"] == .int64(7))
        }
    }

    // P11: nobody has its row in memory; what the push started from is what the store compares.
    @Test func anOwnerThatComesWithThePushStartsFromWhereItStarted() throws {
        try holdingAll {
            let owner = try stored("2"), edit = try update(owner, ["a": .int64(7), "number": .string("3")])
            let (new, insertion) = try insert(["number": .string("3"), "b": .int64(4)])
            stack.coordinator.rowCache.removeAll()
            let admission = try admitted([(owner, edit), (new, insertion)]), kept = try #require(admission.changes[owner.objectID])
            #expect(admission.identities == [new.objectID: owner.objectID] && kept.base === edit.base)
            #expect(kept.row?["a"] == .int64(7) && kept.row?["b"] == .int64(4))
        }
    }

    // P11
    @Test(arguments: ["renamed", "deleted"]) func aKeyThatThePushGivesUpIsFree(_ what: String) throws {
        try holdingAll {
            let owner = pending("2"), gone = try row(owner)
            let change = what == "renamed" ? try update(owner, ["number": .string("3")]) : PendingRow(kind: .deleted, row: gone, base: gone)
            let (new, insertion) = try insert(["number": .string("2")])
            let admission = try admitted([(owner, change), (new, insertion)])
            #expect(admission.identities.isEmpty && admission.changes[new.objectID]?.kind == .inserted && admission.corrected.isEmpty)
        }
    }

    // P11: a parent has it still.
    @Test(arguments: ["renamed", "deleted"]) func aKeyThatWasGivenUpHereIsFree(_ what: String) throws {
        try holdingAll {
            let owner = stack.root.make("Card", ["number": "2"])
            stack.root.processPendingChanges()
            let mine = main.object(with: owner.objectID)
            if what == "renamed" { mine.setValue("3", forKey: "number") } else { main.delete(mine) }
            main.processPendingChanges()
            let new = worker.make("Card", ["number": "2"])
            try worker.save()
            #expect(main.insertedObjects.map(\.objectID) == [new.objectID] && new.objectID.successor == nil)
        }
    }

    // P11: a default is a key as well.
    @Test func newObjectsWithTheKeyThatIsTheirDefaultAreOne() throws {
        try holdingAll {
            let known = main.make("Pass")
            main.processPendingChanges()
            let (new, insertion) = try insert([:], "Pass")
            #expect(try admitted([(new, insertion)]).identities == [new.objectID: known.objectID])
        }
    }

    // MARK: What becomes of a twin

    // P13: it keeps what it had, and its key is not the owner's.
    @Test func aStoredObjectThatIsGivenAKeyIsLeftAsItWas() throws {
        try holdingAll {
            let card = try stored("1", ["a": 1]), owner = pending("2", ["a": 5]), before = try row(card), theirs = try row(owner)
            let admission = try admitted([(card, try update(card, ["number": .string("2"), "b": .int64(3)]))])
            let left = try #require(admission.changes[card.objectID]), changed = try #require(admission.changes[owner.objectID])
            #expect(left.kind == .updated && left.row === before && left.base === before && left.changed.isEmpty)
            #expect(changed.kind == .updated && changed.base === theirs && changed.row?["b"] == .int64(3) && changed.row?["a"] == .int64(5))
            #expect(admission.corrected == [card.objectID, owner.objectID] && admission.identities.isEmpty)
        }
    }

    // P13: the first of its keys decides.
    @Test func whoMeetsTwoOwnersGoesToTheFirst() throws {
        try holdingAll {
            let card = try stored("1"), first = pending("2"), second = pending("3", ["name": "n"])
            let admission = try admitted([(card, try update(card, ["number": .string("2"), "name": .string("n"), "b": .int64(3)]))])
            #expect(admission.changes[first.objectID]?.row?["b"] == .int64(3) && admission.changes[second.objectID] == nil)
            #expect(admission.corrected == [card.objectID, first.objectID])
        }
    }

    // P13, N24: with a pair it changes, with nothing it does not.
    @Test(arguments: [true, false]) func anOwnerWhoseMembersChangedCountsAsChanged(isRelated: Bool) throws {
        try holdingAll {
            for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump] {
                stack.root.mergePolicy = policy
                let owner = pending("2 \(policy.mergeType)"), box = main.make("Box"), before = try row(owner)
                main.processPendingChanges()
                let values: [String: AttributeValue] = ["number": .string("2 \(policy.mergeType)"), "b": .int64(3)]
                let (new, insertion) = try insert(values)
                var changes = ChangeSet()
                changes.set(new.objectID, insertion)
                if isRelated {
                    let key = RelationshipKey(owner: new.objectID, toMany: try #require(new.toManyNumber("boxes")))
                    changes.pairs[key] = PairChanges(added: [box.objectID])
                }
                let admission = try main.chain.withLock { () throws in try main.admissible(changes, from: worker.sender, [:]) }
                #expect(admission.identities == [new.objectID: owner.objectID] && admission.changes[new.objectID] == nil)
                let now = admission.changes[owner.objectID]
                if policy === NSMergePolicy.mergeByPropertyObjectTrump {
                    #expect(now?.row?["b"] == .int64(3))
                } else if isRelated {
                    #expect(now?.kind == .updated && now?.row === before && now?.base === before)
                } else {
                    #expect(now == nil)
                }
            }
        }
    }

    // MARK: What is told

    // P4: objects of one push have a key in common; what the parent has is told apart.
    @Test func theErrorTellsWhoHasTheKey() throws {
        try holdingAll {
            let owner = pending("2"), (first, firstRow) = try insert(["number": .string("7")]), (twin, twinRow) = try insert(["number": .string("7")])
            let (new, newRow) = try insert(["number": .string("2")])
            let found = try conflicts([(new, newRow), (twin, twinRow), (first, firstRow)])
            #expect(found.map(\.conflictingObjectIDs) == [[first.objectID, twin.objectID], [new.objectID]])
            #expect(found.map(\.databaseObjectID) == [nil, owner.objectID])
            let error = #expect(throws: NSError.self) { _ = try admitted([(new, newRow)]) }
            #expect(error?.localizedDescription.contains("belongs to \(owner.objectID)") == true)
            // The push brings the owner along.
            let together = try conflicts([(new, newRow), (owner, try update(owner, ["a": .int64(1)]))])
            #expect(together.map(\.conflictingObjectIDs) == [[owner.objectID, new.objectID]] && together.map(\.databaseObjectID) == [nil])
        }
    }

    @Test func conflictsAreToldInTheOrderOfConstraintsAndObjects() throws {
        try holdingAll {
            _ = [pending("2", ["name": "n"]), pending("3", ["name": "o"])]
            let (first, firstRow) = try insert(["name": .string("n")]), (second, secondRow) = try insert(["number": .string("3")])
            let (third, thirdRow) = try insert(["number": .string("2")])
            let found = try conflicts([(third, thirdRow), (second, secondRow), (first, firstRow)])
            #expect(found.map(\.conflictingObjectIDs) == [[second.objectID], [third.objectID], [first.objectID]])
        }
    }
}
