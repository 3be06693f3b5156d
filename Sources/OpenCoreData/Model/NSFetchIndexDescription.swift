import Foundation

/// An index that the store keeps for an entity. It makes fetches faster and changes no answer; version hashes say nothing of it.
///
/// A SQLite store makes it with its file, or when a store is opened whose model has gained or changed it. Changing it traps once a coordinator uses the model.
// Mutable only until the model is frozen; it belongs to one entity.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    /// What the index is called. A SQLite store names it `Z_<entity>_<name>`.
    open var name: String { willSet { checkEditable() } }
    /// The elements, in order.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { checkEditable() }
        didSet { own(elements, insteadOf: oldValue) }
    }
    /// Which objects are in the index; nil: all of the entity.
    ///
    /// A SQLite store says it as the condition of the index (`CREATE INDEX … WHERE …`), and its fetches with the same condition use that. What such a condition can't say
    /// (variables, to-manys, other objects, strings compared without case or accents, lists of more than eight) is left out: then all objects are in the index.
    open var partialIndexPredicate: NSPredicate? { willSet { checkEditable() } }
    /// The entity that lists the index among its `indexes`.
    open internal(set) var entity: NSEntityDescription? {
        get { owner?.object }
        set { owner = newValue?.anchor }
    }
    private var owner: Anchor<NSEntityDescription>?

    /// An index over `elements`; nil: over none yet. A store leaves out an index without elements.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        own(self.elements, insteadOf: [])
    }

    private func own(_ elements: [NSFetchIndexElementDescription], insteadOf old: [NSFetchIndexElementDescription]) {
        for element in old where element.indexDescription === self { element.indexDescription = nil }
        for element in elements { element.indexDescription = self }
    }

    /// Another index that says the same, over elements of its own, and belongs to no entity: it can be changed whatever uses the original.
    open override func copy() -> Any {
        let copy = NSFetchIndexDescription(name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }

    /// As `copy()`.
    open func copy(with zone: NSZone? = nil) -> Any { copy() }

    fileprivate func checkEditable() {
        if let entity, entity.isFrozen { Violation.modelIsFrozen("index \(name) of \(entity.name ?? "?")") }
    }
}

/// How an element of an index is kept.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// In the order of its values.
    case binary = 0
    /// Apple's way to find numbers in several dimensions. A SQLite store keeps such an element as a binary one: answers are the same.
    case rTree = 1
}

/// One column of a fetch index. Changing it traps once a coordinator uses the model.
// Mutable only until the model is frozen; it belongs to one index.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The attribute or to-one to index, an element of a composite, or an `NSExpressionDescription` whose expression is the key of one. The element is left out if it
    /// is nil, computes anything else, or has no column: transient, or a to-many. Of a composite all elements are indexed, in their order.
    open var property: NSPropertyDescription? { willSet { indexDescription?.checkEditable() } }
    /// The name of `property`; nil without one.
    open var propertyName: String? { property?.name }
    /// Whether the index keeps the smallest value first. Default true.
    open var isAscending = true { willSet { indexDescription?.checkEditable() } }
    /// How the element is kept.
    open var collationType: NSFetchIndexElementType { willSet { indexDescription?.checkEditable() } }
    /// The index that lists the element.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// An ascending element over `property`.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
        super.init()
    }

    /// The same, kept in the order of its values.
    public convenience init(property: NSPropertyDescription) { self.init(property: property, collationType: .binary) }

    /// Another element that says the same, and belongs to no index.
    open override func copy() -> Any {
        let copy = copy(over: property ?? NSPropertyDescription())
        copy.property = property
        return copy
    }

    /// As `copy()`.
    open func copy(with zone: NSZone? = nil) -> Any { copy() }

    func copy(over property: NSPropertyDescription) -> NSFetchIndexElementDescription {
        let copy = NSFetchIndexElementDescription(property: property, collationType: collationType)
        copy.isAscending = isAscending
        return copy
    }

    /// What it is over, among the properties of an entity: the name of one, or the path of an element; nil for what is computed.
    var indexedName: String? {
        guard let computed = property as? NSExpressionDescription else { return property?.nameInEntity }
        guard case .keyPath(let path)? = computed.expression?.node, let keys = path.keys else { return nil }
        return keys.joined(separator: ".")
    }
}
