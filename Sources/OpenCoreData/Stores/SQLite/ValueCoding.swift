import Foundation
import GRDBSQLite

/// Attribute values as column values and back.
enum ValueCoding {
    /// The value as it stands in a column of this coding. Throws for a transformable value that can't be archived.
    ///
    /// - Parameters:
    ///   - attribute: its name, for sentences.
    ///   - description: where it may be transformable.
    static func parameter(
        _ value: AttributeValue, _ coding: ColumnCoding, attribute: @autoclosure () -> String, _ description: NSAttributeDescription? = nil
    ) throws -> SQLParameter {
        switch value {
        case .null: return .null
        case .int64(let integer): return coding == .decimal ? DecimalCoding.parameter(Decimal(integer)) : .integer(integer)
        case .double(let double): return double.isNaN ? .null : .double(double)
        case .date(let seconds): return .double(seconds)
        case .bool(let bool): return .integer(bool ? 1 : 0)
        case .string(let string): return .text(string)
        case .data(let data): return .blob(data)
        case .uuid(let uuid): return .blob(Self.data(uuid))
        case .decimal(let decimal): return DecimalCoding.parameter(decimal)
        case .objectID(let id): return .integer(id.key)
        case .object(let box):
            if coding == .uri, let url = box.value.base as? URL { return .text(url.absoluteString) }
            return .blob(try TransformableCoding.data(box.value, of: description, named: attribute()))
        }
    }

    static func data(_ uuid: UUID) -> Data { withUnsafeBytes(of: uuid.uuid) { Data($0) } }

    /// The value of a column of the current row, which is not NULL. Nil if the bytes make no sense for the coding.
    static func value(_ statement: OpaquePointer, _ index: Int32, _ coding: ColumnCoding) -> AttributeValue? {
        value(sqlite3_column_value(statement, index), coding, nil)
    }

    /// The same of a value that is not NULL.
    @inline(__always)
    static func value(_ value: OpaquePointer?, _ coding: ColumnCoding, _ attribute: @autoclosure () -> NSAttributeDescription?) -> AttributeValue? {
        switch coding {
        case .integer: return .int64(sqlite3_value_int64(value))
        case .boolean: return .bool(sqlite3_value_int64(value) != 0)
        case .double: return .double(sqlite3_value_double(value))
        case .date: return .date(sqlite3_value_double(value))
        case .string: return .string(text(value))
        case .data: return .data(data(value))
        case .uuid:
            guard sqlite3_value_bytes(value) == 16, let bytes = sqlite3_value_blob(value) else { return nil }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        case .decimal:
            switch sqlite3_value_type(value) {
            case SQLITE_INTEGER: return .decimal(Decimal(sqlite3_value_int64(value)))
            case SQLITE_FLOAT: return .decimal(DecimalCoding.decimal(sqlite3_value_double(value)))
            default: return DecimalCoding.decimal(text: text(value)).map { .decimal($0) }
            }
        case .uri: return URL(string: text(value)).map { .object(ObjectBox($0)) }
        case .transformable: return TransformableCoding.value(data(value), of: attribute()).map { .object(ObjectBox($0)) }
        case .reference: return nil
        }
    }

    static func text(_ value: OpaquePointer?) -> String {
        guard let bytes = sqlite3_value_text(value) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    static func data(_ value: OpaquePointer?) -> Data {
        guard let bytes = sqlite3_value_blob(value) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(value)))
    }
}

/// Decimals in a DECIMAL column, without loss: a whole number of 64 bits as INTEGER, up to 15 significant digits as REAL (which gives them back
/// exactly), anything longer as a BLOB that holds the digits as text (as TEXT, the column's affinity would round it). A number has one
/// form only, so that equality and unique indexes work.
enum DecimalCoding {
    static func parameter(_ value: Decimal) -> SQLParameter {
        if value.isNaN { return .null }
        let text = value.description
        if let integer = Int64(text) { return .integer(integer) }
        let digits = parts(text).digits
        if digits.count <= 15, let double = Double(text) {
            if let whole = Int64(exactly: double) { return .integer(whole) }
            return .double(double)
        }
        return .blob(Data(text.utf8))
    }

    static func decimal(_ value: Double) -> Decimal { Decimal(string: "\(value)") ?? Decimal(value) }

    static func decimal(text: String) -> Decimal? { Decimal(string: text) }

    /// Bytes that compare as the numbers do.
    static func sortKey(_ value: Decimal) -> [UInt8] {
        let (isNegative, digits, exponent) = parts(value.description)
        if digits.isEmpty { return [0x80] }
        let biased = UInt16(exponent + 0x4000)
        let body = [UInt8(biased >> 8), UInt8(biased & 0xFF)] + digits.map { $0 + 1 }
        return isNegative ? [0x7F] + body.map { ~$0 } + [0xFF] : [0x81] + body
    }

    /// Sign, digits without zeros at either end, and the power of ten that 0.DIGITS is multiplied with.
    private static func parts(_ text: String) -> (isNegative: Bool, digits: [UInt8], exponent: Int) {
        var digits: [UInt8] = [], exponent = 0, sawPoint = false, isNegative = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): sawPoint = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = byte - UInt8(ascii: "0")
                if digits.isEmpty && digit == 0 {
                    if sawPoint { exponent -= 1 }
                } else {
                    digits.append(digit)
                    if !sawPoint { exponent += 1 }
                }
            default: break
            }
        }
        while digits.last == 0 { digits.removeLast() }
        return (isNegative, digits, exponent)
    }
}
