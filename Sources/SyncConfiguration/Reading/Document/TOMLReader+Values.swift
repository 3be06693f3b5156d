extension TOMLReader {
    mutating func readValue() throws(SyntaxError) -> DocumentNode {
        let start = place
        guard depth < Self.maxDepth else {
            throw failure("tables and arrays are nested more than \(Self.maxDepth) deep", "no key needs that")
        }
        depth += 1
        defer { depth -= 1 }
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return DocumentNode(value: .string(try readString()), place: start)
        case UInt8(ascii: "["): return DocumentNode(value: .array(try readArray()), place: start)
        case UInt8(ascii: "{"): return try readInlineTable()
        default: return DocumentNode(value: try readScalar(), place: start)
        }
    }

    private mutating func readArray() throws(SyntaxError) -> [DocumentNode] {
        advance()
        var elements: [DocumentNode] = []
        while true {
            try skipBlankLines()
            if take("]") { return elements }
            elements.append(try readValue())
            try skipBlankLines()
            if take(",") { continue }
            guard take("]") else { throw failure("expected \",\" or \"]\", found \(next)", "separate the values with commas") }
            return elements
        }
    }

    private mutating func readInlineTable() throws(SyntaxError) -> DocumentNode {
        let table = TOMLTableBuilder(place: place, kind: .header)
        advance()
        skipSpaces()
        if take("}") { return table.node }
        while true {
            skipSpaces()
            try readPair(into: table)
            skipSpaces()
            if take(",") { continue }
            guard take("}") else {
                throw failure("expected \",\" or \"}\", found \(next)", "write { a = 1, b = 2 } on one line")
            }
            return table.node
        }
    }

    /// A number, truth value or date.
    private mutating func readScalar() throws(SyntaxError) -> DocumentNode.Value {
        let start = place
        let from = index
        func isPart(_ byte: UInt8) -> Bool { Self.isBare(byte) || "+.:".utf8.contains(byte) }
        while let byte = peek, isPart(byte) { advance() }
        // Between a date and a time a space may stand.
        if index - from == 10, peek == UInt8(ascii: " "), let digit = peek(1), (0x30...0x39).contains(digit), bytes[from + 4] == 0x2D {
            advance()
            while let byte = peek, isPart(byte) { advance() }
        }
        let text = String(decoding: bytes[from..<index], as: UTF8.self)
        if let value = Self.scalar(text) { return value }
        if text.isEmpty {
            throw failure("expected a value, found \(next)", "write a value after \"=\", with texts in quotes", at: start)
        }
        let isNumber = text.wholeMatch(of: /[+-]?[0-9_]+/) != nil
        if isNumber {
            throw failure("\(text) is not a number that can be used", "write it without leading zeros, from -2^63 to 2^63-1", at: start)
        }
        throw failure("\"\(text)\" is not a value", "write a text in quotes: \"\(text)\"", at: start)
    }

    static func scalar(_ text: String) -> DocumentNode.Value? {
        switch text {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "inf", "+inf": return .number(.infinity)
        case "-inf": return .number(-.infinity)
        case "nan", "+nan", "-nan": return .number(.nan)
        default: break
        }
        let plain = text.replacing("_", with: "")
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
            let digits = text.dropFirst(2)
            guard isDigits(digits, radix: radix), let value = Int64(plain.dropFirst(2), radix: radix) else { return nil }
            return .integer(value)
        }
        if text.wholeMatch(of: /[+-]?(0|[1-9](_?[0-9])*)/) != nil { return Int64(plain).map { .integer($0) } }
        if text.wholeMatch(of: /[+-]?(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?/) != nil {
            return Double(plain).map { .number($0) }
        }
        return isMoment(text) ? .moment(text) : nil
    }

    /// Digits with single underscores between them.
    private static func isDigits(_ text: Substring, radix: Int) -> Bool {
        var last: Character = "_"
        for character in text {
            if character == "_" {
                if last == "_" { return false }
            } else if !(character.isASCII && character.hexDigitValue.map { $0 < radix } == true) {
                return false
            }
            last = character
        }
        return last != "_"
    }

    private static func isMoment(_ text: String) -> Bool {
        let pattern =
            /(?:([0-9]{4})-([0-9]{2})-([0-9]{2}))?([Tt ])?(?:([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?/
        guard let match = text.wholeMatch(of: pattern) else { return false }
        let hasDate = match.1 != nil
        let hasTime = match.5 != nil
        guard hasDate || hasTime, (match.4 != nil) == (hasDate && hasTime), match.8 == nil || (hasDate && hasTime) else { return false }
        if hasDate {
            let year = Int(match.1 ?? "") ?? 0
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            guard let month = Int(match.2 ?? ""), (1...12).contains(month), let day = Int(match.3 ?? ""),
                (1...lengths[month - 1]).contains(day)
            else { return false }
        }
        if hasTime {
            guard let hour = Int(match.5 ?? ""), hour < 24, let minute = Int(match.6 ?? ""), minute < 60, let second = Int(match.7 ?? ""),
                second < 61
            else { return false }
        }
        if let zone = match.8, zone.count == 6 {
            guard let hours = Int(zone.dropFirst().prefix(2)), hours < 24, let minutes = Int(zone.suffix(2)), minutes < 60 else {
                return false
            }
        }
        return true
    }

    // MARK: Texts

    /// A text of any of the four kinds.
    mutating func readString() throws(SyntaxError) -> String {
        let start = place
        let quote = bytes[index]
        let isBasic = quote == UInt8(ascii: "\"")
        let isLong = peek(1) == quote && peek(2) == quote
        for _ in 0..<(isLong ? 3 : 1) { advance() }
        if isLong { _ = try takeNewline() }
        var content: [UInt8] = []
        while true {
            guard let byte = peek else { throw failure("a text is not closed", "close it with a quote", at: start) }
            switch byte {
            case quote where !isLong:
                advance()
                return String(decoding: content, as: UTF8.self)
            case quote where peek(1) == quote && peek(2) == quote:
                // One or two quotes may stand before the three that close.
                while peek(3) == quote, content.count < bytes.count {
                    guard trailingQuotes(quote) <= 5 else { throw failure("too many quotes in a row", "write some of them as \\\"") }
                    content.append(quote)
                    advance()
                }
                for _ in 0..<3 { advance() }
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\") where isBasic: try readEscape(into: &content, isLong: isLong)
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                guard isLong else { throw failure("a text is not closed on its line", "close it with a quote", at: start) }
                let from = index
                _ = try takeNewline()
                content += bytes[from..<index]
            case _ where byte == 0x7F || (byte < 0x20 && byte != UInt8(ascii: "\t")):
                throw failure("a text contains a control character", "remove it, or write it as an escape such as \\u0007")
            default:
                content.append(byte)
                advance()
            }
        }
    }

    private func trailingQuotes(_ quote: UInt8) -> Int {
        var count = 0
        while peek(count) == quote, count < 7 { count += 1 }
        return count
    }

    private mutating func readEscape(into content: inout [UInt8], isLong: Bool) throws(SyntaxError) {
        let start = place
        advance()
        guard let letter = peek else { throw failure("a text is not closed", "close it with a quote") }
        switch letter {
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): content.append(letter)
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let count = letter == UInt8(ascii: "u") ? 4 : 8
            let digits = bytes[(index + 1)...].prefix(count)
            guard digits.count == count, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16), !digits.contains(0x2B),
                let scalar = Unicode.Scalar(code)
            else { throw failure("the escape does not name a character", "write \\u and four, or \\U and eight hexadecimal digits", at: start) }
            content += Array(String(Character(scalar)).utf8)
            for _ in 0..<count { advance() }
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            // At the end of a line: what follows is joined without its indentation.
            guard isLong else { throw failure("\"\\\" before a space is not an escape", "write \\\\ for one \"\\\"", at: start) }
            skipSpaces()
            guard try takeNewline() else { throw failure("\"\\\" before a space is not an escape", "write \\\\ for one \"\\\"", at: start) }
            while true {
                skipSpaces()
                guard try takeNewline() else { return }
            }
        default:
            throw failure("\"\\\(Character(Unicode.Scalar(letter)))\" is not an escape", "write \\\\ for one \"\\\", or use '…'", at: start)
        }
        advance()
    }
}
