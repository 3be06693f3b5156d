public import Foundation

/// One side of a comparison, or what a fetch computes.
///
/// Foundation on Linux has a class of this name that cannot be made, so the type is ours. A call, `NSExpression(forKeyPath:)`, finds the
/// right one by itself; a file that writes the name of the type leaves out `import Foundation`, which comes along with this module anyway.
// Unchecked: it can't be changed, and the one subclass has no properties.
public class NSExpression: NSObject, NSCopying, @unchecked Sendable {
    /// The kinds of expressions, with Apple's raw values. The kind decides which parts can be read.
    public enum ExpressionType: UInt, Sendable {
        /// A literal or `%@`; a collection of values counts as `aggregate`.
        case constantValue = 0
        /// `SELF`: whatever object it is evaluated for.
        case evaluatedObject = 1
        /// `$name`: takes its value when it is evaluated, and traps or throws without one.
        case variable = 2
        /// A path from the evaluated object, such as `author.name`.
        case keyPath = 3
        /// A function such as `sum:`; an index, a cast, or a path from another expression as well.
        case function = 4
        /// `UNION`: the elements of either side, each once.
        case unionSet = 5
        /// `INTERSECT`: the elements that both sides have, each once.
        case intersectSet = 6
        /// `MINUS`: the elements that only the left side has, each once.
        case minusSet = 7
        /// `SUBQUERY`: the elements of a collection for which a predicate holds.
        case subquery = 13
        /// Values or expressions in braces.
        case aggregate = 14
        /// `ANYKEY`, which has a meaning only in metadata queries: its value here is nil.
        case anyKey = 15
        /// Code, which no SQL store can evaluate; also what stands for an expression that nests too deep.
        case block = 19
        /// `TERNARY`: one of two expressions, as a predicate chooses.
        case conditional = 20
        /// A fetch: an `NSFetchRequestExpression`, whose kind Apple names by the constant `NSFetchRequestExpressionType`.
        case fetchRequest = 50
    }

    /// The expression as a value.
    package let node: ExpressionNode

    package init(_ node: ExpressionNode) {
        self.node = node
    }

    /// The expression of a node, of the class that such expressions have.
    static func make(_ node: ExpressionNode) -> NSExpression { node.fetch?.receiver.expression(of: node) ?? NSExpression(node) }

    /// An expression made by hand. One that nests too deep is replaced by what says so when it is evaluated or fetched with: nothing could be done
    /// with it, not even release it, without overflowing the stack.
    private convenience init(limiting node: ExpressionNode) {
        self.init(node.limited)
    }

    /// The expression that the text says; traps when it is none. See `parse(_:arguments:)`.
    public convenience init(format: String, _ arguments: Any?...) {
        self.init(format: format, anyArguments: arguments)
    }

    /// The same with the arguments in an array.
    public convenience init(format: String, argumentArray: [Any]) {
        self.init(format: format, anyArguments: argumentArray)
    }

    private convenience init(format: String, anyArguments: [Any?]) {
        do {
            self.init(try PredicateParser.expression(format, arguments: anyArguments))
        } catch {
            PredicateViolations.malformedFormat(error)
            self.init(.unanswerable(.malformedFormat(error.description)))
        }
    }

    /// The expression that the text says, for text that may be wrong.
    ///
    /// - Throws: `PredicateFormatError`, which names the place and what was expected there.
    public static func parse(_ format: String, arguments: [Any?] = []) throws(PredicateFormatError) -> NSExpression {
        NSExpression(try PredicateParser.expression(format, arguments: arguments))
    }

    // MARK: - By hand

    /// A constant. Numbers, strings, dates and the like compare by value, objects by identity; not-a-number becomes nil.
    public convenience init(forConstantValue value: Any?) {
        self.init(.constant(PredicateValue(value)))
    }

    /// Traps when the text is no key path.
    public convenience init(forKeyPath keyPath: String) {
        guard let path = PredicateKeyPath(keyPath) else { PredicateViolations.malformedKeyPath(keyPath) }
        self.init(.keyPath(path))
    }

    /// `$name`: the name comes without the dollar sign, the value when the expression is evaluated.
    public convenience init(forVariable name: String) {
        self.init(.variable(name))
    }

    /// `SELF`: whatever object the expression is evaluated for.
    public static func expressionForEvaluatedObject() -> NSExpression {
        NSExpression(.evaluatedObject)
    }

    /// `ANYKEY`, which only metadata queries give a meaning: here its value is nil.
    public static func expressionForAnyKey() -> NSExpression {
        NSExpression(.anyKey)
    }

