import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What has a key, and properties of a class.
final class Club: NSManagedObject {
    @Managed var code: String?
    @Managed var name: String?
    @Managed var branches: Set<Club>
    @Managed var parent: Club?

    static func model() -> NSManagedObjectModel {
        let club = Company.entity("Club", Club.self)
        club.properties = [Company.attribute("code", .string), Company.attribute("name", .string)]
        club.uniquenessConstraints = [["code"]]
        Company.relate(club, "branches", many: true, club, "parent", many: false)
        return NSManagedObjectModel(entities: [club])
    }
}

/// How a context's instances follow when objects turn out to be others.
@Suite struct ReplacingTests {
    private let stack: TestStack
    private let main: NSManagedObjectContext
    private let worker: NSManagedObjectContext
    private let other: NSManagedObjectContext

    init() {
        stack = TestStack(Keyed.model())
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        main = stack.child(of: stack.root, name: "main")
        worker = stack.child(of: main, name: "worker")
        other = stack.independent()
    }

    private func holdingAll(_ body: () throws -> Void) throws { try holding(stack.root, main, worker, other, do: body) }

    /// Somebody else stores an object with the key that a new one has, which the root will find at its save.
    private func storeOwner(_ values: [String: Any] = [:]) throws -> NSManagedObjectID {
        let owner = other.make("Thing", ["code": "q"])
        for (name, value) in values { owner.setValue(value, forKey: name) }
        try other.save()
        return owner.objectID
    }

    /// A new object with that key, which has come to the root.
    private func madeTwin(_ values: [String: Any] = [:]) throws -> NSManagedObject {
        let twin = worker.make("Thing", ["code": "q"])
        for (name, value) in values { twin.setValue(value, forKey: name) }
        try worker.save()
        try main.save()
        return twin
    }

    // MARK: Instances

    // N24
    @Test(arguments: [false, true]) func whoHasBecomeAnotherIsToldAsRefreshed(isThereAlready: Bool) throws {
        try holdingAll {
            let twin = try madeTwin(["a": 1]), owner = try storeOwner(["b": 5])
            let staying = isThereAlready ? try worker.existingObject(with: owner) : twin
            worker.processPendingChanges()
            let recorder = NotificationRecorder(worker, .NSManagedObjectContextObjectsDidChange)
            try stack.root.save()
            worker.processPendingChanges()
            #expect(recorder.objects(NSRefreshedObjectsKey) == [staying] && staying.objectID == owner)
            #expect(staying.value(forKey: "a") as? Int == 1 && staying.value(forKey: "b") as? Int == 5)
            #expect(worker.registeredObject(for: owner) === staying && worker.registeredObjects == [staying])
        }
    }

    // N24
    @Test func anInstanceThatGaveWayReadsAndSetsThePropertiesOfTheOther() throws {
        let stack = TestStack(Club.model())
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        let worker = stack.child(of: stack.root, name: "worker"), other = stack.independent()
        try holding(stack.root, worker, other) {
            let twin = Club(context: worker)
            twin.code = "q"
            try worker.save()
            let stored = Club(context: other)
            (stored.code, stored.name) = ("q", "stored")
            stored.branches = [Club(context: other)]
            try other.save()
            let staying = try #require(try worker.existingObject(with: stored.objectID) as? Club)
            #expect(staying.branches.count == 1)
            try stack.root.save()
            worker.processPendingChanges()
            #expect(staying !== twin && twin.name == "stored" && twin.branches == staying.branches && twin.branches.count == 1)
            twin.name = "set"
            twin.branches = []
            #expect(staying.name == "set" && staying.branches.isEmpty)
            twin.parent = Club(context: worker)
            #expect(staying.parent != nil && staying.parent == twin.parent)
        }
    }

