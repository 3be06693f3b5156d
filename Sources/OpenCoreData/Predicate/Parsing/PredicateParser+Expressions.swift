import Foundation

/// Expressions: `UNION` and its kin bind weakest, then `+ -`, then `* /`, then `**`, then key paths and indexes.
///
/// What calls itself for every level of nesting keeps little on the stack: the rest is in functions of its own.
extension PredicateParser {
    mutating func expression() throws(PredicateFormatError) -> ExpressionNode {
        try enter()
        defer { leave() }
        return try chain(ofStrength: 0)
    }

    /// Values with operators between them that bind at least that strongly. Those of one strength are taken together from the left.
    private mutating func chain(ofStrength weakest: Int) throws(PredicateFormatError) -> ExpressionNode {
        var left = try signed()
        while let infix = infix, infix.strength >= weakest {
            place += 1
            try link()
            left = infix.joining(left, try chain(ofStrength: infix.strength + 1))
        }
        return left
    }

    /// The operator that stands here.
    private var infix: Infix? {
        switch token {
        case .symbol(let symbol): return Infix.symbols[symbol]
        case .word(let word, isEscaped: false): return SetOperation(rawValue: word.uppercased()).map { Infix(strength: 0, meaning: .sets($0)) }
        default: return nil
        }
    }

    /// An operator between two values.
    private struct Infix {
        enum Meaning {
            case sets(SetOperation)
            case function(String)
        }

        let strength: Int
        let meaning: Meaning

        static let symbols = [
            "+": Infix(strength: 1, meaning: .function("add:to:")), "-": Infix(strength: 1, meaning: .function("from:subtract:")),
            "*": Infix(strength: 2, meaning: .function("multiply:by:")), "/": Infix(strength: 2, meaning: .function("divide:by:")),
            "**": Infix(strength: 3, meaning: .function("raise:toPower:")),
        ]

        func joining(_ left: ExpressionNode, _ right: ExpressionNode) -> ExpressionNode {
            switch meaning {
            case .sets(let operation): .setOperation(operation, left, right)
            case .function(let name): .function(name, [left, right])
            }
        }
    }

    private mutating func signed() throws(PredicateFormatError) -> ExpressionNode {
        guard take(symbol: "-") else { return try postfix() }
        if case .number(let number) = token {
            place += 1
            return .constant(number.negated)
        }
        try enter()
        defer { leave() }
        return .function("from:subtract:", [.constant(.integer(0)), try signed()])
    }

    /// An operand and what is asked of it: `.key`, `[index]`.
    private mutating func postfix() throws(PredicateFormatError) -> ExpressionNode {
        var node = try operand()
        while true {
            if take(symbol: ".") {
                node = node.appending(PredicateKeyPath(steps: try keyPathSteps()))
            } else if take(symbol: "[") {
                node = .index(node, try index())
                try link()
                try expect(symbol: "]")
            } else {
                return node
            }
        }
    }

    private mutating func index() throws(PredicateFormatError) -> PredicateIndex {
        if case .symbol("]") = tokens[min(place + 1, tokens.count - 1)].kind {
            if take(word: "FIRST") { return .first }
            if take(word: "LAST") { return .last }
            if take(word: "SIZE") { return .size }
        }
        return .element(try expression())
    }

    /// What follows a point: one step, or the several of a `%K`.
    private mutating func keyPathSteps() throws(PredicateFormatError) -> [PredicateKeyPath.Step] {
        switch token {
        case .word(let key, _):
            place += 1
            return [.key(key)]
        case .keyPathOperator: return [try collectionOperator()]
        case .placeholder(.keyPath):
            guard case .keyPath(let path)? = arguments.take(.keyPath) else { throw error(PredicatePlaceholder.keyPath.requirement) }
            place += 1
            return path.steps
        default: throw error("a key")
        }
    }

    private mutating func collectionOperator() throws(PredicateFormatError) -> PredicateKeyPath.Step {
        guard case .keyPathOperator(let name) = token, let known = CollectionOperator(rawValue: name) else {
            throw error("one of " + CollectionOperator.allCases.map { "@" + $0.rawValue }.joined(separator: " "))
        }
        place += 1
        return .collectionOperator(known)
    }

    private mutating func operand() throws(PredicateFormatError) -> ExpressionNode {
        if take(symbol: "(") {
            let inner = try expression()
            try expect(symbol: ")")
            return inner
        }
        if take(symbol: "{") { return .braces(try list(closing: "}")) }
        if case .word(let word, isEscaped: false) = token {
            if let node = try keyword(word.uppercased()) { return node }
            if let node = try call(word) { return node }
        }
        return try leaf()
    }

    /// An operand in which there is no other.
    private mutating func leaf() throws(PredicateFormatError) -> ExpressionNode {
        let node: ExpressionNode
        switch token {
        case .number(let value): node = .constant(value)
        case .string(let text): node = .constant(.string(text))
        case .variable(let name): node = .variable(name)
        case .placeholder(let placeholder):
            guard let argument = arguments.take(placeholder) else { throw error(placeholder.requirement) }
            node = argument
        case .keyPathOperator: return .keyPath(PredicateKeyPath(steps: [try collectionOperator()]))
        case .word(let word, _): node = .keyPath(PredicateKeyPath(keys: [word]))
        case .symbol, .end: throw error("a value or a key path")
        }
        place += 1
        return node
    }

