import Foundation

/// The values of one object as an incremental store has them, with their version.
///
/// Attributes stand under their names. A to-one stands there as the ID of its target, `NSNull` for none; if it is left out, the store is asked for
/// it (`newValue(forRelationship:forObjectWith:with:)`). To-manys are left out always. What is missing otherwise is nil.
///
/// The version says which state of the object these values are: a save is refused or merged if the version is another one than that of the
/// values that were changed. Raise it whenever the values change; a state that is older must not have the higher version.
open class NSIncrementalStoreNode: NSObject {
    /// The object whose values these are.
    open private(set) var objectID: NSManagedObjectID
    /// Which state of the object the values are; a later state has a higher number.
    open private(set) var version: UInt64
    private var values: [String: Any]

    /// Takes attributes and to-ones by property name, without to-manys. Nothing is checked here.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    /// Replaces all values.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values = values
        self.version = version
    }

    /// The value of an attribute or of a to-one; nil where there is none. A to-one is the ID of its target, or `NSNull`.
    open func value(for property: NSPropertyDescription) -> Any? { values[property.name] }
}
