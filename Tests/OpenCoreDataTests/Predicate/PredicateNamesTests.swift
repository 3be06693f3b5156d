import OpenCoreData
import Testing

/// That this file compiles is the test: it imports Foundation and OpenCoreData and names every type and initialiser.
struct PredicateNamesTests {
    // 0.1, 0.2, GB40
    @Test func foundationsNamesAreUnambiguousBesideOurs() {
        let varied: NSPredicate = NSPredicate(format: "age >= %d AND name == %@", 18, "Ann")
        let arrayed: NSPredicate = NSPredicate(format: "name == %@", argumentArray: ["Ann"])
        let bare = NSPredicate(format: "name == nil")
        let compound: NSCompoundPredicate = NSCompoundPredicate(andPredicateWithSubpredicates: [varied, arrayed])
        let negated = NSCompoundPredicate(notPredicateWithSubpredicate: bare)
        let descriptor: NSSortDescriptor = NSSortDescriptor(key: "name", ascending: true)
        let person: [String: Any] = ["name": "Ann", "age": 20]

        #expect(compound.evaluate(with: person))
        #expect(negated.evaluate(with: person))
        #expect(descriptor.key == "name")
    }

    // 0.3
    @Test func ourTypesAreNamedWhereFoundationComesAlong() {
        let path: NSExpression = NSExpression(forKeyPath: "age")
        let comparison: NSComparisonPredicate = NSComparisonPredicate(
            leftExpression: path, rightExpression: NSExpression(forConstantValue: 3), modifier: .direct, type: .lessThan, options: [])
        let type: NSComparisonPredicate.Operator = comparison.predicateOperatorType

        #expect(type == .lessThan)
        #expect(comparison.evaluate(with: ["age": 2]))
    }

    // Q1
    @Test func aPredicateFromAFormatFiltersFoundationsCollections() {
        let people = NSArray(array: [["age": 1], ["age": 5]] as [[String: Any]])

        #expect(people.filtered(using: NSPredicate(format: "age > 3")).count == 1)
    }

    // Q1
    @Test func aParsedComparisonIsAComparisonAndAParsedConjunctionIsACompound() throws {
        let comparison = try #require(NSPredicate(format: "a ==[c] 'x'") as? NSComparisonPredicate)
        let compound = try #require(NSPredicate(format: "a == 1 OR b == 2") as? NSCompoundPredicate)

        #expect(comparison.leftExpression.keyPath == "a")
        #expect(comparison.options == .caseInsensitive)
        #expect(compound.compoundPredicateType == .or)
        #expect(compound.subpredicates.count == 2)
        #expect(NSCompoundPredicate(format: "a == 1 OR b == 2").subpredicates.count == 2)
    }

    // Q1
    @Test func aMalformedFormatStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "age >")
        }.trap(says: "predicate format, character 6: expected")
    }

    // Q1
    @Test func aVariableWithoutAValueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "age > $LIMIT").evaluate(with: ["age": 1])
        }.trap(says: "variable $LIMIT has no value")
    }
}
