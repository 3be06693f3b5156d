import Foundation

/// An index that the store keeps for an entity.
/// A SQLite store makes it when it makes its file.
// Mutable only until the model is frozen; it belongs to one entity.
open class NSFetchIndexDescription: NSObject, @unchecked Sendable {
    /// What the index is called. A SQLite store names it `Z_<entity>_<name>`.
    open var name: String
    /// The elements, in order.
    open var elements: [NSFetchIndexElementDescription]
    /// Not set by this version: nil. The entity that lists the index among its `indexes` owns it.
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
    }
}

/// One column of a fetch index.
// Mutable only until the model is frozen; it belongs to one index.
open class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
    /// The attribute or to-one to index. The element is left out if it is nil, or has no column: transient, or a to-many.
    open var property: NSPropertyDescription?
    /// The name of `property`; nil without one.
    open var propertyName: String? { property?.name }
    /// Whether the index keeps the smallest value first. Default true.
    open var isAscending = true

    /// An ascending element over `property`.
    public init(property: NSPropertyDescription) {
        self.property = property
        super.init()
    }
}
