import Foundation

/// One type of attribute: how values come in, what they may be, what a column holds, what they are compared as.
///
/// Everything that depends on an attribute's type asks its kind. A further type is one more entry of the table below, and a case of
/// `NSAttributeType` where Core Data has one; how its values lie in memory, in a journal and in a file follows from its column.
package final class AttributeKind: Sendable {
    /// The name that stands in stores.
    let name: String
    /// How a column holds it; nil: it has no form in a file.
    let column: ColumnCoding?
    /// What predicates compare it as; nil: whatever is there.
    let compared: ComparedKind?
    /// What its values are; nil where what comes in is converted first, or may be anything.
    let form: AttributeValue.Form?
    /// The integers that it can be; nil: it is none, or all of them.
    let integers: ClosedRange<Int64>?
    /// Whether a value of it is not always one that can be stored.
    let isChecked: Bool
    /// What a value is as one of this kind, nil if it can't be. Ranges are checked at validation, not here.
    let converted: @Sendable (Any) -> AttributeValue?
    /// Some value, another one for another seed.
    let sample: @Sendable (Double) -> AttributeValue

    package init(
        _ name: String, column: ColumnCoding?, compared: ComparedKind?, form: AttributeValue.Form?, integers: ClosedRange<Int64>? = nil,
        isChecked: Bool = false, sample: @escaping @Sendable (Double) -> AttributeValue = { _ in .null },
        converted: @escaping @Sendable (Any) -> AttributeValue?
    ) {
        self.name = name
        self.column = column
        self.compared = compared
        self.form = form
        self.integers = integers
        self.isChecked = isChecked
        self.converted = converted
        self.sample = sample
    }

    /// The type of Core Data's whose kind has this name.
    static func type(named name: String) -> NSAttributeType? {
        stride(from: 0, through: NSAttributeType.compositeAttributeType.rawValue, by: 100).compactMap(NSAttributeType.init)
            .first { AttributeKind[$0].name == name }
    }

    /// Whether its values have an order.
    var isOrdered: Bool { compared != nil && compared != .url }

    /// The kind of a type of Core Data's.
    package static subscript(type: NSAttributeType) -> AttributeKind {
        switch type {
        case .integer16AttributeType: integer16
        case .integer32AttributeType: integer32
        case .integer64AttributeType: integer64
        case .decimalAttributeType: decimal
        case .doubleAttributeType: double
        case .floatAttributeType: float
        case .stringAttributeType: string
        case .booleanAttributeType: boolean
        case .dateAttributeType: date
        case .binaryDataAttributeType: data
        case .UUIDAttributeType: uuid
        case .URIAttributeType: uri
        case .transformableAttributeType: transformable
        case .objectIDAttributeType: objectID
        case .compositeAttributeType: composite
        case .undefinedAttributeType: undefined
        }
    }
}

extension AttributeKind {
    /// Integers of a range.
    package static func integer(_ name: String, _ range: ClosedRange<Int64>?) -> AttributeKind {
        AttributeKind(
            name, column: .integer, compared: .number, form: .int64, integers: range, isChecked: range != nil, sample: { .int64(Int64($0)) }
        ) { value in Convert.integer(value).map { .int64($0) } }
    }

    private static let integer16 = integer("Integer 16", Int64(Int16.min)...Int64(Int16.max))
    private static let integer32 = integer("Integer 32", Int64(Int32.min)...Int64(Int32.max))
    private static let integer64 = integer("Integer 64", nil)

    private static let boolean = AttributeKind(
        "Boolean", column: .boolean, compared: .number, form: .bool, sample: { .bool($0 < 0) }
    ) { value in
        if let bool = value as? Bool { return .bool(bool) }
        return Convert.integer(value).map { .bool($0 != 0) }
    }

    private static let double = AttributeKind(
        "Double", column: .double, compared: .number, form: .double, isChecked: true, sample: { .double($0 + 0.25) }
    ) { value in Convert.double(value).map { .double($0) } }

    private static let float = AttributeKind(
        "Float", column: .double, compared: .number, form: nil, isChecked: true, sample: { .double($0 + 0.25) }
    ) { value in Convert.double(value).map { .double(Double(Float($0))) } }

    private static let decimal = AttributeKind(
        "Decimal", column: .decimal, compared: .number, form: .decimal, isChecked: true, sample: { .decimal(Decimal($0) / 10) }
    ) { value in
        if let decimal = value as? Decimal { return .decimal(decimal) }
        if let number = value as? NSNumber { return .decimal(number.decimalValue) }
        if let integer = Convert.integer(value) { return .decimal(Decimal(integer)) }
        return Convert.double(value).map { .decimal(Decimal($0)) }
    }

    private static let string = AttributeKind(
        "String", column: .string, compared: .string, form: .string, sample: { .string("Probe of a Key Path \($0) ") }
    ) { value in
        if let string = value as? String { return .string(string) }
        return (value as? NSString).map { .string(String(describing: $0)) }
    }

    private static let date = AttributeKind(
        "Date", column: .date, compared: .date, form: .date, isChecked: true, sample: { .date($0 * 100_000 + 0.25) }
    ) { value in
        if let date = value as? Date { return .date(date.timeIntervalSinceReferenceDate) }
        return (value as? NSDate).map { .date($0.timeIntervalSinceReferenceDate) }
    }

