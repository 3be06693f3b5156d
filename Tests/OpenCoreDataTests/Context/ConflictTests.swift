import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Conflicts that a policy of one's own settles, that were only watched for, and those with a parent context.
@Suite struct ConflictTests {
    /// Adds what both sides added, lets the kind decide on the rest.
    // Stateless, as its superclass.
    private final class Adding: NSMergePolicy, @unchecked Sendable {
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            try super.resolve(optimisticLockingConflicts: list)
            for conflict in list {
                let old = conflict.objectSnapshot?["a"] as? Int ?? 0, theirs = conflict.cachedSnapshot?["a"] as? Int ?? 0
                let mine = conflict.sourceObject.value(forKey: "b") as? Int ?? 0
                conflict.sourceObject.setValue(theirs + mine - old, forKey: "a")
            }
        }
    }

    /// The greater of two numbers, as dictionaries.
    // Stateless, as its superclass.
    private final class Greatest: NSMergePolicy, @unchecked Sendable {
        override func values(
            old: [String: Any], mine: [String: Any], theirs: [String: Any], for conflict: NSMergeConflict
        ) throws -> [String: Any]? {
            theirs.merging(mine) { theirs, mine in
                guard let left = theirs as? Int, let right = mine as? Int else { return mine }
                return max(left, right)
            }
        }
    }

    /// Gives the second one another key.
    // Stateless, as its superclass.
    private final class Renaming: NSMergePolicy, @unchecked Sendable {
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            for conflict in list {
                for object in conflict.conflictingObjects { object.setValue("\(conflict.constraintValues["key"] ?? "")'", forKey: "key") }
            }
        }
    }

    private struct Refusing: Error {}

    // Stateless, as its superclass.
    private final class Refuses: NSMergePolicy, @unchecked Sendable {
        override func resolve(mergeConflicts list: [Any]) throws { throw Refusing() }
    }

    /// An item (a 1, b 1) that `mine` has read and that others then changed (a 10, b 1).
    private func conflict(_ policy: NSMergePolicy, _ body: (TestStack, NSManagedObjectContext, NSManagedObject) throws -> Void) throws {
        let stack = TestStack()
        let mine = stack.independent(policy: policy)
        try holding(mine, stack.root) { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1, "b": 1, "c": 1])
            try stack.root.save()
            let own = mine.object(with: item.objectID)
            _ = own.value(forKey: "a")
            item.setValue(10, forKey: "a")
            try stack.root.save()
            try body(stack, mine, own)
        }
    }

    // P10
    @Test func aPolicyOfOnesOwnSetsValuesOnTheSourceObjects() throws {
        try conflict(Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType)) { (stack, mine, item) throws in
            item.setValue(5, forKey: "b")
            item.setValue(7, forKey: "c")
            try mine.save()
            #expect(try ["a", "b", "c"].flatMap { try stack.stored("Item", $0) } == [14, 5, 7])
            #expect(["a", "b", "c"].map { item.value(forKey: $0) as? Int } == [14, 5, 7] && !item.hasChanges && !mine.hasChanges)
        }
    }

    // GB16
    @Test func aPolicyMayChooseAmongDictionaries() throws {
        try conflict(Greatest(merge: .errorMergePolicyType)) { (stack, mine, item) throws in
            item.setValue(3, forKey: "a")
            item.setValue(4, forKey: "b")
            try mine.save()
            #expect(try ["a", "b", "c"].flatMap { try stack.stored("Item", $0) } == [10, 4, 1])
            #expect(item.value(forKey: "a") as? Int == 10)
        }
    }

    // P10, P11, P12
    @Test func aPolicyMayGiveAnObjectAnotherKey() throws {
        try conflict(Renaming(merge: .errorMergePolicyType)) { (stack, mine, _) throws in
            let twin = mine.make("Item", ["key": "k"])
            try mine.save()
            #expect(try stack.stored("Item", "key").map { $0 as? String }.sorted { $0 ?? "" < $1 ?? "" } == ["k", "k'"])
            #expect(twin.value(forKey: "key") as? String == "k'" && !twin.hasChanges)
        }
    }

    // P10, P15
    @Test func aPolicyThatThrowsRefusesTheSaveAndNothingHasChanged() throws {
        try conflict(Refuses(merge: .overwriteMergePolicyType)) { (stack, mine, item) throws in
            item.setValue(5, forKey: "b")
            #expect(throws: Refusing.self) { try mine.save() }
            #expect(try stack.stored("Item", "b") == [1])
            #expect(item.isUpdated && item.value(forKey: "b") as? Int == 5 && mine.hasChanges)
        }
    }

    // P9
    @Test func anUnchangedObjectIsCheckedOnlyIfThatWasAskedFor() throws {
        try conflict(.error) { (stack, mine, item) throws in
            mine.make("Item", ["key": "other"])
            try mine.save()
            mine.make("Item", ["key": "third"])
            mine.detectConflicts(for: item)
            let error = #expect(throws: NSError.self) { try mine.save() }
            #expect(error?.code == 133020)
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(conflicts?.map(\.sourceObjectID) == [item.objectID])
            #expect(mine.hasChanges)
            // Rollback forgets what was to be checked; so does a refresh of what was read.
            mine.refresh(item, mergeChanges: false)
            mine.detectConflicts(for: item)
            try mine.save()
            #expect(try stack.stored("Item", "key").count == 3)
        }
    }

    /// An item (a 1, b 1) that child and parent have; the parent set a to 10, unsaved.
    private func parentConflict(_ policy: NSMergePolicy?, _ body: (NSManagedObjectContext, NSManagedObject, NSManagedObject) throws -> Void) throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        child.parentConflictPolicy = policy
        try holding(child, stack.root) { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1, "b": 1])
            try stack.root.save()
            let own = child.object(with: item.objectID)
            _ = own.value(forKey: "a")
            item.setValue(10, forKey: "a")
            stack.root.processPendingChanges()
            own.setValue(2, forKey: "a")
            own.setValue(2, forKey: "b")
            try body(child, own, item)
        }
    }

    // GB11, N23
    @Test func conflictsWithAParentAreFoundOnRequest() throws {
        try parentConflict(nil) { (child, own, item) throws in
            try child.save()
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [2, 2])
        }
        try parentConflict(.error) { (child, own, item) throws in
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 133020)
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [10, 1] && own.isUpdated && child.hasChanges)
        }
        try parentConflict(.mergeByPropertyStoreTrump) { (child, own, item) throws in
            try child.save()
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [10, 2])
            #expect(["a", "b"].map { own.value(forKey: $0) as? Int } == [10, 2] && !child.hasChanges)
        }
        try parentConflict(.mergeByPropertyObjectTrump) { (child, own, item) throws in
            try child.save()
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [2, 2])
        }
        try parentConflict(.rollback) { (child, own, item) throws in
            try child.save()
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [10, 1])
            #expect(["a", "b"].map { own.value(forKey: $0) as? Int } == [10, 1] && !child.hasChanges)
        }
    }
}
