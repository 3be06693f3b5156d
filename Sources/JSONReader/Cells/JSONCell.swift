import CSimdJSON

/// What was found for a field. Its text points into the page: like the record it comes from, a cell is valid only until the closure it was
/// handed to returns. Looking at a string, span, record or array after that traps.
public enum JSONCell {
    /// None of the field's paths exists in the record.
    case missing
    case null
    case bool(Bool)
    /// A number written without fraction and exponent, within int64.
    case int64(Int64)
    /// A number written with a fraction or an exponent, or `-0`: the nearest double. Its digits are in ``JSONRecord/rawValue(of:)``.
    case double(Double)
    /// A number that neither an int64 nor a double can stand for: an integer beyond int64, `1e400`, `1e-999`. ASCII as in the document.
    case bigNumber(JSONRawValue)
    case string(JSONString)
    /// The JSON text of a value: of an object or array met by a `.value` field, of anything for a `.raw` field.
    case raw(JSONRawValue)
    /// An object read by the plan of a `.record` field.
    case object(JSONRecord)
    /// An array read by the plan of a `.record` field.
    case array(JSONArray)
}

extension JSONCell {
    public var isMissing: Bool {
        if case .missing = self { true } else { false }
    }

    /// Missing or `null`.
    public var isNil: Bool {
        switch self {
        case .missing, .null: true
        default: false
        }
    }

    /// The decoded text of a string.
    public var stringValue: String? {
        if case .string(let text) = self { String(text) } else { nil }
    }

    /// The integer of an `.int64`.
    public var int64Value: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    /// The nearest double of an `.int64` or `.double`.
    public var doubleValue: Double? {
        switch self {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Inlined so that the parts are written to where they stay: copying a cell that was just written part by part is what takes time.
    @inline(__always)
    init(_ cell: csj_cell, in page: JSONPageReference) {
        switch Int(cell.kind) {
        case CSJ_NULL: self = .null
        case CSJ_FALSE: self = .bool(false)
        case CSJ_TRUE: self = .bool(true)
        case CSJ_INT64: self = .int64(Int64(bitPattern: cell.payload))
        case CSJ_DOUBLE: self = .double(Double(bitPattern: cell.payload))
        case CSJ_BIG_NUMBER: self = .bigNumber(JSONRawValue(cell, in: page))
        case CSJ_STRING: self = .string(JSONString(cell, in: page))
        case CSJ_RAW: self = .raw(JSONRawValue(cell, in: page))
        case CSJ_RECORD: self = .object(JSONRecord(page: page, instance: UInt32(truncatingIfNeeded: cell.payload)))
        case CSJ_ARRAY: self = .array(JSONArray(page: page, first: UInt32(truncatingIfNeeded: cell.payload), count: Int(cell.count)))
        default: self = .missing
        }
    }
}
