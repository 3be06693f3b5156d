import Foundation

/// Expressions: `UNION` and its kin bind weakest, then `+ -`, then `* /`, then `**`, then key paths and indexes.
extension PredicateParser {
    mutating func expression() throws(PredicateFormatError) -> ExpressionNode {
        try enter()
        defer { leave() }
        var left = try sum()
        while isSetOperation(place), case .word(let word, _) = token, let operation = SetOperation(rawValue: word.uppercased()) {
            place += 1
            try link()
            left = .setOperation(operation, left, try sum())
        }
        return left
    }

    private mutating func sum() throws(PredicateFormatError) -> ExpressionNode {
        var left = try product()
        while true {
            if take(symbol: "+") {
                left = .function("add:to:", [left, try product()])
                try link()
            } else if take(symbol: "-") {
                left = .function("from:subtract:", [left, try product()])
                try link()
            } else {
                return left
            }
        }
    }

    private mutating func product() throws(PredicateFormatError) -> ExpressionNode {
        var left = try power()
        while true {
            if take(symbol: "*") {
                left = .function("multiply:by:", [left, try power()])
                try link()
            } else if take(symbol: "/") {
                left = .function("divide:by:", [left, try power()])
                try link()
            } else {
                return left
            }
        }
    }

    private mutating func power() throws(PredicateFormatError) -> ExpressionNode {
        var left = try signed()
        while take(symbol: "**") {
            left = .function("raise:toPower:", [left, try signed()])
            try link()
        }
        return left
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
        switch token {
        case .number(let value):
            place += 1
            return .constant(value)
        case .string(let text):
            place += 1
            return .constant(.string(text))
        case .variable(let name):
            place += 1
            return .variable(name)
        case .placeholder(let placeholder):
            guard let node = arguments.take(placeholder) else { throw error(placeholder.requirement) }
            place += 1
            return node
        case .keyPathOperator: return .keyPath(PredicateKeyPath(steps: [try collectionOperator()]))
        case .symbol("("):
            place += 1
            let inner = try expression()
            try expect(symbol: ")")
            return inner
        case .symbol("{"):
            place += 1
            return .braces(try list(closing: "}"))
        case .word(let word, let isEscaped):
            if !isEscaped, let node = try keyword(word.uppercased()) { return node }
            if !isEscaped, let node = try call(word) { return node }
            place += 1
            return .keyPath(PredicateKeyPath(keys: [word]))
        case .symbol, .end: throw error("a value or a key path")
        }
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
        let start = place
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
        place = end + 1
        switch name.uppercased() {
        case "SUBQUERY": return try subquery()
        case "CAST": return try cast()
        case "TERNARY": return try ternary()
        case "FUNCTION": return try message()
        default: break
        }
        let arguments = try list(closing: ")")
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
        guard case .string(let name) = token, let known = PredicateMessage(rawValue: name) else {
            throw error("one of the selectors " + PredicateMessage.allCases.map { "'\($0.rawValue)'" }.joined(separator: " "))
        }
        place += 1
        let arguments = take(symbol: ",") ? try list(closing: ")") : []
        if arguments.isEmpty { try expect(symbol: ")") }
        if arguments.count != known.argumentCount { throw error("\(known.argumentCount) arguments for '\(name)' before this") }
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
