import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// Why a value does not fit an attribute: the reason for which the record is set aside.
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
        case .int16: return .int64(try integer(cell, token, Int64(Int16.min)...Int64(Int16.max)))
        case .int32: return .int64(try integer(cell, token, Int64(Int32.min)...Int64(Int32.max)))
        case .int64: return .int64(try integer(cell, token, Int64.min...Int64.max))
        case .double: return .double(try double(cell))
        case .decimal:
            return .decimal(try decimal(cell, token))
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

    private func integer(_ cell: JSONCell, _ token: JSONRawValue?, _ range: ClosedRange<Int64>) throws(ConversionProblem) -> Int64 {
        if case .int64(let value) = cell {
            guard range.contains(value) else { throw misfit(cell) }
            return value
        }
        // Compares digits: 1.000…5 is not an integer, although the nearest double is.
        guard let number = number(cell, token), number.isInteger else { throw problem(cell, "an integer") }
        guard let value = number.int64, range.contains(value) else { throw misfit(cell) }
        return value
    }

    private func double(_ cell: JSONCell) throws(ConversionProblem) -> Double {
        switch cell {
        case .int64(let value): return Double(value)
        case .double(let value): return value
        case .string(let text): if let value = text.withUTF8({ NumberText.double(ofFewDigits: $0) }) { return value }
        default: break
        }
        guard let number = number(cell, nil), let value = Double(number.canonical) else { throw problem(cell, "a number") }
        guard value.isFinite else { throw problem(cell, "a double: it is too large") }
        guard value != 0 || number.digits.isEmpty else { throw problem(cell, "a double: it is too small") }
        return value
    }

    /// The number of digits that a decimal can always hold.
    private static let decimalDigits = 38

    private func decimal(_ cell: JSONCell, _ token: JSONRawValue?) throws(ConversionProblem) -> Decimal {
        if case .int64(let value) = cell { return Decimal(value) }
        guard let number = number(cell, token) else { throw problem(cell, "a decimal number") }
        guard number.digits.count <= Self.decimalDigits else {
            throw problem(cell, "a decimal: it has \(number.digits.count) digits, a decimal holds \(Self.decimalDigits)")
        }
        // Foundation rounds, and stops reading at the first character it does not understand, so its result is compared with the digits.
        guard (-127...127).contains(number.exponent), let value = Decimal(string: number.canonical, locale: Locale(identifier: "en_US_POSIX")),
            !value.isNaN, NumberText(value.description.utf8) == number
        else { throw misfit(cell) }
        return value
    }

    /// The number that a cell holds, digit by digit.
    private func number(_ cell: JSONCell, _ token: JSONRawValue?) -> NumberText? {
        switch cell {
        case .int64(let value): NumberText(String(value).utf8)
        case .double(let value): token.map { $0.withBytes { NumberText($0) } } ?? NumberText(value.description.utf8)
        case .bigNumber(let digits): digits.withBytes { NumberText($0) }
        case .string(let text): text.withUTF8 { NumberText($0) }
        default: nil
        }
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

    private func misfit(_ cell: JSONCell) -> ConversionProblem {
        ConversionProblem(path: path, message: "\(attribute.name): \(cell.brief) does not fit \(attribute.type)")
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

/// A number as it is written: an optional sign, digits with at most one point among them, and an optional power of ten. Nothing around it, no
/// thousands separators, no other base. Its digits are compared and kept, not the nearest double.
struct NumberText: Hashable {
    let isNegative: Bool
    /// ASCII digits without zeros at either end; empty: the number is zero.
    let digits: [UInt8]
    /// The power of ten of the last digit.
    let exponent: Int

    /// Nil if the text is no number. Powers of ten beyond a million are as good as a million.
    init?(_ text: some Sequence<UInt8>) {
        var digits: [UInt8] = [], isNegative = false, point: Int?, power: Int?, isPowerNegative = false, count = 0, last: UInt8 = 0
        for byte in text {
            defer { last = byte }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if let known = power {
                    power = min(known * 10 + Int(byte - UInt8(ascii: "0")), 1_000_000)
                } else {
                    digits.append(byte)
                }
            case UInt8(ascii: "+"), UInt8(ascii: "-"):
                let isPower = power != nil && (last == UInt8(ascii: "e") || last == UInt8(ascii: "E"))
                guard count == 0 || isPower else { return nil }
                if isPower { isPowerNegative = byte == UInt8(ascii: "-") } else { isNegative = byte == UInt8(ascii: "-") }
            case UInt8(ascii: "."):
                guard point == nil, power == nil else { return nil }
                point = digits.count
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                guard power == nil, !digits.isEmpty else { return nil }
                power = 0
            default: return nil
            }
            count += 1
        }
        let isDigit = last >= UInt8(ascii: "0") && last <= UInt8(ascii: "9")
        guard !digits.isEmpty, isDigit || (last == UInt8(ascii: ".") && power == nil) else { return nil }
        var exponent = (isPowerNegative ? -1 : 1) * (power ?? 0) - (point.map { digits.count - $0 } ?? 0)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        self.digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
        self.isNegative = isNegative && !self.digits.isEmpty
        self.exponent = self.digits.isEmpty ? 0 : exponent
    }

    /// The double nearest to a number of at most 15 digits without a power of ten, which needs no detour over text: its digits and the power of ten
    /// that divides them are doubles to the last bit, so that the quotient is rounded once (Clinger, 1990). Nil for any other text.
    static func double(ofFewDigits text: some Sequence<UInt8>) -> Double? {
        var digits: Int64 = 0, count = 0, divisor = 1.0, isNegative = false, hasPoint = false
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
                count += 1
                if hasPoint { divisor *= 10 }
                if count > 15 { return nil }
            case UInt8(ascii: ".") where count > 0 && !hasPoint: hasPoint = true
            case UInt8(ascii: "-") where count == 0 && !isNegative: isNegative = true
            default: return nil
            }
        }
        if count == 0 { return nil }
        let value = Double(digits) / divisor
        return isNegative && digits != 0 ? -value : value
    }

    var isInteger: Bool { exponent >= 0 }

    /// The number, if it is an integer of 64 bits.
    var int64: Int64? {
        guard isInteger, digits.count + exponent <= 19 else { return nil }
        var value: Int64 = 0
        // Downwards, because there is one more negative number.
        for byte in digits + Array(repeating: UInt8(ascii: "0"), count: exponent) {
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLow) = product.subtractingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflows, !isTooLow else { return nil }
            value = sum
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }

    /// Sign, digits and power of ten, nothing else.
    var canonical: String {
        digits.isEmpty ? "0" : (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + (exponent == 0 ? "" : "e\(exponent)")
    }
}
