import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Predicates that nest deeply, on threads with little stack.
struct PredicateDepthTests {
    /// A way to nest: `opening` and `closing` around `core`, so many times.
    struct Nesting: CustomTestStringConvertible, Sendable {
        let opening: String
        let core: String
        let closing: String
        var suffix = ""
        var testDescription: String { opening + core + closing }

        func text(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + core + String(repeating: closing, count: depth) + suffix
        }

        /// The deepest that the parser takes.
        func deepest() -> NSPredicate? {
            (1...101).reversed().lazy.compactMap { try? NSPredicate.parse(text($0)) }.first
        }
    }

    static let nestings = [
        Nesting(opening: "NOT ", core: "a == 1", closing: ""), Nesting(opening: "(", core: "a == 1", closing: ")"),
        Nesting(opening: "(", core: "a == 1", closing: " AND a != 7)"), Nesting(opening: "(a == 3 OR NOT ", core: "a == 1", closing: ")"),
        Nesting(opening: "", core: "1 == a", closing: " + a"), Nesting(opening: "1 == -(", core: "a", closing: ")"),
        Nesting(opening: "", core: "1 == a", closing: " ** 1"), Nesting(opening: "", core: "1 == pets", closing: "[0]"),
        Nesting(opening: "(a * ", core: "a", closing: ")", suffix: " == 1"), Nesting(opening: "abs(", core: "a", closing: ")", suffix: " == 1"),
        Nesting(opening: "TERNARY(a == 1, ", core: "a", closing: ", 2)", suffix: " == 1"),
        Nesting(opening: "TERNARY(", core: "a == 1", closing: ", 1, 2) == 1"),
        Nesting(opening: "{", core: "a", closing: "}", suffix: " == 1"), Nesting(opening: "{", core: "1", closing: "}", suffix: " == 1"),
        Nesting(opening: "SUBQUERY(pets, $x, ", core: "a == 1", closing: ").@count > 0"),
        Nesting(opening: "CAST(", core: "a", closing: ", 'NSNumber')", suffix: " == 1"),
        Nesting(opening: "FUNCTION(", core: "a", closing: ", 'intValue')", suffix: " == 1"),
        Nesting(opening: "", core: "1 IN pets", closing: " UNION pets"), Nesting(opening: "(", core: "1 IN pets", closing: " UNION pets)"),
        Nesting(opening: "(", core: "pets", closing: ").a", suffix: " == 1"),
    ]

    // Q1, Q12
    @Test(arguments: nestings)
    func theDeepestThatTheParserTakesFitsASmallStack(_ nesting: Nesting) throws {
        try onASmallStack { () throws in
            let predicate = try #require(nesting.deepest())
            let node = predicate.node
            let text = predicate.canonicalFormat
            // A chain of operators is printed with the parentheses that it stands for, which may be more than the parser takes.
            if let again = try? NSPredicate.parse(text) {
                #expect(again == predicate)
                #expect(predicate.hash == again.hash)
            }
            _ = predicate.copy()
            _ = NSCompoundPredicate(notPredicateWithSubpredicate: predicate).canonicalFormat
            _ = predicate.withSubstitutionVariables(["x": 1])
            _ = (node.freeVariables, node.keyPaths, node.containsOpaque, node.frozen())
            _ = predicate.evaluate(with: ["a": 1, "pets": [["a": 1]]])
        }
    }

    // F20, Q1
    @Test(arguments: nestings)
    func theDeepestThatTheParserTakesIsFetchedWithOrRefused(_ nesting: Nesting) throws {
        let model = Company.model()
        let file = try SQLiteStack(model), memory = TestStack(Company.model())
        for context in [file.root, memory.root] {
            try context.performAndWait { () throws in
                context.make("Item", ["key": "k", "a": 1])
                try context.save()
            }
        }
        try onASmallStack { () throws in
            let predicate = try #require(nesting.deepest())
            let text = predicate.canonicalFormat.replacing("pets", with: "a")
            for context in [file.root, memory.root] {
                context.performAndWait {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                    request.predicate = try? NSPredicate.parse(text)
                    do {
                        #expect(try context.fetch(request).count <= 1)
                    } catch let error as NSError {
                        #expect(error.code == 134060)
                    }
                }
            }
        }
    }

    /// `-(-(…(a)…))`, which code can nest as deep as it likes.
    private static func nested(_ count: Int) -> NSExpression {
        var expression = NSExpression(forKeyPath: "a")
        for _ in 0..<count {
            expression = NSExpression(forFunction: "from:subtract:", arguments: [NSExpression(forConstantValue: 0), expression])
        }
        return expression
    }

    private static func isOne(_ expression: NSExpression) -> NSComparisonPredicate {
        NSComparisonPredicate(leftExpression: expression, rightExpression: NSExpression(forConstantValue: 1), type: .equalTo)
    }

