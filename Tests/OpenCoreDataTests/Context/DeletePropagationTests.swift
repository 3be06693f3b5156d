import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What deleting an object does to those that it is related to, and what is read for it.
@Suite struct DeletePropagationTests {
    private let stack = TestStack()
    private let main: NSManagedObjectContext
    private let workers: [NSManagedObjectContext]

    init() {
        main = stack.child(of: stack.root, name: "main")
        workers = [stack.child(of: main, name: "worker 0"), stack.child(of: main, name: "worker 1")]
    }

    private func saveAll() throws {
        try main.save()
        try stack.root.save()
    }

    private func holdingAll(_ body: () throws -> Void) throws { try holding(stack.root, main, workers[0], workers[1], do: body) }

    // MARK: Once more

    // R5: stored since the rules were applied, and with what hangs from it.
    @Test func whatOthersStoredBelowADeletedObjectGoesWithItAtEveryLevel() throws {
        try holdingAll {
            let folder = main.make("Folder")
            try saveAll()
            workers[0].delete(workers[0].object(with: folder.objectID))
            workers[0].processPendingChanges()
            let child = workers[1].make("Folder", ["parent": workers[1].object(with: folder.objectID)])
            let grandchild = workers[1].make("Folder", ["parent": child])
            try workers[1].save()
            try saveAll()
            try workers[0].save()
            #expect(!workers[0].hasChanges)
            #expect(Set(main.deletedObjects.map(\.objectID)) == [folder.objectID, child.objectID, grandchild.objectID])
            try saveAll()
            #expect(stack.store.rowCount == 0)
        }
    }

    // R5: a context that has changed something else of them shows them where they were when it read them.
    @Test(arguments: [true, false]) func whoHasLeftADeletedObjectMeanwhileIsNotTakenAlong(_ cascades: Bool) throws {
        let (entity, text, relationship, owner) = cascades ? ("Folder", "title", "parent", "Folder") : ("Person", "name", "department", "Department")
        try holdingAll {
            let old = main.make(owner), new = main.make(owner), member = main.make(entity)
            try saveAll()
            workers[0].delete(workers[0].object(with: old.objectID))
            workers[0].processPendingChanges()
            member.setValue(old, forKey: relationship)
            main.processPendingChanges()
            let seen = workers[0].object(with: member.objectID)
            seen.setValue("changed", forKey: text)
            workers[0].processPendingChanges()
            #expect(seen.objectIDs(forRelationshipNamed: relationship) == [old.objectID])
            member.setValue(new, forKey: relationship)
            main.processPendingChanges()
            try workers[0].save()
            main.processPendingChanges()
            #expect(!member.isDeleted && member.value(forKey: text) as? String == "changed")
            #expect(member.objectIDs(forRelationshipNamed: relationship) == [new.objectID])
            try saveAll()
            let stored = try #require(try stack.store.rows(for: [member.objectID])[member.objectID])
            #expect(stored[relationship].objectID == new.objectID)
        }
    }

    @Test func theMembersOfAllDeletedObjectsAreReadAtOnceWhenTheRulesAreAppliedAgain() throws {
        try stack.root.performAndWait { () throws in
            let root = stack.root, departments = (0..<3).map { _ in root.make("Department") }
            let people = departments.map { root.make("Person", ["department": $0]) }
            try root.save()
            for department in departments { root.delete(department) }
            root.processPendingChanges()
            // Somebody else does something.
            let other = stack.independent()
            try other.performAndWait { () throws in
                other.make("Skill")
                try other.save()
            }
            stack.coordinator.rowCache.removeAll()
            let asked = try stack.requests { try root.save() }.map(\.kind).filter { $0.hasPrefix("related") }
            #expect(asked == ["related(3)"])
            #expect(people.allSatisfy { $0.value(forKey: "department") == nil })
        }
    }

    // MARK: What is read

