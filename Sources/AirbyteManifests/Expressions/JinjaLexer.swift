/// Divides an expression into words and signs.
struct JinjaLexer {
    enum Token: Hashable {
        case text(String)
        case integer(Int)
        case number(Double)
        case name(String)
        case sign(String)
    }

    private let characters: [Character]
    private var position = 0

    private init(_ source: String) {
        characters = Array(source)
    }

    static func tokens(_ source: String) throws -> [Token] {
        var lexer = JinjaLexer(source), tokens: [Token] = []
        while let token = try lexer.next() { tokens.append(token) }
        return tokens
    }

    private mutating func next() throws -> Token? {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
        guard position < characters.count else { return nil }
        let character = characters[position]
        if character == "'" || character == "\"" { return .text(try quoted(character)) }
        if Self.isDigit(character) { return try number() }
        if Self.isLetter(character) {
            let word = take { Self.isLetter($0) || Self.isDigit($0) }
            return .name(word)
        }
        let pair = String(characters[position..<min(position + 2, characters.count)])
        if ["==", "!=", "<=", ">=", "//", "**"].contains(pair) {
            position += 2
            return .sign(pair)
        }
        guard "()[]{}.,:|+-*/%~<>=".contains(character) else { throw Unsayable("\"\(character)\" is not understood in an expression") }
        position += 1
        return .sign(String(character))
    }

    private mutating func take(while isWanted: (Character) -> Bool) -> String {
        let start = position
        while position < characters.count, isWanted(characters[position]) { position += 1 }
        return String(characters[start..<position])
    }

    private mutating func number() throws -> Token {
        var digits = take(while: Self.isDigit)
        // What follows may be a member of something: 1.x is none of ours.
        if position + 1 < characters.count, characters[position] == ".", Self.isDigit(characters[position + 1]) {
            position += 1
            digits += "." + take(while: Self.isDigit)
            guard let value = Double(digits) else { throw Unsayable("\"\(digits)\" is no number") }
            return .number(value)
        }
        guard let value = Int(digits) else { throw Unsayable("the number \(digits) is too large") }
        return .integer(value)
    }

    private mutating func quoted(_ quote: Character) throws -> String {
        position += 1
        var text = ""
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == quote { return text }
            guard character == "\\", position < characters.count else {
                text.append(character)
                continue
            }
            let escaped = characters[position]
            position += 1
            switch escaped {
            case "n": text += "\n"
            case "t": text += "\t"
            case "\\", "'", "\"": text.append(escaped)
            default: text += "\\\(escaped)"
            }
        }
        throw Unsayable("a quote in an expression is not closed")
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
    private static func isLetter(_ character: Character) -> Bool {
        ("a"..."z").contains(character) || ("A"..."Z").contains(character) || character == "_"
    }
}
