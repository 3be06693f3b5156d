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
        guard let root = archive.root() else { return nil }
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

/// A keyed archive that can be looked into before anything of it is made.
struct KeyedArchive {
    /// The names of all classes of which it holds objects.
    let classNames: Set<String>
    /// The class of its object and those that it inherits from, by their names.
    let rootClasses: [String]
    private let data: Data

    /// Nil for what is no archive.
    init?(_ data: Data) {
        guard let list = (try? PropertyListSerialization.propertyList(from: data, format: nil)) as? [String: Any],
            let objects = list["$objects"] as? [Any], let top = list["$top"] as? [String: Any], let root = top[NSKeyedArchiveRootObjectKey],
            let place = Self.references(in: ["": root]).first, objects.indices.contains(place)
        else { return nil }
        self.data = data
        classNames = Set(objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String })
        switch objects[place] {
        case is String: rootClasses = ["NSString"]
        case is Data: rootClasses = ["NSData"]
        case is NSNumber: rootClasses = ["NSNumber"]
        case let object as [String: Any]:
            guard let reference = object["$class"], let number = Self.references(in: ["": reference]).first, objects.indices.contains(number),
                let described = objects[number] as? [String: Any]
            else { return nil }
            rootClasses = described["$classes"] as? [String] ?? (described["$classname"] as? String).map { [$0] } ?? []
        default: return nil
        }
    }

    /// The object.
    func root() -> Any? {
        guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
    }

    /// The numbers of the objects that one refers to. Foundation shows them only where it writes them.
    static func references(in object: Any) -> [Int] {
        guard object is [String: Any] || object is [Any],
            let data = try? PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0)
        else { return [] }
        return String(decoding: data, as: UTF8.self).matches(of: /<key>CF\$UID<\/key>\s*<integer>(\d+)<\/integer>/).compactMap { Int($0.1) }
    }

    /// A class as archives name it.
    static func name(_ type: AnyClass) -> String {
        // NSStringFromClass stops the program at a class within another.
        let name = String(reflecting: type)
        return name.hasPrefix("Foundation.") ? String(name.dropFirst("Foundation.".count)) : name
    }

    /// Whether archives can name a class: one that is private, or declared within another type, they can't.
    private static func canName(_ type: AnyClass) -> Bool {
        let name = String(reflecting: type)
        return name.split(separator: ".").count <= 2 && !name.contains("(")
    }

    private static let plain: Set<String> = [
        "NSString", "NSMutableString", "NSNumber", "NSDecimalNumber", "NSDate", "NSData", "NSMutableData", "NSArray", "NSMutableArray",
        "NSDictionary",
        "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet", "NSURL", "NSUUID", "NSNull",
    ]

    /// Whether objects of a class can be made of any archive without harm.
    static func isSecure(_ name: String) -> Bool { plain.contains(name) || NSClassFromString(name) is any NSSecureCoding.Type }

    /// Whether a value is of types that an archive can hold. The archiver stops the program at one that is not.
    static func canArchive(_ value: Any) -> Bool {
        switch value {
        // Foundation's archiver asks one for its hash, which on Linux asks itself without end.
        case is NSDecimalNumber: false
        case is String, is Int, is Int64, is Int32, is Int16, is Double, is Float, is Bool, is Data, is Date, is URL, is UUID: true
        case let list as [Any]: list.allSatisfy(canArchive)
        case let list as NSOrderedSet: list.allSatisfy(canArchive)
        case let dictionary as [AnyHashable: Any]: dictionary.allSatisfy { canArchive($0.key.base) && canArchive($0.value) }
        case let set as Set<AnyHashable>: set.allSatisfy { canArchive($0.base) }
        default: value is any NSCoding && canName(Swift.type(of: value as AnyObject))
        }
    }
}
