/// A method of a class that validation finds by a key, as it finds methods called `validate<Key>` on Apple's platforms.
///
/// A class names its own in `keyedValidators`. The method is called after the rules of the model were; it throws to refuse the value, and may
/// replace it.
public struct KeyedValidator: Sendable {
    /// The property whose values are checked.
    public let key: String
    let type: Any.Type
    let accepts: @Sendable (NSManagedObject.Type) -> Bool
    /// Returns whether the value was of the type that the method takes.
    let check: @Sendable (NSManagedObject, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Bool

    /// - Parameter method: as `Person.validateName`, where that is declared as `func validateName(_ value: inout String?) throws`.
    public init<Owner: NSManagedObject, Value: Equatable & SendableMetatype>(
        _ key: String, _ method: @escaping @Sendable (Owner) -> (inout Value?) throws -> Void
    ) {
        self.key = key
        type = Value.self
        accepts = { $0 is Owner.Type }
        check = { object, pointer in
            guard let before = KeyedValue.converted(pointer.pointee, to: Value?.self) else { return false }
            var value = before
            // The table was checked when it was made.
            try method(unsafeDowncast(object, to: Owner.self))(&value)
            if value != before { pointer.pointee = value.flatMap { KeyedValue.external($0) }.map { $0 as AnyObject } }
            return true
        }
    }
}
