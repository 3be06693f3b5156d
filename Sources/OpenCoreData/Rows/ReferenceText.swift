import Foundation

/// References of an incremental store, and how they are written into the URI of an ID, behind the `p`.
///
/// | reference | text |
/// | --- | --- |
/// | integer, real number | its digits: `42`, `-7`, `1.5` |
/// | data | `0x` and two lower-case hexadecimal digits a byte |
/// | string | the string by the rules of a path: what may not stand in a path is percent-escaped as UTF-8 (a space is `%20`), `/` stands for itself |
///
/// A string that would read as a number or as data has its first character escaped, although a path would not need it: `42` is `%34` and `2`, so
/// that every text says which reference it is. Software that rewrites URIs may take that escape away; then the text is taken for the string
/// if the store has told of that string and not of the number.
enum ReferenceText {
    /// A reference as a value: numbers that are integers are `int64`, or `decimal` above its range, others `double`. Nil for what can't be a
    /// reference.
    static func value(_ reference: Any) -> AttributeValue? {
        switch reference {
        case let text as String: return .string(text)
        case let data as Data: return .data(data)
        case let number as NSNumber: return value(of: number)
        case let integer as any BinaryInteger:
            return Int64(exactly: integer).map { .int64($0) } ?? UInt64(exactly: integer).map { .decimal(Decimal($0)) }
        case let real as any BinaryFloatingPoint: return value(of: Double(real))
        case let text as NSString: return .string(String(describing: text))
        case let data as NSData: return .data(Data(referencing: data))
        default: return nil
        }
    }

    private static func value(of number: NSNumber) -> AttributeValue? {
        let integer = number.int64Value, natural = number.uint64Value
        if number == NSNumber(value: integer) { return .int64(integer) }
        if number == NSNumber(value: natural) { return .decimal(Decimal(natural)) }
        return value(of: number.doubleValue)
    }

    private static func value(of real: Double) -> AttributeValue? {
        guard real.isFinite else { return nil }
        return Int64(exactly: real).map { .int64($0) } ?? .double(real)
    }

    static func text(of reference: AttributeValue) -> String {
        switch reference {
        case .int64(let value): return "\(value)"
        case .decimal(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .data(let data): return "0x" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        case .string(let string):
            let text = escaped(string.utf8, keeping: isPathByte)
            guard plainValue(text) != nil, let first = text.utf8.first else { return text }
            return escape(first) + text.dropFirst()
        default: return ""
        }
    }

    /// The reference that a text says, and the one that it says if somebody took an escape away. Nil for text that no reference is written as.
    static func parse(_ text: String) -> (reference: AttributeValue, alternative: AttributeValue?)? {
        guard let string = text.removingPercentEncoding else { return nil }
        if let value = plainValue(text) { return (value, .string(string)) }
        return (.string(string), nil)
    }

    /// The number or the data that a text without escapes says.
    private static func plainValue(_ text: String) -> AttributeValue? {
        if let integer = Int64(text), "\(integer)" == text { return .int64(integer) }
        if text.hasPrefix("0x") {
            let digits = Array(text.utf8.dropFirst(2))
            guard digits.count % 2 == 0, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
            func value(_ digit: UInt8) -> UInt8 { digit < 0x61 ? digit - 0x30 : digit - 0x57 }
            return .data(Data(stride(from: 0, to: digits.count, by: 2).map { value(digits[$0]) << 4 | value(digits[$0 + 1]) }))
        }
        if let integer = UInt64(text), "\(integer)" == text { return Decimal(string: text).map { .decimal($0) } }
        if let real = Double(text), real.isFinite, "\(real)" == text, Int64(exactly: real) == nil { return .double(real) }
        return nil
    }

    // MARK: Escaping

    /// An identifier as the host of a URI.
    static func host(_ identifier: String) -> String { escaped(identifier.utf8, keeping: isUnreserved) }

    private static func escaped(_ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var result = ""
        for byte in bytes {
            if isKept(byte) { result.unicodeScalars.append(Unicode.Scalar(byte)) } else { result += escape(byte) }
        }
        return result
    }

    private static func escape(_ byte: UInt8) -> String {
        "%" + String(byte >> 4, radix: 16, uppercase: true) + String(byte & 15, radix: 16, uppercase: true)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    private static func isPathByte(_ byte: UInt8) -> Bool { isUnreserved(byte) || "!$&'()*+,/:=@".utf8.contains(byte) }
}
