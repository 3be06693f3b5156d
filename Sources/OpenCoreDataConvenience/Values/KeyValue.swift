import Foundation

/// A value of an attribute, to be compared as a store compares it. Two values of one attribute are equal exactly if a fetch by one finds the other.
enum KeyValue: Hashable {
    case number(Number)
    /// Its bytes: to Swift texts are equal that are composed differently, to a store they are not.
    case text([UInt8])
    case other(AnyHashable)

    /// Nil where there is no value, and for one that can't be compared.
    init?(_ value: Any?) {
        switch value {
        case nil, is NSNull: return nil
        case let text as String: self = .text(Array(text.utf8))
        case let value?:
            if let number = value as? NSNumber {
                self = .number(Self.number(number))
            } else if let hashable = value as? AnyHashable {
                self = .other(hashable)
            } else {
                return nil
            }
        }
    }

    /// A number and the truth value that a store keeps as the same one are equal here.
    private static func number(_ number: NSNumber) -> Number {
        guard let given = Number(number) else { return .whole(number.int64Value) }
        return given.integer.map { .whole($0) } ?? given
    }
}
