import Foundation

/// Makes an object of a keyed archive, and an archive of an object, where the object is of one of `allowedTopLevelClasses`. Whatever an archive holds
/// beside that has to be of plain classes, or of classes that adopt `NSSecureCoding`; anything else is nil.
///
/// Register a subclass that names a class of the program's, under the name that the attribute gives.
// Without state.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    /// Of which classes an object may be: by default those of property lists, and `NSURL`, `NSUUID`, `NSSet` and `NSNull`.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    /// The object of an archive (`Data`).
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, let archive = KeyedArchive(data) else { return nil }
        let allowed = Set(Swift.type(of: self).allowedTopLevelClasses.map(KeyedArchive.name))
        guard !allowed.isDisjoint(with: archive.rootClasses), archive.classNames.allSatisfy({ allowed.contains($0) || KeyedArchive.isSecure($0) })
        else {
            return nil
        }
        guard let root = archive.made() else { return nil }
        // The archive says what it holds, and may be wrong.
        let object = (root as AnyObject) as? NSObject
        return Swift.type(of: self).allowedTopLevelClasses.contains { object?.isKind(of: $0) == true } ? root : nil
    }

    /// The archive of an object.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value, !(value is NSNull) else { return nil }
        guard let object = (value as AnyObject) as? NSObject,
            Swift.type(of: self).allowedTopLevelClasses.contains(where: { object.isKind(of: $0) }), KeyedArchive.canArchive(value)
        else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
    }
}
