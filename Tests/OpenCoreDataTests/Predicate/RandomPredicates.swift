import OpenCoreData

/// Trees of every kind of node in its normal form, and objects that have their keys, from a seed.
struct RandomPredicates {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func predicate(depth: Int) -> PredicateNode {
        switch depth > 0 ? Int.random(in: 0..<12, using: &random) : 11 {
        case 0: .constant(Bool.random(using: &random))
        case 1, 2: .and(predicates(depth: depth - 1))
        case 3, 4: .or(predicates(depth: depth - 1))
        case 5, 6: .not(predicate(depth: depth - 1))
        default: .comparison(comparison(depth: depth))
        }
    }

    private mutating func predicates(depth: Int) -> [PredicateNode] {
        (0..<Int.random(in: 2...4, using: &random)).map { _ in predicate(depth: depth) }
    }

    private mutating func comparison(depth: Int) -> PredicateComparison {
        let types: [NSComparisonPredicate.Operator] = [
            .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .matches, .like, .beginsWith,
            .endsWith,
            .in, .contains, .between,
        ]
        let type = types.randomElement(using: &random)!
        let right: ExpressionNode =
            switch type {
            case .between: .braces([expression(depth: 1), expression(depth: 1)])
            case .in: .braces((0..<Int.random(in: 0...4, using: &random)).map { _ in expression(depth: 1) })
            case .matches: .constant(.string(["a.*", "[a-c]+", "é?"].randomElement(using: &random)!))
            case .like: .constant(.string(["a*", "?b*", "\\*", "é"].randomElement(using: &random)!))
            default: expression(depth: depth - 1)
            }
        return PredicateComparison(
            left: expression(depth: depth - 1), right: right, modifier: [.direct, .direct, .any, .all].randomElement(using: &random)!,
            type: type, options: NSComparisonPredicate.Options(rawValue: [0, 0, 1, 2, 3, 4, 8, 11].randomElement(using: &random)!))
    }

    mutating func expression(depth: Int) -> ExpressionNode {
        switch depth > 0 ? Int.random(in: 0..<20, using: &random) : Int.random(in: 0..<10, using: &random) {
        case 0..<5: return .constant(constant())
        case 5: return .evaluatedObject
        case 6: return .variable("v")
        case 7..<10: return .keyPath(path())
        case 10: return .keyPathOf(.variable("v"), path())
        case 11:
            let place: PredicateIndex = [.first, .last, .size, .element(expression(depth: 0))].randomElement(using: &random)!
            return .index(expression(depth: depth - 1), place)
        case 12: return .braces((0..<3).map { _ in expression(depth: depth - 1) })
        case 13, 14:
            let name = ["add:to:", "from:subtract:", "multiply:by:", "divide:by:", "raise:toPower:", "modulus:by:"].randomElement(
                using: &random)!
            return .function(name, [expression(depth: depth - 1), expression(depth: depth - 1)])
        case 15:
            let name = ["sum:", "count:", "min:", "max:", "average:", "abs:", "uppercase:", "floor:"].randomElement(using: &random)!
            return .function(name, [expression(depth: depth - 1)])
        case 16:
            let query = ExpressionNode.subquery(
                collection: .keyPath(path()), variable: "x",
                predicate: .comparison(
                    PredicateComparison(left: .keyPathOf(.variable("x"), path()), right: .constant(constant()), type: .equalTo)))
            return query.appending(PredicateKeyPath(steps: [.collectionOperator(.count)]))
        case 17:
            let operation: SetOperation = [.union, .intersect, .minus].randomElement(using: &random)!
            return .setOperation(operation, expression(depth: depth - 1), expression(depth: depth - 1))
        case 18: return .conditional(predicate(depth: 1), expression(depth: depth - 1), expression(depth: depth - 1))
        default: return .cast(.keyPath(path()), ["NSNumber", "NSString", "NSDate"].randomElement(using: &random)!)
        }
    }

    private mutating func path() -> PredicateKeyPath {
        let texts = ["a", "b", "s", "list", "in", "o.a", "pets.a", "pets.@sum.a", "pets.@count", "list.@max", "o.pets.s", "no key"]
        return PredicateKeyPath(texts.randomElement(using: &random)!)!
    }

    private mutating func constant() -> PredicateValue {
        switch Int.random(in: 0..<14, using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2...5: .integer(Int64.random(in: -2...3, using: &random))
        case 6: .double(Double(Int.random(in: -4...4, using: &random)) / 2)
        case 7: .decimal(Decimal(Int.random(in: -30...30, using: &random)) / 10)
        case 8: .date(Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random)))
        case 9: .data(Data((0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }))
        case 10: .collection(PredicateCollection([.integer(1), .string("a"), .null], kind: .array))
        default: .string(["", "a", "A", "é", "É", "ab", "%@", "%%", "\"'\\", "x\ny"].randomElement(using: &random)!)
        }
    }

    mutating func object() -> [String: Any] {
        var object: [String: Any] = [:]
        for key in ["a", "b", "s", "in"] where Int.random(in: 0..<4, using: &random) > 0 { object[key] = constant() }
        if Bool.random(using: &random) { object["list"] = [1, 2, 3] }
        if Bool.random(using: &random) { object["o"] = ["a": 1, "pets": [["s": "a"]]] as [String: Any] }
        object["pets"] = (0..<Int.random(in: 0...3, using: &random)).map { ["a": $0, "s": "é"] as [String: Any] }
        return object
    }

    /// The same tree of Foundation's compounds and constants, and our comparisons.
    static func byHand(_ node: PredicateNode) -> NSPredicate {
        switch node {
        case .constant(let value): NSPredicate(value: value)
        case .and(let children): NSCompoundPredicate(andPredicateWithSubpredicates: children.map(byHand))
        case .or(let children): NSCompoundPredicate(orPredicateWithSubpredicates: children.map(byHand))
        case .not(let child): NSCompoundPredicate(notPredicateWithSubpredicate: byHand(child))
        case .comparison(let comparison):
            NSComparisonPredicate(
                leftExpression: NSExpression(comparison.left), rightExpression: NSExpression(comparison.right),
                modifier: comparison.modifier, type: comparison.type, options: comparison.options)
        case .opaque(let opaque): opaque.predicate
        }
    }
}
