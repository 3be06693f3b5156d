import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct FetchedResultsControllerTests {
    // V1
    @Test func thereAreNoResultsBeforeTheFirstFetch() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "Ada"])
            let controller = stack.root.persons()
            #expect(controller.fetchedObjects == nil && controller.sections == nil && controller.sectionIndexTitles.isEmpty)
            try controller.performFetch()
            #expect(controller.names == ["Ada"])
        }
    }

    // V1
    @Test func withoutSectionsThereIsOneForEverything() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let controller = stack.root.persons()
            try controller.performFetch()
            #expect(controller.sections?.count == 1 && controller.sections?[0].numberOfObjects == 0 && controller.sections?[0].name == "")
            let sectioned = stack.root.persons(sort: ["nick"], sections: "nick")
            try sectioned.performFetch()
            #expect(sectioned.sections?.isEmpty == true)
        }
    }

    // V1
    @Test func indexTitlesAreTheCapitalisedFirstLetters() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for nick in ["ada", "al", "bob", "éa"] { stack.root.make("Person", ["nick": nick]) }
            stack.root.make("Person")
            let controller = stack.root.persons(sort: ["nick"], sections: "nick")
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["", "ada", "al", "bob", "éa"])
            #expect(controller.sections?.map(\.indexTitle) == [nil, "A", "A", "B", "É"])
            #expect(controller.sectionIndexTitles == ["A", "B", "É"])
            #expect(controller.sectionIndexTitle(forSectionName: "xyz") == "X")
            #expect(controller.section(forSectionIndexTitle: "A", at: 0) == 1 && controller.section(forSectionIndexTitle: "É", at: 2) == 4)
        }
    }

    private final class Titles: NSFetchedResultsControllerDelegate {
        func controller(_ controller: AnyController, sectionIndexTitleForSectionName sectionName: String) -> String? { "<\(sectionName)>" }
    }

    private final class OwnTitles: NSFetchedResultsController<NSManagedObject> {
        override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "own" }
    }

    // V1
    @Test func theDelegateOrASubclassNamesTheIndexTitles() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["nick": "ada"])
            let titles = Titles()
            let controller = stack.root.persons(sort: ["nick"], sections: "nick")
            controller.delegate = titles
            try controller.performFetch()
            #expect(controller.sectionIndexTitles == ["<ada>"] && controller.sections?[0].indexTitle == "<ada>")
            let own = OwnTitles(
                fetchRequest: controller.fetchRequest, managedObjectContext: stack.root, sectionNameKeyPath: "nick", cacheName: nil)
            try own.performFetch()
            #expect(own.sectionIndexTitles == ["own"] && own.sections?[0].indexTitle == "own")
        }
    }

    // V1
    @Test func sectionsAreNamedByTheirValueAsText() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let sales = stack.root.make("Department", ["name": "Sales", "budget": 1.5])
            stack.root.make("Person", ["age": 7, "department": sales])
            stack.root.make("Person", ["age": 30])
            let byAge = stack.root.persons(sort: ["age"], sections: "age")
            try byAge.performFetch()
            #expect(byAge.sections?.map(\.name) == ["7", "30"])
            let byDepartment = stack.root.persons(sort: ["department.name", "name"], sections: "department.name")
            try byDepartment.performFetch()
            #expect(byDepartment.sections?.map(\.name) == ["", "Sales"])
            let byBudget = stack.root.persons(sort: ["department.budget"], sections: "department.budget")
            try byBudget.performFetch()
            #expect(byBudget.sections?.map(\.name) == ["", "1.5"])
        }
    }

    // V1
    @Test func aTransientPropertyMayNameTheSections() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for name in ["Bob", "Ada", "Al"] { stack.root.make("Person", ["name": name, "note": String(name.prefix(1))]) }
            let controller = stack.root.persons(sections: "note")
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["A", "B"] && controller.sections?.map(\.numberOfObjects) == [2, 1])
        }
    }

    // V1
    @Test func objectsThatAreNotSortedByTheirSectionsAreRefused() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for (name, nick) in [("Ada", "x"), ("Bob", "y"), ("Cid", "x")] { stack.root.make("Person", ["name": name, "nick": nick]) }
            let controller = stack.root.persons(sections: "nick")
            let error = #expect(throws: NSError.self) { try controller.performFetch() }
            #expect(error?.code == 134060 && controller.fetchedObjects == nil)
            let byRelationship = stack.root.persons(sections: "department")
            #expect(throws: NSError.self) { try byRelationship.performFetch() }
        }
    }

    // V1
    @Test func aChangedRequestTakesEffectWithTheNextFetch() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for name in ["Ada", "Bob"] { stack.root.make("Person", ["name": name]) }
            let controller = stack.root.persons()
            try controller.performFetch()
            controller.fetchRequest.predicate = NSPredicate(format: "name == 'Bob'")
            #expect(controller.names == ["Ada", "Bob"])
            try controller.performFetch()
            #expect(controller.names == ["Bob"])
        }
    }

    // V1
    @Test func idsCanBeTheResults() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"])
            try stack.root.save()
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: stack.root, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects == [ada.objectID])
            #expect(controller.indexPath(forObject: ada.objectID) == IndexPath(row: 0, section: 0))
        }
    }

    // V1: objects are made when they are asked for, and then stay the same ones.
    @Test func onlyWhatIsAskedForIsMade() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for number in 0..<20 { stack.root.make("Person", ["name": "\(number)", "nick": "\(number % 3)"]) }
            try stack.root.save()
            stack.root.reset()
            let controller = stack.root.persons(sort: ["nick", "name"], sections: "nick")
            try controller.performFetch()
            #expect(controller.sections?.map(\.numberOfObjects) == [7, 7, 6] && stack.root.registeredObjects.isEmpty)
            let first = ObjectIdentifier(controller.object(at: IndexPath(row: 0, section: 0)))
            #expect(stack.root.registeredObjects.count == 1)
            #expect(ObjectIdentifier(controller.object(at: IndexPath(row: 0, section: 0))) == first)
        }
    }

    // V1: where the sort keys lie across a relationship, the other rows come with one request.
    @Test func rowsThatTheSortKeysGoOverAreReadTogether() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for number in 0..<10 {
                stack.root.make("Person", ["name": "\(number)", "department": stack.root.make("Department", ["name": "d\(number)"])])
            }
            try stack.root.save()
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let controller = stack.root.persons(sort: ["department.name"], sections: "department.name")
            // The store in memory sorts by asking for each row itself; those requests are not the controller's.
            let requests = try stack.requests { try controller.performFetch() }
            #expect(requests.filter { if case .fetch = $0 { true } else { false } }.count == 1)
            #expect(controller.sections?.count == 10)
        }
    }

    // V5
    @Test func aCacheNameChangesNothing() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            stack.root.make("Person", ["name": "Ada"])
            let request = stack.root.persons().fetchRequest
            for _ in 0..<2 {
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: stack.root, sectionNameKeyPath: nil, cacheName: "people")
                try controller.performFetch()
                #expect(controller.cacheName == "people" && controller.names.contains("Ada"))
                stack.root.make("Person", ["name": "Bob"])
                NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "people")
                try controller.performFetch()
                #expect(controller.names.contains("Bob"))
            }
        }
    }

    @Test func indexPathsHaveASectionAndARow() {
        var path = IndexPath(row: 3, section: 1)
        #expect(path.section == 1 && path.row == 3 && path.item == 3 && path == IndexPath(item: 3, section: 1) && path.count == 2)
        path.section = 4
        path.item = 5
        #expect(path == IndexPath(row: 5, section: 4))
        path.row = 6
        #expect(path.row == 6 && IndexPath(row: 9, section: 0) < IndexPath(row: 0, section: 1))
    }

    // V1, E2
    @Test func aControllerWithoutSortDescriptorsStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait {
                _ = NSFetchedResultsController(
                    fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Person"), managedObjectContext: stack.root, sectionNameKeyPath: nil,
                    cacheName: nil)
            }
        }.trap(says: "needs a request with sort descriptors")
    }

    // V1, E2
    @Test func aControllerOfDictionariesStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let request = NSFetchRequest<NSDictionary>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            request.resultType = .dictionaryResultType
            _ = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: stack.root, sectionNameKeyPath: nil, cacheName: nil)
        }.trap(says: "yields objects or object IDs")
    }

    // V1, E2
    @Test func anIndexPathOutsideOfTheResultsStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            try stack.root.performAndWait { () throws in
                let controller = stack.root.persons()
                try controller.performFetch()
                _ = controller.object(at: IndexPath(row: 0, section: 0))
            }
        }.trap(says: "no object at index path [0, 0]")
    }

    // V1, E2
    @Test func anUnknownIndexTitleStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            try stack.root.performAndWait { () throws in
                let controller = stack.root.persons()
                try controller.performFetch()
                _ = controller.section(forSectionIndexTitle: "Q", at: 0)
            }
        }.trap(says: "has the index title \"Q\"")
    }
}
