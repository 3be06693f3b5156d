import Foundation

/// A piece of a format string, and where it begins.
struct PredicateToken {
    enum Kind: Equatable {
        /// A word. One after `#` is never a keyword.
        case word(String, isEscaped: Bool)
        case string(String)
        case number(PredicateValue)
        /// `$name`.
        case variable(String)
        /// `@name`, inside a key path.
        case keyPathOperator(String)
        case placeholder(PredicatePlaceholder)
        /// Punctuation and operators, as written.
        case symbol(String)
        case end
    }

    let kind: Kind
    let position: Int

    /// Words that a key must be escaped for.
    static let reservedWords: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS", "BEGINSWITH",
        "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY", "SUBQUERY",
        "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "UNION", "INTERSECT", "MINUS", "TERNARY", "FUNCTION",
    ]

    /// Whether the text is a word as the lexer reads one.
    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, isWordStart(first) else { return false }
        return text.unicodeScalars.allSatisfy(isWordPart)
    }

    static func isWordStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || (scalar.isASCII ? scalar.properties.isAlphabetic : scalar.properties.isXIDStart)
    }

    static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || (scalar.isASCII ? scalar.properties.isAlphabetic || isDigit(scalar) : scalar.properties.isXIDContinue)
    }

    static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar >= "0" && scalar <= "9"
    }
}

/// Cuts a format string into tokens.
struct PredicateLexer {
    private let format: String
    private let scalars: [Unicode.Scalar]
    private var place = 0
    private var tokens: [PredicateToken] = []

    /// All tokens, the last one being `.end`.
    static func tokens(_ format: String) throws(PredicateFormatError) -> [PredicateToken] {
        var lexer = PredicateLexer(format)
        while try lexer.next() {}
        return lexer.tokens
    }

    private init(_ format: String) {
        self.format = format
        scalars = Array(format.unicodeScalars)
    }

    private func error(_ expected: String, at position: Int) -> PredicateFormatError {
        let found = position < scalars.count ? "\"\(Character(scalars[position]))\"" : "the end"
        return PredicateFormatError(format: format, position: position, expected: expected, found: found)
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        place + offset < scalars.count ? scalars[place + offset] : nil
    }

    /// Adds one token. False after the last.
    private mutating func next() throws(PredicateFormatError) -> Bool {
        while let scalar = peek(), scalar.properties.isWhitespace { place += 1 }
        let start = place
        guard let scalar = peek() else {
            tokens.append(PredicateToken(kind: .end, position: start))
            return false
        }
        let kind: PredicateToken.Kind
        switch scalar {
        case "'", "\"": kind = .string(try string(closing: scalar))
        case "$":
            place += 1
            kind = .variable(try word("the name of a variable"))
        case "@":
            place += 1
            kind = .keyPathOperator(try word("an operator such as @count"))
        case "#":
            place += 1
            if let quote = peek(), quote == "'" || quote == "\"" {
                kind = .word(try string(closing: quote), isEscaped: true)
            } else {
                kind = .word(try word("a key"), isEscaped: true)
            }
        case "%": kind = .placeholder(try placeholder())
        case _ where PredicateToken.isDigit(scalar): kind = .number(try number())
        case "." where startsFraction: kind = .number(try number())
        case _ where PredicateToken.isWordStart(scalar): kind = .word(try word("a word"), isEscaped: false)
        default: kind = .symbol(try symbol())
        }
        tokens.append(PredicateToken(kind: kind, position: start))
        return true
    }

    /// Whether the point here begins a number rather than continues a key path.
    private var startsFraction: Bool {
        guard let digit = peek(1), PredicateToken.isDigit(digit) else { return false }
        switch tokens.last?.kind {
        case .symbol(let symbol): return symbol != ")" && symbol != "]" && symbol != "}"
        case .word(let word, let isEscaped): return !isEscaped && PredicateToken.reservedWords.contains(word.uppercased())
        case nil: return true
        default: return false
        }
    }

