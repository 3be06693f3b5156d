import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// A context of the main queue that is told of more than three objects over several turns.
// The contexts are used on their queues, and the recorders guard what they keep.
class PushedObjectsFixture: @unchecked Sendable {
    let stack = TestStack()
    let main: NSManagedObjectContext
    let changes: NotificationRecorder
    let saves: NotificationRecorder

    init() {
        main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main")
        main.objectsInATurn = 3
        changes = NotificationRecorder(main, .NSManagedObjectContextObjectsDidChange)
        saves = NotificationRecorder(main, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs)
    }

    /// A child makes that many people and saves.
    func push(_ count: Int, prefix: String = "P") throws {
        let child = stack.child(of: main)
        try child.performAndWait {
            for number in 0..<count { child.make("Person", ["name": "\(prefix)\(number)"]) }
            try child.save()
        }
    }

    func failure(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return "\(error)" }
        return nil
    }

    /// Runs `push` while the main queue is busy, and then `between` on the main queue, between the turns that the push takes.
    func pushing(_ count: Int, between: @escaping @Sendable () -> Void) throws {
        try whileBusy(main) {
            try push(count)
            DispatchQueue.main.async(execute: between)
        }
    }

    /// When the main queue has done everything that was asked of it, the freeing of objects included.
    func settle() {
        while main.performAndWait({ main.pushedObjects != nil && !main.hasChanges }) {}
        for _ in 0..<50 { DispatchQueue.main.sync {} }
    }

    func inserted(_ notification: Notification?) -> Set<NSManagedObject> {
        notification?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
    }
}
