import Foundation

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
