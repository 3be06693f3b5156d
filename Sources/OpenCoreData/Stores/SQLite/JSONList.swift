import Foundation

/// Lists of values as one parameter, for `json_each`.
enum JSONList {
    static func text(_ integers: some Sequence<Int64>) -> String { "[" + integers.map(String.init).joined(separator: ",") + "]" }

    /// Strings with a zero in them have no JSON form that SQLite gives back whole: nil.
    static func text(_ strings: some Sequence<String>) -> String? {
        var result: [UInt8] = [UInt8(ascii: "[")]
        for string in strings {
            if result.count > 1 { result.append(UInt8(ascii: ",")) }
            result.append(UInt8(ascii: "\""))
            for byte in string.utf8 {
                switch byte {
                case 0: return nil
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
                case 1..<32:
                    let digits = Array("0123456789abcdef".utf8)
                    result += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                default: result.append(byte)
                }
            }
            result.append(UInt8(ascii: "\""))
        }
        result.append(UInt8(ascii: "]"))
        return String(decoding: result, as: UTF8.self)
    }
}
