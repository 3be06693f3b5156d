import CoreData
import Foundation
import Testing

@Suite struct ContextNotificationTests {
    // T2, T3, T4, T16
    @Test func aSavePostsWillSaveWithoutSetsAndDidSaveWithThem() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let updated = root.make("Person", ["name": "U"]), deleted = root.make("Person", ["name": "D"])
            try root.save()
            let deletedID = deleted.objectID
            let inserted = root.make("Person", ["name": "I"])
            updated.setValue("U2", forKey: "name")
            root.delete(deleted)
            let will = Recorder(root, .NSManagedObjectContextWillSave), did = Recorder(root, .NSManagedObjectContextDidSave)
            let ids = Recorder(root, .NSManagedObjectContextDidSaveObjectIDs)
            try root.save()
            #expect(will.count == 1 && did.count == 1 && ids.count == 1)
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] { #expect(will.objects(key).isEmpty) }
            #expect(will.notifications.first?.object as? NSManagedObjectContext === root)
            #expect(did.objects(NSInsertedObjectsKey) == [inserted])
            #expect(did.objects(NSUpdatedObjectsKey) == [updated])
            #expect(did.objects(NSDeletedObjectsKey) == [deleted])
            #expect(ids.ids(.insertedObjectIDs) == [inserted.objectID] && ids.ids(.deletedObjectIDs) == [deletedID])
            #expect(ids.ids(.updatedObjectIDs) == [updated.objectID])
        }
    }

    // T6
    @Test func objectsDidChangeCoalescesEverythingSinceTheLastOne() throws {
        let stack = try Stack(), root = stack.root
        root.performAndWait {
            let recorder = Recorder(root, .NSManagedObjectContextObjectsDidChange)
            let ada = root.make("Person"), bob = root.make("Person")
            ada.setValue("Ada", forKey: "name")
            ada.setValue("Ida", forKey: "name")
            #expect(recorder.count == 0)
            root.processPendingChanges()
            #expect(recorder.count == 1 && recorder.objects(NSInsertedObjectsKey) == [ada, bob])
            root.processPendingChanges()
            #expect(recorder.count == 1)
        }
    }

    // T7
    @Test func insertedAndDeletedInOneTurnAppearsInNoSet() throws {
        let stack = try Stack(), root = stack.root
        root.performAndWait {
            let recorder = Recorder(root, .NSManagedObjectContextObjectsDidChange)
            let other = root.make("Person"), gone = root.make("Person")
            root.delete(gone)
            other.setValue("Ada", forKey: "name")
            root.processPendingChanges()
            #expect(recorder.objects(NSInsertedObjectsKey) == [other])
            #expect(recorder.objects(NSDeletedObjectsKey).isEmpty && recorder.objects(NSUpdatedObjectsKey).isEmpty)
        }
    }

    /// Has a context do something and save it; gives what it posts.
    private func saving(_ context: NSManagedObjectContext, _ edit: () -> Void) throws -> Notification {
        try context.performAndWait { () throws in
            let recorder = Recorder(context, .NSManagedObjectContextDidSave)
            edit()
            try context.save()
            return try #require(recorder.notifications.last)
        }
    }

    // M4, P4
    @Test func unsavedChangesStayOnTopAndSaveWithoutAConflict() throws {
        let stack = try Stack(), theirs = stack.root, mine = stack.beside()
        let id = try stack.saved("Item", ["key": "k", "a": 1, "b": 1, "c": 1]).id
        let item = mine.performAndWait {
            let item = mine.object(with: id)
            item.setValue(7, forKey: "b")
            return item
        }
        let notification = try saving(theirs) {
            theirs.object(with: id).setValue(5, forKey: "a")
            theirs.object(with: id).setValue(5, forKey: "b")
        }
        try mine.performAndWait { () throws in
            mine.mergeChanges(fromContextDidSave: notification)
            #expect(["a", "b", "c"].map { item.number($0) } == [5, 7, 1])
            #expect(item.isUpdated && item.changedValues().keys.sorted() == ["b"])
            #expect(item.committedValues(forKeys: ["b"])["b"] as? Int == 5)
            try mine.save()
        }
        #expect(try ["a", "b", "c"].flatMap { try stack.numbers("Item", $0) } == [5, 7, 1])
    }

    // M8
    @Test func aToManyThatOthersChangedIsCurrentAfterTheMerge() throws {
        let stack = try Stack(), theirs = stack.root, mine = stack.beside()
        let ids = try theirs.performAndWait { () throws in
            let department = theirs.make("Department", ["name": "Looms"]), skill = theirs.make("Skill", ["name": "weaving"])
            let ada = theirs.make("Person", ["name": "Ada", "department": department, "skills": Set([skill])])
            try theirs.save()
            return [department, skill, ada].map(\.objectID)
        }
        let (here, craft) = mine.performAndWait {
            let here = mine.object(with: ids[0]), craft = mine.object(with: ids[1])
            #expect(here.many("employees").count == 1 && craft.many("people").count == 1)
            return (here, craft)
        }
        let notification = try saving(theirs) {
            theirs.make("Person", ["name": "Bob", "department": theirs.object(with: ids[0]), "skills": Set([theirs.object(with: ids[1])])])
            theirs.object(with: ids[2]).setValue(nil, forKey: "department")
        }
        mine.performAndWait {
            mine.mergeChanges(fromContextDidSave: notification)
            #expect(here.many("employees").map { $0.string("name") } == ["Bob"])
            #expect(craft.many("people").count == 2)
        }
    }
}
