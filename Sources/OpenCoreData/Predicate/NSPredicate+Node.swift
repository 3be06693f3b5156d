public import Foundation

extension NSPredicate {
    /// The predicate as a value, whoever made it: parsed here, combined by hand with `NSCompoundPredicate`, or made by Foundation from a
    /// constant or a block. A block is `.opaque`.
    ///
    /// Where it nests too deep, what stands for that: see `PredicateEvaluationError.levels`.
    package var node: PredicateNode {
        if let wrapper = self as? any PredicateNodeWrapping { return wrapper.wrappedNode }
        return node(within: PredicateEvaluationError.levels)?.limited ?? .tooDeep
    }

    /// Nil where there are more compounds within each other.
    fileprivate func node(within levels: Int) -> PredicateNode? {
        if let wrapper = self as? any PredicateNodeWrapping { return wrapper.wrappedNode }
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
protocol PredicateNodeWrapping: NSPredicate {
    var wrappedNode: PredicateNode { get }
}

extension PredicateNodeWrapping {
    func evaluateWrappedNode(_ object: Any?, _ bindings: [String: Any]?) -> Bool {
        do {
            return try wrappedNode.evaluate(object, bindings: bindings ?? [:])
        } catch {
            PredicateViolations.noAnswer(error)
            return false
        }
    }

    func isEqualWrappedNode(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || wrappedNode == other.node
    }
}

/// `TRUEPREDICATE` and `FALSEPREDICATE` from a text.
final class ConstantPredicate: NSPredicate {
    let wrappedNode: PredicateNode

    init(_ node: PredicateNode) {
        wrappedNode = node
        super.init(value: node == .constant(true))
    }

    /// Predicates are archived as their texts, not as objects.
    required init?(coder: NSCoder) {
        nil
    }

    override var predicateFormat: String { wrappedNode.canonicalFormat }
    override func isEqual(_ object: Any?) -> Bool { isEqualWrappedNode(object) }
    override var hash: Int { wrappedNode.hashValue }
    override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// `AND`, `OR` and `NOT` from a text: to the caller an `NSCompoundPredicate` like any other.
final class CompoundPredicate: NSCompoundPredicate {
    let wrappedNode: PredicateNode

    init(_ node: PredicateNode, _ type: LogicalType, _ children: [PredicateNode]) {
        wrappedNode = node
        super.init(type: type, subpredicates: children.map(NSPredicate.make))
    }

    /// Predicates are archived as their texts, not as objects.
    required init?(coder: NSCoder) {
        nil
    }

    override var predicateFormat: String { wrappedNode.canonicalFormat }
    override func evaluate(with object: Any?) -> Bool { evaluateWrappedNode(object, nil) }
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        evaluateWrappedNode(object, bindings)
    }
    override func isEqual(_ object: Any?) -> Bool { isEqualWrappedNode(object) }
    override var hash: Int { wrappedNode.hashValue }
    override func copy(with zone: NSZone? = nil) -> Any { self }
}

extension ConstantPredicate: PredicateNodeWrapping {}
extension CompoundPredicate: PredicateNodeWrapping {}
