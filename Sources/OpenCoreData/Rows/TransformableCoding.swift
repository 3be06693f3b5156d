import Foundation

/// Values without a column type of their own as bytes: a keyed archive, as Core Data's default transformer makes.
enum TransformableCoding {
    /// Throws 134030 with a sentence if the value can't be archived.
    static func data(_ value: AnyHashable, attribute: String) throws -> Data {
        guard isArchivable(value.base) else {
            throw NSError.coreData(
                .persistentStoreSave,
                "The value of \(attribute) has type \(type(of: value.base)), which can't be archived. Use property-list types or a class "
                    + "that adopts NSCoding, or keep it as Data.")
        }
        do {
            return try NSKeyedArchiver.archivedData(withRootObject: value.base, requiringSecureCoding: false)
        } catch {
            throw NSError.coreData(.persistentStoreSave, "The value of \(attribute) can't be archived.", underlying: error)
        }
    }

    private static func isArchivable(_ value: Any) -> Bool {
        switch value {
        case is String, is Int, is Int64, is Int32, is Int16, is Double, is Float, is Bool, is Data, is Date, is URL, is UUID: true
        case let list as [Any]: list.allSatisfy(isArchivable)
        case let dictionary as [AnyHashable: Any]:
            dictionary.allSatisfy { isArchivable($0.key.base) && isArchivable($0.value) }
        case let set as Set<AnyHashable>: set.allSatisfy { isArchivable($0.base) }
        default: value is any NSCoding
        }
    }

    /// Nil if the bytes are not an archive that can be read here.
    static func value(_ data: Data) -> AnyHashable? {
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        return object.flatMap { native($0) as? AnyHashable }
    }

    /// Foundation's classes as the Swift values they stand for.
    private static func native(_ value: Any) -> Any {
        switch value {
        case let string as NSString: return string.description
        case let number as NSNumber: return number
        case let data as NSData: return Data(referencing: data)
        case let date as NSDate: return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let url as NSURL: return (URL(string: url.absoluteString) ?? url) as Any
        case let uuid as NSUUID: return (UUID(uuidString: uuid.uuidString) ?? uuid) as Any
        case let list as NSArray: return list.allObjectsInOrder.map { native($0) as? AnyHashable ?? AnyHashable("") }
        case let set as NSSet: return Set(set.allObjects.compactMap { native($0) as? AnyHashable })
        case let dictionary as NSDictionary:
            var result: [AnyHashable: AnyHashable] = [:]
            for key in dictionary.allKeys {
                guard let name = native(key) as? AnyHashable, let object = dictionary.object(forKey: key) else { continue }
                result[name] = native(object) as? AnyHashable
            }
            return result
        default: return value
        }
    }
}

extension NSArray {
    fileprivate var allObjectsInOrder: [Any] { (0..<count).map { object(at: $0) } }
}
