import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// How long a context knows objects that came from elsewhere.
@Suite struct MergedRegistrationTests {
    // M2, L23
    @Test func anInsertionThatIsMergedIsRegisteredWhileSomebodyUsesIt() throws {
        let stack = TestStack()
        let mine = stack.independent(), theirs = stack.root
        let saves = NotificationRecorder(theirs, .NSManagedObjectContextDidSave)
        let id = try theirs.performAndWait { () throws in
            let item = theirs.make("Item", ["key": "new"])
            try theirs.save()
            return item.objectID
        }
        let notification = try #require(saves.notifications.last)
        try mine.performAndWait { () throws in
            var held: Set<NSManagedObject> = []
            do {
                let changes = NotificationRecorder(mine, .NSManagedObjectContextObjectsDidChange)
                mine.mergeChanges(fromContextDidSave: notification)
                held = changes.objects(NSInsertedObjectsKey)
            }
            #expect(held.map(\.objectID) == [id] && mine.registeredObject(for: id) === held.first)
            held = []
            #expect(mine.registeredObject(for: id) == nil)
            #expect(try mine.existingObject(with: id).value(forKey: "key") as? String == "new")
        }
    }

    // L23
    @Test func aPushedInsertionIsRegisteredWhileSomebodyUsesIt() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let id = child.make("Item", ["key": "new"]).objectID
            try child.save()
            #expect(stack.root.registeredObjects.isEmpty)
            let object = try #require(stack.root.registeredObject(for: id))
            #expect(object.isInserted && stack.root.registeredObject(for: id) === object)
        }
    }
}
