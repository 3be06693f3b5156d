import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct NotificationTests {
    // T1
    @Test func theNamesAreApples() {
        #expect(NSManagedObjectContext.willSaveObjectsNotification.rawValue == "NSManagedObjectContextWillSave")
        #expect(NSManagedObjectContext.didSaveObjectsNotification == .NSManagedObjectContextDidSave)
        #expect(NSManagedObjectContext.didChangeObjectsNotification == .NSManagedObjectContextObjectsDidChange)
        #expect(NSManagedObjectContext.didSaveObjectIDsNotification == .NSManagedObjectContextDidSaveObjectIDs)
        #expect(NSManagedObjectContext.didMergeChangesObjectIDsNotification == .NSManagedObjectContextDidMergeChangesObjectIDs)
    }

    // T2
    @Test func theKeysAreApples() {
        #expect([NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] == ["inserted", "updated", "deleted"])
        #expect([NSRefreshedObjectsKey, NSInvalidatedObjectsKey, NSInvalidatedAllObjectsKey] == ["refreshed", "invalidated", "invalidatedAll"])
        #expect(NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue == "inserted_objectIDs")
        #expect(NSManagedObjectContext.NotificationKey(rawValue: "deleted") == .deletedObjects)
    }

    // T16
    @Test func anEmptySavePostsNothingAndReachesNoStore() throws {
        let stack = TestStack()
        let recorder = NotificationRecorder(
            stack.root, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange)
        let requests = try stack.requests { try stack.root.performAndWait { try stack.root.save() } }
        #expect(recorder.count == 0 && requests.isEmpty)
    }

    // T14
    @Test func theOrderOfOneSave() throws {
        let stack = TestStack(HookedObject.model())
        try stack.root.performAndWait { () throws in
            let object = try #require(stack.root.make("Hooked") as? HookedObject)
            stack.root.processPendingChanges()
            object.forgetCalls()
            let seen = Log()
            object.onWillSave = { _ in seen.lines.append("willSave()") }
            object.onDidSave = { _ in seen.lines.append("didSave()") }
            let tokens = [Notification.Name.NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave].map { name in
                NotificationCenter.default.addObserver(forName: name, object: stack.root, queue: nil) { notification in
                    seen.lines.append(notification.name == .NSManagedObjectContextWillSave ? "will notification" : "did notification")
                }
            }
            defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
            try stack.root.save()
            #expect(seen.lines == ["willSave()", "will notification", "didSave()", "did notification"])
        }
    }

    // Used on the test's thread only: everything is posted synchronously.
    private final class Log: @unchecked Sendable { var lines: [String] = [] }

    // T6
    @Test func aSavePostsObjectsDidChangeFirst() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave)
            stack.root.make("Person")
            try stack.root.save()
            #expect(recorder.names == ["ObjectsDidChange", "DidSave"])
        }
    }

    // C16, T6
    @MainActor @Test func aMainQueueContextPostsAtTheEndOfItsTurn() async {
        let stack = TestStack(root: .mainQueueConcurrencyType)
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
        stack.root.make("Person")
        stack.root.make("Person")
        #expect(recorder.count == 0)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(recorder.count == 1 && recorder.objects(NSInsertedObjectsKey).count == 2)
    }

    // T8
    @Test func resetPostsTheDroppedIDsAndNothingElse() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person")
            try stack.root.save()
            let new = stack.root.make("Person")
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
            stack.root.reset()
            #expect(recorder.count == 1)
            let info = recorder.notifications[0].userInfo ?? [:]
            #expect(info.count == 1)
            #expect(Set(info[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] ?? []) == [ada.objectID, new.objectID])
        }
    }

    // T9, L14
    @Test func refreshingAllPostsAllAsRefreshed() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let people = (0..<3).map { stack.root.make("Person", ["name": "\($0)"]) }
            try stack.root.save()
            people[0].setValue("edited", forKey: "name")
            stack.root.processPendingChanges()
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
            stack.root.refreshAllObjects()
            #expect(recorder.count == 1 && recorder.objects(NSRefreshedObjectsKey).count == 3)
            #expect(people.map(\.isFault) == [false, true, true])
            #expect(people[0].value(forKey: "name") as? String == "edited" && people[0].isUpdated)
        }
    }

    // N25
    @Test func aPushPostsOnceInTheParentAndItsSavePostsTheUnion() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let updated = stack.root.make("Person"), deleted = stack.root.make("Person")
            try stack.root.save()
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
            let first = child.make("Person")
            child.object(with: updated.objectID).setValue("U", forKey: "name")
            child.delete(child.object(with: deleted.objectID))
            try child.save()
            #expect(recorder.count == 1)
            #expect(recorder.objects(NSInsertedObjectsKey).map(\.objectID) == [first.objectID])
            #expect(recorder.objects(NSUpdatedObjectsKey) == [updated] && recorder.objects(NSDeletedObjectsKey) == [deleted])
            let second = child.make("Person")
            try child.save()
            #expect(recorder.count == 2)
            let did = NotificationRecorder(stack.root, .NSManagedObjectContextDidSave)
            try stack.root.save()
            #expect(did.count == 1)
            #expect(Set(did.objects(NSInsertedObjectsKey).map(\.objectID)) == [first.objectID, second.objectID])
            #expect(did.objects(NSUpdatedObjectsKey) == [updated] && did.objects(NSDeletedObjectsKey) == [deleted])
        }
    }

    // N25, N36
    @Test func onRequestAPushMakesNoObjectsForItsNotification() throws {
        let stack = TestStack()
        stack.root.materializesNotificationObjects = false
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextObjectsDidChange)
            child.make("Person")
            try child.save()
            #expect(recorder.count == 1 && recorder.objects(NSInsertedObjectsKey).isEmpty)
            #expect(stack.root.registeredObjects.isEmpty)
        }
    }

    // T4
    @Test func onRequestASaveCarriesOnlyTheObjectsThatThereAreAndPostsNoIDs() throws {
        let stack = TestStack()
        stack.root.materializesNotificationObjects = false
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let did = NotificationRecorder(stack.root, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs)
            let own = stack.root.make("Person")
            child.make("Person")
            try child.save()
            try stack.root.save()
            #expect(did.names == ["DidSave"] && did.objects(NSInsertedObjectsKey) == [own])
            #expect(stack.store.rowCount == 2)
        }
    }
}