    @Test func whatAFetchHasBroughtIsNotReadAgain() throws {
        let root = stack.root
        try root.performAndWait { () throws in
            let folder = root.make("Folder"), id = folder.objectID
            for _ in 0..<3 { root.make("Folder", ["parent": folder]) }
            try root.save()
            root.reset()
            let found = try root.all("Folder"), parent = try #require(found.first { $0.objectID == id })
            root.delete(parent)
            stack.coordinator.rowCache.removeAll()
            let asked = withExtendedLifetime(found) { stack.requests { root.processPendingChanges() }.map(\.kind) }
            #expect(asked.filter { $0.hasPrefix("rows") }.isEmpty)
            #expect(root.deletedObjects.count == 4)
        }
    }

    // MARK: Relationships

    // L7
    @Test func whoLosesAMemberOfAnOrderShowsWhatTheOrderWas() throws {
        try stack.root.performAndWait { () throws in
            let root = stack.root, tracks = [root.make("Track"), root.make("Track")], list = root.make("Playlist", ["tracks": tracks])
            try root.save()
            #expect((list.value(forKey: "tracks") as? NSOrderedSet)?.count == 2)
            root.delete(tracks[0])
            // What the rules do happens within the event.
            root.propagateWhatCanBeRead()
            #expect((list.changedValuesForCurrentEvent()["tracks"] as? NSOrderedSet)?.array as? [NSManagedObject] == tracks)
            root.processPendingChanges()
            #expect((list.value(forKey: "tracks") as? NSOrderedSet)?.array as? [NSManagedObject] == [tracks[1]])
        }
    }

