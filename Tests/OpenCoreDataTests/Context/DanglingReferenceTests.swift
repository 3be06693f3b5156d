import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// References to objects that are deleted, here or by somebody else meanwhile, and members of relationships that two contexts change.
@Suite struct DanglingReferenceTests {
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

    // R5
    @Test(arguments: [true, false])
    func aReferenceToWhatAnotherWorkerDeletedMeanwhileIsEmptiedWhereTheRuleNullifies(_ isCommitted: Bool) throws {
        try holdingAll {
            let department = main.make("Department"), person = main.make("Person")
            try saveAll()
            let there = workers[0].object(with: department.objectID), mine = workers[1].object(with: person.objectID)
            mine.setValue(workers[1].object(with: department.objectID), forKey: "department")
            workers[0].delete(there)
            try workers[0].save()
            if isCommitted { try saveAll() }
            try workers[1].save()
            #expect(mine.value(forKey: "department") == nil)
            try saveAll()
            #expect(stack.store.rowCount == 1 && person.value(forKey: "department") == nil)
        }
    }

    // R5
    @Test func itIsRefusedWhereTheRuleCascades() throws {
        try holdingAll {
            let folder = main.make("Folder")
            try saveAll()
            let child = workers[1].make("Folder", ["parent": workers[1].object(with: folder.objectID)])
            workers[0].delete(workers[0].object(with: folder.objectID))
            try workers[0].save()
            let error = #expect(throws: NSError.self) { try workers[1].save() }
            #expect(error?.code == 1550 && error?.userInfo[NSValidationKeyErrorKey] as? String == "parent")
            #expect(error?.localizedDescription.contains("dangling reference") == true && workers[1].hasChanges)
            child.setValue(nil, forKey: "parent")
            try workers[1].save()
            try saveAll()
            #expect(stack.store.rowCount == 1)
        }
    }

