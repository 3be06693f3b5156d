public import Foundation

extension NSPredicate {
    /// The predicate as a value, whoever made it: parsed here, combined by hand with `NSCompoundPredicate`, or made by Foundation from a
    /// constant or a block. A block is `.opaque`.
    ///
    /// Where it nests too deep, what stands for that: see `PredicateEvaluationError.levels`.
    package var node: PredicateNode {
        if let holder = self as? any PredicateNodeHolding { return holder.heldNode }
        return node(within: PredicateEvaluationError.levels)?.limited ?? .tooDeep
    }

    /// Nil where there are more compounds within each other.
    fileprivate func node(within levels: Int) -> PredicateNode? {
        if let holder = self as? any PredicateNodeHolding { return holder.heldNode }
        if let compound = self as? NSCompoundPredicate { return levels > 0 ? compound.compoundNode(within: levels - 1) : nil }
        // The only trace that a constant predicate of Foundation's leaves is its text.
        switch (self as any FormatReading).predicateFormat {
        case "TRUEPREDICATE" where type(of: self) == NSPredicate.self: return .constant(true)
        case "FALSEPREDICATE" where type(of: self) == NSPredicate.self: return .constant(false)
        default: return .opaque(OpaquePredicate(self))
        }
    }

    /// The predicate of a node.
    package static func make(_ node: PredicateNode) -> NSPredicate {
        switch node {
        case .constant: ConstantPredicate(node)
        case .and(let children): CompoundPredicate(node, .and, children)
        case .or(let children): CompoundPredicate(node, .or, children)
        case .not(let child): CompoundPredicate(node, .not, [child])
        case .comparison(let comparison): NSComparisonPredicate(comparison)
        case .opaque(let opaque): opaque.predicate
        }
    }
}

extension NSCompoundPredicate {
    /// In the form the parser gives: a compound of one is that one.
    fileprivate func compoundNode(within levels: Int) -> PredicateNode? {
        var children: [PredicateNode] = []
        for subpredicate in subpredicates {
            guard let child = subpredicate.node(within: levels) else { return nil }
            children.append(child)
        }
        return switch compoundPredicateType {
        case .not: children.first.map { .not($0) } ?? .constant(false)
        case .and where children.isEmpty: .constant(true)
        case .or where children.isEmpty: .constant(false)
        case .and: children.count == 1 ? children[0] : .and(children)
        case .or: children.count == 1 ? children[0] : .or(children)
        }
    }
}

/// Reaches `predicateFormat` past its deprecation, which is about predicates other than ours.
private protocol FormatReading {
    var predicateFormat: String { get }
}

extension NSPredicate: FormatReading {}

/// A predicate that is made of a node.
protocol PredicateNodeHolding: NSPredicate {
    var heldNode: PredicateNode { get }
}

extension PredicateNodeHolding {
    func evaluateHeldNode(_ object: Any?, _ bindings: [String: Any]?) -> Bool {
        do {
            return try heldNode.evaluate(object, variables: bindings?.mapValues { PredicateValue($0) } ?? [:])
        } catch {
            PredicateViolations.noAnswer(error)
        }
    }

    func isEqualHeldNode(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || heldNode == other.node
    }
}

/// `TRUEPREDICATE` and `FALSEPREDICATE` from a text.
final class ConstantPredicate: NSPredicate {
    let heldNode: PredicateNode

    init(_ node: PredicateNode) {
        heldNode = node
        super.init(value: node == .constant(true))
    }

    /// Predicates are archived as their texts, not as objects.
    required init?(coder: NSCoder) {
        nil
    }

    override var predicateFormat: String { heldNode.canonicalFormat }
    override func isEqual(_ object: Any?) -> Bool { isEqualHeldNode(object) }
    override var hash: Int { heldNode.hashValue }
    override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// `AND`, `OR` and `NOT` from a text: to the caller an `NSCompoundPredicate` like any other.
final class CompoundPredicate: NSCompoundPredicate {
    let heldNode: PredicateNode

    init(_ node: PredicateNode, _ type: LogicalType, _ children: [PredicateNode]) {
        heldNode = node
        super.init(type: type, subpredicates: children.map(NSPredicate.make))
    }

    /// Predicates are archived as their texts, not as objects.
    required init?(coder: NSCoder) {
        nil
    }

    override var predicateFormat: String { heldNode.canonicalFormat }
    override func evaluate(with object: Any?) -> Bool { evaluateHeldNode(object, nil) }
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluateHeldNode(object, bindings)
    }
    override func isEqual(_ object: Any?) -> Bool { isEqualHeldNode(object) }
    override var hash: Int { heldNode.hashValue }
    override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension ConstantPredicate: PredicateNodeHolding {}
extension CompoundPredicate: PredicateNodeHolding {}
