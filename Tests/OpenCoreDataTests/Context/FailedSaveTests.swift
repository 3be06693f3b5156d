import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// What a save that fails leaves to be saved.
@Suite struct FailedSaveTests {
    private struct Refused: Error {}

    /// Has the store refuse one save, and something done while that is under way.
    private func refuse(in stack: TestStack, meanwhile body: @escaping @Sendable () throws -> Void) {
        let isFirst = Mutex(true)
        stack.store.observe { request in
            guard case .save = request,
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else { return }
            try body()
            throw Refused()
        }
    }

    @Test func whatAChildPushesWhileASaveFailsIsSavedByTheNext() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root), other = stack.child(of: stack.root)
        let ada = try child.performAndWait { () throws -> NSManagedObjectID in
            let ada = child.make("Person", ["name": "Ada"])
            try child.save()
            return ada.objectID
        }
        refuse(in: stack) {
            try other.performAndWait {
                other.make("Person", ["name": "Grace"])
                other.object(with: ada).setValue("Ada L.", forKey: "name")
                try other.save()
            }
        }
        try stack.root.performAndWait {
            #expect(throws: (any Error).self) { try stack.root.save() }
            #expect(stack.root.hasChanges)
            try stack.root.save()
            #expect(!stack.root.hasChanges)
        }
        #expect(Set(try stack.stored("Person", "name")) == ["Ada L.", "Grace"])
    }

    @Test func whatAChildDeletesWhileItsInsertionFailsIsNeverStored() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root), other = stack.child(of: stack.root)
        let ada = try child.performAndWait { () throws -> NSManagedObjectID in
            let ada = child.make("Person", ["name": "Ada"])
            child.make("Person", ["name": "Grace"])
            try child.save()
            return ada.objectID
        }
        refuse(in: stack) {
            try other.performAndWait {
                other.delete(other.object(with: ada))
                try other.save()
            }
        }
        try stack.root.performAndWait {
            #expect(throws: (any Error).self) { try stack.root.save() }
            try stack.root.save()
        }
        #expect(try stack.stored("Person", "name") == ["Grace"])
    }
}