    // R5: set after the deletion, in the same context.
    @Test func aReferenceToWhatIsDeletedHereIsSettledByTheSameRules() throws {
        try holdingAll {
            let department = stack.root.make("Department"), person = stack.root.make("Person"), folder = stack.root.make("Folder")
            try stack.root.save()
            stack.root.delete(department)
            stack.root.processPendingChanges()
            person.setValue(department, forKey: "department")
            try stack.root.save()
            #expect(person.value(forKey: "department") == nil)
            stack.root.delete(folder)
            stack.root.processPendingChanges()
            stack.root.make("Folder", ["parent": folder])
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == 1550)
        }
    }

    // R5: the deletion comes after the reference that its context does not know of.
    @Test(arguments: [true, false])
    func aDeletionFindsWhatOthersRelatedToItMeanwhile(_ isCommitted: Bool) throws {
        try holdingAll {
            let department = main.make("Department"), folder = main.make("Folder")
            try saveAll()
            workers[0].delete(workers[0].object(with: department.objectID))
            workers[0].delete(workers[0].object(with: folder.objectID))
            workers[0].processPendingChanges()
            let person = workers[1].make("Person", ["department": workers[1].object(with: department.objectID)])
            workers[1].make("Folder", ["parent": workers[1].object(with: folder.objectID)])
            try workers[1].save()
            if isCommitted { try saveAll() }
            try workers[0].save()
            try saveAll()
            #expect(stack.store.rowCount == 1 && main.object(with: person.objectID).value(forKey: "department") == nil)
        }
    }

    // R2
    @Test func anOrderThatTwoContextsEditHidesNobody() throws {
        try holdingAll {
            let list = main.make("Playlist"), tracks = (0..<3).map { main.make("Track", ["title": "\($0)"]) }
            list.setValue([tracks[0]], forKey: "tracks")
            try saveAll()
            for (worker, track) in zip(workers, tracks.dropFirst()) {
                worker.object(with: list.objectID).mutableOrderedSetValue(forKey: "tracks").add(worker.object(with: track.objectID))
            }
            for worker in workers { try worker.save() }
            main.refresh(list, mergeChanges: true)
            #expect(Set(list.objectIDs(forRelationshipNamed: "tracks")) == Set(tracks.map(\.objectID)))
            try saveAll()
            #expect(Set(try stack.store.relatedIDs(RelationshipKey(owner: list.objectID, toMany: 0))) == Set(tracks.map(\.objectID)))
        }
    }

    // R2
    @Test func anOrderFromBeforeADeletionBringsNothingBack() throws {
        try holdingAll {
            let list = main.make("Playlist"), tracks = (0..<2).map { main.make("Track", ["title": "\($0)"]) }
            list.setValue(tracks, forKey: "tracks")
            try saveAll()
            let order = workers[1].object(with: list.objectID).mutableOrderedSetValue(forKey: "tracks")
            order.exchangeObject(at: 0, withObjectAt: 1)
            workers[0].delete(workers[0].object(with: tracks[0].objectID))
            try workers[0].save()
            try workers[1].save()
            main.refresh(list, mergeChanges: true)
            #expect(list.objectIDs(forRelationshipNamed: "tracks") == [tracks[1].objectID])
            try saveAll()
            #expect(try stack.store.relatedIDs(RelationshipKey(owner: list.objectID, toMany: 0)) == [tracks[1].objectID])
        }
    }

    // R2: whoever only takes a member out has no opinion on the order of the others.
    @Test(arguments: [true, false]) func whoLetsGoOfAMemberKeepsTheOrderThatAnotherHasSet(_ isDeleted: Bool) throws {
        try holdingAll {
            let list = main.make("Playlist"), tracks = (0..<3).map { main.make("Track", ["title": "\($0)"]) }
            list.setValue(tracks, forKey: "tracks")
            try saveAll()
            let read = workers[1].object(with: list.objectID).mutableOrderedSetValue(forKey: "tracks")
            #expect(read.count == 3)
            if isDeleted { workers[1].delete(workers[1].object(with: tracks[0].objectID)) } else { read.removeObject(at: 0) }
            workers[0].object(with: list.objectID).mutableOrderedSetValue(forKey: "tracks").exchangeObject(at: 1, withObjectAt: 2)
            try workers[0].save()
            try workers[1].save()
            main.refresh(list, mergeChanges: true)
            #expect(list.objectIDs(forRelationshipNamed: "tracks") == [tracks[2].objectID, tracks[1].objectID])
            try saveAll()
            #expect(
                try stack.store.relatedIDs(RelationshipKey(owner: list.objectID, toMany: 0)) == [tracks[2].objectID, tracks[1].objectID])
        }
    }

    // R1
    @Test func anObjectThatTwoContextsGiveAwayHasOnePartner() throws {
        try holdingAll {
            let badge = main.make("Badge"), people = [main.make("Person"), main.make("Person")]
            try saveAll()
            for (worker, person) in zip(workers, people) {
                worker.object(with: person.objectID).setValue(worker.object(with: badge.objectID), forKey: "badge")
            }
            for worker in workers { try worker.save() }
            main.refreshAllObjects()
            #expect(people[0].value(forKey: "badge") == nil && badge.value(forKey: "person") as? NSManagedObject == people[1])
            #expect(people[1].value(forKey: "badge") as? NSManagedObject == badge)
        }
    }

    // R1: what the member has read is older than what made it one.
    @Test(arguments: ["members", "order"]) func whoHasJustBecomeAMemberElsewhereCanBeRemovedHere(_ kind: String) throws {
        try holdingAll {
            let owner = main.make(kind == "order" ? "Playlist" : "Department"), member = main.make(kind == "order" ? "Track" : "Person")
            let inverse = kind == "order" ? "playlist" : "department", name = kind == "order" ? "tracks" : "employees"
            try saveAll()
            let mine = workers[1].object(with: member.objectID)
            #expect(mine.value(forKey: inverse) == nil)
            workers[0].object(with: member.objectID).setValue(workers[0].object(with: owner.objectID), forKey: inverse)
            try workers[0].save()
            let there = workers[1].object(with: owner.objectID)
            if kind == "order" {
                there.mutableOrderedSetValue(forKey: name).remove(mine)
            } else {
                there.mutableSetValue(forKey: name).remove(mine)
            }
            #expect(there.objectIDs(forRelationshipNamed: name).isEmpty)
            try workers[1].save()
            try saveAll()
            #expect(try stack.store.rows(for: [member.objectID])[member.objectID]?[inverse] == .null)
        }
    }

    // R1: what the member has read is older than what took it away.
    @Test(arguments: ["members", "order"]) func whoHasJustBeenTakenAwayElsewhereCanBeAddedHere(_ kind: String) throws {
        try holdingAll {
            let owner = main.make(kind == "order" ? "Playlist" : "Department")
            let inverse = kind == "order" ? "playlist" : "department", name = kind == "order" ? "tracks" : "employees"
            let member = main.make(kind == "order" ? "Track" : "Person", [inverse: owner])
            try saveAll()
            let mine = workers[1].object(with: member.objectID), there = workers[1].object(with: owner.objectID)
            #expect(mine.value(forKey: inverse) as? NSManagedObject === there)
            workers[0].object(with: member.objectID).setValue(nil, forKey: inverse)
            try workers[0].save()
            if kind == "order" {
                there.mutableOrderedSetValue(forKey: name).add(mine)
            } else {
                there.mutableSetValue(forKey: name).add(mine)
            }
            #expect(there.objectIDs(forRelationshipNamed: name) == [member.objectID])
            try workers[1].save()
            try saveAll()
            #expect(try stack.store.rows(for: [member.objectID])[member.objectID]?[inverse] == .objectID(owner.objectID))
        }
    }

    // R1: who sets a list says nothing of what came into it, or left it, since it was shown.
    @Test func settingMembersTakesNobodyAwayWhoHasNotBeenSeen() throws {
        try holdingAll {
            let list = main.make("Playlist"), tracks = (0..<3).map { main.make("Track", ["title": "\($0)"]) }
            list.setValue(Array(tracks[0...1]), forKey: "tracks")
            try saveAll()
            let there = workers[1].object(with: list.objectID)
            let shown = (there.value(forKey: "tracks") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            #expect(shown.map(\.objectID) == tracks[0...1].map(\.objectID))
            workers[0].object(with: list.objectID).setValue([tracks[0], tracks[2]].map { workers[0].object(with: $0.objectID) }, forKey: "tracks")
            try workers[0].save()
            there.setValue(Array(shown.reversed()), forKey: "tracks")
            try workers[1].save()
            try saveAll()
            #expect(Set(try stack.store.relatedIDs(RelationshipKey(owner: list.objectID, toMany: 0))) == [tracks[0].objectID, tracks[2].objectID])
        }
    }

    // R5: who deletes an object need not know whose partner it has become.
    @Test func thePartnerOfWhatIsDeletedIsLetGoOfAtThePush() throws {
        try holdingAll {
            let badge = main.make("Badge"), person = main.make("Person")
            try saveAll()
            let stale = workers[1].object(with: person.objectID)
            _ = stale.value(forKey: "badge")
            person.setValue(badge, forKey: "badge")
            try saveAll()
            workers[1].delete(stale)
            try workers[1].save()
            let reader = stack.child(of: main, name: "reader")
            let partner = try reader.performAndWait { try reader.existingObject(with: badge.objectID).objectIDs(forRelationshipNamed: "person") }
            #expect(partner.isEmpty)
            try saveAll()
            #expect(try stack.store.rows(for: [badge.objectID])[badge.objectID]?["person"] == .null)
        }
    }

    // L13, R5
    @Test func refreshingDoesNotBringAReferenceToADeletedObjectBack() throws {
        try holdingAll {
            let department = main.make("Department"), person = main.make("Person", ["department": department])
            try saveAll()
            main.delete(department)
            main.processPendingChanges()
            main.refresh(person, mergeChanges: false)
            main.processPendingChanges()
            #expect(person.value(forKey: "department") == nil)
            try saveAll()
            #expect(try stack.store.rows(for: [person.objectID])[person.objectID]?["department"] == .null)
        }
    }

    // R5: the one who deleted it did not know of it, and has gone on.
    @Test func whatWasRelatedSinceToWhatAChildDeletedIsFoundAtTheNextSave() throws {
        try holdingAll {
            let department = main.make("Department"), person = main.make("Person")
            try saveAll()
            workers[0].delete(workers[0].object(with: department.objectID))
            try workers[0].save()
            stack.root.object(with: person.objectID).setValue(stack.root.object(with: department.objectID), forKey: "department")
            try stack.root.save()
            // Another deletion, which knows of it.
            main.delete(main.make("Person"))
            try main.save()
            #expect(stack.root.object(with: person.objectID).value(forKey: "department") == nil)
            try stack.root.save()
            #expect(try stack.store.rows(for: [person.objectID])[person.objectID]?["department"] == .null)
        }
    }
}
