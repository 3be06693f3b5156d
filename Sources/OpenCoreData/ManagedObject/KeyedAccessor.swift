/// A property of a class that key-value coding finds by its key, as it finds methods by their names on Apple's platforms.
///
/// A class names its own in `keyedAccessors`. The key may be a property of the model, whose value then goes through the class's property, or any
/// other, like that of a computed property.
public struct KeyedAccessor: Sendable {
    /// What the value is asked for by.
    public let key: String
    let type: Any.Type
    let accepts: @Sendable (NSManagedObject.Type) -> Bool
    let read: @Sendable (NSManagedObject) -> Any?
    /// Returns whether the value was of a type that can be set. Nil: the property can only be read.
    let write: (@Sendable (NSManagedObject, Any?) -> Bool)?

    /// - Parameter property: `value(forKey:)` reads it. Setting the key goes to the row if the model knows the key; else it stops the program.
    public init<Owner: NSManagedObject, Value>(_ key: String, _ property: any KeyPath<Owner, Value> & Sendable) {
        self.init(key, property, write: nil)
    }

    /// - Parameter property: `value(forKey:)` reads it and `setValue(_:forKey:)` sets it. Numbers are converted; a value of another type, and nil
    ///   where the property is not optional, stop the program.
    public init<Owner: NSManagedObject, Value>(_ key: String, _ property: any ReferenceWritableKeyPath<Owner, Value> & Sendable) {
        self.init(key, property) { object, value in
            guard let value = KeyedValue.converted(value, to: Value.self) else { return false }
            // The table was checked when it was made.
            unsafeDowncast(object, to: Owner.self)[keyPath: property] = value
            return true
        }
    }

    private init<Owner: NSManagedObject, Value>(
        _ key: String, _ property: any KeyPath<Owner, Value> & Sendable, write: (@Sendable (NSManagedObject, Any?) -> Bool)?
    ) {
        self.key = key
        type = Value.self
        accepts = { $0 is Owner.Type }
        // As above.
        read = { KeyedValue.external(unsafeDowncast($0, to: Owner.self)[keyPath: property]) }
        self.write = write
    }
}
