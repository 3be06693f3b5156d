import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration

/// JSON cells to attribute values. Coercion is "safe", unless told otherwise: `"12"` becomes 12, and 1 never becomes true.
struct ValueConversion: Sendable {
    let attribute: AttributeConfiguration
    /// Where the value is looked for, for messages.
    let path: String

    /// Whether only what JSON has for the type is taken.
    var isExact = false

    /// Whether a cell is its value as it is: nothing becomes of its text, and it may be as long as it is.
    var isPlain: Bool { attribute.transforms.isEmpty && attribute.longest == nil }

    /// What a record says: a cell of it, or what became of the text in one.
    private enum Said {
        case cell(JSONCell, JSONRawValue?)
        case text(String)

        var text: String? {
            switch self {
            case .cell(.string(let text), _): String(text)
            case .cell: nil
            case .text(let text): text
            }
        }

        /// The number, digit by digit.
        var number: NumberText? {
            switch self {
            case .cell(.int64(let value), _): NumberText(String(value).utf8)
            case .cell(.double(let value), let token): token.map { $0.withBytes { NumberText($0) } } ?? NumberText(value.description.utf8)
            case .cell(.bigNumber(let digits), _): digits.withBytes { NumberText($0) }
            case .cell(.string(let text), _): text.withUTF8 { NumberText($0) }
            case .cell: nil
            case .text(let text): NumberText(text.utf8)
            }
        }

        var brief: String {
            switch self {
            case .cell(let cell, _): cell.brief
            case .text(let text): "\"\(ConversionProblem.quoted(text))\""
            }
        }

        var cutText: String? {
            switch self {
            case .cell(let cell, _): cell.cutText
            case .text(let text): ConversionProblem.cut(text)
            }
        }
    }

    /// - Parameter token: the value's JSON text, for what must be exact to the last digit.
    func value(_ cell: JSONCell, token: JSONRawValue? = nil) throws(ConversionProblem) -> AttributeValue {
        if cell.isNil { return .null }
        let said = Said.cell(cell, token)
        if isExact && !isOfItsType(cell) {
            throw ConversionProblem(
                path: path, message: "\(attribute.name): \(said.brief) is not of the type \(attribute.type) (schema.coerce = \"none\")",
                isMismatch: true, cutText: said.cutText)
        }
        if isPlain { return try converted(said) }
        guard !attribute.transforms.isEmpty, var text = said.text else { return try bounded(converted(said), said) }
        for transform in attribute.transforms {
            guard let next = transform(text) else { return .null }
            text = next
        }
        return try bounded(converted(.text(text)), .text(text))
    }

    /// Whether a cell is what JSON has for the type.
    private func isOfItsType(_ cell: JSONCell) -> Bool {
        let isNumber: Bool, isText: Bool
        switch cell {
        case .int64, .double, .bigNumber: (isNumber, isText) = (true, false)
        case .string: (isNumber, isText) = (false, true)
        default: (isNumber, isText) = (false, false)
        }
        switch attribute.type {
        case .int16, .int32, .int64, .double, .decimal: return isNumber
        case .string, .uuid, .uri, .data: return isText
        case .bool: if case .bool = cell { return true } else { return false }
        case .date:
            switch attribute.format {
            case .unix, .unixMilliseconds, .unixMicroseconds: return isNumber
            default: return isText
            }
        case .json: return true
        }
    }

    /// A value that is not longer than `max`.
    private func bounded(_ value: AttributeValue, _ said: Said) throws(ConversionProblem) -> AttributeValue {
        guard let longest = attribute.longest else { return value }
        let count =
            switch value {
            case .string(let text): text.utf8.count
            case .data(let data): data.count
            case .object(let box): (box.value.base as? URL)?.absoluteString.utf8.count ?? 0
            default: 0
            }
        guard count > longest.bytes else { return value }
        throw ConversionProblem(
            path: path, message: "\(attribute.name): \(said.brief) has \(count) bytes, more than max = \"\(longest)\"", cutText: said.cutText)
    }

