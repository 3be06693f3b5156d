import Foundation

/// The values of one object as an atomic store has them in memory.
///
/// Attributes stand under their names as key-value coding hands them out. A to-one is the node of its target; a to-many a set of nodes
/// (`Set<NSAtomicStoreCacheNode>`, `NSSet`), or an array or `NSOrderedSet` of them, in order, if it is ordered. What is missing is nil, or empty.
// Used in its store's turn, and nowhere else.
open class NSAtomicStoreCacheNode: NSObject {
    /// The object whose values these are.
    public let objectID: NSManagedObjectID
    /// The values by property name; nil until one is set. A subclass may keep them elsewhere, and override `value(forKey:)` and `setValue(_:forKey:)`.
    open var propertyCache: NSMutableDictionary?

    /// A node without values.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// The value of a property; nil where there is none.
    open func value(forKey key: String) -> Any? { propertyCache?[key] }

    /// Sets the value of a property; nil takes it away.
    open func setValue(_ value: Any?, forKey key: String) {
        if propertyCache == nil { propertyCache = NSMutableDictionary() }
        if let value { propertyCache?[key] = value } else { propertyCache?.removeObject(forKey: key) }
    }
}
