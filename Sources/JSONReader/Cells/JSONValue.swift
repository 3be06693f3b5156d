/// A value that stays: a copy of a ``JSONCell`` without any tie to the page.
public enum JSONValue: Sendable, Hashable {
    case missing
    case null
    case bool(Bool)
    case int64(Int64)
    case double(Double)
    /// All the digits, as in the document.
    case bigNumber(String)
    case string(String)
    /// JSON text: of a `.raw` field, and of any object or array.
    case raw(String)

    /// Copies a cell; nested records become their JSON text. `raw` is the JSON text of the value, which only arrays read by a plan need.
    public init(_ cell: JSONCell, raw: JSONRawValue? = nil) {
        switch cell {
        case .missing: self = .missing
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int64(let value): self = .int64(value)
        case .double(let value): self = .double(value)
        case .bigNumber(let digits): self = .bigNumber(String(digits))
        case .string(let text): self = .string(String(text))
        case .raw(let text): self = .raw(String(text))
        case .object(let record): self = .raw(String(record.raw))
        case .array: self = raw.map { .raw(String($0)) } ?? .missing
        }
    }

    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var int64Value: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Missing or `null`.
    public var isNil: Bool {
        self == .missing || self == .null
    }

    /// What goes into a query parameter: the text of a string, the digits of a number, `true` or `false`; `nil` for anything else.
    public var parameterText: String? {
        switch self {
        case .string(let text), .bigNumber(let text): text
        case .int64(let value): String(value)
        case .double(let value): value.description
        case .bool(let value): String(value)
        case .missing, .null, .raw: nil
        }
    }
}
