import Foundation

/// A number as it was given, exactly: whole, decimal, or binary.
enum Number: Hashable {
    case whole(Int64)
    case decimal(Decimal)
    case binary(Double)

    /// Nil for what is no number, and for truth values, which Foundation counts among numbers.
    init?(_ value: Any) {
        guard !Self.isTruth(value), let number = value as? NSNumber else { return nil }
        if let decimal = number as? NSDecimalNumber {
            self = Self.exactly(decimal.decimalValue)
            return
        }
        switch String(cString: number.objCType) {
        case "f", "d": self = .binary(number.doubleValue)
        case "Q", "L": self = Self.exactly(Decimal(number.uint64Value))
        default: self = .whole(number.int64Value)
        }
    }

    /// What a text says in the way of JSON's numbers; nil if it says something else.
    init?(text: String) {
        if let whole = Int64(text) {
            self = .whole(whole)
            return
        }
        // `Decimal(string:)` stops at what it does not know, and takes the rest for nothing.
        guard text.wholeMatch(of: /[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil else { return nil }
        if let decimal = Decimal(string: text) {
            self = Self.exactly(decimal)
        } else if let double = Double(text), double.isNormal {
            // Too large or too small for a decimal number.
            self = .binary(double)
        } else {
            return nil
        }
    }

    private static func exactly(_ decimal: Decimal) -> Number { Int64(decimal).map { .whole($0) } ?? .decimal(decimal) }

    /// Whether a value is true or false, and not a number that Foundation converts.
    static func isTruth(_ value: Any) -> Bool {
        if type(of: value) == Bool.self { return true }
        guard let number = value as? NSNumber, type(of: value) is AnyClass else { return false }
        return number === NSNumber(value: true) || number === NSNumber(value: false)
    }

    /// The same as an integer of 64 bits; nil if it is none.
    var integer: Int64? {
        switch self {
        case .whole(let value): value
        case .decimal: nil
        case .binary(let value): Int64(exactly: value)
        }
    }

    /// The same as a decimal number, of a binary one the shortest that stands for it; nil if it is not finite.
    var decimal: Decimal? {
        switch self {
        case .whole(let value): Decimal(value)
        case .decimal(let value): value.isNaN ? nil : value
        case .binary(let value): value.isFinite ? Decimal(string: "\(value)") : nil
        }
    }

    /// The nearest binary number; nil for a whole number that would become another, and for what is not finite.
    var double: Double? {
        switch self {
        case .whole(let value): Double(exactly: value)
        case .decimal(let value):
            if value.isNaN { nil } else if value.isWhole { Decimal(string: "\(value.double)") == value ? value.double : nil } else { value.double }
        case .binary(let value): value.isFinite ? value : nil
        }
    }

    /// The number as text.
    var text: String {
        switch self {
        case .whole(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .binary(let value): "\(value)"
        }
    }

    /// Whether it has as many digits as a decimal number can hold, so that whoever read it may have left some out.
    var mayBeCutOff: Bool {
        guard case .decimal(let value) = self else { return false }
        return value.significand.description.filter(\.isNumber).count >= 38
    }
}

extension Decimal {
    fileprivate var isWhole: Bool {
        var value = self
        var rounded = Decimal()
        NSDecimalRound(&rounded, &value, 0, .plain)
        return rounded == self
    }

    /// The nearest double; Foundation's own conversion rounds more than once.
    fileprivate var double: Double { Double(description) ?? .nan }
}

extension Int64 {
    /// Nil for a number with a fraction, and for one that does not fit.
    init?(_ value: Decimal) {
        guard let whole = Int64(value.description) else { return nil }
        self = whole
    }
}
