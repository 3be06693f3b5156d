import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Properties whose value is a fetch.
@Suite struct FetchedPropertyTests {
    /// Persons that know their namesakes, and who is older; tagged by the property's user info.
    private static func model(_ format: String = "name == $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE") -> NSManagedObjectModel {
        let person = Company.entity("Person"), city = Company.entity("City")
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        let namesakes = NSFetchedPropertyDescription()
        namesakes.name = "namesakes"
        namesakes.fetchRequest = request
        namesakes.userInfo = ["age": 30]
        person.properties = [Company.attribute("name", .string), Company.attribute("age", .integer64, default: 0), namesakes]
        city.properties = [Company.attribute("name", .string)]
        Company.relate(city, "people", many: true, person, "city", many: false)
        return NSManagedObjectModel(entities: [person, city])
    }

    private func ages(_ object: NSManagedObject) -> [Int] {
        (object.value(forKey: "namesakes") as? [NSManagedObject] ?? []).compactMap { $0.value(forKey: "age") as? Int }
    }

    // R10
    @Test func itIsEvaluatedOnFirstUseAndKeptUntilARefresh() throws {
        let stack = TestStack(Self.model())
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person", ["name": "Ada", "age": 1])
            stack.root.make("Person", ["name": "Ada", "age": 5])
            stack.root.make("Person", ["name": "Bob", "age": 6])
            try stack.root.save()
            let first = stack.requests { #expect(ages(ada) == [5]) }
            #expect(first.map(\.kind) == ["fetch"])
            stack.root.make("Person", ["name": "Ada", "age": 3])
            let second = stack.requests { #expect(ages(ada) == [5]) }
            #expect(second.isEmpty)
            stack.root.refresh(ada, mergeChanges: true)
            #expect(ages(ada) == [3, 5])
            try stack.root.save()
            stack.root.make("Person", ["name": "Ada", "age": 2])
            #expect(ages(ada) == [3, 5])
            stack.root.refresh(ada, mergeChanges: false)
            #expect(ages(ada) == [2, 3, 5])
        }
    }

    // R10
    @Test func anUnsavedObjectIsASourceWithTheValuesItHas() throws {
        let stack = TestStack(Self.model())
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "Ada", "age": 5])
            try stack.root.save()
            let new = stack.root.make("Person", ["name": "Bob"])
            #expect(ages(new).isEmpty)
            new.setValue("Ada", forKey: "name")
            stack.root.refresh(new, mergeChanges: true)
            #expect(ages(new) == [5])
        }
    }

    // N29, GB22, R10
    @Test func inAChildTheSourceIsTheChildsObject() throws {
        let stack = try SQLiteStack(Self.model())
        let child = stack.child(of: stack.root)
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person", ["name": "Ada", "age": 1])
            stack.root.make("Person", ["name": "Bob", "age": 7])
            try stack.root.save()
            stack.root.make("Person", ["name": "Bob", "age": 8])
            stack.root.processPendingChanges()
            try child.performAndWait { () throws in
                let mine = try child.existingObject(with: ada.objectID)
                mine.setValue("Bob", forKey: "name")
                child.make("Person", ["name": "Bob", "age": 9])
                let found = try #require(mine.value(forKey: "namesakes") as? [NSManagedObject])
                #expect(found.compactMap { $0.value(forKey: "age") as? Int } == [7, 8, 9])
                #expect(found.allSatisfy { $0.managedObjectContext === child })
            }
            #expect(ages(ada).isEmpty)
        }
    }

    // R10
    @Test(arguments: [
        "city == $FETCH_SOURCE.city", "city.name == $FETCH_SOURCE.city.name", "$FETCH_SOURCE.city == city AND SELF IN $FETCH_SOURCE.city.people",
    ])
    func theSourcesRelationshipsMayBeNamed(format: String) throws {
        let stack = try SQLiteStack(Self.model(format))
        try stack.root.performAndWait { () throws in
            let paris = stack.root.make("City", ["name": "Paris"]), rome = stack.root.make("City", ["name": "Rome"])
            let ada = stack.root.make("Person", ["age": 1])
            for (age, city) in [(2, paris), (3, rome), (4, paris)] { stack.root.make("Person", ["age": age]).setValue(city, forKey: "city") }
            ada.setValue(paris, forKey: "city")
            #expect(ages(ada) == [1, 2, 4])
            try stack.root.save()
            stack.root.refresh(ada, mergeChanges: false)
            #expect(ages(ada) == [1, 2, 4])
        }
    }

    // R10
    @Test func theDescriptionItselfIsAVariable() throws {
        let stack = try SQLiteStack(Self.model("age > $FETCHED_PROPERTY.userInfo.age AND $FETCHED_PROPERTY.name == 'namesakes'"))
        try stack.root.performAndWait { () throws in
            for age in [29, 30, 31, 40] { stack.root.make("Person", ["age": age]) }
            try stack.root.save()
            #expect(ages(stack.root.make("Person")) == [31, 40])
        }
    }

    // R10, A2
    @Test func inAModelInUseTheRequestIsACopy() throws {
        let model = Self.model()
        let property = try #require(model.entitiesByName["Person"]?.propertiesByName["namesakes"] as? NSFetchedPropertyDescription)
        let request = try #require(property.fetchRequest)
        let stack = TestStack(model)
        request.predicate = NSPredicate(value: false)
        property.fetchRequest?.fetchLimit = 1
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"])
            for age in [4, 5] { stack.root.make("Person", ["name": "Ada", "age": age]) }
            #expect(ages(ada) == [4, 5])
        }
    }

    // R10, A10
    @Test func theFetchIsPartOfTheVersionHash() {
        func hash(_ change: (NSFetchRequest<any NSFetchRequestResult>) -> Void) -> Data? {
            let model = Self.model(), person = model.entitiesByName["Person"]
            if let property = person?.propertiesByName["namesakes"] as? NSFetchedPropertyDescription, let request = property.fetchRequest {
                change(request)
            }
            return person?.versionHash
        }
        let plain = hash { _ in }
        #expect(plain == hash { _ in })
        #expect(plain != hash { $0.predicate = NSPredicate(format: "name == 'x=y'") })
        #expect(plain != hash { $0.sortDescriptors = nil })
        #expect(plain != hash { $0.fetchLimit = 3 })
    }

    // A2, E2, R10
    @Test func aFetchedPropertyCannotBeSetNorItsRequestReplacedInUse() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(FetchedPropertyTests.model())
            stack.root.performAndWait { stack.root.make("Person").setValue([NSManagedObject](), forKey: "namesakes") }
        }.trap(says: "Person.namesakes is a fetched property")
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(FetchedPropertyTests.model())
            let property = stack.coordinator.managedObjectModel.entitiesByName["Person"]?.propertiesByName["namesakes"]
            (property as? NSFetchedPropertyDescription)?.fetchRequest = nil
        }.trap(says: "can't change property Person.namesakes")
    }

    // A1, R10
    @Test func aFetchFromAnEntityThatIsNotThereStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let entity = Company.entity("Person"), property = NSFetchedPropertyDescription()
            property.name = "others"
            property.fetchRequest = NSFetchRequest(entityName: "Nobody")
            entity.properties = [property]
            _ = TestStack(NSManagedObjectModel(entities: [entity]))
        }.trap(says: "the model can't be used: fetched property Person.others")
    }
}
