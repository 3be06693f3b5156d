import Foundation

/// A property list, as Foundation's encoder writes it.
///
/// In programs that have Foundation linked in, as released ones do, `PropertyListSerialization` takes no list with an array in it for a property list
/// (Swift 6.3 on Linux). The encoder does, and what it writes is read alike.
enum PropertyListValue: Encodable {
    case string(String)
    case data(Data)
    case date(Date)
    case bool(Bool)
    case integer(Int64)
    case natural(UInt64)
    case real(Double)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// Nil for what can be no part of a property list.
    init?(_ value: Any) {
        switch value {
        case let text as String: self = .string(text)
        case let data as Data: self = .data(data)
        case let date as Date: self = .date(date)
        case let values as [Any]:
            let list = values.compactMap(Self.init)
            guard list.count == values.count else { return nil }
            self = .array(list)
        case let values as [String: Any]:
            let list = values.compactMapValues(Self.init)
            guard list.count == values.count else { return nil }
            self = .dictionary(list)
        default:
            guard let number = value as? NSNumber else { return nil }
            switch String(cString: number.objCType) {
            case "c" where [0, 1].contains(number.int8Value), "B": self = .bool(number.boolValue)
            case "f", "d": self = .real(number.doubleValue)
            case "Q", "L": self = number.uint64Value > Int64.max ? .natural(number.uint64Value) : .integer(number.int64Value)
            default: self = .integer(number.int64Value)
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .natural(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        }
    }

    /// The bytes of a property list. Throws what Foundation says of a value that is none.
    static func bytes(_ value: Any, format: PropertyListSerialization.PropertyListFormat) throws -> Data {
        guard let list = PropertyListValue(value) else {
            return try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        return try encoder.encode(list)
    }
}
