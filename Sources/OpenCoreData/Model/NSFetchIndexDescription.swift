import Foundation

/// An index that the store keeps for an entity.
// Mutable only until the model is frozen; it belongs to one entity.
open class NSFetchIndexDescription: NSObject, @unchecked Sendable {
    open var name: String
    /// The elements, in order.
    open var elements: [NSFetchIndexElementDescription]
    open internal(set) weak var entity: NSEntityDescription?

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
    }
}

/// One column of a fetch index.
// Mutable only until the model is frozen; it belongs to one index.
open class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
    open var property: NSPropertyDescription?
    open var propertyName: String? { property?.name }
    open var isAscending = true

    public init(property: NSPropertyDescription) {
        self.property = property
        super.init()
    }
}
