import CSwiftRuntime

extension NSEntityDescription {
    /// Whether the class of its objects has rules of its own: it, or one above it, overrides a method that validates, or names one in `keyedValidators`.
    /// The model's rules need no object.
    var validatesItself: Bool { objectClass.validatesItself }
}

extension NSManagedObject {
    static var validatesItself: Bool { self != NSManagedObject.self && KeyedMembers.other(self).validatesItself }

    /// Swift does not say what a class overrides. Its runtime finds what a call would reach, though.
    static var overridesValidation: Bool {
        let base: NSManagedObject.Type = NSManagedObject.self, mine: NSManagedObject.Type = self
        return overrides_validation(unsafeBitCast(mine, to: UnsafeRawPointer.self), unsafeBitCast(base, to: UnsafeRawPointer.self))
    }
}