    /// The expression of a kind that has no parts: `evaluatedObject` or `anyKey`. Traps for the others, which have initialisers of their own.
    public convenience init(expressionType type: ExpressionType) {
        switch type {
        case .evaluatedObject: self.init(.evaluatedObject)
        case .anyKey: self.init(.anyKey)
        default: Violation.misuse("an expression of the type \(type) has parts: make it with the initialiser that takes them")
        }
    }

    /// Expressions, or values, in braces.
    public convenience init(forAggregate elements: [Any]) {
        self.init(limiting: .braces(elements.map(Self.node)))
    }

    /// A function by its full name, `sum:`; the arguments are expressions or values. Traps when there is none of that name.
    public convenience init(forFunction name: String, arguments: [Any]) {
        guard let function = PredicateFunction(name), function.argumentCount == arguments.count else {
            PredicateViolations.unknownFunction(name, argumentCount: arguments.count)
        }
        self.init(limiting: .function(name, arguments.map(Self.node)))
    }

    /// `FUNCTION(target, 'selector', …)`, for the selectors it knows, and for any of a variable: what that stands for may answer, as the manager of a
    /// migration does. Traps for others: there is no Objective-C to send them to.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
        let arguments = arguments ?? []
        guard target.node.argumentCount(of: name) == arguments.count else {
            PredicateViolations.unknownFunction(name, argumentCount: arguments.count)
        }
        self.init(limiting: .message(target.node, name, arguments.map(Self.node)))
    }

    /// `left UNION right`: the elements of either, each once.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(limiting: .setOperation(.union, left.node, right.node))
    }

    /// `left INTERSECT right`: the elements of the left that the right has too, each once.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(limiting: .setOperation(.intersect, left.node, right.node))
    }

    /// `left MINUS right`: the elements of the left that the right does not have, each once.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(limiting: .setOperation(.minus, left.node, right.node))
    }

    /// The elements of a collection for which the predicate holds; `variable`, without the dollar sign, stands for the element.
    public convenience init(forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate) {
        self.init(limiting: .subquery(collection: expression.node, variable: variable, predicate: predicate.node))
    }

    /// `TERNARY(predicate, a, b)`: evaluates only the expression that the predicate chooses.
    public convenience init(forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression) {
        self.init(limiting: .conditional(predicate.node, trueExpression.node, falseExpression.node))
    }

    /// Code, which memory can evaluate and no SQL store can. It is given the object, the values of the arguments, and the variables.
    public convenience init(
        block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
    ) {
        self.init(limiting: .opaque(OpaqueExpression(block: block, arguments: (arguments ?? []).map(\.node))))
    }

    private static func node(_ element: Any) -> ExpressionNode {
        (element as? NSExpression)?.node ?? .constant(PredicateValue(element))
    }

    // MARK: - Evaluation and identity

    /// The value of the expression for an object; nil is `nil`, numbers are `Int64`, `Double`, `Decimal` or `Bool`, collections arrays.
    ///
    /// Traps where there is none, as for a variable without a value: see `value(for:context:)`.
    ///
    /// - Parameter context: The values of variables.
    public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        do {
            return try value(for: object, context: context)
        } catch {
            PredicateViolations.noAnswer(error)
            return nil
        }
    }

    /// The same for an expression that may be wrong.
    ///
    /// - Parameter context: The values of variables.
    /// - Throws: `PredicateEvaluationError`, which says why there is no value.
    public func value(for object: Any?, context: NSMutableDictionary? = nil) throws(PredicateEvaluationError) -> Any? {
        var variables: [String: PredicateValue] = [:]
        for (name, value) in context ?? [:] {
            if let name = name as? String { variables[name] = PredicateValue(value) }
        }
        let value = try node.evaluate(in: EvaluationScope(object, variables: variables))
        if case .setOperation = node, let members = (value.any as? [Any])?.map({ $0 as? AnyHashable }), !members.contains(nil) {
            return Set(members.compactMap { $0 })
        }
        return value.any
    }

    /// The expression as text.
    public override var description: String { node.canonicalFormat }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSExpression)?.node == node
    }

    public override var hash: Int { node.hashValue }

    /// The expression itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The parts of an expression. Each is there for the types that have it, and traps for the others.
