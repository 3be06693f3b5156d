import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What a context tells by ID after a merge.
@Suite struct MergedNotificationTests {
    private typealias Key = NSManagedObjectContext.NotificationKey

    private func items(_ count: Int) throws -> (TestStack, [NSManagedObjectID]) {
        let stack = TestStack()
        return try stack.root.performAndWait { () throws in
            let items = (0..<count).map { stack.root.make("Item", ["key": "\($0)"]) }
            try stack.root.save()
            return (stack, items.map(\.objectID))
        }
    }

    // T2, T11
    @Test func refreshedAndInvalidatedObjectsAreToldUnderTheirOwnKeys() throws {
        let (stack, ids) = try items(4)
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextDidMergeChangesObjectIDs)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                NSUpdatedObjectsKey: [ids[0]], NSRefreshedObjectsKey: [ids[1]],
                Key.invalidatedObjectIDs.rawValue: Set([ids[2]]), NSDeletedObjectsKey: [ids[3].uriRepresentation()],
            ], into: [stack.root])
        #expect(recorder.count == 1)
        let keys: [Key] = [.insertedObjectIDs, .updatedObjectIDs, .refreshedObjectIDs, .invalidatedObjectIDs, .deletedObjectIDs]
        #expect(keys.map { recorder.ids($0) } == [[], [ids[0]], [ids[1]], [ids[2]], [ids[3]]])
    }

    // T10, T11
    @Test func onRequestAMergeTellsOnlyOfObjectsThatThereAre() throws {
        let (stack, ids) = try items(2)
        try stack.root.performAndWait { () throws in
            stack.root.reset()
            stack.root.materializesNotificationObjects = false
            let held = try stack.root.existingObject(with: ids[0])
            let recorder = NotificationRecorder(
                stack.root, .NSManagedObjectContextDidMergeChangesObjectIDs, .NSManagedObjectContextObjectsDidChange)
            stack.coordinator.rowCache.removeAll()
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: [ids[1]]], into: [stack.root])
            #expect(recorder.count == 0 && stack.root.registeredObject(for: ids[1]) == nil)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [ids[0]]], into: [stack.root])
            #expect(recorder.names == ["ObjectsDidChange"] && recorder.objects(NSRefreshedObjectsKey) == [held])
        }
    }

    // T2, T11
    @Test func whereEverythingIsInvalidTheRegisteredObjectsAreTold() throws {
        let (stack, ids) = try items(2)
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextDidMergeChangesObjectIDs)
        stack.root.performAndWait {
            let held = stack.root.object(with: ids[0])
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInvalidatedAllObjectsKey: [ids[0]]], into: [stack.root])
            withExtendedLifetime(held) {}
        }
        #expect(recorder.notifications.first?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] == [ids[0]])
        #expect(recorder.ids(.updatedObjectIDs).isEmpty)
    }

    // T2
    @Test func aContextThatMergesTheNotificationDoesTheSame() throws {
        let (stack, ids) = try items(1)
        let other = stack.independent()
        let recorder = NotificationRecorder(stack.root, .NSManagedObjectContextDidMergeChangesObjectIDs)
        try holding(stack.root, other) { () throws in
            let mine = try other.existingObject(with: ids[0])
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSRefreshedObjectsKey: [ids[0]]], into: [stack.root])
            let following = NotificationRecorder(other, .NSManagedObjectContextDidMergeChangesObjectIDs)
            other.mergeChanges(fromContextDidSave: try #require(recorder.notifications.last))
            #expect(following.ids(.refreshedObjectIDs) == [ids[0]] && !mine.hasChanges)
        }
    }
}
