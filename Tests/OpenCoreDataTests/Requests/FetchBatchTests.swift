import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// `fetchBatchSize`: identities at once, values batch by batch.
@Suite struct FetchBatchTests {
    private func request(_ size: Int, _ format: String? = nil, ascending: Bool = true) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.fetchBatchSize = size
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: ascending)]
        return request
    }

    private func number(_ object: NSManagedObject) -> Int { object.value(forKey: "a") as? Int ?? -1 }

    // F11
    @Test func eachBatchIsOneQueryWhenItsFirstObjectIsUsed() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(100)
        try stack.root.performAndWait { () throws in
            var found: [NSManagedObject] = []
            try stack.expect(selects: 1) { found = try stack.root.fetch(request(10)) }
            #expect(found.count == 100 && found.allSatisfy { $0.isFault })
            stack.expect(selects: 1) { #expect(number(found[42]) == 42) }
            stack.expect(selects: 0) { #expect(found[40..<50].map(number) == Array(40..<50)) }
            // What was not touched is not in memory: not in the cache, and it takes a query each to come.
            #expect(found.count { stack.coordinator.rowCache[$0.objectID] != nil } == 10)
            stack.expect(selects: 9) { #expect(found.map(number) == Array(0..<100)) }
        }
    }

    // F11
    @Test func theLastBatchMayBeShort() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(25)
        try stack.root.performAndWait { () throws in
            let found = try stack.root.fetch(request(10, "a >= 2", ascending: false))
            stack.expect(selects: 3) { #expect(found.map(number) == Array((2..<25).reversed())) }
        }
    }

    // F11
    @Test func identitiesAndOrderAreFixedWhenFetched() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(20)
        let other = NSManagedObjectContext(.privateQueueConcurrencyType)
        other.persistentStoreCoordinator = stack.coordinator
        try stack.root.performAndWait { () throws in
            let found = try stack.root.fetch(request(5)), ids = found.map(\.objectID)
            try other.performAndWait { () throws in
                try other.existingObject(with: ids[7]).setValue(1000, forKey: "a")
                other.delete(other.object(with: ids[8]))
                other.make("Item", ["key": "new", "a": 3])
                try other.save()
            }
            #expect(found.map(\.objectID) == ids)
            #expect(found[5...7].map(number) == [5, 6, 1000])
            #expect(found[8].value(forKey: "key") == nil && found[8].isDeleted)
            #expect(found[9...].map(number) == Array(9..<20))
        }
    }

    // N28, GB19
    @Test(arguments: 0..<4) func batchesWorkInAChildAtAnyDepthOverUnsavedChangesOfEveryLevel(depth: Int) throws {
        let stack = try SQLiteStack()
        try stack.makeItems(100)
        var contexts = [stack.root]
        for _ in 0..<depth { contexts.append(stack.child(of: contexts[contexts.count - 1])) }
        var expected = Array(0..<100)
        for (level, context) in contexts.enumerated() {
            try context.performAndWait { () throws in
                context.make("Item", ["a": 200 - level])
                let moved = try #require(try context.all("Item", "a == \(10 * level + 5)").first)
                moved.setValue(1000 + level, forKey: "a")
                context.delete(try #require(try context.all("Item", "a == \(10 * level + 6)").first))
                context.processPendingChanges()
            }
            expected.removeAll { $0 == 10 * level + 5 || $0 == 10 * level + 6 }
            expected += [200 - level, 1000 + level]
        }
        expected.sort()
        stack.coordinator.rowCache.removeAll()
        let deepest = contexts[depth]
        try deepest.performAndWait { () throws in
            var found: [NSManagedObject] = []
            try stack.expect(selects: 1) { found = try deepest.fetch(request(10)) }
            #expect(found.count == expected.count)
            #expect(stack.coordinator.rowCache[found[0].objectID] == nil)
            stack.expect(selects: 1) { #expect(found[0..<10].map(number) == Array(expected[0..<10])) }
            #expect(found[20..<30].allSatisfy { $0.isFault })
            let reads = stack.selects { #expect(found.map(number) == expected) }
            #expect(reads <= (expected.count + 9) / 10)
        }
    }

    // N28, F8
    @Test func aWindowOverUnsavedChangesIsCutBeforeTheBatches() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(50)
        try stack.root.performAndWait { () throws in
            stack.root.make("Item", ["a": -1])
            let request = request(4)
            request.fetchOffset = 3
            request.fetchLimit = 10
            #expect(try stack.root.fetch(request).map(number) == Array(2..<12))
        }
    }

    // F11
    @Test func theBatchIsRealisedTogetherWhereFaultsAreNotWanted() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(20)
        try stack.root.performAndWait { () throws in
            let request = request(5)
            request.returnsObjectsAsFaults = false
            let found = try stack.root.fetch(request)
            #expect(number(found[6]) == 6)
            #expect(found.map(\.isFault) == (0..<20).map { !(5..<10).contains($0) })
        }
    }

    // F11, L13
    @Test func aRefreshedObjectIsLoadedAlone() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(20)
        try stack.root.performAndWait { () throws in
            let found = try stack.root.fetch(request(5))
            stack.root.refresh(found[1], mergeChanges: false)
            stack.expect(selects: 1) { #expect(number(found[1]) == 1) }
            stack.expect(selects: 1) { #expect(found[0..<5].map(number) == Array(0..<5)) }
        }
    }

    // F7, F11, N28
    @Test(arguments: 1..<13) func unsavedObjectsStandWhereTheStoreWouldPutThem(seed: Int) throws {
        let stack = try SQLiteStack()
        var random = SeededRandom(seed: seed)
        let names = ["a", "A", "b", "B", "é", "e\u{301}", "", "aa", "Z", nil]
        func values() -> [String: Any] {
            var values: [String: Any] = ["age": random.next(upTo: 4)]
            values["nick"] = random.element(names).flatMap { $0 }
            return values
        }
        let child = stack.child(of: stack.root)
        try stack.root.performAndWait { () throws in
            for _ in 0..<60 { stack.root.make("Person", values()) }
            try stack.root.save()
            func edit(_ context: NSManagedObjectContext) throws {
                for person in try context.all("Person") {
                    switch random.next(upTo: 8) {
                    case 0: context.delete(person)
                    case 1: for (key, value) in values() { person.setValue(value, forKey: key) }
                    case 2: context.make("Engineer", values())
                    default: break
                    }
                }
                context.processPendingChanges()
            }
            try edit(stack.root)
            try child.performAndWait { () throws in
                try edit(child)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.sortDescriptors = [
                    NSSortDescriptor(key: "nick", ascending: random.next(upTo: 2) == 0, selector: seed % 2 == 0 ? .caseInsensitiveCompare : .compare),
                    NSSortDescriptor(key: "age", ascending: false),
                ]
                request.fetchBatchSize = random.next(upTo: 2) * 7
                request.fetchOffset = random.next(upTo: 5)
                request.fetchLimit = random.next(upTo: 2) * 30
                let unsaved = try child.fetch(request).map(\.objectID)
                try child.save()
                try stack.root.save()
                #expect(try stack.root.fetch(request).map(\.objectID) == unsaved)
            }
        }
    }

    // F21
    @Test func withoutPropertyValuesTheFaultsHaveNoRows() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(5)
        try stack.root.performAndWait { () throws in
            let request = request(0)
            request.includesPropertyValues = false
            let found = try stack.root.fetch(request)
            #expect(found.allSatisfy { $0.isFault })
            stack.expect(selects: 5) { #expect(found.map(number) == Array(0..<5)) }
        }
    }

    // F19
    @Test func identitiesAreSortedWithTheUnsavedOnesInPlace() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(30)
        try stack.root.performAndWait { () throws in
            let middle = stack.root.make("Item", ["a": 15]), last = stack.root.make("Item", ["a": 99])
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = [NSSortDescriptor(key: "a", ascending: false)]
            let found = try stack.root.fetch(ids)
            #expect(found.first == last.objectID && found.count == 32)
            #expect(found.firstIndex(of: middle.objectID) == 16)
            // The others were put in order without being loaded.
            #expect(found.count { stack.coordinator.rowCache[$0] != nil } == 0)
        }
    }

    // F14
    @Test func onlyTheStoresThatAreAskedAnswer() throws {
        let model = Company.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let first = InMemoryStore(entities: model.entities), second = InMemoryStore(entities: model.entities)
        coordinator.add(first)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            context.make("Item", ["a": 1])
            try context.save()
            coordinator.add(second)
            context.make("Item", ["a": 2])
            let request = request(0)
            request.affectedStores = [first]
            #expect(try context.fetch(request).map(number) == [1, 2])
            request.affectedStores = [second]
            #expect(try context.fetch(request).isEmpty)
            #expect(try context.count(for: request) == 0)
            request.affectedStores = nil
            #expect(try context.fetch(request).map(number) == [1, 2])
        }
    }
}
