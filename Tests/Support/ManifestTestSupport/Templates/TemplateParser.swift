/// Reads an expression of a template.
struct TemplateParser {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private enum Token: Hashable {
        case word(String)
        case text(String)
        case number(DataValue)
        case sign(String)
    }

    private let source: String
    private var tokens: [Token] = []
    private var position = 0

    private init(_ source: String) throws {
        self.source = source
        tokens = try Self.tokens(of: source)
    }

    static func expression(_ source: String) throws -> TemplateExpression {
        var parser = try TemplateParser(source)
        let expression = try parser.ternary()
        guard parser.position == parser.tokens.count else { throw parser.failure("something follows the expression") }
        return expression
    }

    // MARK: Words

    private static func tokens(of source: String) throws -> [Token] {
        let characters = Array(source)
        var tokens: [Token] = [], index = 0
        while index < characters.count {
            let character = characters[index]
            if character.isWhitespace {
                index += 1
            } else if character == "'" || character == "\"" {
                var text = ""
                index += 1
                while index < characters.count, characters[index] != character {
                    if characters[index] == "\\", index + 1 < characters.count { index += 1 }
                    text.append(characters[index])
                    index += 1
                }
                guard index < characters.count else { throw Failure(description: "a text does not end in: \(source)") }
                index += 1
                tokens.append(.text(text))
            } else if character.isNumber {
                let start = index
                while index < characters.count, characters[index].isNumber || characters[index] == "." { index += 1 }
                let digits = String(characters[start..<index])
                if let number = Int(digits) {
                    tokens.append(.number(.int(number)))
                } else {
                    tokens.append(.number(.double(Double(digits) ?? 0)))
                }
            } else if character.isLetter || character == "_" {
                let start = index
                while index < characters.count, characters[index].isLetter || characters[index].isNumber || characters[index] == "_" { index += 1 }
                tokens.append(.word(String(characters[start..<index])))
            } else {
                let pair = String(characters[index..<min(index + 2, characters.count)])
                if ["==", "!=", "<=", ">=", "//"].contains(pair) {
                    tokens.append(.sign(pair))
                    index += 2
                } else {
                    tokens.append(.sign(String(character)))
                    index += 1
                }
            }
        }
        return tokens
    }

    // MARK: From the loosest to the tightest

    private mutating func ternary() throws -> TemplateExpression {
        let value = try or()
        guard take(word: "if") else { return value }
        let condition = try or()
        guard take(word: "else") else { return .conditional(condition, value, .literal(.null)) }
        return .conditional(condition, value, try ternary())
    }

    private mutating func or() throws -> TemplateExpression {
        var value = try and()
        while take(word: "or") { value = .binary("or", value, try and()) }
        return value
    }

    private mutating func and() throws -> TemplateExpression {
        var value = try not()
        while take(word: "and") { value = .binary("and", value, try not()) }
        return value
    }

    private mutating func not() throws -> TemplateExpression {
        if take(word: "not") { return .not(try not()) }
        return try comparison()
    }

    private mutating func comparison() throws -> TemplateExpression {
        var value = try sum()
        while true {
            if take(word: "is") {
                let isNegated = take(word: "not")
                guard case .word(let test)? = next() else { throw failure("no test after is") }
                let found = TemplateExpression.test(value, test.lowercased())
                value = isNegated ? .not(found) : found
            } else if take(word: "in") {
                value = .binary("in", value, try sum())
            } else if peek == .word("not"), position + 1 < tokens.count, tokens[position + 1] == .word("in") {
                position += 2
                value = .not(.binary("in", value, try sum()))
            } else if let sign = take(signs: ["==", "!=", "<=", ">=", "<", ">"]) {
                value = .binary(sign, value, try sum())
            } else {
                return value
            }
        }
    }

    private mutating func sum() throws -> TemplateExpression {
        var value = try product()
        while let sign = take(signs: ["+", "-", "~"]) { value = .binary(sign, value, try product()) }
        return value
    }

    private mutating func product() throws -> TemplateExpression {
        var value = try unary()
        while let sign = take(signs: ["*", "/", "//", "%"]) { value = .binary(sign, value, try unary()) }
        return value
    }

    private mutating func unary() throws -> TemplateExpression {
        if take(signs: ["-"]) != nil { return .negative(try unary()) }
        return try postfix()
    }

    private mutating func postfix() throws -> TemplateExpression {
        var value = try primary()
        while true {
            if take(signs: ["."]) != nil {
                guard case .word(let name)? = next() else { throw failure("no name after a dot") }
                if take(signs: ["("]) != nil {
                    value = .method(value, name, try arguments(until: ")"))
                } else {
                    value = .member(value, .literal(.text(name)))
                }
            } else if take(signs: ["["]) != nil {
                let step = try ternary()
                guard take(signs: ["]"]) != nil else { throw failure("a bracket is not closed") }
                value = .member(value, step)
            } else if take(signs: ["|"]) != nil {
                guard case .word(let name)? = next() else { throw failure("no filter after |") }
                var given: [TemplateExpression] = []
                if take(signs: ["("]) != nil { given = try arguments(until: ")") }
                value = .filter(value, name, given)
            } else {
                return value
            }
        }
    }

    private mutating func primary() throws -> TemplateExpression {
        switch next() {
        case .text(let text)?: return .literal(.text(text))
        case .number(let number)?: return .literal(number)
        case .word(let word)?:
            switch word {
            case "true", "True": return .literal(.bool(true))
            case "false", "False": return .literal(.bool(false))
            case "none", "None", "null": return .literal(.null)
            default:
                guard take(signs: ["("]) != nil else { return .name(word) }
                return .call(word, try arguments(until: ")"))
            }
        case .sign("(")?:
            let inner = try ternary()
            guard take(signs: [")"]) != nil else { throw failure("a parenthesis is not closed") }
            return inner
        case .sign("[")?: return .list(try arguments(until: "]"))
        case .sign("{")?:
            // Only the empty one is in use: what get() gives where there is nothing.
            guard take(signs: ["}"]) != nil else { throw failure("an object with members") }
            return .literal(.object([]))
        default: throw failure("a value was expected")
        }
    }

    private mutating func arguments(until end: String) throws -> [TemplateExpression] {
        var arguments: [TemplateExpression] = []
        if take(signs: [end]) != nil { return arguments }
        while true {
            if case .word(let name)? = peek, position + 1 < tokens.count, tokens[position + 1] == .sign("=") {
                position += 2
                arguments.append(.list([.literal(.text(name)), try ternary()]))
            } else {
                arguments.append(try ternary())
            }
            if take(signs: [end]) != nil { return arguments }
            guard take(signs: [","]) != nil else { throw failure("a comma was expected") }
        }
    }

    // MARK: One word further

    private var peek: Token? { position < tokens.count ? tokens[position] : nil }

    private mutating func next() -> Token? {
        guard position < tokens.count else { return nil }
        position += 1
        return tokens[position - 1]
    }

    private mutating func take(word: String) -> Bool {
        guard peek == .word(word) else { return false }
        position += 1
        return true
    }

    private mutating func take(signs: [String]) -> String? {
        guard case .sign(let sign)? = peek, signs.contains(sign) else { return nil }
        position += 1
        return sign
    }

    private func failure(_ what: String) -> Failure {
        Failure(description: "\(what), at word \(position + 1) of: \(source)")
    }
}