extension NSExpression {
    /// The kind. Indexes, casts and key paths from another expression count as functions, a constant collection as an aggregate.
    public var expressionType: ExpressionType {
        switch node {
        case .constant(.collection): .aggregate
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath: .keyPath
        case .message where node.fetch != nil: .fetchRequest
        case .keyPathOf, .index, .function, .message, .cast: .function
        case .aggregate: .aggregate
        case .subquery: .subquery
        case .setOperation(.union, _, _): .unionSet
        case .setOperation(.intersect, _, _): .intersectSet
        case .setOperation(.minus, _, _): .minusSet
        case .conditional: .conditional
        case .anyKey: .anyKey
        case .opaque, .unanswerable: .block
        }
    }

    /// The constant: nil for `nil`; a number is `Int64`, `Double`, `Decimal` or `Bool`.
    public var constantValue: Any? {
        guard case .constant(let value) = node else { PredicateViolations.expressionHasNo("constantValue", self) }
        return value.any
    }

    /// The path from the evaluated object as text; a path from another expression is a function.
    public var keyPath: String {
        guard case .keyPath(let path) = node else { PredicateViolations.expressionHasNo("keyPath", self) }
        return path.description
    }

    /// A name without the dollar sign: of a variable, or of what stands for the element in a subquery.
    public var variable: String {
        switch node {
        case .variable(let name), .subquery(_, let name, _): return name
        default: PredicateViolations.expressionHasNo("variable", self)
        }
    }

    /// The name of the function: `sum:`, `add:to:`; `valueForKeyPath:` for a key path from another expression, `objectFrom:withIndex:`
    /// for an index.
    public var function: String {
        switch node {
        case .function(let name, _), .message(_, let name, _): return name
        case .keyPathOf: return "valueForKeyPath:"
        case .index: return "objectFrom:withIndex:"
        case .cast: return "castObject:toType:"
        default: PredicateViolations.expressionHasNo("function", self)
        }
    }

    /// What the function is asked of.
    public var operand: NSExpression {
        switch node {
        case .message(let target, _, _), .keyPathOf(let target, _): return NSExpression.make(target)
        default: PredicateViolations.expressionHasNo("operand", self)
        }
    }

    /// The arguments of a function or a block, with the operand of an index or a cast among them; nil for other types.
    public var arguments: [NSExpression]? {
        switch node {
        case .function(_, let arguments), .message(_, _, let arguments): arguments.map(NSExpression.make)
        case .keyPathOf(_, let path): [NSExpression(.keyPath(path))]
        case .index(let base, .element(let place)): [NSExpression.make(base), NSExpression.make(place)]
        case .index(let base, _): [NSExpression.make(base)]
        case .cast(let operand, let type): [NSExpression.make(operand), NSExpression(.constant(.string(type)))]
        case .opaque(let opaque): opaque.arguments.map(NSExpression.make)
        default: nil
        }
    }

    /// The code of a block.
    public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any {
        guard case .opaque(let opaque) = node else { PredicateViolations.expressionHasNo("expressionBlock", self) }
        return opaque.block
    }

    /// The elements of an aggregate as expressions; the collection of a subquery as one.
    public var collection: Any {
        switch node {
        case .aggregate(let elements): return elements.map(NSExpression.make)
        case .constant(.collection(let collection)): return collection.elements.map { NSExpression(.constant($0)) }
        case .subquery(let collection, _, _): return NSExpression.make(collection)
        default: PredicateViolations.expressionHasNo("collection", self)
        }
    }

    /// What the elements of a subquery must satisfy, or what a conditional asks.
    public var predicate: NSPredicate {
        switch node {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return NSPredicate.make(predicate)
        default: PredicateViolations.expressionHasNo("predicate", self)
        }
    }

    /// The first operand of a union, an intersection or a difference.
    public var left: NSExpression {
        guard case .setOperation(_, let left, _) = node else { PredicateViolations.expressionHasNo("left", self) }
        return NSExpression.make(left)
    }

    /// The second operand of a union, an intersection or a difference.
    public var right: NSExpression {
        guard case .setOperation(_, _, let right) = node else { PredicateViolations.expressionHasNo("right", self) }
        return NSExpression.make(right)
    }

    /// What a conditional gives where its predicate holds.
    public var `true`: NSExpression {
        guard case .conditional(_, let yes, _) = node else { PredicateViolations.expressionHasNo("true", self) }
        return NSExpression.make(yes)
    }

    /// What a conditional gives where its predicate does not hold.
    public var `false`: NSExpression {
        guard case .conditional(_, _, let no) = node else { PredicateViolations.expressionHasNo("false", self) }
        return NSExpression.make(no)
    }
}
