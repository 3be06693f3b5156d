import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct FetchTests {
    /// Five items stored (a = 1…5), in a context on whose queue `body` runs.
    private func items(_ body: (TestStack, [NSManagedObject]) throws -> Void) throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let items = (1...5).map { stack.root.make("Item", ["key": "k\($0)", "a": $0]) }
            try stack.root.save()
            try body(stack, items)
        }
    }

    private func request(_ format: String? = nil, sort: String? = "a") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    private func numbers(_ objects: [NSManagedObject]) -> [Int] { objects.compactMap { $0.value(forKey: "a") as? Int } }

    // F1
    @Test func theDefaultsOfARequest() {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        #expect(request.predicate == nil && request.sortDescriptors == nil && request.entityName == "Item")
        #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
        #expect(request.resultType == .managedObjectResultType && request.includesSubentities && request.includesPropertyValues)
        #expect(request.returnsObjectsAsFaults && request.includesPendingChanges && !request.returnsDistinctResults)
        #expect(!request.shouldRefreshRefetchedObjects)
    }

    // F3
    @Test func withoutPendingChangesMembershipIsByStoredValues() throws {
        try items { (stack, items) throws in
            items[0].setValue(50, forKey: "a")
            stack.root.delete(items[1])
            stack.root.make("Item", ["a": 2])
            let request = request("a <= 2")
            request.includesPendingChanges = false
            let found = try stack.root.fetch(request)
            #expect(found == [items[0], items[1]])
            #expect(numbers(found) == [50, 2])
        }
    }

    // F4
    @Test func theResultTypes() throws {
        #expect(NSFetchRequestResultType.managedObjectResultType.rawValue == 0 && NSFetchRequestResultType.countResultType.rawValue == 4)
        #expect(NSFetchRequestResultType.managedObjectIDResultType.rawValue == 1)
        #expect(NSFetchRequestResultType.dictionaryResultType.rawValue == 2)
        try items { (stack, items) throws in
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = [NSSortDescriptor(key: "a", ascending: false)]
            #expect(try stack.root.fetch(ids) == items.reversed().map(\.objectID))
            let count = NSFetchRequest<NSNumber>(entityName: "Item")
            count.resultType = .countResultType
            #expect(try stack.root.fetch(count) == [5])
        }
    }

    // F5
    @Test func dictionariesShowTheStoreOnly() throws {
        try items { (stack, items) throws in
            items[0].setValue(50, forKey: "a")
            stack.root.make("Item", ["a": 60])
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)]
            let found = try stack.root.fetch(request)
            #expect(found.map { $0["a"] as? Int } == [1, 2, 3, 4, 5])
            #expect(Set(found[0].allKeys.compactMap { $0 as? String }) == ["key", "a", "b", "c"])
            request.propertiesToFetch = ["key"]
            #expect(try stack.root.fetch(request).first as? [String: String] == ["key": "k1"])
        }
    }

    // F5
    @Test func aToOneColumnYieldsAnObjectID() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let looms = Department(context: stack.root)
            Person(context: stack.root).department = looms
            try stack.root.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Person")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["department"]
            #expect(try stack.root.fetch(request).first?["department"] as? NSManagedObjectID == looms.objectID)
        }
    }

    // F6
    @Test func countsIncludePendingChanges() throws {
        try items { (stack, items) throws in
            #expect(try stack.root.count(for: request()) == 5)
            stack.root.delete(items[0])
            stack.root.make("Item", ["a": 7])
            stack.root.make("Item", ["a": 8])
            #expect(try stack.root.count(for: request()) == 6)
            #expect(try stack.root.count(for: request("a > 4")) == 3)
        }
    }

    // F8, N28, GB38
    @Test func theWindowIsCutFromTheMergedResult() throws {
        try items { (stack, items) throws in
            func window(_ offset: Int, _ limit: Int) throws -> [Int] {
                let request = request()
                request.fetchOffset = offset
                request.fetchLimit = limit
                return try numbers(stack.root.fetch(request))
            }
            #expect(try window(1, 2) == [2, 3])
            stack.root.delete(items[0])
            items[2].setValue(10, forKey: "a")
            stack.root.make("Item", ["a": 0])
            // 0, 2, 4, 5, 10
            #expect(try window(0, 2) == [0, 2])
            #expect(try window(1, 3) == [2, 4, 5])
            #expect(try window(4, 3) == [10])
            #expect(try window(3, 0) == [5, 10])
            #expect(try window(9, 2) == [])
        }
    }

    // F8
    @Test func aWindowInAChildCountsTheParentsPendingChanges() throws {
        try items { (stack, items) throws in
            let child = stack.child(of: stack.root)
            items[1].setValue(-1, forKey: "a")
            stack.root.processPendingChanges()
            try child.performAndWait { () throws in
                child.make("Item", ["a": -2])
                let request = request()
                request.fetchLimit = 3
                #expect(try numbers(child.fetch(request)) == [-2, -1, 1])
            }
        }
    }

    // F9
    @Test func fetchedObjectsAreFaultsWhoseValuesAreAtHand() throws {
        try items { (stack, _) throws in
            stack.root.reset()
            let found = try stack.root.fetch(request())
            #expect(!found.contains { !$0.isFault })
            let requests = stack.requests { #expect(numbers(found) == [1, 2, 3, 4, 5]) }
            #expect(requests.isEmpty)
            stack.root.reset()
            let realised = request()
            realised.returnsObjectsAsFaults = false
            #expect(try stack.root.fetch(realised).allSatisfy { !$0.isFault })
        }
    }

    // F9
    @Test func faultsThatWereThereBeforeAreRealisedToo() throws {
        try items { (stack, _) throws in
            stack.root.reset()
            let faults = try stack.root.fetch(request())
            #expect(!faults.contains { !$0.isFault })
            let realised = request()
            realised.returnsObjectsAsFaults = false
            #expect(try stack.root.fetch(realised).allSatisfy { !$0.isFault })
            #expect(!faults.contains { $0.isFault })
            for fault in faults { stack.root.refresh(fault, mergeChanges: false) }
            #expect(try stack.root.fetch(realised).allSatisfy { !$0.isFault })
        }
    }

    // F15
    @Test func theEntityOfARequestByNameIsKnownOnceItWasExecuted() async throws {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSFetchRequest<NSManagedObject>(entityName: "Item").entity
        }.trap(says: "is not known until the request is executed")
        let request = request()
        #expect(request.entityName == "Item")
        // In each model it is that model's.
        for stack in [TestStack(), TestStack()] {
            try stack.root.performAndWait { () throws in
                stack.root.make("Item", ["a": 1])
                #expect(try stack.root.fetch(request).count == 1)
            }
            #expect(request.entity === stack.coordinator.managedObjectModel.entitiesByName["Item"])
        }
    }

    // F18
    @Test func subentitiesCanBeLeftOut() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            _ = Person(context: stack.root)
            _ = Engineer(context: stack.root)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            for _ in 0..<2 {
                request.includesSubentities = true
                #expect(try stack.root.count(for: request) == 2)
                request.includesSubentities = false
                #expect(try stack.root.fetch(request).map { $0.entity.name } == ["Person"])
                try stack.root.save()
            }
        }
    }

    // F20
    @Test func aFetchThatCannotBeAnsweredThrows() throws {
        let empty = NSManagedObjectContext(.privateQueueConcurrencyType)
        empty.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        empty.performAndWait {
            #expect(throws: NSError.self) { try empty.fetch(request()) }
            #expect(throws: NSError.self) { try empty.fetch(NSFetchRequest<NSManagedObject>(entityName: "Nobody")) }
        }
    }
}