    // N24: whoever gave way is not spoken of any more.
    @Test(arguments: ["updated", "deleted"]) func whatWasDoneToAnInstanceThatGaveWayIsToldOfTheOther(_ what: String) throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner()
            let staying = try worker.existingObject(with: owner)
            worker.processPendingChanges()
            if what == "updated" { twin.setValue(7, forKey: "c") } else { worker.delete(twin) }
            let recorder = NotificationRecorder(worker, .NSManagedObjectContextObjectsDidChange)
            try stack.root.save()
            worker.processPendingChanges()
            for name in [NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey] { #expect(!recorder.objects(name).contains(twin)) }
            #expect(what == "updated" ? staying.value(forKey: "c") as? Int == 7 : staying.isDeleted)
            try worker.save()
            #expect(!staying.hasChanges && (staying.managedObjectContext == nil) == (what == "deleted"))
        }
    }

    // N24
    @Test(arguments: [false, true]) func whatIsUnsavedOfBothIsSavedAndThenNothingIsUnsaved(isThereAlready: Bool) throws {
        try holdingAll {
            let twin = try madeTwin(["a": 1]), owner = try storeOwner(["b": 5])
            let staying = isThereAlready ? try worker.existingObject(with: owner) : twin
            twin.setValue(7, forKey: "c")
            worker.processPendingChanges()
            try stack.root.save()
            worker.processPendingChanges()
            #expect(staying.value(forKey: "c") as? Int == 7 && staying.value(forKey: "b") as? Int == 5 && staying.isUpdated)
            try worker.save()
            #expect(!staying.hasChanges && !worker.hasChanges)
            try main.save()
            try stack.root.save()
            let row = try stack.store.rows(for: [owner])[owner]
            #expect(row?["a"] == .int64(1) && row?["b"] == .int64(5) && row?["c"] == .int64(7))
        }
    }

    // N24: the later edit, which nobody has been told of, counts.
    @Test(arguments: ["value", "members"]) func whatWasSetOnTheOtherMeanwhileStaysInTheChild(_ edit: String) throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner(["b": 5]), tag = main.make("Tag", ["code": "l"])
            try main.save()
            let staying = try worker.existingObject(with: owner), mine = worker.object(with: tag.objectID)
            twin.setValue(7, forKey: "c")
            twin.setValue(8, forKey: "a")
            worker.processPendingChanges()
            let theirs = other.object(with: owner)
            #expect(theirs.value(forKey: "c") as? Int == 0)
            if edit == "value" { staying.setValue(9, forKey: "c") } else { staying.mutableOrderedSetValue(forKey: "tags").add(mine) }
            try stack.root.save()
            worker.processPendingChanges()
            #expect(staying.value(forKey: "c") as? Int == (edit == "value" ? 9 : 7) && staying.value(forKey: "a") as? Int == 8)
            // Nobody else has the same row.
            #expect(theirs.value(forKey: "c") as? Int == 0)
            #expect(edit == "value" || staying.objectIDs(forRelationshipNamed: "tags") == [tag.objectID])
            #expect(staying.committedValues(forKeys: ["b", "c"]) as? [String: Int] == ["b": 5, "c": 0])
            try worker.save()
            try main.save()
            try stack.root.save()
            let row = try stack.store.rows(for: [owner])[owner]
            #expect(row?["a"] == .int64(8) && row?["b"] == .int64(5) && row?["c"] == .int64(edit == "value" ? 9 : 7))
        }
    }

    // N24
    @Test func aDeletionOfTheOtherStands() throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner()
            let staying = try worker.existingObject(with: owner)
            twin.setValue(7, forKey: "c")
            worker.delete(staying)
            worker.processPendingChanges()
            try stack.root.save()
            worker.processPendingChanges()
            #expect(staying.isDeleted && worker.deletedObjects == [staying])
            try worker.save()
            try main.save()
            try stack.root.save()
            #expect(try stack.store.rows(for: [owner])[owner] == nil)
        }
    }

    // N24: those that are related to the other one have not been looked at.
    @Test(arguments: [false, true]) func whoIsDeletedAndBecomesAnotherTakesTheOthersRelationsAlong(isThereAlready: Bool) throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner(), kid = other.make("Thing", ["parent": other.object(with: owner)])
            try other.save()
            let mine = worker.object(with: kid.objectID)
            if isThereAlready { _ = try worker.existingObject(with: owner) }
            worker.delete(twin)
            worker.processPendingChanges()
            try stack.root.save()
            worker.processPendingChanges()
            #expect(mine.value(forKey: "parent") == nil && mine.hasChanges)
        }
    }

    // N24, U2: what is undone would be done to an object that is none any more.
    @Test func nothingFromBeforeCanBeUndone() throws {
        try holdingAll {
            let twin = try madeTwin()
            _ = try storeOwner()
            worker.undoManager = UndoManager()
            twin.setValue(7, forKey: "c")
            worker.processPendingChanges()
            #expect(worker.undoManager?.canUndo == true)
            try stack.root.save()
            worker.processPendingChanges()
            #expect(worker.undoManager?.canUndo == false && twin.value(forKey: "c") as? Int == 7)
        }
    }

    // N24: whoever follows a context by IDs.
    @Test func whoListensHearsOfBoth() throws {
        try holdingAll {
            let twin = try madeTwin(), former = twin.objectID, owner = try storeOwner(), listener = ListenerByID()
            worker.processPendingChanges()
            listener.follow(worker)
            try stack.root.save()
            worker.processPendingChanges()
            #expect(listener.heard.reduce(into: Set()) { $0.formUnion($1.all) }.isSuperset(of: [former, owner]))
        }
    }

    // N24
    @Test func whatIsWatchedIsWatchedAsTheOther() throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner()
            worker.detectConflicts(for: twin)
            try stack.root.save()
            worker.processPendingChanges()
            #expect(worker.watched.keys.map { $0 } == [owner])
        }
    }

    // N24: it is what the other one is, whose values are there.
    @Test func anInstanceThatGaveWayIsNoFault() throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner()
            let staying = try worker.existingObject(with: owner)
            worker.processPendingChanges()
            worker.refresh(twin, mergeChanges: false)
            #expect(twin.isFault)
            let recorder = NotificationRecorder(worker, .NSManagedObjectContextObjectsDidChange)
            try stack.root.save()
            worker.processPendingChanges()
            #expect(!twin.isFault && twin.managedObjectContext == nil && staying.managedObjectContext === worker)
            #expect(recorder.objects(NSRefreshedObjectsKey) == [staying])
        }
    }

    // N24: nobody here has an instance of the one that it was said of.
    @Test(arguments: [true, false]) func whatAChildPushedOfWhoBecameAnotherIsShownByTheInstanceOfTheOther(isSaved: Bool) throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner(["b": 5])
            twin.setValue(7, forKey: "c")
            try worker.save()
            let staying = try main.existingObject(with: owner)
            #expect(main.registeredObjects == [staying])
            try stack.root.save()
            main.processPendingChanges()
            #expect(staying.value(forKey: "c") as? Int == 7 && staying.value(forKey: "b") as? Int == 5 && staying.isUpdated)
            #expect(Set(staying.changedValues().keys) == ["c"])
            // It starts from what is stored.
            #expect(staying.committedValues(forKeys: ["b", "c"]) as? [String: Int] == ["b": 5, "c": 0])
            if isSaved {
                try main.save()
                try stack.root.save()
                #expect(try stack.store.rows(for: [owner])[owner]?["c"] == .int64(7))
                return
            }
            main.rollback()
            #expect(staying.value(forKey: "c") as? Int == 0 && staying.managedObjectContext === main && !staying.hasChanges)
        }
    }

    // N24
    @Test func deletionsThatWaitForTheirRulesGoOnWaiting() throws {
        try holdingAll {
            let box = main.make("Box"), inBox = main.make("Thing", ["box": box])
            try main.save()
            try stack.root.save()
            let twin = try madeTwin(), owner = try storeOwner()
            let staying = try worker.existingObject(with: owner)
            let never = worker.make("Tag")
            worker.processPendingChanges()
            worker.delete(never)
            worker.processPendingChanges()
            worker.delete(twin)
            worker.delete(worker.object(with: box.objectID))
            try stack.root.save()
            worker.processPendingChanges()
            #expect(worker.object(with: inBox.objectID).isDeleted && staying.isDeleted)
            try worker.save()
            #expect(never.managedObjectContext == nil)
        }
    }

    // MARK: Who refers to them

    // N24
    @Test func whoRefersToThemNamesTheOthers() throws {
        try holdingAll {
            let twin = try madeTwin(), kid = worker.make("Thing", ["parent": twin])
            try worker.save()
            try main.save()
            let owner = try storeOwner()
            try stack.root.save()
            worker.processPendingChanges()
            #expect(kid.objectIDs(forRelationshipNamed: "parent") == [owner] && !kid.hasChanges)
            kid.setValue(worker.object(with: owner), forKey: "parent")
            #expect(!kid.hasChanges)
            // Its row is nobody else's when it is written past all tracking.
            kid.setPrimitiveValue(5, forKey: "a")
            #expect(kid.committedValues(forKeys: ["a"])["a"] as? Int == 0 && kid.value(forKey: "a") as? Int == 5)
        }
    }

    // N24: what an edit started from named the former one.
    @Test func aReferenceThatIsSetToWhatItWasHasNotChanged() throws {
        try holdingAll {
            let twin = try madeTwin(), kid = worker.make("Thing", ["parent": twin])
            try worker.save()
            try main.save()
            let owner = try storeOwner()
            kid.setValue(3, forKey: "a")
            kid.setValue(nil, forKey: "parent")
            kid.setValue(twin, forKey: "parent")
            worker.processPendingChanges()
            try stack.root.save()
            worker.processPendingChanges()
            #expect(Set(kid.changedValues().keys) == ["a"] && kid.objectIDs(forRelationshipNamed: "parent") == [owner])
        }
    }

    // N24: the same, of an edit that nobody had been told of.
    @Test func aReferenceThatIsSetToWhatItWasHasNotChangedWhereTheEditWasNotPublished() throws {
        try holdingAll {
            let twin = try madeTwin(), kid = worker.make("Thing", ["parent": twin])
            try worker.save()
            try main.save()
            let owner = try storeOwner()
            kid.setValue(3, forKey: "a")
            try stack.root.save()
            worker.processPendingChanges()
            kid.setValue(nil, forKey: "parent")
            kid.setValue(worker.object(with: owner), forKey: "parent")
            #expect(Set(kid.changedValues().keys) == ["a"])
        }
    }

    // N24: the deletion waits for its rules still when its object becomes another, of which there is an instance.
    @Test func rulesThatWaitAreAppliedToTheOther() throws {
        try holdingAll {
            let twin = try madeTwin(), owner = try storeOwner(), kid = other.make("Thing", ["parent": other.object(with: owner)])
            try other.save()
            let mine = worker.object(with: kid.objectID), staying = try worker.existingObject(with: owner)
            worker.delete(twin)
            try stack.root.save()
            worker.processPendingChanges()
            #expect(staying.isDeleted && mine.value(forKey: "parent") == nil && mine.hasChanges)
        }
    }

    // N24: whatever is done afterwards to the instance that stands for both.
    @Test(arguments: ["fault", "shown", "none"]) func theDeletionOfOneThatBecameAnotherIsTheOthers(_ instance: String) throws {
        try holdingAll {
            let tag = other.make("Tag", ["code": "t"]), twin = try madeTwin(), owner = try storeOwner()
            let staying = instance == "none" ? twin : worker.object(with: owner)
            if instance == "shown" { #expect(staying.value(forKey: "code") as? String == "q") }
            let mark = worker.object(with: tag.objectID)
            worker.delete(twin)
            worker.processPendingChanges()
            try stack.root.save()
            staying.mutableOrderedSetValue(forKey: "tags").add(mark)
            worker.processPendingChanges()
            for context in [worker, main, stack.root] { try context.save() }
            #expect(try other.all("Thing").isEmpty)
            #expect(try stack.store.relatedIDs(RelationshipKey(owner: tag.objectID, toMany: 0)).isEmpty)
        }
    }

    // R1, N24: that another thing turned out to be one of them is no reason to take away what has come since.
    @Test func settingMembersTakesNobodyAwayWhoCameBeforeAnotherBecameOneOfThem() throws {
        let second = stack.child(of: main, name: "second")
        try holding(stack.root, main, worker, second) {
            let shelf = worker.make("Shelf", ["code": "l"]), first = worker.make("Thing", ["code": "a", "shelf": shelf])
            try worker.save()
            let shown = try #require((shelf.value(forKey: "things") as? NSOrderedSet)?.array as? [NSManagedObject])
            #expect(shown == [first])
            let came = second.make("Thing", ["code": "b", "shelf": second.object(with: shelf.objectID)])
            second.make("Thing", ["code": "a"])
            try second.save()
            shelf.setValue(shown, forKey: "things")
            for context in [worker, main, stack.root] { try context.save() }
            #expect(try stack.store.relatedIDs(RelationshipKey(owner: shelf.objectID, toMany: 0)) == [first.objectID, came.objectID])
        }
    }
}
