import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import TestTraits
import Testing

/// Importing and throwing away, again and again: nothing is left.
@Suite struct DiscardTests {
    // L22, N26, N35, GB36, GB37
    @Test(.longComputation) func aHundredImportsThatAreThrownAwayLeaveNothing() throws { try Imports(size: 1000).throwAway() }

    // N26, GB36
    @Test(.longComputation) func importsThatAreSavedLeaveNoObjectsEither() throws { try Imports(size: 1000).save() }
}

/// The same with ten times as many objects: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct DiscardStress {
    @Test(.longComputation) func aHundredLargeImportsThatAreThrownAwayLeaveNothing() throws { try Imports(size: 10_000).throwAway() }

    @Test(.longComputation) func largeImportsThatAreSavedLeaveNoObjectsEither() throws { try Imports(size: 10_000).save() }
}

/// Imports of so many objects each.
private struct Imports {
    let size: Int

    /// What lives on, seen by weak references.
    private final class Watch {
        private struct Reference {
            weak var object: AnyObject?
        }

        private var references: [Reference] = []

        func add(_ object: AnyObject) { references.append(Reference(object: object)) }
        var living: Int { references.count { $0.object != nil } }
    }

    /// One import: objects that are related, some of them fetched, notifications listened to.
    private func importObjects(into worker: NSManagedObjectContext, watch: Watch) throws {
        let recorder = NotificationRecorder(worker, .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave)
        let department = worker.make("Department", ["name": "Looms"])
        for number in 0..<size {
            watch.add(worker.make("Person", ["name": "\(number)", "age": number % 90, "department": department]))
        }
        _ = try worker.all("Person", "age > 80")
        worker.processPendingChanges()
        recorder.forget()
    }

    func throwAway() throws {
        let stack = TestStack(), watch = Watch()
        for cycle in 0..<100 {
            let worker = stack.child(of: stack.root)
            watch.add(worker)
            try worker.performAndWait {
                try importObjects(into: worker, watch: watch)
                if cycle % 3 == 0 { worker.rollback() } else if cycle % 3 == 1 { worker.reset() } else { try worker.save() }
                #expect(worker.registeredObjects.isEmpty && !worker.hasChanges)
            }
            stack.root.performAndWait {
                stack.root.rollback()
                #expect(stack.root.registeredObjects.isEmpty && !stack.root.hasChanges)
            }
        }
        #expect(watch.living == 0)
        #expect(try stack.stored("Person", "name").isEmpty)
    }

    func save() throws {
        let stack = TestStack(), watch = Watch()
        for _ in 0..<20 {
            let worker = stack.child(of: stack.root)
            try worker.performAndWait {
                try importObjects(into: worker, watch: watch)
                try worker.save()
            }
            try stack.root.performAndWait {
                try stack.root.save()
                #expect(stack.root.registeredObjects.isEmpty)
            }
        }
        #expect(watch.living == 0)
        #expect(try stack.stored("Person", "name").count == 20 * size)
    }
}
