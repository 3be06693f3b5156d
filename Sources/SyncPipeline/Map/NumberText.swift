/// A number as it is written: an optional sign, digits with at most one point among them, and an optional power of ten. Nothing around it, no
/// separators of thousands, no other base. What is compared and kept is its digits, not the double next to it.
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

    var isInteger: Bool { exponent >= 0 }

    /// The number, if it is an integer of 64 bits.
    var int64: Int64? {
        guard isInteger, digits.count + exponent <= 19 else { return nil }
        var value: Int64 = 0
        // Downwards, since there is one negative number more.
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
