import Foundation

extension AttributeValue {
    /// The value as key-value coding hands it out: numbers as `NSNumber` (which casts to any Swift number type), dates as `Date`.
    package var any: Any? {
        switch self {
        case .null: nil
        case .int64(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .bool(let value): NSNumber(value: value)
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .string(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .objectID(let value): value
        case .object(let box): box.value.base
        }
    }

    /// The value as a predicate compares it: plain Swift values, no `NSNumber`.
    package var plain: Any? {
        switch self {
        case .int64(let value): value
        case .double(let value): value
        case .bool(let value): value
        case .decimal(let value): value
        default: any
        }
    }

    /// The value for reading. Foundation stops the program where it describes a date that is not a number.
    var inWords: String {
        if case .date(let seconds) = self, seconds.isNaN { return "no date" }
        return plain.map { "\($0)" } ?? "nil"
    }

    /// What `value` is as an attribute of `type`; nil if it can't be one. Ranges are checked at validation, not here.
    package static func coded(_ value: Any?, as type: NSAttributeType) -> AttributeValue? {
        guard let value, !(value is NSNull) else { return .null }
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return integer(value).map { .int64($0) }
        case .booleanAttributeType:
            if let bool = value as? Bool { return .bool(bool) }
            return integer(value).map { .bool($0 != 0) }
        case .doubleAttributeType: return double(value).map { .double($0) }
        case .floatAttributeType: return double(value).map { .double(Double(Float($0))) }
        case .decimalAttributeType:
            if let decimal = value as? Decimal { return .decimal(decimal) }
            if let number = value as? NSNumber { return .decimal(number.decimalValue) }
            if let integer = integer(value) { return .decimal(Decimal(integer)) }
            return double(value).map { .decimal(Decimal($0)) }
        case .stringAttributeType:
            if let string = value as? String { return .string(string) }
            return (value as? NSString).map { .string(String(describing: $0)) }
        case .dateAttributeType:
            if let date = value as? Date { return .date(date.timeIntervalSinceReferenceDate) }
            return (value as? NSDate).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binaryDataAttributeType:
            if let data = value as? Data { return .data(data) }
            return (value as? NSData).map { .data(Data(referencing: $0)) }
        case .UUIDAttributeType:
            if let uuid = value as? UUID { return .uuid(uuid) }
            return (value as? NSUUID).map { .uuid(UUID(uuidString: $0.uuidString) ?? UUID()) }
        case .URIAttributeType: return (value as? URL).map { .object(ObjectBox($0)) }
        case .objectIDAttributeType: return (value as? NSManagedObjectID).map { .objectID($0) }
        case .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType:
            return (value as? AnyHashable).map { .object(ObjectBox($0)) }
        }
    }

    private static func integer(_ value: Any) -> Int64? {
        switch value {
        case let value as Int: Int64(value)
        case let value as Int64: value
        case let value as Int32: Int64(value)
        case let value as Int16: Int64(value)
        case let value as Int8: Int64(value)
        case let value as UInt32: Int64(value)
        case let value as UInt16: Int64(value)
        case let value as UInt8: Int64(value)
        case let value as UInt: Int64(exactly: value)
        case let value as UInt64: Int64(exactly: value)
        case let value as NSNumber: value.int64Value
        default: nil
        }
    }

    private static func double(_ value: Any) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Float: Double(value)
        case let value as NSNumber: value.doubleValue
        default: integer(value).map { Double($0) }
        }
    }
}
