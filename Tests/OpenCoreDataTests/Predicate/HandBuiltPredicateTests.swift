import OpenCoreData
import Testing

struct HandBuiltPredicateTests {
    private func comparison(
        _ left: NSExpression, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
        modifier: NSComparisonPredicate.Modifier = .direct, options: NSComparisonPredicate.Options = []
    ) -> NSComparisonPredicate {
        NSComparisonPredicate(leftExpression: left, rightExpression: right, modifier: modifier, type: type, options: options)
    }

    // Q12
    @Test func aTreeBuiltByHandEqualsTheParsedOne() throws {
        let age = comparison(NSExpression(forKeyPath: "age"), .greaterThan, NSExpression(forConstantValue: 5))
        let name = comparison(
            NSExpression(forKeyPath: "name"), .beginsWith, NSExpression(forConstantValue: "x"),
            options: [.caseInsensitive, .diacriticInsensitive])
        let pets = comparison(NSExpression(forKeyPath: "pets.age"), .equalTo, NSExpression(forVariable: "AGE"), modifier: .any)
        let built = NSCompoundPredicate(orPredicateWithSubpredicates: [
            NSCompoundPredicate(andPredicateWithSubpredicates: [age, NSCompoundPredicate(notPredicateWithSubpredicate: name)]), pets,
            NSPredicate(value: false),
        ])

        #expect(built.node == (try node("(age > 5 AND NOT name BEGINSWITH[cd] 'x') OR ANY pets.age == $AGE OR FALSEPREDICATE")))
    }

    // Q12
    @Test func expressionsBuiltByHandEqualTheParsedOnes() throws {
        func same(_ expression: NSExpression, _ format: String) throws {
            #expect(expression == (try NSExpression.parse(format)), "\(expression) and \(format)")
        }
        let a = NSExpression(forKeyPath: "a")
        let b = NSExpression(forKeyPath: "b.@sum.c")
        try same(NSExpression.expressionForEvaluatedObject(), "SELF")
        try same(b, "b.@sum.c")
        try same(NSExpression(forVariable: "X"), "$X")
        try same(NSExpression(forConstantValue: nil), "nil")
        try same(NSExpression(forAggregate: [1, 2]), "{1, 2}")
        try same(NSExpression(forAggregate: [a, 2]), "{a, 2}")
        try same(NSExpression(forFunction: "sum:", arguments: [a]), "sum(a)")
        try same(NSExpression(forFunction: "add:to:", arguments: [a, NSExpression(forConstantValue: 1)]), "a + 1")
        try same(NSExpression(forFunction: a, selectorName: "uppercaseString", arguments: nil), "FUNCTION(a, 'uppercaseString')")
        try same(NSExpression(forUnionSet: a, with: b), "a UNION b.@sum.c")
        try same(NSExpression(forIntersectSet: a, with: b), "a INTERSECT b.@sum.c")
        try same(NSExpression(forMinusSet: a, with: b), "a MINUS b.@sum.c")
        try same(
            NSExpression(forSubquery: a, usingIteratorVariable: "x", predicate: NSPredicate(format: "$x.y == 1")),
            "SUBQUERY(a, $x, $x.y == 1)")
        try same(
            NSExpression(forConditional: NSPredicate(format: "a == 1"), trueExpression: a, falseExpression: b),
            "TERNARY(a == 1, a, b.@sum.c)")
        try same(NSExpression(format: "%K + %d", "a", 1), "a + 1")
        try same(NSExpression.expressionForAnyKey(), "ANYKEY")
    }

    // Q12
    @Test func thePartsOfAnExpressionCanBeRead() throws {
        let subquery = NSExpression(format: "SUBQUERY(pets, $x, $x.age > 1)")
        #expect(subquery.expressionType == .subquery)
        #expect((subquery.collection as? NSExpression)?.keyPath == "pets")
        #expect(subquery.variable == "x")
        #expect(subquery.predicate.canonicalFormat == "$x.age > 1")
        let sum = NSExpression(format: "a + 5")
        #expect(sum.expressionType == .function && sum.function == "add:to:")
        #expect(sum.arguments?.first?.keyPath == "a")
        #expect(sum.arguments?.last?.constantValue as? Int64 == 5)
        #expect(NSExpression(format: "{1, a}").expressionType == .aggregate)
        #expect((NSExpression(format: "{1, a}").collection as? [NSExpression])?.count == 2)
        let union = NSExpression(format: "a UNION b")
        #expect(union.expressionType == .unionSet && union.left.keyPath == "a" && union.right.keyPath == "b")
        let ternary = NSExpression(format: "TERNARY(a == 1, 'y', 'n')")
        #expect(ternary.true.constantValue as? String == "y" && ternary.false.constantValue as? String == "n")
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        #expect(NSExpression(forKeyPath: "a").expressionType.rawValue == 3)
    }

