import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Composite attributes in requests.
// A9
@Suite struct CompositeFetchingTests {
    private let fixture: MigrationFixture

    init() throws { fixture = try MigrationFixture() }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType], [true, false])
    func elementsAreAskedForByTheirPaths(type: String, isSaved: Bool) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: Quakes.entities()))
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: fixture.directory.appendingPathComponent("store"), options: nil)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let a = context.quake("a", ["richter": 5.5, "scale": "MW", "felt": ["reports": 3]])
            let b = context.quake("b", ["richter": 3, "scale": "ML"])
            let c = context.quake("c", nil)
            let region = context.make("Region", ["name": "r"])[0]
            region.setValue(Set([a, c]), forKey: "quakes")
            context.make("Region", ["name": "s"])[0].setValue(Set([b]), forKey: "quakes")
            if isSaved {
                try context.save()
                context.reset()
            }
            #expect(try context.found("magnitude.richter > 4") == ["a"])
            #expect(try context.found("magnitude.richter > '2'") == ["a", "b"])
            #expect(try context.found("%K == %@", "magnitude.scale", "ML") == ["b"])
            #expect(try context.found("magnitude.felt.reports == 3") == ["a"])
            #expect(try context.found("magnitude == nil") == ["c"])
            #expect(try context.found("magnitude != nil AND magnitude.felt == nil") == ["b"])
            #expect(try context.found("NOT (nil == magnitude)") == ["a", "b"])
            #expect(try context.found("magnitude.scale.length == 2") == ["a", "b"])
            #expect(try context.found("region.quakes.@max.magnitude.richter > 5") == ["a", "c"])
            #expect(try context.found("ANY quakes.magnitude.richter > 4", entity: "Region", key: "name") == ["r"])
            #expect(try context.found("quakes.@sum.magnitude.richter == 3", entity: "Region", key: "name") == ["s"])
            #expect(
                try context.found("SUBQUERY(quakes, $q, $q.magnitude.richter > 4 AND $q.magnitude != nil).@count == 1", entity: "Region", key: "name")
                    == ["r"])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Quake")
            request.sortDescriptors = [NSSortDescriptor(key: "magnitude.richter", ascending: false)]
            #expect(try context.fetch(request).map { $0.value(forKey: "code") as? String } == ["a", "b", "c"])
            #expect(NSPredicate(format: "magnitude.richter > 4").evaluate(with: try context.all("Quake", by: "code")[0]))
        }
    }

    @Test(arguments: ["magnitude == 5", "magnitude.mercalli > 1", "magnitude.felt IN {1}", "ANY region.quakes.magnitude > 1"])
    func aFetchSaysWhatItIsNot(format: String) throws {
        try fixture.open(Quakes.entities()) { context in
            let error = try #require(#expect(throws: NSError.self) { try context.found(format) })
            #expect(error.code == 134_060)
            #expect(error.localizedDescription.contains("magnitude"), "\(error.localizedDescription)")
        }
    }

    @Test func dictionariesHaveItWholeOrByElement() throws {
        try fixture.open(Quakes.entities()) { context in
            let a = context.quake("a", ["richter": 5.5, "scale": "MW", "felt": ["reports": 3]])
            _ = context.quake("b", ["richter": 3, "scale": "MW"])
            _ = context.quake("c", nil)
            context.make("Region", ["name": "r"])[0].setValue(Set([a]), forKey: "quakes")
            try context.save()
            func dictionaries(_ properties: [Any]?, grouped: [Any]? = nil) throws -> [[String: Any]] {
                let request = NSFetchRequest<NSDictionary>(entityName: "Quake")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = properties
                request.propertiesToGroupBy = grouped
                request.sortDescriptors = grouped == nil ? [NSSortDescriptor(key: "code", ascending: true)] : []
                return try context.fetch(request).map { try #require($0 as? [String: Any]) }
            }
            let elements = try dictionaries(["code", "magnitude.richter"])
            #expect(elements[0]["magnitude.richter"] as? Double == 5.5 && elements[2].keys.sorted() == ["code"])
            let whole = try dictionaries(["magnitude"])
            #expect((whole[0]["magnitude"] as? [String: Any])?["richter"] as? Double == 5.5 && whole[2].isEmpty)
            #expect(((whole[0]["magnitude"] as? [String: Any])?["felt"] as? [String: Any])?["reports"] as? Int == 3)
            #expect(try dictionaries(nil)[1].keys.sorted() == ["code", "magnitude"])
            let sum = NSExpressionDescription()
            sum.name = "sum"
            sum.expression = NSExpression(format: "sum:(magnitude.richter)")
            let groups = try dictionaries(["magnitude.scale", sum], grouped: ["magnitude.scale"])
            #expect(groups.contains { $0["magnitude.scale"] as? String == "MW" && $0["sum"] as? Double == 8.5 })
        }
    }

    @Test func sectionsAreNamedByAnElement() throws {
        try fixture.open([Quakes.entity()]) { context in
            _ = context.quake("a", ["richter": 5, "scale": "MW"])
            _ = context.quake("b", ["richter": 3, "scale": "ML"])
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Quake")
            request.sortDescriptors = [NSSortDescriptor(key: "magnitude.scale", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "magnitude.scale", cacheName: nil)
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["ML", "MW"])
            try context.all("Quake", by: "code")[0].setValue("ML", forKeyPath: "magnitude.scale")
            try controller.performFetch()
            #expect(controller.sections?.map(\.numberOfObjects) == [2])
        }
    }
}