    private func converted(_ said: Said) throws(ConversionProblem) -> AttributeValue {
        switch attribute.type {
        case .int16: return .int64(try integer(said, Int64(Int16.min)...Int64(Int16.max)))
        case .int32: return .int64(try integer(said, Int64(Int32.min)...Int64(Int32.max)))
        case .int64: return .int64(try integer(said, Int64.min...Int64.max))
        case .double: return .double(try double(said))
        case .decimal: return .decimal(try decimal(said))
        case .bool:
            if case .cell(.bool(let value), _) = said { return .bool(value) }
            switch said.text {
            case "true": return .bool(true)
            case "false": return .bool(false)
            default: throw problem(said, "a boolean")
            }
        case .string:
            if let text = said.text { return .string(text) }
            switch said {
            case .cell(.bool(let value), _): return .string(value ? "true" : "false")
            case .cell(.int64(let value), _): return .string(String(value))
            case .cell(.double(let value), let token): return .string(token.map { String($0) } ?? value.description)
            case .cell(.bigNumber(let digits), _): return .string(String(digits))
            default: throw problem(said, "a string")
            }
        case .date:
            let seconds =
                switch said {
                case .cell(let cell, _): DateConversion.seconds(cell, format: attribute.format)
                case .text(let text): DateConversion.seconds(text, format: attribute.format)
                }
            guard let seconds else { throw problem(said, "a date (\(attribute.format))") }
            return .date(seconds)
        case .uuid:
            guard let uuid = said.text.flatMap({ UUID(uuidString: $0) }) else { throw problem(said, "a UUID") }
            return .uuid(uuid)
        case .uri:
            guard let url = said.text.flatMap({ URL(string: $0) }) else { throw problem(said, "a URI") }
            return .object(ObjectBox(url))
        case .data(let encoding):
            guard let data = said.text.flatMap({ Self.decode($0, encoding) }) else { throw problem(said, "\(encoding.rawValue) data") }
            return .data(data)
        case .json:
            guard case .cell(.raw(let span), _) = said else { throw problem(said, "JSON") }
            return .string(String(span))
        }
    }

    private func integer(_ said: Said, _ range: ClosedRange<Int64>) throws(ConversionProblem) -> Int64 {
        if case .cell(.int64(let value), _) = said {
            guard range.contains(value) else { throw misfit(said) }
            return value
        }
        // Compares digits: 1.000…5 is not an integer, although the nearest double is.
        guard let number = said.number, number.isInteger else { throw problem(said, "an integer") }
        guard let value = number.int64, range.contains(value) else { throw misfit(said) }
        return value
    }

    private func double(_ said: Said) throws(ConversionProblem) -> Double {
        switch said {
        case .cell(.int64(let value), _): return Double(value)
        case .cell(.double(let value), _): return value
        case .cell(.string(let text), _): if let value = text.withUTF8({ NumberText.double(ofFewDigits: $0) }) { return value }
        default: break
        }
        guard let number = said.number, let value = Double(number.canonical) else { throw problem(said, "a number") }
        guard value.isFinite else { throw problem(said, "a double: it is too large") }
        guard value != 0 || number.digits.isEmpty else { throw problem(said, "a double: it is too small") }
        return value
    }

    /// The number of digits that a decimal can always hold.
    private static let decimalDigits = 38

    private func decimal(_ said: Said) throws(ConversionProblem) -> Decimal {
        if case .cell(.int64(let value), _) = said { return Decimal(value) }
        guard let number = said.number else { throw problem(said, "a decimal number") }
        guard number.digits.count <= Self.decimalDigits else {
            throw problem(said, "a decimal: it has \(number.digits.count) digits, a decimal holds \(Self.decimalDigits)")
        }
        // Foundation rounds, and stops reading at the first character it does not understand, so its result is compared with the digits.
        guard (-127...127).contains(number.exponent), let value = Decimal(string: number.canonical, locale: Locale(identifier: "en_US_POSIX")),
            !value.isNaN, NumberText(value.description.utf8) == number
        else { throw misfit(said) }
        return value
    }

    private func misfit(_ said: Said) -> ConversionProblem {
        ConversionProblem(
            path: path, message: "\(attribute.name): \(said.brief) does not fit \(attribute.type)", isMismatch: true, cutText: said.cutText)
    }

    private func problem(_ said: Said, _ wanted: String) -> ConversionProblem {
        ConversionProblem(path: path, message: "\(attribute.name): \(said.brief) is not \(wanted)", isMismatch: true, cutText: said.cutText)
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
