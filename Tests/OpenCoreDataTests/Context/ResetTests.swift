import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A context that forgot everything has nothing left to say, to check or to keep alive.
@Suite struct ResetTests {
    private let stack = TestStack()
    private var root: NSManagedObjectContext { stack.root }

    private func onRoot<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
        try root.performAndWait { try body(root) }
    }

    @Test func nothingOfWhatWasDoneBeforeIsToldAfterIt() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k"])
            try root.save()
            root.make("Item")
            item.setValue(1, forKey: "a")
            root.reset()
            let recorder = NotificationRecorder(root, .NSManagedObjectContextObjectsDidChange)
            root.processPendingChanges()
            #expect(recorder.count == 0)
        }
    }

    @Test func whatWasToBeCheckedIsForgotten() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            root.detectConflicts(for: item)
            root.reset()
            try stack.overwrite(item.objectID, ["a": .int64(2)])
            root.make("Item", ["key": "other"])
            try root.save()
            #expect(Set(try stack.stored("Item", "key")) == ["k", "other"])
        }
    }

    @Test func anObjectLeftBehindKeepsWhatItHasRead() throws {
        try onRoot { root in
            let item = root.make("Item", ["key": "k", "a": 1])
            try root.save()
            root.reset()
            #expect(!item.isFault && item.value(forKey: "key") as? String == "k" && item.managedObjectContext == nil)
        }
    }

    @Test func nobodyKeepsTheObjects() throws {
        try onRoot { root in
            let watch = WeakReferences()
            var new: NSManagedObject? = root.make("Item", ["key": "new"])
            var gone: NSManagedObject? = root.make("Item", ["key": "gone"])
            try root.save()
            watch.add(try #require(new))
            watch.add(try #require(gone))
            new?.setValue(1, forKey: "a")
            let id = try #require(gone?.objectID)
            root.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, userInfo: [NSDeletedObjectsKey: [id]]))
            new?.setValue(2, forKey: "a")
            (new, gone) = (nil, nil)
            root.reset()
            #expect(watch.living == 0)
        }
    }
}
