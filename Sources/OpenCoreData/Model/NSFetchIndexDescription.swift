import Foundation

/// An index that the store keeps for an entity.
// Mutable only until the model is frozen; it belongs to one entity.
open class NSFetchIndexDescription: NSObject, @unchecked Sendable {
    open var name: String
    /// The elements, in order.
    open var elements: [NSFetchIndexElementDescription]
    open internal(set) var entity: NSEntityDescription? {
        get { owner?.object }
        set { owner = newValue?.anchor }
    }
    private var owner: Anchor<NSEntityDescription>?

    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
    }
}
