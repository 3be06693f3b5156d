import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ConstraintTests {
    private static let others: [NSMergePolicy] = [.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback]

    // P12
    @Test func aDuplicateKeyInTheStoreRefusesTheSaveAndStaysPending() throws {
        let stack = TestStack()
        let other = stack.independent()
        try holding(stack.root, other) { () throws in
            let first = stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            let second = other.make("Item", ["key": "k", "a": 2])
            for _ in 0..<2 {
                let error = try #require(#expect(throws: NSError.self) { try other.save() })
                #expect(error.code == 133021)
                let list = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
                #expect(list.count == 1 && list[0].constraint == ["key"] && list[0].constraintValues["key"] as? String == "k")
                #expect(list[0].conflictingObjectIDs == [second.objectID] && list[0].databaseObjectID == first.objectID)
            }
            #expect(other.insertedObjects == [second])
            other.delete(second)
            try other.save()
            #expect(try stack.stored("Item", "a") == [1])
        }
    }

    // P13
    @Test(arguments: zip(Self.others, [[1, 1], [2, 1], [2, 0], [1, 1]]))
    func underEveryOtherPolicyOneRowIsLeftWithTheWinnersValues(_ policy: NSMergePolicy, _ values: [Int]) throws {
        let stack = TestStack()
        let other = stack.independent(policy: policy)
        try holding(stack.root, other) { () throws in
            let first = stack.root.make("Item", ["key": "k", "a": 1, "b": 1])
            try stack.root.save()
            // b is left at its default, 0: it was never set.
            other.make("Item", ["key": "k", "a": 2])
            try other.save()
            #expect(try stack.store.rowCount == 1 && stack.stored("Item", "a") == [AnyHashable(Int64(values[0]))])
            #expect(try stack.stored("Item", "b") == [AnyHashable(Int64(values[1]))])
            let left = try other.all("Item")
            #expect(left.map(\.objectID) == [first.objectID])
            #expect(left.first?.value(forKey: "a") as? Int == values[0])
            #expect(!other.hasChanges)
        }
    }

    // N24, GB15
    @Test func underTheErrorPolicyAPushedDuplicateIsRefusedNamingChildAndObjects() throws {
        let stack = TestStack()
        let middle = stack.child(of: stack.root, name: "middle"), worker = stack.child(of: middle, name: "worker 7")
        try holding(stack.root, middle, worker) { () throws in
            let first = middle.make("Item", ["key": "k"])
            middle.processPendingChanges()
            let second = worker.make("Item", ["key": "k"])
            worker.make("Item", ["key": "other"])
            let error = try #require(#expect(throws: NSError.self) { try worker.save() })
            #expect(error.code == 133021 && error.localizedDescription.contains("worker 7"))
            let list = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(list?.map(\.conflictingObjectIDs) == [[second.objectID]] && list?.first?.databaseObjectID == first.objectID)
            #expect(worker.hasChanges && worker.insertedObjects.count == 2)
            #expect(middle.insertedObjects == [first])
            second.setValue("l", forKey: "key")
            try worker.save()
            #expect(middle.insertedObjects.count == 3)
        }
    }

    // N24
    @Test func aDuplicateOfSomethingPendingInTheParentsParentIsFoundToo() throws {
        let stack = TestStack()
        let middle = stack.child(of: stack.root, name: "middle"), worker = stack.child(of: middle, name: "worker")
        holding(stack.root, middle, worker) {
            stack.root.make("Item", ["key": "k"])
            stack.root.processPendingChanges()
            worker.make("Item", ["key": "k"])
            let error = #expect(throws: NSError.self) { try worker.save() }
            #expect(error?.code == 133021)
        }
    }

    // N24, P13
    @Test(arguments: Self.others)
    func underOtherPoliciesAPushedDuplicateBecomesOneObject(_ policy: NSMergePolicy) throws {
        let stack = TestStack()
        stack.root.mergePolicy = policy
        let middle = stack.child(of: stack.root, name: "middle"), worker = stack.child(of: middle, name: "worker")
        try holding(stack.root, middle, worker) { () throws in
            let first = middle.make("Item", ["key": "k", "a": 1])
            middle.processPendingChanges()
            worker.make("Item", ["key": "k", "a": 2])
            try worker.save()
            #expect(try middle.all("Item").map(\.objectID) == [first.objectID])
            #expect(try worker.all("Item").map(\.objectID) == [first.objectID])
            try middle.save()
            try stack.root.save()
            let memoryWins = [.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType].contains(policy.mergeType)
            #expect(try stack.stored("Item", "a") == [AnyHashable(Int64(memoryWins ? 2 : 1))])
        }
    }

    // P13
    @Test func anUpsertThroughAChildUpdatesTheStoredRow() throws {
        let stack = TestStack()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let stored = stack.root.make("Item", ["key": "k", "a": 1, "b": 1])
            try stack.root.save()
            stack.coordinator.rowCache.removeAll()
            child.make("Item", ["key": "k", "a": 2])
            try child.save()
            try stack.root.save()
            #expect(try stack.store.rowCount == 1 && stack.stored("Item", "a") == [2] && stack.stored("Item", "b") == [1])
            #expect(try stack.independent().performAndWait { try stack.root.all("Item").map(\.objectID) } == [stored.objectID])
        }
    }

    // N24
    @Test func relationshipsOfTheLosingTwinGoToTheOwnerOfTheKey() throws {
        let stack = TestStack()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let looms = stack.root.make("Department", ["code": "L", "name": "Looms"])
            stack.root.processPendingChanges()
            child.make("Person", ["name": "Ada", "department": child.make("Department", ["code": "L", "name": "Looms again"])])
            try child.save()
            try stack.root.save()
            let departments = try stack.root.all("Department")
            #expect(departments == [looms])
            #expect((departments.first as? Department)?.employees.map(\.name) == ["Ada"])
        }
    }

    // P11
    @Test func aKeyGivenUpInTheSameSaveIsFree() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let first = stack.root.make("Item", ["key": "k"]), second = stack.root.make("Item", ["key": "l"])
            try stack.root.save()
            child.delete(child.object(with: first.objectID))
            child.object(with: second.objectID).setValue("k", forKey: "key")
            child.make("Item", ["key": "l"])
            try child.save()
            try stack.root.save()
            #expect(try Set(stack.stored("Item", "key")) == ["k", "l"])
        }
    }

    // P11: a key with a nil in it is no key.
    @Test func objectsWithoutAKeyDoNotCollide() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            child.make("Item")
            child.make("Item")
            try child.save()
            stack.root.make("Item")
            try stack.root.save()
            #expect(stack.store.rowCount == 3)
        }
    }
}