    @Test func aDeletedObjectIsTakenOutOfPairsOnBothSides() throws {
        try stack.root.performAndWait { () throws in
            let root = stack.root, skill = root.make("Skill"), person = root.make("Person", ["skills": Set([skill])])
            try root.save()
            root.delete(person)
            root.processPendingChanges()
            let pairs = root.chain.withLock { root.level.pending.pairs }
            let sides = try [(person, "skills", skill), (skill, "people", person)].map { owner, name, member in
                (RelationshipKey(owner: owner.objectID, toMany: try #require(owner.toManyNumber(name))), member.objectID)
            }
            for (key, member) in sides { #expect(pairs[key]?.removed == [member] && pairs[key]?.added == []) }
        }
    }

    @Test func aDeletedObjectLosesItsMembersWhereThereIsNoInverse() throws {
        let shelf = Company.entity("Shelf"), thing = Company.entity("Thing")
        shelf.properties = [NSRelationshipDescription(name: "things", destination: thing, toMany: true, deleteRule: .nullifyDeleteRule)]
        thing.properties = [Company.attribute("a", .integer64, default: 0)]
        let stack = TestStack(NSManagedObjectModel(entities: [shelf, thing])), root = stack.root
        try root.performAndWait { () throws in
            let thing = root.make("Thing"), shelf = root.make("Shelf", ["things": Set([thing])])
            try root.save()
            root.delete(shelf)
            root.processPendingChanges()
            let key = RelationshipKey(owner: shelf.objectID, toMany: 0)
            #expect(root.chain.withLock { root.level.pending.pairs[key]?.removed } == [thing.objectID])
            try root.save()
            #expect(stack.store.rowCount == 1 && !thing.isDeleted)
        }
    }

    // N35: a child has deleted what was never saved, and somebody who did not know of it relates something to it.
    @Test func whatIsRelatedToAnObjectThatNeverWasIsForgotten() throws {
        try holdingAll {
            let person = main.make("Person"), skill = main.make("Skill")
            main.processPendingChanges()
            workers[0].delete(workers[0].object(with: skill.objectID))
            try workers[0].save()
            #expect(skill.isDeleted)
            person.mutableSetValue(forKey: "skills").add(skill)
            main.processPendingChanges()
            #expect(workers[1].object(with: person.objectID).objectIDs(forRelationshipNamed: "skills").isEmpty)
            #expect(main.chain.withLock { main.level.pending.pairs.isEmpty })
            try saveAll()
            #expect(stack.store.rowCount == 1)
        }
    }

    @Test func aOneToManyIsToldByItsForeignKeysAlone() throws {
        try stack.root.performAndWait { () throws in
            let root = stack.root, department = root.make("Department"), person = root.make("Person", ["department": department])
            try root.save()
            root.delete(department)
            root.processPendingChanges()
            #expect(person.value(forKey: "department") == nil)
            #expect(root.chain.withLock { root.level.pending.pairs.isEmpty && root.level.pending.orders.isEmpty })
        }
    }

    // R5, R1: of a one-to-one, too, whose other side only a parent knows.
    @Test func aPartnerThatWasGivenToADeletedObjectMeanwhileIsLetGo() throws {
        try holdingAll {
            let person = main.make("Person"), badge = main.make("Badge")
            try saveAll()
            workers[0].delete(workers[0].object(with: person.objectID))
            workers[0].processPendingChanges()
            workers[1].object(with: badge.objectID).setValue(workers[1].object(with: person.objectID), forKey: "person")
            try workers[1].save()
            try saveAll()
            try workers[0].save()
            #expect(main.object(with: badge.objectID).value(forKey: "person") == nil)
            try saveAll()
            #expect(try stack.store.rows(for: [badge.objectID])[badge.objectID]?["person"] == .null)
        }
    }

    // L13: its deletion was taken back before the rules were applied.
    @Test func whatIsNotDeletedAnyMoreTakesNothingAlong() throws {
        try stack.root.performAndWait { () throws in
            let root = stack.root, folder = root.make("Folder"), child = root.make("Folder", ["parent": folder])
            try root.save()
            root.delete(folder)
            root.refresh(folder, mergeChanges: false)
            root.processPendingChanges()
            #expect(!folder.isDeleted && !child.isDeleted && !root.hasChanges)
        }
    }

    // N35, U2: a child takes back that it deleted what was never saved.
    @Test func whoComesBackIsRelatedAsBefore() throws {
        try holdingAll {
            let skill = main.make("Skill"), person = main.make("Person", ["skills": Set([skill])])
            main.processPendingChanges()
            workers[0].undoManager = UndoManager()
            workers[0].delete(workers[0].object(with: person.objectID))
            workers[0].processPendingChanges()
            try workers[0].save()
            #expect(person.isDeleted)
            workers[0].undo()
            try workers[0].save()
            main.processPendingChanges()
            #expect(!person.isDeleted && person.objectIDs(forRelationshipNamed: "skills") == [skill.objectID])
            try saveAll()
            #expect(try stack.store.relatedIDs(RelationshipKey(owner: skill.objectID, toMany: 0)) == [person.objectID])
        }
    }

    // MARK: Other models

    /// Bags of things, both ways, with these rules; things are told what happens to them.
    private func bags(_ rules: [String: NSDeleteRule]) -> TestStack {
        let bag = Company.entity("Bag"), thing = Company.entity("Thing", HookedObject.self)
        bag.properties = [Company.attribute("a", .integer64, default: 0)]
        thing.properties = [Company.attribute("name", .string), Company.attribute("stamp", .string)]
        for (name, rule) in rules.sorted(by: { $0.key < $1.key }) {
            Company.relate(bag, name, many: true, thing, "bags\(name)", many: true, rule: rule)
            thing.relationshipsByName["bags\(name)"]?.deleteRule = rule == .noActionDeleteRule ? rule : .nullifyDeleteRule
        }
        return TestStack(NSManagedObjectModel(entities: [bag, thing]))
    }

    @Test func whoGoesForTwoReasonsIsToldOnce() throws {
        let stack = bags(["all": .cascadeDeleteRule, "some": .cascadeDeleteRule]), root = stack.root
        try root.performAndWait { () throws in
            let thing = try #require(root.make("Thing") as? HookedObject), bag = root.make("Bag", ["all": Set([thing]), "some": Set([thing])])
            try root.save()
            thing.forgetCalls()
            root.delete(bag)
            root.processPendingChanges()
            #expect(thing.isDeleted && thing.calls == ["prepareForDeletion"])
        }
    }

    @Test func theRowsOfAllThatGoAlongAreReadAtOnce() throws {
        let stack = bags(["all": .cascadeDeleteRule]), root = stack.root
        try root.performAndWait { () throws in
            let bag = root.make("Bag", ["all": Set((0..<3).map { _ in root.make("Thing") })])
            try root.save()
            root.reset()
            stack.coordinator.rowCache.removeAll()
            let there = root.object(with: bag.objectID)
            root.delete(there)
            let asked = stack.requests { root.processPendingChanges() }.map(\.kind).filter { $0.hasPrefix("rows") }
            #expect(asked == ["rows(3)"] && root.deletedObjects.count == 4)
        }
    }

    // U2: no rule has taken it out of what it was related to.
    @Test(arguments: [true, false]) func whoNeverWasIsRelatedToNothingUntilThatIsUndone(isPermanent: Bool) throws {
        let stack = bags(["all": .noActionDeleteRule]), root = stack.root, child = stack.child(of: stack.root)
        try holding(root, child) { () throws in
            let thing = root.make("Thing")
            try root.save()
            root.undoManager = UndoManager()
            let bag = root.make("Bag", ["all": Set([thing])])
            if isPermanent { try root.obtainPermanentIDs(for: [bag]) }
            root.processPendingChanges()
            root.delete(bag)
            root.processPendingChanges()
            if isPermanent {
                #expect(child.object(with: thing.objectID).objectIDs(forRelationshipNamed: "bagsall").isEmpty)
            } else {
                root.undo()
                #expect(!bag.isDeleted && bag.objectIDs(forRelationshipNamed: "all") == [thing.objectID])
                #expect(child.object(with: bag.objectID).objectIDs(forRelationshipNamed: "all") == [thing.objectID])
            }
        }
    }

    // R5: what cannot be read is waited for, and nothing stops.
    @Test func membersThatCannotBeReadAreWaitedFor() throws {
        try stack.root.performAndWait { () throws in
            let root = stack.root, folder = root.make("Folder")
            for _ in 0..<2 { root.make("Folder", ["parent": folder]) }
            try root.save()
            root.refreshAllObjects()
            let fails = failing()
            root.delete(folder)
            root.processPendingChanges()
            #expect(root.hasChanges && #expect(throws: (any Error).self) { try root.save() } != nil)
            fails.isOn = false
            try root.save()
            #expect(stack.store.rowCount == 0)
        }
    }

    // R2: nobody needs to know the order for that.
    @Test func aDeletedObjectLeavesAnOrderThatCannotBeRead() throws {
        try stack.root.performAndWait { () throws in
            let root = stack.root, tracks = (0..<3).map { _ in root.make("Track") }
            let list = root.make("Playlist", ["tracks": [tracks[2], tracks[0], tracks[1]]])
            try root.save()
            root.refresh(list, mergeChanges: false)
            let fails = failing()
            root.delete(tracks[0])
            try root.save()
            fails.isOn = false
            #expect(list.objectIDs(forRelationshipNamed: "tracks") == [tracks[2].objectID, tracks[1].objectID])
        }
    }

    /// Has the store fail to read relationships, until that is turned off.
    private func failing() -> Fails {
        let fails = Fails()
        stack.store.observe { request in
            switch request {
            case .relatedIDs, .related: if fails.isOn { throw CocoaError(.fileReadUnknown) }
            default: break
            }
        }
        return fails
    }

    /// Whether a store fails.
    // Used on one thread.
    private final class Fails: @unchecked Sendable {
        var isOn = true
    }
}
