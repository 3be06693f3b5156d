import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct MergePolicyTests {
    /// Two contexts on one coordinator which both read an item (a 1, b 1, c 1); the other one saved a = 10 and b = 10, and mine has b = 20 and c = 20.
    private struct Conflict {
        let stack = TestStack()
        let mine: NSManagedObjectContext
        let item: NSManagedObject

        init(_ policy: NSMergePolicy, deletes: Bool = false) throws {
            mine = stack.independent(policy: policy)
            let id = try stack.root.performAndWait { [stack] in
                let item = stack.root.make("Item", ["key": "k", "a": 1, "b": 1, "c": 1])
                try stack.root.save()
                return item.objectID
            }
            item = mine.performAndWait { [mine] in
                let item = mine.object(with: id)
                _ = item.value(forKey: "a")
                return item
            }
            try stack.root.performAndWait { [stack] in
                let theirs = stack.root.object(with: id)
                if deletes {
                    stack.root.delete(theirs)
                } else {
                    theirs.setValue(10, forKey: "a")
                    theirs.setValue(10, forKey: "b")
                }
                try stack.root.save()
            }
            mine.performAndWait { [item] in
                item.setValue(20, forKey: "b")
                item.setValue(20, forKey: "c")
            }
        }

        func save() throws { try mine.performAndWait { try mine.save() } }
        /// a, b, c in the store.
        var stored: [AnyHashable] { get throws { try ["a", "b", "c"].flatMap { try stack.stored("Item", $0) } } }
        /// a, b, c of my object.
        var shown: [Int?] { mine.performAndWait { ["a", "b", "c"].map { item.value(forKey: $0) as? Int } } }
    }

    // P1, P2, P3, P4, P15
    @Test func theErrorPolicyRefusesTheSaveAndNamesBothVersions() throws {
        let conflict = try Conflict(.error)
        let error = try #require(#expect(throws: NSError.self) { try conflict.save() })
        #expect(error.domain == NSCocoaErrorDomain && error.code == 133020)
        #expect((error as? CocoaError)?.code == .managedObjectMerge || CocoaError.Code.managedObjectMerge.rawValue == error.code)
        let list = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
        #expect(list.count == 1 && list[0].sourceObjectID == conflict.item.objectID)
        #expect(list[0].objectSnapshot?["a"] as? Int == 1 && list[0].objectSnapshot?["b"] as? Int == 1)
        #expect(list[0].cachedSnapshot?["a"] as? Int == 10 && list[0].persistedSnapshot == nil)
        #expect(list[0].oldVersionNumber == 1 && list[0].newVersionNumber == 2)
        #expect(try conflict.stored == [10, 10, 1])
        #expect(conflict.shown == [1, 20, 20])
        #expect(conflict.mine.performAndWait { conflict.mine.hasChanges && conflict.item.isUpdated })
    }

    // P3
    @Test func aSnapshotHoldsAttributesAndToOnesButNoToManys() throws {
        let stack = TestStack()
        let mine = stack.independent()
        let (ada, looms) = try stack.root.performAndWait { () throws in
            let looms = stack.root.make("Department")
            let ada = stack.root.make("Person", ["department": looms])
            try stack.root.save()
            return (ada.objectID, looms.objectID)
        }
        mine.performAndWait { mine.object(with: ada).setValue("mine", forKey: "name") }
        try stack.root.performAndWait { () throws in
            stack.root.object(with: ada).setValue("theirs", forKey: "name")
            try stack.root.save()
        }
        let error = #expect(throws: NSError.self) { try mine.performAndWait { try mine.save() } }
        let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
        #expect(conflict?.objectSnapshot?["department"] as? NSManagedObjectID == looms)
        #expect(conflict?.objectSnapshot?["skills"] == nil && conflict?.objectSnapshot?["reports"] == nil)
        #expect(conflict?.objectSnapshot?["note"] == nil)
    }

    // P4
    @Test func refreshingBeforeTheSaveSettlesTheConflict() throws {
        let conflict = try Conflict(.error)
        try conflict.mine.performAndWait { () throws in
            conflict.mine.refresh(conflict.item, mergeChanges: true)
            try conflict.mine.save()
        }
        #expect(try conflict.stored == [10, 20, 20])
    }

    // P17
    @Test(arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func aRowDeletedMeanwhileIsWrittenAgainUnderObjectTrumpAndOverwrite(_ policy: NSMergePolicy) throws {
        let conflict = try Conflict(policy, deletes: true)
        try conflict.save()
        #expect(try conflict.stored == [1, 20, 20])
    }

    // P17
    @Test(arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func aRowDeletedMeanwhileStaysDeletedUnderTheOthers(_ policy: NSMergePolicy) throws {
        let conflict = try Conflict(policy, deletes: true)
        try conflict.save()
        #expect(try conflict.stored.isEmpty)
        #expect(!conflict.mine.performAndWait { conflict.mine.hasChanges })
    }

    // P15
    @Test(arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func theDeletionOfARowThatChangedMeanwhileStandsUnderObjectTrumpAndOverwrite(_ policy: NSMergePolicy) throws {
        let conflict = try Conflict(policy)
        conflict.mine.performAndWait { conflict.mine.delete(conflict.item) }
        try conflict.save()
        #expect(conflict.stack.store.rowCount == 0)
    }

    // P15
    @Test(arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func theDeletionOfARowThatChangedMeanwhileIsDroppedUnderTheOthers(_ policy: NSMergePolicy) throws {
        let conflict = try Conflict(policy)
        conflict.mine.performAndWait { conflict.mine.delete(conflict.item) }
        try conflict.save()
        #expect(try conflict.stored == [10, 10, 1])
    }

    // P3
    @Test func aDeletedRowHasTheVersionZeroInTheConflict() throws {
        let conflict = try Conflict(.error, deletes: true)
        let error = #expect(throws: NSError.self) { try conflict.save() }
        let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        #expect(error?.code == 133020 && list?.first?.newVersionNumber == 0)
    }

    // P9
    @Test func differentObjectsDoNotConflict() throws {
        let stack = TestStack()
        let other = stack.independent()
        try holding(stack.root, other) { () throws in
            let ada = stack.root.make("Item", ["key": "1"]), bob = stack.root.make("Item", ["key": "2"])
            try stack.root.save()
            let readOnly = other.object(with: ada.objectID), written = other.object(with: bob.objectID)
            _ = readOnly.value(forKey: "a")
            written.setValue(5, forKey: "a")
            ada.setValue(6, forKey: "a")
            try stack.root.save()
            try other.save()
            #expect(try Set(stack.stored("Item", "a")) == [5, 6])
        }
    }

    // P10
    @Test func policiesHaveApplesRawValues() {
        let policies: [NSMergePolicy] = [.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback]
        #expect(policies.map(\.mergeType.rawValue) == [0, 1, 2, 3, 4])
        #expect(TestStack().root.mergePolicy === NSMergePolicy.error)
    }

    // P15
    @Test func aSaveThatTheStoreRefusesLeavesEverythingToBeSavedAgain() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let old = stack.root.make("Item", ["key": "old"]), doomed = stack.root.make("Item", ["key": "doomed"])
            try stack.root.save()
            old.setValue(1, forKey: "a")
            stack.root.delete(doomed)
            child.make("Item", ["key": "pushed"])
            try child.save()
            stack.failSaves(with: [NSError(domain: NSSQLiteErrorDomain, code: 13)])
            #expect(throws: NSError.self) { try stack.root.save() }
            #expect(stack.root.hasChanges && old.isUpdated && doomed.isDeleted)
            #expect(stack.root.insertedObjects.count == 1)
            #expect(try Set(stack.stored("Item", "key")) == ["old", "doomed"])
            try stack.root.save()
            #expect(try Set(stack.stored("Item", "key")) == ["old", "pushed"])
            #expect(!stack.root.hasChanges)
        }
    }

    // P9, GB6
    @Test func savesInTurnFromTwoContextsOfOneChainDoNotConflict() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let item = child.make("Item", ["a": 0])
            for round in 1...5 {
                item.setValue(round, forKey: "a")
                try child.save()
                try stack.root.save()
                stack.root.object(with: item.objectID).setValue(round * 10, forKey: "b")
                try stack.root.save()
                #expect(try stack.stored("Item", "a") == [AnyHashable(Int64(round))])
            }
            #expect(try stack.stored("Item", "b") == [50])
        }
    }
}
