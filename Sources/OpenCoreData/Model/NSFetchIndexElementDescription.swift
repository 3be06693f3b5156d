import Foundation

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
