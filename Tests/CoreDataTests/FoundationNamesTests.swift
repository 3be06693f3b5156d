import CoreData
import Testing

/// `import CoreData` is all that a program needs to say.
@Suite struct FoundationNamesTests {
    // Of Foundation's names, and of those that both have: the ones of Core Data are meant.
    @Test func coreDataBringsFoundationAlong() throws {
        let url = URL(fileURLWithPath: "/tmp/a"), date = Date(timeIntervalSinceReferenceDate: 7), id = UUID()
        #expect(url.lastPathComponent == "a" && Data([1]).count == 1 && id == UUID(uuidString: id.uuidString))
        #expect(date.timeIntervalSinceReferenceDate == 7)
        let name = NSExpression(forKeyPath: "name"), value = NSExpression(forConstantValue: "b")
        let comparison = NSComparisonPredicate(leftExpression: name, rightExpression: value, modifier: .direct, type: .equalTo, options: [])
        #expect(comparison.evaluate(with: ["name": "b"]) && !comparison.evaluate(with: ["name": "c"]))
        let context = try Stack().root
        #expect(context.performAndWait { NSSortDescriptor(key: "name", ascending: true).ascending })
    }

    @Test func aRequestGoesToOneThatDoesNotSayWhatItFindsAndBack() throws {
        let typed = NSFetchRequest<NSManagedObject>(entityName: "Person")
        typed.predicate = NSPredicate(format: "name == 'a'")
        typed.fetchLimit = 3
        typed.affectedStores = []
        let any = NSFetchRequest<any NSFetchRequestResult>(typed), back = NSFetchRequest<NSManagedObject>(any)
        for request in [any, NSFetchRequest<any NSFetchRequestResult>(back)] {
            #expect(request.entityName == "Person" && request.fetchLimit == 3 && request.predicate == typed.predicate && request.affectedStores == [])
        }
        any.fetchLimit = 5
        #expect(typed.fetchLimit == 3 && back.fetchLimit == 3 && NSBatchDeleteRequest(fetchRequest: any).fetchRequest.fetchLimit == 5)
    }
}
