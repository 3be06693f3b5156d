import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Sums of integers at the ends of what 64 bits hold.
@Suite struct IntegerSumTests {
    private static func model() -> NSManagedObjectModel {
        let number = NSEntityDescription(), group = NSEntityDescription()
        number.name = "Number"
        group.name = "Group"
        let members = NSRelationshipDescription(name: "numbers", destination: number, toMany: true)
        let owner = NSRelationshipDescription(name: "group", destination: group, toMany: false)
        members.inverseRelationship = owner
        owner.inverseRelationship = members
        number.properties = [NSAttributeDescription(name: "value", type: .integer64), NSAttributeDescription(name: "real", type: .double), owner]
        group.properties = [NSAttributeDescription(name: "name", type: .string), members]
        return NSManagedObjectModel(entities: [number, group])
    }

    private func total(_ context: NSManagedObjectContext, as type: NSAttributeType, _ function: String = "sum:", key: String = "value") throws -> Any?
    {
        let column = NSExpressionDescription()
        column.name = "total"
        column.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
        column.expressionResultType = type
        let request = NSFetchRequest<NSDictionary>(entityName: "Number")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [column]
        return try context.fetch(request).first?["total"]
    }

    /// Contexts over a file and over memory with the same numbers.
    private func both(_ values: [Int64], _ body: (NSManagedObjectContext, String) throws -> Void) throws {
        let file = try SQLiteStack(Self.model()), memory = TestStack(Self.model())
        for (context, name) in [(file.root, "file"), (memory.root, "memory")] {
            try context.performAndWait { () throws in
                let group = context.make("Group", ["name": "all"])
                for value in values { context.make("Number", ["value": value, "real": Double(value)]).setValue(group, forKey: "group") }
                try context.save()
                try body(context, "\(name) \(values)")
            }
        }
        withExtendedLifetime((file, memory)) {}
    }

    // F12
    @Test(arguments: 0..<60) func aSumOfIntegersIsExactWhateverTheOrderAndNeverAnotherNumber(_ seed: Int) throws {
        var random = SeededRandom(seed: seed)
        let ends: [Int64] = [.max, .min, .max - 1, .min + 1, 1, -1, 0, 1 << 62, -(1 << 62), 1 << 53, 42]
        let values = (0..<random.next(upTo: 6)).compactMap { _ in random.element(ends) }
        let exact = values.reduce(Int128(0)) { $0 + Int128($1) }
        try both(values) { context, name throws in
            let plain = try total(context, as: .undefinedAttributeType)
            let real = try total(context, as: .doubleAttributeType) as? Double
            #expect(real == Double(exact), "\(name)")
            if let whole = Int64(exactly: exact) {
                #expect(plain as? Int64 == whole, "\(name)")
                #expect(try total(context, as: .integer64AttributeType) as? Int64 == whole, "\(name)")
            } else {
                #expect(plain as? Double == Double(exact), "\(name)")
                let error = #expect(throws: (any Error).self, "\(name)") { try total(context, as: .integer64AttributeType) } as NSError?
                #expect(error?.code == 134060 && error?.localizedDescription.contains("total") == true, "\(name)")
            }
            // The objects of a context are reckoned in memory.
            let members = try context.all("Group").first?.value(forKeyPath: "numbers.@sum.value") as? NSNumber
            #expect(members?.doubleValue == Double(exact), "\(name)")
        }
    }

    // F12
    @Test func aRealThatIsBeyondAnyIntegerIsNotMadeOne() throws {
        try both([.max, .max]) { context, name throws in
            #expect(throws: (any Error).self, "\(name)") { try total(context, as: .integer64AttributeType, key: "real") }
            #expect(throws: (any Error).self, "\(name)") { try total(context, as: .integer16AttributeType, key: "real") }
            #expect(throws: (any Error).self, "\(name)") { try total(context, as: .integer64AttributeType, "average:") }
        }
        try both([7, 8]) { context, name throws in
            #expect(try total(context, as: .integer64AttributeType, "average:") as? Int64 == 7, "\(name)")
        }
    }

    // F12
    @Test func groupsThatAreNotWantedNeedNotFit() throws {
        try both([.max, .max]) { context, name throws in
            let column = NSExpressionDescription()
            column.name = "total"
            column.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "value")])
            column.expressionResultType = .integer64AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Number")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column, "group.name"]
            request.propertiesToGroupBy = ["group.name"]
            request.havingPredicate = NSPredicate(format: "$total < 10")
            #expect(try context.fetch(request).isEmpty, "\(name)")
        }
    }
}
