import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Contexts of a class of one's own, and conflicts made by hand.
@Suite struct OverriddenContextTests {
    // It has no state of its own.
    private final class Quiet: NSManagedObjectContext, @unchecked Sendable {
        override var hasChanges: Bool { false }
    }

    @Test func aContextThatHidesItsChangesSavesThem() throws {
        let stack = TestStack(), context = Quiet(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        try context.performAndWait { () throws in
            context.make("Item", ["key": "k"])
            try context.save()
        }
        #expect(try stack.stored("Item", "key") == ["k"])
    }

    // P13
    @Test func aConstraintConflictMadeByHandSaysWhatItWasMadeOf() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let one = stack.root.make("Item", ["key": "k"]), two = stack.root.make("Item", ["key": "k"])
            let conflict = NSConstraintConflict(
                constraint: ["key"], database: one, databaseSnapshot: ["a": 1], conflicting: [two], conflictingSnapshots: [["a": 2]])
            #expect(conflict.constraint == ["key"] && conflict.constraintValues["key"] as? String == "k")
            #expect(conflict.databaseObject === one && conflict.conflictingObjects == [two])
            #expect(conflict.databaseSnapshot?["a"] as? Int == 1 && conflict.conflictingSnapshots.first?["a"] as? Int == 2)
        }
    }

    // P10
    @Test func theKindsOfPolicyRefuseAConflictThatWasMadeByHand() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            let conflict = NSMergeConflict(source: item, newVersion: 2, oldVersion: 1, cachedSnapshot: ["a": 2], persistedSnapshot: nil)
            #expect(conflict.sourceObject === item && conflict.objectSnapshot?["a"] as? Int == 1 && conflict.cachedSnapshot?["a"] as? Int == 2)
            #expect(conflict.newVersionNumber == 2 && conflict.oldVersionNumber == 1)
            let error = #expect(throws: NSError.self) { try NSMergePolicy.overwrite.resolve(mergeConflicts: [conflict]) }
            #expect(error?.code == 133020)
        }
    }
}
