/// Reads an expression by recursive descent, with Jinja's precedence.
struct JinjaParser {
    private static let maxDepth = 60
    private static let comparisons: Set<String> = ["==", "!=", "<", ">", "<=", ">="]

    private let tokens: [JinjaLexer.Token]
    private var position = 0
    private var depth = 0

    private init(_ tokens: [JinjaLexer.Token]) {
        self.tokens = tokens
    }

    /// - Throws: `Unsayable` for what is no expression, or one of a kind that is not known here.
    static func expression(_ source: String) throws -> JinjaExpression {
        var parser = JinjaParser(try JinjaLexer.tokens(source))
        let result = try parser.conditional()
        guard parser.position == parser.tokens.count else { throw parser.unexpected() }
        return result
    }

    // MARK: Tokens

    private var current: JinjaLexer.Token? { position < tokens.count ? tokens[position] : nil }

    private mutating func skip(_ sign: String) -> Bool {
        guard current == .sign(sign) else { return false }
        position += 1
        return true
    }

    private mutating func skip(word: String) -> Bool {
        guard current == .name(word) else { return false }
        position += 1
        return true
    }

    private mutating func need(_ sign: String) throws {
        guard skip(sign) else { throw unexpected() }
    }

    private func unexpected() -> Unsayable {
        switch current {
        case nil: Unsayable("the expression ends too early")
        case .text(let text)?: Unsayable("'\(text)' is not understood where it stands in the expression")
        case .integer(let value)?: Unsayable("\(value) is not understood where it stands in the expression")
        case .number(let value)?: Unsayable("\(value) is not understood where it stands in the expression")
        case .name(let text)?, .sign(let text)?: Unsayable("\"\(text)\" is not understood where it stands in the expression")
        }
    }

    // MARK: Operators, from the loosest

    private mutating func conditional() throws -> JinjaExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maxDepth else { throw Unsayable("the expression is nested too deeply") }
        var result = try disjunction()
        while skip(word: "if") {
            let condition = try disjunction()
            let other = try skip(word: "else") ? conditional() : JinjaExpression.none
            result = .conditional(condition, result, other)
        }
        return result
    }

    private mutating func disjunction() throws -> JinjaExpression {
        var result = try conjunction()
        while skip(word: "or") { result = .binary("or", result, try conjunction()) }
        return result
    }

    private mutating func conjunction() throws -> JinjaExpression {
        var result = try negation()
        while skip(word: "and") { result = .binary("and", result, try negation()) }
        return result
    }

    private mutating func negation() throws -> JinjaExpression {
        var count = 0
        while skip(word: "not") { count += 1 }
        let result = try comparison()
        return count.isMultiple(of: 2) ? result : .not(result)
    }

    private mutating func comparison() throws -> JinjaExpression {
        let left = try sum()
        var result: JinjaExpression?
        while true {
            let found: JinjaExpression
            if case .sign(let sign)? = current, Self.comparisons.contains(sign) {
                position += 1
                found = .binary(sign, left, try sum())
            } else if skip(word: "in") {
                found = .binary("in", left, try sum())
            } else if current == .name("not"), position + 1 < tokens.count, tokens[position + 1] == .name("in") {
                position += 2
                found = .not(.binary("in", left, try sum()))
            } else {
                return result ?? left
            }
            // a < b < c
            guard result == nil else { throw Unsayable("comparisons that follow each other are not understood") }
            result = found
        }
    }

    private mutating func sum() throws -> JinjaExpression {
        var result = try concatenation()
        while case .sign(let sign)? = current, sign == "+" || sign == "-" {
            position += 1
            result = .binary(sign, result, try concatenation())
        }
        return result
    }

    private mutating func concatenation() throws -> JinjaExpression {
        var result = try product()
        while skip("~") { result = .binary("~", result, try product()) }
        return result
    }

    private mutating func product() throws -> JinjaExpression {
        var result = try unary()
        while case .sign(let sign)? = current, ["*", "/", "//", "%"].contains(sign) {
            position += 1
            result = .binary(sign, result, try unary())
        }
        return result
    }

    private mutating func unary() throws -> JinjaExpression {
        if skip("-") { return .negative(try postfix(primary())) }
        if skip("+") { return try postfix(primary()) }
        return try postfix(primary())
    }

    // MARK: What follows a value

    private mutating func postfix(_ start: JinjaExpression) throws -> JinjaExpression {
        var result = start
        while true {
            if skip(".") {
                switch current {
                case .name(let name)?: result = .member(result, .text(name))
                case .integer(let index)?: result = .member(result, .integer(index))
                default: throw unexpected()
                }
                position += 1
            } else if skip("[") {
                let key = try conditional()
                try need("]")
                result = .member(result, key)
            } else if skip("(") {
                result = try call(result)
            } else if skip("|") {
                guard case .name(let name)? = current else { throw unexpected() }
                position += 1
                var arguments: [JinjaExpression] = []
                if skip("("), case .call(_, let values, _) = try call(result) { arguments = values }
                result = .filter(name, result, arguments)
            } else if skip(word: "is") {
                let isNegated = skip(word: "not")
                guard case .name(let name)? = current else { throw unexpected() }
                position += 1
                result = isNegated ? .not(.test(name, result)) : .test(name, result)
            } else {
                return result
            }
        }
    }

    /// Arguments, after the opening bracket.
    private mutating func call(_ function: JinjaExpression) throws -> JinjaExpression {
        var arguments: [JinjaExpression] = [], named: [String: JinjaExpression] = [:]
        while !skip(")") {
            if case .name(let name)? = current, position + 1 < tokens.count, tokens[position + 1] == .sign("=") {
                position += 2
                named[name] = try conditional()
            } else {
                arguments.append(try conditional())
            }
            if skip(",") { continue }
            try need(")")
            break
        }
        return .call(function, arguments, named)
    }

    private mutating func primary() throws -> JinjaExpression {
        guard let token = current else { throw unexpected() }
        position += 1
        switch token {
        case .text(var text):
            // Texts that follow each other are one.
            while case .text(let more)? = current {
                text += more
                position += 1
            }
            return .text(text)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .name(let name):
            switch name {
            case "true", "True": return .bool(true)
            case "false", "False": return .bool(false)
            case "none", "None", "null": return JinjaExpression.none
            case "if", "else", "and", "or", "in", "is":
                position -= 1
                throw unexpected()
            default: return .name(name)
            }
        case .sign("("):
            let inner = try conditional()
            try need(")")
            return inner
        case .sign("["): return .list(try elements(until: "]"))
        case .sign("{"): return try pairs()
        case .sign:
            position -= 1
            throw unexpected()
        }
    }

    private mutating func elements(until end: String) throws -> [JinjaExpression] {
        var elements: [JinjaExpression] = []
        while !skip(end) {
            elements.append(try conditional())
            if skip(",") { continue }
            try need(end)
            break
        }
        return elements
    }

    private mutating func pairs() throws -> JinjaExpression {
        var keys: [JinjaExpression] = [], values: [JinjaExpression] = []
        while !skip("}") {
            keys.append(try conditional())
            try need(":")
            values.append(try conditional())
            if skip(",") { continue }
            try need("}")
            break
        }
        return .mapping(keys, values)
    }
}