    private mutating func word(_ expected: String) throws(PredicateFormatError) -> String {
        guard let first = peek(), PredicateToken.isWordStart(first) else { throw error(expected, at: place) }
        var text = String.UnicodeScalarView()
        while let scalar = peek(), PredicateToken.isWordPart(scalar) {
            text.append(scalar)
            place += 1
        }
        return String(text)
    }

    /// A backslash takes the meaning from the quotes and from itself, and makes line breaks and tabs; before anything else it stays,
    /// so that patterns for `LIKE` and `MATCHES` need not be escaped twice. Two percent signs are one, as they are for printf.
    private mutating func string(closing quote: Unicode.Scalar) throws(PredicateFormatError) -> String {
        place += 1
        var text = String.UnicodeScalarView()
        while let scalar = peek() {
            place += 1
            switch scalar {
            case quote: return String(text)
            case "%":
                if peek() == "%" { place += 1 }
                text.append(scalar)
            case "\\":
                guard let escaped = peek() else { continue }
                place += 1
                switch escaped {
                case "'", "\"", "\\": text.append(escaped)
                case "n": text.append("\n")
                case "r": text.append("\r")
                case "t": text.append("\t")
                default:
                    text.append("\\")
                    text.append(escaped)
                }
            default: text.append(scalar)
            }
        }
        throw error("the closing \(quote)", at: place)
    }

    private mutating func digits(_ into: inout String, where isWanted: (Unicode.Scalar) -> Bool) {
        while let scalar = peek(), isWanted(scalar) {
            into.unicodeScalars.append(scalar)
            place += 1
        }
    }

    private mutating func number() throws(PredicateFormatError) -> PredicateValue {
        let start = place
        if peek() == "0", let x = peek(1), x == "x" || x == "X" {
            place += 2
            var text = ""
            digits(&text) { $0.isASCII && $0.properties.isASCIIHexDigit }
            guard let value = UInt64(text, radix: 16) else { throw error("a hexadecimal number", at: start) }
            return Int64(exactly: value).map { .integer($0) } ?? .decimal(Decimal(value))
        }
        var text = ""
        var isReal = false
        digits(&text, where: PredicateToken.isDigit)
        if peek() == ".", let digit = peek(1), PredicateToken.isDigit(digit) {
            isReal = true
            place += 1
            text = text.isEmpty ? "0." : text + "."
            digits(&text, where: PredicateToken.isDigit)
        }
        if let e = peek(), e == "e" || e == "E" {
            let sign = peek(1) == "-" || peek(1) == "+"
            if let digit = peek(sign ? 2 : 1), PredicateToken.isDigit(digit) {
                isReal = true
                text += sign ? "e\(Character(scalars[place + 1]))" : "e"
                place += sign ? 2 : 1
                digits(&text, where: PredicateToken.isDigit)
            }
        }
        if let scalar = peek(), PredicateToken.isWordStart(scalar) { throw error("the end of the number", at: place) }
        if isReal, let value = Double(text) { return .double(value) }
        if let value = Int64(text) { return .integer(value) }
        guard let value = Decimal(string: text) else { throw error("a number", at: start) }
        return .decimal(value)
    }

    private mutating func placeholder() throws(PredicateFormatError) -> PredicatePlaceholder {
        let start = place
        place += 1
        // Flags, width and precision have no meaning for a value, and neither has its size.
        while let scalar = peek(), PredicateToken.isDigit(scalar) || "+-#. hlqLzjt".unicodeScalars.contains(scalar) { place += 1 }
        guard let conversion = peek(), let placeholder = PredicatePlaceholder(conversion) else {
            throw error("one of %@ %K %d %i %u %ld %lld %f %s", at: start)
        }
        place += 1
        return placeholder
    }

    private static let pairs: Set<String> = ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**"]
    private static let singles: Set<String> = ["=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/", ":"]

    private mutating func symbol() throws(PredicateFormatError) -> String {
        let single = String(Character(scalars[place]))
        if let second = peek(1), Self.pairs.contains(single + String(Character(second))) {
            place += 2
            return single + String(Character(second))
        }
        guard Self.singles.contains(single) else { throw error("a predicate", at: place) }
        place += 1
        return single
    }
}