    private static let data = AttributeKind(
        "Binary", column: .data, compared: .data, form: .data, sample: { .data(Data("\($0)".utf8)) }
    ) { value in
        if let data = value as? Data { return .data(data) }
        return (value as? NSData).map { .data(Data(referencing: $0)) }
    }

    private static let uuid = AttributeKind(
        "UUID", column: .uuid, compared: .uuid, form: .uuid, sample: { _ in .uuid(UUID()) }
    ) { value in
        if let uuid = value as? UUID { return .uuid(uuid) }
        return (value as? NSUUID).map { .uuid(UUID(uuidString: $0.uuidString) ?? UUID()) }
    }

    private static let uri = AttributeKind("URI", column: .uri, compared: .url, form: nil) { value in
        (value as? URL).map { .object(ObjectBox($0)) }
    }

    private static let objectID = AttributeKind("Object ID", column: nil, compared: nil, form: nil) { value in
        (value as? NSManagedObjectID).map { .objectID($0) }
    }

    private static let transformable = any("Transformable", column: .transformable)
    private static let composite = any("Composite", column: nil)
    private static let undefined = any("Undefined", column: nil)

    private static func any(_ name: String, column: ColumnCoding?) -> AttributeKind {
        AttributeKind(name, column: column, compared: nil, form: nil) { value in (value as? AnyHashable).map { .object(ObjectBox($0)) } }
    }
}

/// How a column holds an attribute or a to-one.
package enum ColumnCoding: String, Sendable {
    case integer
    case boolean
    case double
    case date
    case string
    case data
    case uuid
    case decimal
    case uri
    case transformable
    case reference
}

/// What a property holds, as far as comparing goes.
package enum ComparedKind: Sendable {
    case number, string, date, data, uuid, url, object
}

extension AttributeValue {
    /// Which case a value is.
    package enum Form: UInt8, Sendable {
        case null, int64, double, bool, date, string, data, uuid, decimal, objectID, object
    }

    var form: Form {
        switch self {
        case .null: .null
        case .int64: .int64
        case .double: .double
        case .bool: .bool
        case .date: .date
        case .string: .string
        case .data: .data
        case .uuid: .uuid
        case .decimal: .decimal
        case .objectID: .objectID
        case .object: .object
        }
    }

    /// What `value` is as an attribute of this kind; nil if it can't be one. Ranges are checked at validation, not here.
    package static func coded(_ value: Any?, as kind: AttributeKind) -> AttributeValue? {
        guard let value else { return .null }
        if let value = exact(value, as: kind) { return value }
        return value is NSNull ? .null : kind.converted(value)
    }

    /// A value that has exactly the type in which attributes of this kind are given as a rule; nil for any other. To cast an `Any` takes several times as
    /// long, above all where it can't be cast: what it could be bridged to is looked for then.
    static func exact(_ value: Any, as kind: AttributeKind) -> AttributeValue? {
        guard let form = kind.form else { return nil }
        let type = Swift.type(of: value)
        // Of these types an `Any` has the value in itself: none is larger than three words.
        func own<Value>(_: Value.Type) -> Value { withUnsafeBytes(of: value) { $0.load(as: Value.self) } }
        switch form {
        case .string where type == String.self: return .string(own(String.self))
        case .int64 where type == Int.self: return .int64(Int64(own(Int.self)))
        case .int64 where type == Int64.self: return .int64(own(Int64.self))
        case .double where type == Double.self: return .double(own(Double.self))
        case .bool where type == Bool.self: return .bool(own(Bool.self))
        case .date where type == Date.self: return .date(own(Date.self).timeIntervalSinceReferenceDate)
        case .data where type == Data.self: return .data(own(Data.self))
        case .uuid where type == UUID.self: return .uuid(own(UUID.self))
        default: return nil
        }
    }

    /// The same for a type of Core Data's.
    package static func coded(_ value: Any?, as type: NSAttributeType) -> AttributeValue? { coded(value, as: AttributeKind[type]) }
}

extension NSAttributeDescription {
    /// Its own, or that of its type.
    var kind: AttributeKind { ownKind as? AttributeKind ?? AttributeKind[attributeType] }
}

/// Numbers out of whatever holds them.
private enum Convert {
    static func integer(_ value: Any) -> Int64? {
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
        case let value as NSNumber: whole(value)
        default: nil
        }
    }

    /// Without what comes after the point; nil for what does not fit 64 bits.
    private static func whole(_ number: NSNumber) -> Int64? {
        if let number = number as? NSDecimalNumber {
            var value = number.decimalValue, cut = Decimal()
            NSDecimalRound(&cut, &value, 0, value.isSignMinus ? .up : .down)
            return Int64(cut.description)
        }
        return switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): Int64(exactly: number.doubleValue.rounded(.towardZero))
        case UInt8(ascii: "Q"): Int64(exactly: number.uint64Value)
        default: number.int64Value
        }
    }

    static func double(_ value: Any) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Float: Double(value)
        case let value as NSNumber: value.doubleValue
        default: integer(value).map { Double($0) }
        }
    }
}
