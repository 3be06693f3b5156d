extension DataValue {
    /// What is wrong with a text that should have been JSON.
    public struct JSONError: Error, CustomStringConvertible {
        public let description: String
    }

    /// The value of a document.
    public init(json: some Sequence<UInt8>) throws {
        var scanner = JSONScanner(bytes: Array(json))
        self = try scanner.document()
    }

    /// As JSON, without blanks.
    public var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .int(let number): text += "\(number)"
        case .double(let number): text += "\(number)"
        case .text(let string): text += Self.quoted(string)
        case .list(let list):
            text += "["
            for (index, value) in list.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                text += Self.quoted(member.name) + ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    /// A text as JSON, and YAML, quote it.
    static func quoted(_ string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                if scalar.value < 0x20 {
                    let digits = String(scalar.value, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        return text + "\""
    }
}

/// Reads one document of JSON.
private struct JSONScanner {
    let bytes: [UInt8]
    var position = 0

    mutating func document() throws -> DataValue {
        let value = try value()
        skipBlanks()
        guard position == bytes.count else { throw error("something follows the document") }
        return value
    }

    private mutating func value() throws -> DataValue {
        skipBlanks()
        guard position < bytes.count else { throw error("the document ends early") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try list()
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object() throws -> DataValue {
        position += 1
        var members: [DataValue.Member] = []
        skipBlanks()
        if take("}") { return .object(members) }
        while true {
            skipBlanks()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw error("a name was expected") }
            let name = try string()
            skipBlanks()
            guard take(":") else { throw error("a colon was expected") }
            members.append(DataValue.Member(name, try value()))
            skipBlanks()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("a comma was expected") }
        }
    }

    private mutating func list() throws -> DataValue {
        position += 1
        var values: [DataValue] = []
        skipBlanks()
        if take("]") { return .list(values) }
        while true {
            values.append(try value())
            skipBlanks()
            if take("]") { return .list(values) }
            guard take(",") else { throw error("a comma was expected") }
        }
    }

    private mutating func string() throws -> String {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard position < bytes.count else { break }
            let escape = bytes[position]
            position += 1
            switch escape {
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "u"): text += Array(String(try scalar()).utf8)
            default: text.append(escape)
            }
        }
        throw error("a text does not end")
    }

    private mutating func scalar() throws -> Character {
        let first = try unit()
        var code = UInt32(first)
        if (0xD800..<0xDC00).contains(code), position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\") {
            position += 2
            let second = UInt32(try unit())
            code = 0x10000 + ((code - 0xD800) << 10) + (second &- 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half a pair") }
        return Character(scalar)
    }

    private mutating func unit() throws -> UInt16 {
        guard position + 4 <= bytes.count else { throw error("an escape ends early") }
        let digits = String(decoding: bytes[position..<position + 4], as: UTF8.self)
        guard let unit = UInt16(digits, radix: 16) else { throw error("no digits after \\u") }
        position += 4
        return unit
    }

    private mutating func number() throws -> DataValue {
        let start = position
        while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let number = Int(text) { return .int(number) }
        if let number = Double(text) { return .double(number) }
        throw error("no value begins here")
    }

    private mutating func word(_ word: String, _ value: DataValue) throws -> DataValue {
        guard bytes[position...].starts(with: word.utf8) else { throw error("no value begins here") }
        position += word.utf8.count
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while position < bytes.count, " \t\r\n".utf8.contains(bytes[position]) { position += 1 }
    }

    private func error(_ what: String) -> DataValue.JSONError {
        DataValue.JSONError(description: "at byte \(position): \(what)")
    }
}
