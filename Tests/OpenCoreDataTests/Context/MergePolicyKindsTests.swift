import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What the kinds of merge policy make of one change whose row is another one by now.
@Suite struct MergePolicyKindsTests {
    private let make = Changes()
    private static let kinds: [NSMergePolicyType] = [
        .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
    ]

    @Test func aChangeWhoseRowIsGoneIsMadeAgainOrDropped() throws {
        let id = try make.id("Thing", 1), change = try make.update(id, ["a": .int64(1)], over: ["b": .int64(2)], version: 7)
        for kind in Self.kinds {
            let settled = NSMergePolicy(merge: kind).settled(change, stored: nil)
            if [.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType].contains(kind) {
                #expect(settled?.kind == .inserted && settled?.base == nil && settled?.changed == change.changed)
                #expect(settled?.row?["a"] == .int64(1) && settled?.row?["b"] == .int64(2) && settled?.row?.version == 0)
            } else {
                #expect(settled == nil)
            }
            #expect(NSMergePolicy(merge: kind).settled(try make.deletion(id), stored: nil) == nil)
        }
    }

    @Test func aDeletionIsDoneToWhatIsThereNowOrDropped() throws {
        let id = try make.id("Thing", 1), stored = try make.row(id, ["a": .int64(9)], version: 8), change = try make.deletion(id)
        for kind in Self.kinds {
            let settled = NSMergePolicy(merge: kind).settled(change, stored: stored)
            let isDone = [.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType].contains(kind)
            #expect(isDone ? settled?.kind == .deleted && settled?.row === change.row && settled?.base === stored : settled == nil)
        }
    }

    @Test func anUpdateStartsFromWhatIsThereNow() throws {
        let id = try make.id("Thing", 1), stored = try make.row(id, ["a": .int64(9), "c": .int64(3)], version: 8)
        let change = try make.update(id, ["a": .int64(1), "b": .int64(1)], over: ["c": .int64(2)], version: 7)
        func settled(_ kind: NSMergePolicyType) throws -> PendingRow {
            let settled = try #require(NSMergePolicy(merge: kind).settled(change, stored: stored))
            #expect(settled.kind == .updated && settled.base === stored && settled.row?.version == 8)
            return settled
        }
        let all = try settled(.overwriteMergePolicyType)
        #expect(all.row?["a"] == .int64(1) && all.row?["c"] == .int64(2) && all.changed == SlotSet(0..<id.layout.count))
        let mine = try settled(.mergeByPropertyObjectTrumpMergePolicyType)
        #expect(mine.row?["a"] == .int64(1) && mine.row?["c"] == .int64(3) && mine.changed == change.changed)
        let theirs = try settled(.mergeByPropertyStoreTrumpMergePolicyType)
        #expect(theirs.row?["a"] == .int64(9) && theirs.row?["b"] == .int64(1) && theirs.row?["c"] == .int64(3))
        #expect(try theirs.changed == make.slots(id, "b"))
    }

    // N24: the owner of a key may be of the superentity, and has no place for some values.
    @Test(arguments: kinds) func valuesThatTheStoredObjectHasNoPlaceForAreLeftOut(_ kind: NSMergePolicyType) throws {
        let special = try make.id("Special", 1025), thing = try make.id("Thing", 1)
        let change = try make.update(special, ["a": .int64(1), "d": .int64(4)], over: ["b": .int64(2)]), stored = try make.row(thing, [:], version: 8)
        guard let merged = NSMergePolicy(merge: kind).merged(change, over: stored) else {
            #expect(kind == .rollbackMergePolicyType)
            return
        }
        #expect(merged.row.layout === thing.layout && merged.row["a"] == .int64(1) && merged.row.version == 8)
    }

    /// Writes down what it was told.
    // Used on one thread.
    private final class Asked: NSMergePolicy, @unchecked Sendable {
        // Written and read on one thread.
        nonisolated(unsafe) var old: [String: Any] = [:]

        override func values(
            old: [String: Any], mine: [String: Any], theirs: [String: Any], for conflict: NSMergeConflict
        ) throws -> [String: Any]? {
            self.old = old
            return nil
        }
    }

    // P15
    @Test func aPolicyIsToldWhatItsContextHadRead() throws {
        let stack = TestStack(), policy = Asked(merge: .mergeByPropertyObjectTrumpMergePolicyType), other = stack.independent()
        stack.root.mergePolicy = policy
        try holding(stack.root, other) { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            other.object(with: item.objectID).setValue(2, forKey: "a")
            try other.save()
            item.setValue(3, forKey: "a")
            try stack.root.save()
            #expect(policy.old["a"] as? Int == 1 && policy.old["key"] as? String == "k")
        }
    }
}
