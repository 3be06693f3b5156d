import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Copies of requests say what the original says, and are changed apart from it.
@Suite struct RequestCopyTests {
    @Test func aCopyOfAFetchRequestHasEverySetting() throws {
        let stack = TestStack(), request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.affectedStores = stack.coordinator.persistentStores
        request.predicate = NSPredicate(format: "age > 1")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = 3
        request.fetchOffset = 4
        request.fetchBatchSize = 5
        request.resultType = .managedObjectIDResultType
        request.includesSubentities = false
        request.includesPropertyValues = false
        request.returnsObjectsAsFaults = false
        request.includesPendingChanges = false
        request.returnsDistinctResults = true
        request.shouldRefreshRefetchedObjects = true
        request.propertiesToFetch = ["name"]
        request.relationshipKeyPathsForPrefetching = ["department"]
        request.propertiesToGroupBy = ["age"]
        request.havingPredicate = NSPredicate(format: "age > 2")
        // Whatever a request has, a copy has: what is added to the class is found here.
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        #expect(words(copy) == words(request) && copy !== request)
        #expect(words(copy).allSatisfy { $0.value != words(NSFetchRequest<NSManagedObject>())[$0.key] })
        copy.fetchLimit = 7
        copy.predicate = nil
        #expect(request.fetchLimit == 3 && request.predicate != nil)
    }

    @Test func copiesOfOtherRequestsHaveTheirSettings() throws {
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.predicate = NSPredicate(format: "age > 1")
        update.propertiesToUpdate = ["age": 1]
        update.includesSubentities = false
        update.resultType = .updatedObjectsCountResultType
        let updated = try #require(update.copy() as? NSBatchUpdateRequest)
        #expect(words(updated) == words(update) && updated.entityName == "Person")
        let insert = NSBatchInsertRequest(entityName: "Person", objects: [["age": 1]])
        insert.resultType = .count
        let inserted = try #require(insert.copy() as? NSBatchInsertRequest)
        #expect(inserted.resultType == .count && inserted.entityName == "Person" && inserted.objectsToInsert?.count == 1)
        let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Person"))
        delete.resultType = .resultTypeCount
        let deleted = try #require(delete.copy() as? NSBatchDeleteRequest)
        #expect(deleted.resultType == .resultTypeCount && deleted.fetchRequest.entityName == "Person" && deleted.fetchRequest !== delete.fetchRequest)
        let date = Date(timeIntervalSinceReferenceDate: 1), history = NSPersistentHistoryChangeRequest.deleteHistory(before: date)
        let old = try #require(history.copy() as? NSPersistentHistoryChangeRequest)
        #expect(old.resultType == .statusOnly && words(old) == words(history))
        let fetch = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Person")) { _ in }
        fetch.estimatedResultCount = 9
        let fetched = try #require(fetch.copy() as? NSAsynchronousFetchRequest<NSManagedObject>)
        #expect(fetched.estimatedResultCount == 9 && fetched.completionBlock != nil && fetched.fetchRequest.entityName == "Person")
    }

    /// The stored properties of a request by their names.
    private func words(_ request: NSPersistentStoreRequest) -> [String: String] {
        var found: [String: String] = [:], mirror: Mirror? = Mirror(reflecting: request)
        while let current = mirror {
            for child in current.children where child.label != "storedEntity" { found[child.label ?? "?"] = "\(child.value)" }
            mirror = current.superclassMirror
        }
        return found
    }

    @Test func aCoordinatorExecutesARequestOnWhatItsStoresHold() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            stack.root.make("Item", ["a": 1])
            try stack.root.save()
            stack.root.make("Item", ["a": 2])
            let found = try stack.coordinator.execute(NSFetchRequest<NSManagedObject>(entityName: "Item"), with: stack.root) as? [NSManagedObject]
            #expect(found?.map { $0.value(forKey: "a") as? Int } == [1])
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["b": 5]
            #expect(try stack.coordinator.execute(update, with: stack.root) is NSBatchUpdateResult)
            let other = TestStack()
            let error = #expect(throws: (any Error).self) { try other.coordinator.execute(update, with: stack.root) } as NSError?
            #expect(error?.code == 134091)
        }
    }

    @Test func objectsThatAreNoneOfTheResultTypeAreAnErrorAndNotLeftOut() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "Ada"])
            stack.root.make("Engineer", ["name": "Bob"])
            #expect(try stack.root.fetch(NSFetchRequest<Person>(entityName: "Person")).count == 2)
            #expect(try stack.root.fetch(NSFetchRequest<Engineer>(entityName: "Engineer")).count == 1)
            let request = NSFetchRequest<Engineer>(entityName: "Person")
            #expect(try stack.root.count(for: request) == 2)
            let error = #expect(throws: (any Error).self) { try stack.root.fetch(request) } as NSError?
            #expect(error?.code == 134060 && error?.localizedDescription.contains("includesSubentities") == true)
            let numbers = NSFetchRequest<NSNumber>(entityName: "Person")
            #expect(throws: (any Error).self) { try stack.root.fetch(numbers) }
            numbers.resultType = .countResultType
            #expect(try stack.root.fetch(numbers) == [2])
        }
    }
}
