import Foundation
import Synchronization

/// A property of a managed object that lives in its row: `@Managed var name: String?`. The Swift name is the property's name in the model.
///
/// Reading and writing go by slot, without an `Any` in between. The value's type must fit the property's; a null read as a type that is
/// not optional gives that type's zero value, as scalar accessors do.
@propertyWrapper
public struct Managed<Value: ManagedValue> {
    /// Set for a moment, to find out what the property is called.
    fileprivate var mark = false

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
        // Inlined, the key path is a field of the object, and no key path is made.
        @inlinable @inline(__always)
        get {
            let wrapper = withUnsafeMutablePointer(to: &owner[keyPath: storage]) { $0 }
            // Twice, because `standing` hands out an object that is retained and released.
            if owner.standsForItself { return Value.read(from: owner, at: owner.place(of: wrapper)) }
            return Value.read(from: owner.standing, at: owner.place(of: wrapper))
        }
        @inlinable @inline(__always)
        set {
            let wrapper = withUnsafeMutablePointer(to: &owner[keyPath: storage]) { $0 }
            if owner.standsForItself { return newValue.write(to: owner, at: owner.place(of: wrapper)) }
            newValue.write(to: owner.standing, at: owner.place(of: wrapper))
        }
    }
}

extension NSManagedObject {
    /// Where a property lives whose wrapper lies in this object.
    @inlinable @inline(__always)
    final func place<Value>(of wrapper: UnsafeMutablePointer<Managed<Value>>) -> PropertyPlace {
        placeOfWrapper(at: wrapper) ?? foundPlace(of: wrapper)
    }

    /// Where a property lives whose wrapper lies there in this object; nil while that is not known.
    @usableFromInline
    final func placeOfWrapper(at wrapper: UnsafeRawPointer) -> PropertyPlace? {
        let offset = wrapper - UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        // Without retaining the table, which all threads share.
        return Unmanaged.passUnretained(layout.wrapperPlaces)._withUnsafeGuaranteedRef { $0.place(for: Swift.type(of: self), at: offset) }
    }

    /// Finds out what the property is called: the label of the wrapper's own storage tells. Marks it, looks for the mark, remembers.
    @usableFromInline
    final func foundPlace<Value>(of wrapper: UnsafeMutablePointer<Managed<Value>>) -> PropertyPlace {
        wrapper.pointee.mark = true
        defer { wrapper.pointee.mark = false }
        var mirror: Mirror? = Mirror(reflecting: self)
        while let current = mirror {
            for child in current.children {
                guard let found = child.value as? Managed<Value>, found.mark, let label = child.label else { continue }
                let place = place(of: String(label.dropFirst()))
                let offset = UnsafeRawPointer(wrapper) - UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
                layout.wrapperPlaces.remember(place, for: Swift.type(of: self), at: offset)
                return place
            }
            mirror = current.superclassMirror
        }
        Violation.misuse("a @Managed property of \(Swift.type(of: self)) has no name")
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
