import Foundation
import OpenCoreData

/// What attributes hold, as values of a test.
enum StoredValues {
    /// The value of an attribute as a test file would say it; ``TestValue/nothing`` where there is none.
    static func value(_ name: String, of object: NSManagedObject) -> TestValue {
        guard let attribute = object.entity.attributesByName[name], let value = object.value(forKey: name) else { return .nothing }
        let text = "\(value)"
        switch attribute.attributeType {
        case .booleanAttributeType: return .bool((value as? Bool) ?? (text == "1" || text == "true"))
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return Int64(text).map { .integer($0) } ?? .text(text)
        case .doubleAttributeType, .floatAttributeType: return Double(text).map { .number($0) } ?? .text(text)
        case .dateAttributeType: return (value as? Date).map { TestValue($0) } ?? .text(text)
        case .binaryDataAttributeType: return .text((value as? Data)?.base64EncodedString() ?? text)
        case .UUIDAttributeType: return .text((value as? UUID)?.uuidString ?? text)
        case .URIAttributeType: return .text((value as? URL)?.absoluteString ?? text)
        default: return .text(text)
        }
    }

    /// Whether the value of an attribute is what a test says. Decimals and moments may be written in any way, UUIDs in either case.
    static func agrees(_ name: String, of object: NSManagedObject, with wanted: TestValue) -> Bool {
        let value = value(name, of: object)
        if wanted == .nothing || wanted == .null || value == .nothing { return value == .nothing && (wanted == .nothing || wanted == .null) }
        switch object.entity.attributesByName[name]?.attributeType {
        case .dateAttributeType?:
            guard let date = value.date, let other = wanted.date else { return value == wanted }
            // What a moment loses on its way through seconds since 2001 is less than this.
            return abs(date.timeIntervalSince(other)) < 0.000_002
        case .decimalAttributeType?:
            guard let mine = decimal(value), let other = decimal(wanted) else { return false }
            return mine == other
        case .UUIDAttributeType?:
            guard case .text(let text) = value, case .text(let other) = wanted else { return false }
            return text.lowercased() == other.lowercased()
        default: return value.holds(wanted)
        }
    }

    private static func decimal(_ value: TestValue) -> Decimal? {
        switch value {
        case .text(let text): Decimal(string: text)
        case .integer(let integer): Decimal(integer)
        case .number(let number): Decimal(string: "\(number)")
        default: nil
        }
    }

    /// What a relationship leads to, in the order of the keys; of an ordered one in its own.
    static func members(_ name: String, of object: NSManagedObject) -> [NSManagedObject] {
        switch object.value(forKey: name) {
        case let member as NSManagedObject: [member]
        case let members as Set<NSManagedObject>: members.sorted { "\($0.objectID)" < "\($1.objectID)" }
        case let members as [NSManagedObject]: members
        case let members as NSOrderedSet: members.array.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}
