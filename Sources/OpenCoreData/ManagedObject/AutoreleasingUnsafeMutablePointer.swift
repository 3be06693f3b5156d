/// The type of `validateValue(_:forKey:)`'s first parameter, so that overrides written for Apple's platforms compile unchanged: a place that holds a
/// value and can be given another.
///
/// Nothing is autoreleased here. What a context hands to `validateValue` reads the value from the object only when it is asked for.
public struct AutoreleasingUnsafeMutablePointer<Pointee> {
    private enum Place {
        case memory(UnsafeMutablePointer<Pointee>)
        case property(ValidatedProperty)
    }

    private let place: Place

    /// A pointer to memory, which must stay valid while it is used.
    public init(_ pointer: UnsafeMutablePointer<Pointee>) { place = .memory(pointer) }

    /// The value.
    public var pointee: Pointee {
        get {
            switch place {
            case .memory(let pointer): return pointer.pointee
            case .property(let property):
                guard let value = property.value as? Pointee else {
                    Violation.misuse("a value to validate is an AnyObject?, not a \(Pointee.self)")
                }
                return value
            }
        }
        nonmutating set {
            switch place {
            case .memory(let pointer): pointer.pointee = newValue
            case .property(let property): property.replacement = .some(newValue as AnyObject?)
            }
        }
    }
}

extension AutoreleasingUnsafeMutablePointer where Pointee == AnyObject? {
    init(_ property: ValidatedProperty) { place = .property(property) }

    /// The property of an object that is meant; nil where the pointer is to memory of the caller's.
    var property: ValidatedProperty? {
        if case .property(let property) = place { return property }
        return nil
    }
}

/// One property of an object on its way through `validateValue`.
final class ValidatedProperty {
    let object: NSManagedObject
    var place = PropertyPlace.slot(0)
    /// What was set in its place: the inner optional is the value.
    var replacement: AnyObject??
    /// What the object's class registered; nil: nothing.
    let validators: [String: KeyedValidator]?

    init(_ object: NSManagedObject) {
        self.object = object
        validators = KeyedMembers.of(object)?.validators
    }

    var name: String {
        switch place {
        case .slot(let slot): object.layout.names[slot]
        case .toMany(let number): object.layout.toManys[number].name
        case .composite(let number): object.layout.composites[number].path
        }
    }

    var value: AnyObject? {
        if let replacement { return replacement }
        return object.value(forKey: name) as AnyObject?
    }
}