    // Q12
    @Test func expressionsThatCodeNestsAHundredThousandDeepAreRefusedAndOverflowNothing() throws {
        try onASmallStack { () throws in
            var ternary = Self.isOne(NSExpression(forKeyPath: "a"))
            for _ in 0..<300 {
                ternary = Self.isOne(
                    NSExpression(
                        forConditional: ternary, trueExpression: NSExpression(forConstantValue: 1), falseExpression: NSExpression(forConstantValue: 2)
                    ))
            }
            let deep = Self.isOne(Self.nested(100_000))
            for predicate in [deep, ternary] {
                #expect(throws: PredicateEvaluationError.tooDeep) { try predicate.holds(for: ["a": 1]) }
                #expect(predicate.canonicalFormat.contains("nests too deep"))
                _ = (predicate.hash, predicate.copy(), predicate == deep, predicate.node.frozen())
                _ = (predicate.leftExpression.expressionType, predicate.leftExpression.description)
            }
            #expect(throws: PredicateEvaluationError.tooDeep) { try Self.nested(1_000).value(for: ["a": 1]) }
            #expect(try Self.isOne(Self.nested(90)).holds(for: ["a": 1]))
        }
    }

    // F20, Q12
    @Test func whatNestsTooDeepIsAnErrorOfTheFetchThatNamesTheLimit() throws {
        let file = try SQLiteStack(), memory = TestStack()
        // Foundation's compounds are released level by level, on the stack of whoever releases them: this one is kept for good.
        var compound: NSPredicate = NSPredicate(format: "a == 1")
        for _ in 0..<100_000 { compound = NSCompoundPredicate(notPredicateWithSubpredicate: compound) }
        _ = Unmanaged.passRetained(compound)
        for context in [file.root, memory.root] {
            let predicates = [compound, Self.isOne(Self.nested(1_000))]
            try onASmallStack { () throws in
                context.performAndWait {
                    for predicate in predicates {
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                        request.predicate = predicate
                        let error = #expect(throws: NSError.self) { try context.fetch(request) }
                        #expect(error?.code == 134060)
                        #expect(error?.localizedDescription.contains("Item can't be fetched. The predicate nests more than 100 levels deep") == true)
                        #expect(throws: PredicateEvaluationError.tooDeep) { try predicate.holds(for: ["a": 1]) }
                    }
                }
            }
        }
    }

    // Q1
    @Test func theErrorNamesTheLimitAndThePlace() throws {
        let nots = #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(String(repeating: "NOT ", count: 60) + "a == 1") }
        #expect(nots?.expected == "at most 50 levels of nesting" && nots?.position == 200)
        let chain = #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("a == 1" + String(repeating: " + 1", count: 101)) }
        #expect(chain?.expected == "at most 100 operators between values" && chain?.position == 409)
        #expect(throws: PredicateFormatError.self) { try NSExpression.parse("a" + String(repeating: "[0]", count: 200)) }
    }

    // Q1
    @Test func operatorsOfOneComparisonDoNotCountForAnotherNorTwice() throws {
        let sum = "(a" + String(repeating: " + 1", count: 60) + ")"
        #expect(try NSPredicate.parse("\(sum) == 61").holds(for: ["a": 1]))
        #expect(try NSPredicate.parse(Array(repeating: "a + 1 == 2", count: 300).joined(separator: " AND ")).holds(for: ["a": 1]))
    }

    // Q1, Q12
    @Test func whatIsNestedIsLookedAtOnceALevel() throws {
        // Each of these took twice as long with every level.
        let stack = try SQLiteStack()
        let texts = [
            "a[" + String(repeating: "a[", count: 40) + "0" + String(repeating: "]", count: 40) + "] == nil",
            String(repeating: "CAST(", count: 45) + "a" + String(repeating: ", 'NSNumber')", count: 45) + " == 1",
            String(repeating: "(TERNARY(", count: 14) + "a == 1" + String(repeating: ", 1, 2) BETWEEN {1, 2})", count: 14),
            String(repeating: "TERNARY(", count: 22) + "a == 1" + String(repeating: ", 1, 2) IN {1, 3.5, a}", count: 22),
        ]
        try stack.root.performAndWait { () throws in
            stack.root.make("Item", ["key": "k", "a": 1])
            try stack.root.save()
            for text in texts {
                let predicate = try NSPredicate.parse(text)
                _ = try predicate.holds(for: ["a": 1])
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = predicate
                do { #expect(try stack.root.fetch(request).count == 1) } catch let error as NSError {
                    #expect(error.localizedDescription.contains("can't translate"), "\(error)")
                }
            }
        }
    }
}
