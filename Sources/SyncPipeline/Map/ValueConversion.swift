import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// Why a value could not become an attribute's: the record is set aside with it.
struct ConversionProblem: Error, Sendable {
    let path: String
    let message: String
}

/// JSON cells to attribute values. Coercion is "safe": `"12"` becomes 12, and 1 never becomes true.
struct ValueConversion: Sendable {
    let attribute: AttributeConfiguration
    /// Where the value is looked for, for messages.
    let path: String

    /// - Parameter token: the value's JSON text, for what must be exact to the last digit.
    func value(_ cell: JSONCell, token: JSONRawValue? = nil) throws(ConversionProblem) -> AttributeValue {
        switch cell {
        case .missing, .null: return .null
        default: break
        }
        switch attribute.type {
        case .int16: return .int64(try integer(cell, Int64(Int16.min)...Int64(Int16.max)))
        case .int32: return .int64(try integer(cell, Int64(Int32.min)...Int64(Int32.max)))
        case .int64: return .int64(try integer(cell, Int64.min...Int64.max))
        case .double: return .double(try double(cell))
        case .decimal:
            let text = try numberText(cell, token)
            guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !decimal.isNaN else {
                throw problem(cell, "a decimal number")
            }
            return .decimal(decimal)
        case .bool:
            if case .bool(let value) = cell { return .bool(value) }
            if case .string(let text) = cell {
                switch String(text) {
                case "true": return .bool(true)
                case "false": return .bool(false)
                default: break
                }
            }
            throw problem(cell, "a boolean")
        case .string:
            switch cell {
            case .string(let text): return .string(String(text))
            case .bool(let value): return .string(value ? "true" : "false")
            case .int64, .double, .bigNumber: return .string(try numberText(cell, token))
            default: throw problem(cell, "a string")
            }
        case .date:
            guard let seconds = DateConversion.seconds(cell, format: attribute.format) else {
                throw problem(cell, "a date (\(attribute.format))")
            }
            return .date(seconds)
        case .uuid:
            guard case .string(let text) = cell, let uuid = UUID(uuidString: String(text)) else { throw problem(cell, "a UUID") }
            return .uuid(uuid)
        case .uri:
            guard case .string(let text) = cell, let url = URL(string: String(text)) else { throw problem(cell, "a URI") }
            return .object(ObjectBox(url))
        case .data(let encoding):
            guard case .string(let text) = cell, let data = Self.decode(String(text), encoding) else {
                throw problem(cell, "\(encoding.rawValue) data")
            }
            return .data(data)
        case .json:
            guard case .raw(let span) = cell else { throw problem(cell, "JSON") }
            return .string(String(span))
        }
    }

    private func integer(_ cell: JSONCell, _ range: ClosedRange<Int64>) throws(ConversionProblem) -> Int64 {
        let number: Int64?
        switch cell {
        case .int64(let value): number = value
        case .double(let value): number = value.rounded() == value ? Int64(exactly: value) : nil
        case .string(let text): number = Int64(String(text))
        default: number = nil
        }
        guard let number else { throw problem(cell, "an integer") }
        guard range.contains(number) else {
            throw ConversionProblem(path: path, message: "\(attribute.name): \(number) does not fit \(attribute.type)")
        }
        return number
    }

    private func double(_ cell: JSONCell) throws(ConversionProblem) -> Double {
        switch cell {
        case .int64(let value): return Double(value)
        case .double(let value): return value
        case .bigNumber(let digits):
            if let value = Double(String(digits)), value.isFinite { return value }
        case .string(let text):
            if let value = Double(String(text)), value.isFinite { return value }
        default: break
        }
        throw problem(cell, "a number")
    }

    private func numberText(_ cell: JSONCell, _ token: JSONRawValue?) throws(ConversionProblem) -> String {
        switch cell {
        case .int64(let value): return String(value)
        case .double(let value): return token.map { String($0) } ?? value.description
        case .bigNumber(let digits): return String(digits)
        case .string(let text): return String(text)
        default: throw problem(cell, "a number")
        }
    }

    private func problem(_ cell: JSONCell, _ wanted: String) -> ConversionProblem {
        ConversionProblem(path: path, message: "\(attribute.name): \(cell.brief) is not \(wanted)")
    }

    private static func decode(_ text: String, _ encoding: AttributeType.DataEncoding) -> Data? {
        switch encoding {
        case .base64: return Data(base64Encoded: text)
        case .hex:
            let digits = Array(text.utf8)
            guard digits.count.isMultiple(of: 2) else { return nil }
            var data = Data(capacity: digits.count / 2)
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = Character(UnicodeScalar(digits[index])).hexDigitValue,
                    let low = Character(UnicodeScalar(digits[index + 1])).hexDigitValue
                else { return nil }
                data.append(UInt8(high << 4 | low))
            }
            return data
        }
    }
}

extension JSONCell {
    /// The value in a few words, for messages.
    var brief: String {
        switch self {
        case .missing: "a missing value"
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bigNumber(let digits): String(String(digits).prefix(40))
        case .string(let text): "\"\(String(text).prefix(40))\""
        case .raw(let text): String(String(text).prefix(40))
        case .object: "an object"
        case .array: "a list"
        }
    }
}