    /// Expressions up to the closing bracket, that one included.
    private mutating func list(closing: String) throws(PredicateFormatError) -> [ExpressionNode] {
        var elements: [ExpressionNode] = []
        if take(symbol: closing) { return elements }
        repeat { elements.append(try expression()) } while take(symbol: ",")
        if !take(symbol: closing) { throw error("\",\" or \"\(closing)\"") }
        return elements
    }

    /// What a word means if it is reserved; nil if it is an ordinary one.
    private mutating func keyword(_ word: String) throws(PredicateFormatError) -> ExpressionNode? {
        let constant: ExpressionNode
        switch word {
        case "SELF": constant = .evaluatedObject
        case "NIL", "NULL": constant = .constant(.null)
        case "TRUE", "YES": constant = .constant(.bool(true))
        case "FALSE", "NO": constant = .constant(.bool(false))
        case "ANYKEY": constant = .anyKey
        case "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN",
            "TRUEPREDICATE", "FALSEPREDICATE":
            throw error("a value or a key path (a key of this name is written #\(word.lowercased()))")
        default: return nil
        }
        place += 1
        return constant
    }

    // MARK: Calls

    /// `name(…)` or `add:to:(…)`; nil when no parenthesis follows.
    private mutating func call(_ word: String) throws(PredicateFormatError) -> ExpressionNode? {
        guard let (name, end) = functionName(word) else { return nil }
        let start = place
        place = end + 1
        switch name.uppercased() {
        case "SUBQUERY": return try subquery()
        case "CAST": return try cast()
        case "TERNARY": return try ternary()
        case "FUNCTION": return try message()
        default: return try function(name, try list(closing: ")"), at: start)
        }
    }

    /// The name that begins with the word here, and the place of the parenthesis after it; nil when there is none.
    private func functionName(_ word: String) -> (name: String, end: Int)? {
        var end = place + 1
        var name = word
        while case .symbol(":") = tokens[end].kind {
            name += ":"
            end += 1
            guard case .word(let part, _) = tokens[end].kind else { break }
            name += part
            end += 1
        }
        guard case .symbol("(") = tokens[end].kind else { return nil }
        return (name, end)
    }

    private mutating func function(
        _ name: String, _ arguments: [ExpressionNode], at start: Int
    ) throws(PredicateFormatError) -> ExpressionNode {
        guard let function = PredicateFunction(spelled: name, argumentCount: arguments.count) else {
            place = start
            throw error("a function of \(arguments.count) argument\(arguments.count == 1 ? "" : "s")")
        }
        return .function(function.name, arguments)
    }

    private mutating func subquery() throws(PredicateFormatError) -> ExpressionNode {
        let collection = try expression()
        try expect(symbol: ",")
        guard case .variable(let variable) = token else { throw error("the variable of the SUBQUERY, such as $x") }
        place += 1
        try expect(symbol: ",")
        let predicate = try disjunction()
        try expect(symbol: ")")
        return .subquery(collection: collection, variable: variable, predicate: predicate)
    }

    private mutating func cast() throws(PredicateFormatError) -> ExpressionNode {
        let operand = try expression()
        try expect(symbol: ",")
        guard case .string(let type) = token, let cast = Cast(type) else {
            throw error("one of the types " + Cast.Target.allCases.map { "'\($0.rawValue)'" }.joined(separator: " "))
        }
        guard case .constant(let value) = operand else {
            place += 1
            try expect(symbol: ")")
            return .cast(operand, cast.target.rawValue)
        }
        let result = cast.evaluate(value)
        if result.isNull, !value.isNull { throw error("a type that \(value.canonicalFormat) can be converted to") }
        place += 1
        try expect(symbol: ")")
        return .constant(result)
    }

    private mutating func ternary() throws(PredicateFormatError) -> ExpressionNode {
        let condition = try disjunction()
        try expect(symbol: ",")
        let yes = try expression()
        try expect(symbol: ",")
        let no = try expression()
        try expect(symbol: ")")
        return .conditional(condition, yes, no)
    }

    private mutating func message() throws(PredicateFormatError) -> ExpressionNode {
        let target = try expression()
        try expect(symbol: ",")
        guard case .string(let name) = token, let argumentCount = target.argumentCount(of: name) else {
            throw error("one of the selectors " + PredicateMessage.allCases.map { "'\($0.rawValue)'" }.joined(separator: " "))
        }
        place += 1
        let arguments = take(symbol: ",") ? try list(closing: ")") : []
        if arguments.isEmpty { try expect(symbol: ")") }
        if arguments.count != argumentCount { throw error("\(argumentCount) arguments for '\(name)' before this") }
        return .message(target, name, arguments)
    }
}

extension PredicateValue {
    /// The number with the other sign.
    fileprivate var negated: PredicateValue {
        switch self {
        case .integer(let number): .integer(-number)
        case .double(let number): .double(-number)
        // 9223372036854775808 is no Int64, but with a minus sign before it, it is.
        case .decimal(let number): number == -Decimal(Int64.min) ? .integer(.min) : .decimal(-number)
        default: self
        }
    }
}
