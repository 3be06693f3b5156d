import CoreData
import Foundation
import Testing

/// Two contexts on one coordinator that change the same object, in a file.
@Suite struct TwoContextsTests {
    /// Both contexts read an item (a 1, b 1, c 1); theirs saved a = 10 and b = 10, and mine has b = 20 and c = 20.
    private struct Conflict {
        let stack: Stack
        let mine: NSManagedObjectContext
        let item: NSManagedObject

        init(_ stack: Stack, _ policy: NSMergePolicyType) throws {
            let root = stack.root, mine = stack.beside(policy)
            let id = try stack.saved("Item", ["key": "k", "a": 1, "b": 1, "c": 1]).id
            let item = mine.performAndWait {
                let item = mine.object(with: id)
                _ = item.value(forKey: "a")
                return item
            }
            try root.performAndWait { () throws in
                let theirs = root.object(with: id)
                theirs.setValue(10, forKey: "a")
                theirs.setValue(10, forKey: "b")
                try root.save()
            }
            mine.performAndWait {
                item.setValue(20, forKey: "b")
                item.setValue(20, forKey: "c")
            }
            self.stack = stack
            self.mine = mine
            self.item = item
        }

        static func use(_ policy: NSMergePolicyType, _ body: (Conflict) throws -> Void) throws {
            try Stack.inFile { stack in try body(Conflict(stack, policy)) }
        }

        func save() throws { try mine.performAndWait { try mine.save() } }
        /// a, b, c in the store.
        func stored() throws -> [Int] { try ["a", "b", "c"].flatMap { try stack.numbers("Item", $0) } }
        /// a, b, c of my object.
        func shown() -> [Int?] { mine.performAndWait { ["a", "b", "c"].map { item.number($0) } } }
    }

    @Test func underTheErrorPolicyTheLaterSaveIsRefusedAndNamesTheObject() throws {
        try Conflict.use(.errorMergePolicyType) { conflict in
            let error = try #require(#expect(throws: NSError.self) { try conflict.save() })
            #expect(error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError)
            let list = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
            #expect(list.count == 1 && conflict.mine.performAndWait { list.first?.sourceObject === conflict.item })
            #expect(try conflict.stored() == [10, 10, 1])
            #expect(conflict.shown() == [1, 20, 20])
            #expect(conflict.mine.performAndWait { conflict.mine.hasChanges && conflict.item.isUpdated })
        }
    }

    // P5, P-DOC, GB38
    @Test func underStoreTrumpTheStoreWinsWhereBothChanged() throws {
        try Conflict.use(.mergeByPropertyStoreTrumpMergePolicyType) { conflict in
            try conflict.save()
            #expect(try conflict.stored() == [10, 10, 20])
            #expect(conflict.shown() == [10, 10, 20])
        }
    }

    // P6, P-DOC, GB38
    @Test func underObjectTrumpMemoryWinsWhereBothChanged() throws {
        try Conflict.use(.mergeByPropertyObjectTrumpMergePolicyType) { conflict in
            try conflict.save()
            #expect(try conflict.stored() == [10, 20, 20])
            #expect(conflict.shown() == [10, 20, 20])
        }
    }

    // P7
    @Test func overwriteReplacesTheWholeRow() throws {
        try Conflict.use(.overwriteMergePolicyType) { conflict in
            try conflict.save()
            #expect(try conflict.stored() == [1, 20, 20])
            #expect(conflict.shown() == [1, 20, 20])
        }
    }

    // P8
    @Test func rollbackDropsTheObjectsChanges() throws {
        try Conflict.use(.rollbackMergePolicyType) { conflict in
            try conflict.save()
            #expect(try conflict.stored() == [10, 10, 1])
            #expect(conflict.shown() == [10, 10, 1])
            #expect(conflict.mine.performAndWait { conflict.item.changedValues().isEmpty && !conflict.mine.hasChanges })
        }
    }

    // P15, S12
    @Test func aConflictInOneObjectKeepsAllOthersFromBeingWritten() throws {
        try Conflict.use(.errorMergePolicyType) { conflict in
            conflict.mine.performAndWait { for number in 0..<5 { conflict.mine.make("Item", ["key": "new \(number)"]) } }
            #expect(throws: NSError.self) { try conflict.save() }
            #expect(try conflict.stack.strings("Item", "key") == ["k"])
            conflict.mine.performAndWait { conflict.mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
            try conflict.save()
            #expect(try conflict.stack.strings("Item", "key").count == 6)
        }
    }

    @Test func aKeyThatIsTakenRefusesTheSaveAndNamesTheConstraint() throws {
        try Stack.inFile(Stack.keyed()) { stack in
            let root = stack.root, other = stack.beside()
            try root.performAndWait { () throws in
                root.make("Entry", ["key": "k", "a": 1])
                try root.save()
            }
            try other.performAndWait { () throws in
                let second = other.make("Entry", ["key": "k", "a": 2])
                let error = try #require(#expect(throws: NSError.self) { try other.save() })
                #expect(error.code == NSManagedObjectConstraintMergeError)
                let list = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
                #expect(list.count == 1 && list.first?.constraint == ["key"] && list.first?.conflictingObjects == [second])
                #expect(other.insertedObjects == [second])
            }
            #expect(try stack.numbers("Entry", "a") == [1])
        }
    }

    @Test(arguments: [
        (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, 2), (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, 1),
    ])
    func underAMergingPolicyOneRowOfAKeyIsLeft(_ policy: NSMergePolicyType, _ left: Int) throws {
        try Stack.inFile(Stack.keyed()) { stack in
            let root = stack.root, other = stack.beside(policy)
            try root.performAndWait { () throws in
                root.make("Entry", ["key": "k", "a": 1])
                try root.save()
            }
            try other.performAndWait { () throws in
                other.make("Entry", ["key": "k", "a": 2])
                try other.save()
            }
            #expect(try stack.numbers("Entry", "a") == [left])
        }
    }
}
