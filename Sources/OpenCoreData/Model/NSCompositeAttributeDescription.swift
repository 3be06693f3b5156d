import Foundation

/// Several attributes as one. An object has its value as a dictionary, by the names of the elements; a fetch names an element by its path:
/// `magnitude.richter > 5`. Rows and stores know the elements only: each has a column of its own.
///
/// A dictionary has the elements that have a value; where none has one, the value is nil. Setting it sets all elements: one that the dictionary does not name
/// becomes nil. Where the composite is required, at least one element must have a value; a required element must have one as soon as any has.
///
/// Changing it traps once a coordinator uses the model. Adding a store of a program's own class throws 134020.
// Mutable only until the model is frozen, as its superclass says.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// What it is composed of: attributes, some of which may be composite themselves. Their names are unique among them and have no dot.
    open var elements: [NSAttributeDescription] = [] {
        willSet { checkEditable() }
        didSet {
            for old in oldValue where old.composite === self { old.composite = nil }
            for element in elements { element.composite = self }
            entity?.propertiesDidChange()
        }
    }
    private var frozenLeaves: [NSAttributeDescription]?

    /// A composite without elements.
    public override init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    /// Its elements that are no composites, and those of its composites, in order: attributes of the entity, each with its path for a name. Before the model is
    /// frozen they are made anew each time.
    override var leaves: [NSPropertyDescription] { attributeLeaves }

    var attributeLeaves: [NSAttributeDescription] { frozenLeaves ?? flattened(defaults: defaultValue as? [String: Any]) }

    override func freeze() {
        frozenLeaves = attributeLeaves
    }

    private func flattened(defaults: [String: Any]?) -> [NSAttributeDescription] {
        elements.flatMap { element in
            let own = defaults?[element.name]
            guard let inner = element as? NSCompositeAttributeDescription else {
                return [leaf(element, defaultValue: own, renamed: element.renamingIdentifier)]
            }
            return inner.flattened(defaults: own as? [String: Any] ?? inner.defaultValue as? [String: Any])
                .map { leaf($0, defaultValue: nil, renamed: $0.renamingIdentifier) }
        }
    }

    /// An element, or a leaf of one, as a leaf of this.
    private func leaf(_ part: NSAttributeDescription, defaultValue: Any?, renamed: String?) -> NSAttributeDescription {
        let leaf = part.filledAttribute(NSAttributeDescription())
        leaf.name = "\(name).\(part.name)"
        // An element of what is nil as a whole may be nil.
        leaf.isOptional = part.isOptional || isOptional
        leaf.isTransient = part.isTransient || isTransient
        leaf.isIndexed = part.isIndexed || isIndexed
        leaf.isLeaf = true
        leaf.preservesValueInHistoryOnDeletion = part.preservesValueInHistoryOnDeletion || preservesValueInHistoryOnDeletion
        if let defaultValue { leaf.defaultValue = defaultValue }
        leaf.renamingIdentifier =
            renamingIdentifier == nil && renamed == nil ? nil : "\(renamingIdentifier ?? name).\(renamed ?? part.name)"
        leaf.entity = entity
        return leaf
    }

    override func duplicate() -> NSPropertyDescription {
        let copy = filledAttribute(NSCompositeAttributeDescription())
        copy.elements = elements.compactMap { $0.duplicate() as? NSAttributeDescription }
        return copy
    }

    /// Why its elements make no sense; nil if they do.
    func complaintAboutElements(within outer: [NSCompositeAttributeDescription] = []) -> String? {
        if elements.isEmpty { return "has no elements" }
        if outer.contains(where: { $0 === self }) { return "is an element of itself" }
        if let defaultValue {
            guard let values = defaultValue as? [String: Any] else { return "has a default value that is no dictionary" }
            if let key = values.keys.sorted().first(where: { key in !elements.contains { $0.name == key } }) {
                return "has a default value for \(key), which is no element of it"
            }
        }
        var seen: Set<String> = []
        for element in elements {
            if element.name.isEmpty { return "has an element without a name" }
            if element.name.contains(".") { return "has an element named \(element.name): a dot leads into a composite" }
            guard seen.insert(element.name).inserted else { return "has two elements named \(element.name)" }
            if element.composite !== self { return "has the element \(element.name), which is one of another composite: give it one of its own" }
            if element is NSDerivedAttributeDescription { return "has the element \(element.name), which is derived: no store computes that" }
            if let inner = element as? NSCompositeAttributeDescription {
                if let complaint = inner.complaintAboutElements(within: outer + [self]) { return "has the element \(inner.name), which \(complaint)" }
            } else if element.attributeType == .undefinedAttributeType || element.attributeType == .compositeAttributeType, !element.isTransient,
                !isTransient
            {
                return "has the element \(element.name) without a type"
            }
        }
        return nil
    }
}

extension NSAttributeDescription {
    /// The name by which an entity knows it: the path where it is an element of a composite.
    var path: String { composite.map { "\($0.path).\(name)" } ?? name }
}

extension NSPropertyDescription {
    /// The name by which an entity knows it: the path of an element of a composite.
    var nameInEntity: String { (self as? NSAttributeDescription)?.path ?? name }
}

extension NSEntityDescription {
    /// What rows and stores know of the entity: its properties, with the leaves of composites in their place.
    var leaves: [NSPropertyDescription] { properties.flatMap(\.leaves) }

    /// Those among them that the entity itself declares.
    var declaredLeaves: [NSPropertyDescription] { declaredProperties.flatMap(\.leaves) }

    /// The leaves by name; a leaf of a composite by its path.
    var leavesByName: [String: NSPropertyDescription] {
        hasComposites ? Dictionary(leaves.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last }) : propertiesByName
    }

    /// Whether any of its properties is composite.
    var hasComposites: Bool { properties.contains { $0 is NSCompositeAttributeDescription } }

    /// Names of properties as the names of leaves: those of a composite for its own.
    func leafNames(_ names: [String]) -> [String] {
        names.flatMap { name in
            (propertiesByName[name] as? NSCompositeAttributeDescription)?.attributeLeaves.filter { !$0.isTransient }.map(\.name)
                ?? element(at: name).map { $0.leafPaths } ?? [name]
        }
    }

    /// The element of a composite that a path names.
    func element(at path: String) -> NSAttributeDescription? {
        let keys = path.split(separator: ".")
        guard keys.count > 1, let first = keys.first, var current = propertiesByName[String(first)] as? NSAttributeDescription else { return nil }
        for key in keys.dropFirst() {
            guard let found = (current as? NSCompositeAttributeDescription)?.elements.first(where: { $0.name == key }) else { return nil }
            current = found
        }
        return current
    }

    /// The property that a leaf belongs to: itself, or its composite.
    func property(ofLeaf name: String) -> NSPropertyDescription? {
        if let property = propertiesByName[name] { return property }
        return element(at: name) == nil ? nil : name.split(separator: ".").first.flatMap { propertiesByName[String($0)] }
    }
}

extension NSAttributeDescription {
    fileprivate var leafPaths: [String] {
        guard let composite = self as? NSCompositeAttributeDescription else { return [path] }
        return composite.elements.filter { !$0.isTransient }.flatMap(\.leafPaths)
    }
}
