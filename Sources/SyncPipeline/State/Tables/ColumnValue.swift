import Foundation
import OpenCoreData

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
