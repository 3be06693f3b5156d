import Foundation
import OpenCoreData
import SyncConfiguration

/// A column of one of the pipeline's own tables. It is declared once; the model, the views, and its readers and writers take it from there.
struct Column<Value: ColumnValue>: TableColumn {
    let name: String
    let sql: String
    let isShown: Bool
    let isKey: Bool
    /// Another program may have written to the store: an impossible count is brought into bounds, so that one more can be counted.
    private let isCount: Bool
    private let fallback: Value

    /// - Parameters:
    ///   - sql: its name in views, where that is not its own in SQL's spelling.
    ///   - isShown: whether its table's view has it.
    ///   - isKey: whether it is a part of its table's key. The parts are in the order of their declaration.
    ///   - fallback: what it reads as where nothing was ever written.
    init(_ name: String, sql: String? = nil, isShown: Bool = true, isKey: Bool = false, isCount: Bool = false, or fallback: Value) {
        self.name = name
        self.sql = sql ?? NameMatch.snakeCase(name)
        self.isShown = isShown
        self.isKey = isKey
        self.isCount = isCount
        self.fallback = fallback
    }

    var type: NSAttributeDescription.AttributeType { Value.columnType }
    var unwritten: AttributeValue { fallback.stored }

    func value(_ stored: AttributeValue) -> Value {
        guard isCount, case .int64(let number) = stored else { return Value(stored) ?? fallback }
        return Value(.int64(min(max(number, 0), .max / 2))) ?? fallback
    }
}

/// A column, whatever it holds.
protocol TableColumn: Sendable {
    var name: String { get }
    var sql: String { get }
    var isShown: Bool { get }
    var isKey: Bool { get }
    var type: NSAttributeDescription.AttributeType { get }
    /// What is stored of the value that the column reads as where nothing was written.
    var unwritten: AttributeValue { get }
}

extension Column where Value: ExpressibleByNilLiteral {
    /// A column that may be empty.
    init(_ name: String, isShown: Bool = true, isCount: Bool = false) {
        self.init(name, isShown: isShown, isCount: isCount, or: nil)
    }
}

extension Column<String> {
    static func key(_ name: String) -> Column { Column(name, isKey: true, or: "") }
}

extension Column<Bool> {
    static func flag(_ name: String, sql: String? = nil) -> Column { Column(name, sql: sql, or: false) }
}

extension Column where Value: FixedWidthInteger {
    static func count(_ name: String, sql: String? = nil, isKey: Bool = false) -> Column {
        Column(name, sql: sql, isKey: isKey, isCount: true, or: 0)
    }
}

/// What a column of the pipeline's own tables can hold.
protocol ColumnValue: Hashable, Sendable {
    static var columnType: NSAttributeDescription.AttributeType { get }
    /// Nil: the column holds nothing, or nothing that is one.
    init?(_ stored: AttributeValue)
    var stored: AttributeValue { get }
}

extension AttributeValue {
    init(_ value: some ColumnValue) { self = value.stored }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { Wrapped.columnType }
    init?(_ stored: AttributeValue) { self = Wrapped(stored) }
    var stored: AttributeValue { self?.stored ?? .null }
}

extension String: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .string }
    init?(_ stored: AttributeValue) {
        guard case .string(let value) = stored else { return nil }
        self = value
    }
    var stored: AttributeValue { .string(self) }
}

extension Int64: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .integer64 }
    init?(_ stored: AttributeValue) {
        guard case .int64(let value) = stored else { return nil }
        self = value
    }
    var stored: AttributeValue { .int64(self) }
}

extension Int: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .integer64 }
    init?(_ stored: AttributeValue) {
        guard case .int64(let value) = stored else { return nil }
        self.init(value)
    }
    var stored: AttributeValue { .int64(Int64(self)) }
}

extension Bool: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .boolean }
    init?(_ stored: AttributeValue) {
        guard case .bool(let value) = stored else { return nil }
        self = value
    }
    var stored: AttributeValue { .bool(self) }
}

extension Date: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .date }
    init?(_ stored: AttributeValue) {
        guard case .date(let value) = stored else { return nil }
        self.init(timeIntervalSinceReferenceDate: value)
    }
    var stored: AttributeValue { .date(timeIntervalSinceReferenceDate) }
}

extension Data: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .binaryData }
    init?(_ stored: AttributeValue) {
        guard case .data(let value) = stored else { return nil }
        self = value
    }
    var stored: AttributeValue { .data(self) }
}

extension UUID: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .uuid }
    init?(_ stored: AttributeValue) {
        guard case .uuid(let value) = stored else { return nil }
        self = value
    }
    var stored: AttributeValue { .uuid(self) }
}

extension BodyDigest: ColumnValue {
    static var columnType: NSAttributeDescription.AttributeType { .binaryData }
    init?(_ stored: AttributeValue) {
        guard let value = Data(stored) else { return nil }
        self.init(bytes: value)
    }
    var stored: AttributeValue { .data(Data(bytes)) }
}

extension ColumnValue where Self: RawRepresentable<String> {
    static var columnType: NSAttributeDescription.AttributeType { .string }
    init?(_ stored: AttributeValue) {
        guard let text = String(stored) else { return nil }
        self.init(rawValue: text)
    }
    var stored: AttributeValue { .string(rawValue) }
}

extension RunCause: ColumnValue {}
extension RunOutcome: ColumnValue {}
