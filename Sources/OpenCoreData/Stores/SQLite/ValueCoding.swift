import Foundation
import GRDBSQLite

/// Attribute values as column values and back.
enum ValueCoding {
    /// The value as it stands in a column of this coding. Throws for a transformable value that can't be archived.
    static func parameter(_ value: AttributeValue, _ coding: ColumnCoding, attribute: @autoclosure () -> String) throws -> SQLParameter {
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
            return .blob(try TransformableCoding.data(box.value, attribute: attribute()))
        }
    }

    static func data(_ uuid: UUID) -> Data { withUnsafeBytes(of: uuid.uuid) { Data($0) } }

    /// The value of a column of the current row, which is not NULL. Nil if the bytes make no sense for the coding.
    @inline(__always)
    static func value(_ statement: OpaquePointer, _ index: Int32, _ coding: ColumnCoding) -> AttributeValue? {
        switch coding {
        case .integer: return .int64(sqlite3_column_int64(statement, index))
        case .boolean: return .bool(sqlite3_column_int64(statement, index) != 0)
        case .double: return .double(sqlite3_column_double(statement, index))
        case .date: return .date(sqlite3_column_double(statement, index))
        case .string: return .string(text(statement, index))
        case .data: return .data(data(statement, index))
        case .uuid:
            guard sqlite3_column_bytes(statement, index) == 16, let bytes = sqlite3_column_blob(statement, index) else { return nil }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        case .decimal:
            switch sqlite3_column_type(statement, index) {
            case SQLITE_INTEGER: return .decimal(Decimal(sqlite3_column_int64(statement, index)))
            case SQLITE_FLOAT: return .decimal(DecimalCoding.decimal(sqlite3_column_double(statement, index)))
            default: return DecimalCoding.decimal(text: text(statement, index)).map { .decimal($0) }
            }
        case .uri: return URL(string: text(statement, index)).map { .object(ObjectBox($0)) }
        case .transformable: return TransformableCoding.value(data(statement, index)).map { .object(ObjectBox($0)) }
        case .reference: return nil
        }
    }

    static func text(_ statement: OpaquePointer, _ index: Int32) -> String {
        guard let bytes = sqlite3_column_text(statement, index) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, index))), as: UTF8.self)
    }

    static func data(_ statement: OpaquePointer, _ index: Int32) -> Data {
        guard let bytes = sqlite3_column_blob(statement, index) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, index)))
    }
}
