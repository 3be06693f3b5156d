import Foundation
import Synchronization

/// A property of a managed object that lives in its row: `@Managed var name: String?`. The Swift name is the property's name in the model.
///
/// Reading and writing go by slot, without an `Any` in between. The value's type must fit the property's; a null read as a type that is
/// not optional gives that type's zero value, as scalar accessors do.
@propertyWrapper
public struct Managed<Value: ManagedValue> {
    /// Set for a moment, to find out what the property is called.
    private var mark = false

    /// Called by the compiler for each `@Managed` property. The property has no value of its own: the default comes from the model.
    public init() {}

    /// Never used: the compiler goes through the static subscript in a managed object, and refuses `@Managed` in any other type.
    @available(*, unavailable, message: "@Managed is for properties of NSManagedObject subclasses")
    public var wrappedValue: Value {
        get { Violation.misuse("@Managed outside of a managed object") }
        set { _ = newValue }
    }

    /// Reads and writes the property in the object's row. Reading realises a fault; writing tracks the change and keeps inverses in step.
    /// Stops the program where the model has no property of that name.
    public static subscript<Owner: NSManagedObject>(
        _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Managed<Value>>
    ) -> Value {
        get { Value.read(from: owner.standing, at: place(in: owner, storage)) }
        set { newValue.write(to: owner.standing, at: place(in: owner, storage)) }
    }

    private static func place<Owner: NSManagedObject>(
        in owner: Owner, _ storage: ReferenceWritableKeyPath<Owner, Managed<Value>>
    ) -> PropertyPlace {
        let cache = owner.layout.managedPlaces
        if let place = cache[storage] { return place }
        let name = ManagedNames.name(of: storage, class: Owner.self) {
            // The label of the wrapper's own storage tells the name: mark it, look for the mark, remember.
            owner[keyPath: storage].mark = true
            defer { owner[keyPath: storage].mark = false }
            var mirror: Mirror? = Mirror(reflecting: owner)
            while let current = mirror {
                for child in current.children {
                    if let wrapper = child.value as? Managed<Value>, wrapper.mark, let label = child.label {
                        return String(label.dropFirst())
                    }
                }
                mirror = current.superclassMirror
            }
            Violation.misuse("a @Managed property of \(Owner.self) has no name")
        }
        let place = owner.place(of: name)
        cache.remember(place, for: storage)
        return place
    }
}

/// The names of `@Managed` properties, by where their wrappers are stored.
private enum ManagedNames {
    private struct Name: Hashable {
        let type: ObjectIdentifier
        let storage: AnyKeyPath
    }

    // Key paths are immutable; Foundation does not say so to the compiler.
    private struct Table: @unchecked Sendable {
        var names: [Name: String] = [:]
    }

    private static let table = Mutex(Table())

    static func name(of storage: AnyKeyPath, class type: AnyClass, find: () -> String) -> String {
        let key = Unchecked(value: Name(type: ObjectIdentifier(type), storage: storage))
        if let known = table.withLock({ $0.names[key.value] }) { return known }
        let found = find()
        table.withLock { $0.names[key.value] = found }
        return found
    }
}

/// What an `@Managed` property may be: the attribute types, optional or not, and relationships.
public protocol ManagedValue {
    /// The value at a place of the object's row; what null reads as, the type decides.
    static func read(from object: NSManagedObject, at place: PropertyPlace) -> Self
    /// Sets the value at a place of the object's row, and tracks the change.
    func write(to object: NSManagedObject, at place: PropertyPlace)
}

/// One value on its way between a row and a property.
public struct ManagedSlot {
    let value: AttributeValue
    let object: NSManagedObject?

    init(_ value: AttributeValue, object: NSManagedObject? = nil) {
        self.value = value
        self.object = object
    }
}