    // Q12
    @Test func thePartsOfAComparisonCanBeRead() throws {
        let predicate = try #require(NSPredicate(format: "ALL a.b <=[cd] 'x'") as? NSComparisonPredicate)
        #expect(predicate.leftExpression.keyPath == "a.b" && predicate.rightExpression.constantValue as? String == "x")
        #expect(predicate.comparisonPredicateModifier == .all && predicate.predicateOperatorType == .lessThanOrEqualTo)
        #expect(predicate.options == [.caseInsensitive, .diacriticInsensitive])
        #expect(NSComparisonPredicate.Operator.contains.rawValue == 99 && NSComparisonPredicate.Operator.between.rawValue == 100)
    }

    // Q12
    @Test func foundationsCompoundsEvaluateOurParts() {
        let built = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "a == $A"),
            NSCompoundPredicate(orPredicateWithSubpredicates: [NSPredicate(format: "b == 2"), NSPredicate(value: false)]),
        ])
        #expect(built.evaluate(with: ["a": 1, "b": 2], substitutionVariables: ["A": 1]))
        #expect(!built.evaluate(with: ["a": 1, "b": 3], substitutionVariables: ["A": 1]))
        #expect(built.withSubstitutionVariables(["A": 1]).evaluate(with: ["a": 1, "b": 2]))
        #expect(built.canonicalFormat == "a == $A AND (b == 2 OR FALSEPREDICATE)")
    }

    // Q12
    @Test func aCompoundOfOneIsThatOneAndOfNoneAConstant() throws {
        let one = NSPredicate(format: "a == 1")
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [one]).node == one.node)
        #expect(NSCompoundPredicate(orPredicateWithSubpredicates: [one]).node == one.node)
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: []).node == .constant(true))
        #expect(NSCompoundPredicate(orPredicateWithSubpredicates: []).node == .constant(false))
        #expect(NSPredicate(value: true).node == .constant(true))
    }

    // Q17
    @Test func blocksAreEvaluatedAndOtherwiseUnknown() throws {
        let block = NSPredicate { object, _ in (object as? [String: Any])?["a"] as? Int == 1 }
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [block, NSPredicate(format: "b == 2")])

        #expect(block.node.containsOpaque && both.node.containsOpaque && !NSPredicate(format: "b == 2").node.containsOpaque)
        #expect(try both.node.evaluate(["a": 1, "b": 2]))
        #expect(try !both.node.evaluate(["a": 2, "b": 2]))
        #expect(NSPredicate.make(both.node).evaluate(with: ["a": 1, "b": 2]))
        #expect(
            NSPredicate(format: "SUBQUERY(a, $x, %@ == 1).@count == 0", NSExpression(block: { _, _, _ in 1 }, arguments: nil)).node
                .containsOpaque)
    }

    // Q10
    @Test func expressionsOfCodeAreGivenTheObjectTheirArgumentsAndTheVariables() {
        let expression = NSExpression(
            block: { object, arguments, context in
                (arguments[0] as? Int64 ?? 0) + (context?["N"] as? Int64 ?? 0) + ((object as? [String: Int])?["b"].map { Int64($0) } ?? 0)
            }, arguments: [NSExpression(forKeyPath: "a")])
        #expect(expression.expressionValue(with: ["a": 1, "b": 10], context: ["N": 100]) as? Int64 == 111)
        #expect(NSPredicate(format: "%@ == 11", expression).evaluate(with: ["a": 1, "b": 10]))
    }

    // Q12
    @Test func theKeyPathsOfAPredicateAreKnown() throws {
        let paths = try node("a.b == 1 AND ANY c.d == e OR SUBQUERY(f, $x, $x.g == h).@count > 0").keyPaths.map(\.description)
        #expect(paths == ["a.b", "c.d", "e", "f", "h"])
    }

    // Q7
    @Test func aNodeCrossesConcurrencyDomains() async throws {
        let node = try node("a == 1")
        let answer = try await Task.detached { try node.evaluate(["a": 1]) }.value
        #expect(answer)
    }

    @Test func expressionsWithoutPartsAreMadeByTheirTypeAndBlocksAreReadBack() {
        #expect(NSExpression(expressionType: .evaluatedObject).expressionValue(with: 7, context: nil) as? Int64 == 7)
        #expect(NSExpression(expressionType: .anyKey).expressionType == .anyKey)
        let block = NSExpression(block: { object, _, _ in (object as? Int ?? 0) + 1 }, arguments: nil)
        #expect(block.expressionBlock(1, [], nil) as? Int == 2)
        #expect(block.copy() as? NSExpression === block)
    }
}
