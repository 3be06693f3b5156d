public import Foundation

/// One side of a comparison, or what a fetch computes.
///
/// Foundation on Linux has a class of this name that cannot be made, so the type is ours. A call, `NSExpression(forKeyPath:)`, finds the
/// right one by itself; a file that imports Foundation too and writes the name of the type says `import class OpenCoreData.NSExpression`.
public final class NSExpression: NSObject, Sendable {
    public enum ExpressionType: UInt, Sendable {
        case constantValue = 0
        case evaluatedObject = 1
        case variable = 2
        case keyPath = 3
        case function = 4
        case unionSet = 5
        case intersectSet = 6
        case minusSet = 7
        case subquery = 13
        case aggregate = 14
        case anyKey = 15
        case block = 19
        case conditional = 20
    }

    /// The expression as a value.
    package let node: ExpressionNode

    package init(_ node: ExpressionNode) {
        self.node = node
    }

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
        }
    }

    /// The expression that the text says, for text that may be wrong.
    ///
    /// - Throws: `PredicateFormatError`, which names the place and what was expected there.
    public static func parse(_ format: String, arguments: [Any?] = []) throws(PredicateFormatError) -> NSExpression {
        NSExpression(try PredicateParser.expression(format, arguments: arguments))
    }

    // MARK: - By hand

    public convenience init(forConstantValue value: Any?) {
        self.init(.constant(PredicateValue(value)))
    }

    /// Traps when the text is no key path.
    public convenience init(forKeyPath keyPath: String) {
        guard let path = PredicateKeyPath(keyPath) else { PredicateViolations.malformedKeyPath(keyPath) }
        self.init(.keyPath(path))
    }

    public convenience init(forVariable name: String) {
        self.init(.variable(name))
    }

    public static func expressionForEvaluatedObject() -> NSExpression {
        NSExpression(.evaluatedObject)
    }

    public static func expressionForAnyKey() -> NSExpression {
        NSExpression(.anyKey)
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

    /// `FUNCTION(target, 'selector', …)`, for the selectors it knows. Traps for others: there is no Objective-C to send them to.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
        let arguments = arguments ?? []
        guard let message = PredicateMessage(rawValue: name), message.argumentCount == arguments.count else {
            PredicateViolations.unknownFunction(name, argumentCount: arguments.count)
        }
        self.init(limiting: .message(target.node, name, arguments.map(Self.node)))
    }

    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(limiting: .setOperation(.union, left.node, right.node))
    }

    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(limiting: .setOperation(.intersect, left.node, right.node))
    }

    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(limiting: .setOperation(.minus, left.node, right.node))
    }

    /// The elements of a collection for which the predicate holds; `variable`, without the dollar sign, stands for the element.
    public convenience init(forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate) {
        self.init(limiting: .subquery(collection: expression.node, variable: variable, predicate: predicate.node))
    }

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
        return try node.evaluate(in: EvaluationScope(object, variables: variables)).any
    }

    /// The expression as text.
    public override var description: String { node.canonicalFormat }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSExpression)?.node == node
    }

    public override var hash: Int { node.hashValue }

    public override func copy() -> Any { self }
}
