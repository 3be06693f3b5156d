/// The type of an attribute.
public enum AttributeType: Sendable, Hashable, CustomStringConvertible {
    case int16, int32, int64, decimal, double, bool, string, date, uuid, uri
    /// Bytes, written as text in the JSON.
    case data(DataEncoding)
    /// Any JSON value, kept as its text.
    case json

    public enum DataEncoding: String, Sendable, Hashable, CaseIterable {
        case base64
        case hex
    }

    /// Every type, as the configuration writes it.
    public static let all: [AttributeType] = [
        .int16, .int32, .int64, .decimal, .double, .bool, .string, .date, .uuid, .uri, .data(.base64), .data(.hex), .json,
    ]

    /// The type as the configuration writes it.
    public var description: String {
        switch self {
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .decimal: "decimal"
        case .double: "double"
        case .bool: "bool"
        case .string: "string"
        case .date: "date"
        case .uuid: "uuid"
        case .uri: "uri"
        case .data(let encoding): "data(\(encoding.rawValue))"
        case .json: "json"
        }
    }
}
