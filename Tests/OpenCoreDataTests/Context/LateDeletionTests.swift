import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A worker deletes what others went on with after it had read it.
@Suite struct LateDeletionTests {
    private let stack = TestStack(Keyed.model())
    private let main: NSManagedObjectContext
    private let worker: NSManagedObjectContext

    init() {
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        main = stack.child(of: stack.root, name: "main")
        worker = stack.child(of: main, name: "worker")
    }

    private func holdingAll(_ body: () throws -> Void) throws { try holding(stack.root, main, worker, do: body) }

    private func saveAll() throws {
        try main.save()
        try stack.root.save()
    }

    // R5, P11: what a thing that goes with its box had been given with another's key is nobody's.
    @Test func whoGoesWithWhatIsDeletedBringsNothingToTheOwnerOfItsKey() throws {
        try holdingAll {
            let box = main.make("Box"), thing = main.make("Thing", ["code": "p"])
            try saveAll()
            worker.object(with: thing.objectID).setValue("q", forKey: "code")
            worker.object(with: thing.objectID).setValue(1, forKey: "b")
            worker.delete(worker.object(with: box.objectID))
            worker.processPendingChanges()
            thing.setValue(box, forKey: "box")
            let owner = main.make("Thing", ["code": "q", "b": 2])
            main.processPendingChanges()
            try worker.save()
            main.processPendingChanges()
            #expect(thing.isDeleted && owner.value(forKey: "b") as? Int == 2)
            try saveAll()
            #expect(try stack.stored("Thing", "code") == ["q"] && stack.stored("Thing", "b") == [Int64(2)])
        }
    }

    // R5, P11: the key is free when its owner goes, though nobody knew that it would until the push came in.
    @Test func aNewObjectWhoseKeyIsThatOfOneThatGoesStays() throws {
        try holdingAll {
            let box = main.make("Box"), owner = main.make("Thing", ["code": "p", "a": 1])
            try saveAll()
            worker.delete(worker.object(with: box.objectID))
            let new = worker.make("Thing", ["code": "p", "b": 2])
            worker.processPendingChanges()
            owner.setValue(box, forKey: "box")
            main.processPendingChanges()
            let pushed = main.chain.withLock { worker.level.pending }
            let admission = try main.chain.withLock { () throws in try main.admissible(pushed, from: worker.sender, [:]) }
            #expect(admission.identities.isEmpty)
            #expect(admission.changes[owner.objectID]?.kind == .deleted && admission.changes[new.objectID]?.kind == .inserted)
            try worker.save()
            try saveAll()
            #expect(try stack.stored("Thing", "a") == [Int64(0)] && stack.stored("Thing", "b") == [Int64(2)])
        }
    }

    // R5, P11: who is given another's key stays what it was, but for what is gone.
    @Test func whoKeepsItsOwnKeyNamesNothingThatThePushDeletes() throws {
        try holdingAll {
            let shelf = main.make("Shelf"), thing = main.make("Thing", ["code": "p"])
            main.make("Thing", ["code": "q"])
            try saveAll()
            worker.object(with: thing.objectID).setValue("q", forKey: "code")
            worker.delete(worker.object(with: shelf.objectID))
            worker.processPendingChanges()
            thing.setValue(shelf, forKey: "shelf")
            main.processPendingChanges()
            try worker.save()
            main.processPendingChanges()
            #expect(thing.objectIDs(forRelationshipNamed: "shelf").isEmpty)
            try saveAll()
            #expect(try stack.store.rows(for: [thing.objectID])[thing.objectID]?["shelf"] == .null)
        }
    }

    // R5: nobody has changed anything after the deletion, so the rules are applied once.
    @Test(arguments: [false, true]) func whoCameAfterTheMembersWereReadIsReachedByTheRule(_ cascades: Bool) throws {
        let (entity, toOne) = cascades ? ("Box", "box") : ("Shelf", "shelf")
        try holdingAll {
            let owner = main.make(entity), thing = main.make("Thing", ["code": "p"])
            try saveAll()
            let seen = worker.object(with: owner.objectID)
            #expect(seen.objectIDs(forRelationshipNamed: "things").isEmpty)
            thing.setValue(owner, forKey: toOne)
            try saveAll()
            worker.delete(seen)
            try worker.save()
            main.processPendingChanges()
            #expect(cascades ? thing.isDeleted : !thing.isDeleted && thing.objectIDs(forRelationshipNamed: toOne).isEmpty)
            try saveAll()
            #expect(try stack.stored("Thing", "code").count == (cascades ? 0 : 1))
        }
    }

    // R5: the root gave the badge to the thing that is deleted; in the main context another has it.
    @Test(arguments: [NSDeleteRule.nullifyDeleteRule, .cascadeDeleteRule])
    func aOneToOneThatLeadsToAnotherByNowIsLeftAlone(_ rule: NSDeleteRule) throws {
        let model = Keyed.model()
        model.entitiesByName["Thing"]?.relationshipsByName["badge"]?.deleteRule = rule
        let stack = TestStack(model), root = stack.root, main = stack.child(of: root), worker = stack.child(of: main)
        try holding(root, main, worker) {
            let badge = main.make("Badge"), gone = main.make("Thing", ["code": "p"]), other = main.make("Thing", ["code": "q"])
            try main.save()
            try root.save()
            worker.delete(worker.object(with: gone.objectID))
            worker.processPendingChanges()
            other.setValue(badge, forKey: "badge")
            main.processPendingChanges()
            root.object(with: gone.objectID).setValue(root.object(with: badge.objectID), forKey: "badge")
            root.processPendingChanges()
            try worker.save()
            main.processPendingChanges()
            #expect(!badge.isDeleted && badge.objectIDs(forRelationshipNamed: "thing") == [other.objectID])
            #expect(other.objectIDs(forRelationshipNamed: "badge") == [badge.objectID])
            try main.save()
            try root.save()
            let rows = try stack.store.rows(for: [badge.objectID, other.objectID])
            #expect(rows[badge.objectID]?["thing"].objectID == other.objectID && rows[other.objectID]?["badge"].objectID == badge.objectID)
        }
    }
}
