import Foundation

/// Reads a format string: `OR` binds weakest, then `AND`, then `NOT`, then comparisons. Expressions are read in
/// `PredicateParser+Expressions`.
struct PredicateParser {
    // Deeper than anything written by hand, and shallow enough for the small stack of a secondary thread: a level takes a dozen functions.
    static let maximumDepth = 50

    let format: String
    private let scalars: [Unicode.Scalar]
    let tokens: [PredicateToken]
    var place = 0
    var arguments: PredicateArguments
    private var depth = 0
    /// The operators between values in the comparison that is read, those of comparisons inside of it too: how deep they nest at most.
    private var links = 0
    private var isInsideComparison = false
    /// Parentheses known to hold an expression rather than a predicate, so that nested ones are not tried again and again.
    private var expressionParentheses: Set<Int> = []

    /// The predicate that the text says.
    static func predicate(_ format: String, arguments: [Any?]) throws(PredicateFormatError) -> PredicateNode {
        var parser = try PredicateParser(format, arguments)
        let node = try parser.disjunction()
        try parser.expectEnd()
        return node
    }

    /// The expression that the text says.
    static func expression(_ format: String, arguments: [Any?]) throws(PredicateFormatError) -> ExpressionNode {
        var parser = try PredicateParser(format, arguments)
        let node = try parser.expression()
        try parser.expectEnd()
        guard node.isNested(within: PredicateEvaluationError.levels) else {
            parser.place = 0
            throw parser.error("at most \(PredicateEvaluationError.levels) levels of nesting")
        }
        return node
    }

    private init(_ format: String, _ arguments: [Any?]) throws(PredicateFormatError) {
        self.format = format
        scalars = Array(format.unicodeScalars)
        tokens = try PredicateLexer.tokens(format)
        self.arguments = PredicateArguments(arguments)
    }

    private func expectEnd() throws(PredicateFormatError) {
        if token != .end { throw error("AND, OR or the end") }
    }
}

// MARK: - Logic

extension PredicateParser {
    mutating func disjunction() throws(PredicateFormatError) -> PredicateNode {
        try enter()
        defer { leave() }
        let start = place
        let node = try alternatives()
        // Levels that fit the parser's stack one by one may be too many together.
        guard node.isNested(within: PredicateEvaluationError.levels) else {
            place = start
            throw error("at most \(PredicateEvaluationError.levels) levels of nesting")
        }
        return node
    }

    private mutating func alternatives() throws(PredicateFormatError) -> PredicateNode {
        let first = try conjunction()
        var children = [first]
        while take(symbol: "||") || take(word: "OR") { children.append(try conjunction()) }
        return children.count == 1 ? first : .or(children)
    }

    private mutating func conjunction() throws(PredicateFormatError) -> PredicateNode {
        let first = try negation()
        var children = [first]
        while take(symbol: "&&") || take(word: "AND") { children.append(try negation()) }
        return children.count == 1 ? first : .and(children)
    }

    private mutating func negation() throws(PredicateFormatError) -> PredicateNode {
        guard take(symbol: "!") || take(word: "NOT") else { return try primary() }
        try enter()
        defer { leave() }
        return .not(try negation())
    }

    private mutating func primary() throws(PredicateFormatError) -> PredicateNode {
        if take(word: "TRUEPREDICATE") { return .constant(true) }
        if take(word: "FALSEPREDICATE") { return .constant(false) }
        if take(word: "ANY") || take(word: "SOME") { return .comparison(try comparison(.any)) }
        if take(word: "ALL") { return .comparison(try comparison(.all)) }
        if take(word: "NONE") { return .not(.comparison(try comparison(.any))) }
        guard isAt(symbol: "("), !expressionParentheses.contains(place) else { return try directComparison() }
        // A parenthesis opens a predicate or an expression; which, shows only after it.
        let start = place
        let startArgument = arguments.position
        let startLinks = links
        let failure: PredicateFormatError
        do {
            place += 1
            let inner = try disjunction()
            try expect(symbol: ")")
            if !continuesExpression { return inner }
            failure = error("AND, OR or the end")
        } catch {
            failure = error
        }
        place = start
        arguments.position = startArgument
        links = startLinks
        expressionParentheses.insert(start)
        do {
            return try directComparison()
        } catch {
            // The reading that went further is what the author meant.
            throw error.position >= failure.position ? error : failure
        }
    }

    /// Whether what stands here can only follow an expression.
    private var continuesExpression: Bool {
        switch token {
        case .symbol(let symbol): symbol != ")" && symbol != "&&" && symbol != "||" && symbol != "," && symbol != "}" && symbol != "]"
        case .word: comparisonOperator(at: place) != nil || isSetOperation(place)
        default: false
        }
    }

    private mutating func directComparison() throws(PredicateFormatError) -> PredicateNode {
        let isInside = startComparison()
        defer { isInsideComparison = isInside }
        let left = try expression()
        if isAt(word: "NOT"), comparisonOperator(at: place + 1)?.0 == .in {
            place += 1
            return .not(.comparison(try comparison(.direct, left: left)))
        }
        return .comparison(try comparison(.direct, left: left))
    }

    private mutating func comparison(
        _ modifier: NSComparisonPredicate.Modifier, left known: ExpressionNode? = nil
    ) throws(PredicateFormatError) -> PredicateComparison {
        let isInside = known == nil ? startComparison() : isInsideComparison
        defer { isInsideComparison = isInside }
        let left = if let known { known } else { try expression() }
        guard let (type, length) = comparisonOperator(at: place) else { throw error("a comparison operator") }
        place += length
        let options = try comparisonOptions()
        let start = tokens[place].position
        let right = try expression()
        let comparison = PredicateComparison(left: left, right: right, modifier: modifier, type: type, options: options)
        if let complaint = comparison.complaint {
            throw PredicateFormatError(format: format, position: start, expected: complaint, found: right.canonicalFormat)
        }
        return comparison
    }

    /// Says whether a comparison is read already. One that stands in no other has operators of its own.
    private mutating func startComparison() -> Bool {
        if !isInsideComparison { links = 0 }
        defer { isInsideComparison = true }
        return isInsideComparison
    }

    /// The operator at a token, and how many tokens it takes.
    private func comparisonOperator(at place: Int) -> (NSComparisonPredicate.Operator, Int)? {
        guard place < tokens.count else { return nil }
        switch tokens[place].kind {
        case .symbol(let symbol): return Self.symbols[symbol].map { ($0, 1) }
        case .word(let word, isEscaped: false): return Self.words[word.uppercased()].map { ($0, 1) }
        default: return nil
        }
    }

    private static let symbols: [String: NSComparisonPredicate.Operator] = [
        "=": .equalTo, "==": .equalTo, "!=": .notEqualTo, "<>": .notEqualTo, "<": .lessThan, "<=": .lessThanOrEqualTo,
        "=<": .lessThanOrEqualTo, ">": .greaterThan, ">=": .greaterThanOrEqualTo, "=>": .greaterThanOrEqualTo,
    ]

    private static let words: [String: NSComparisonPredicate.Operator] = [
        "BETWEEN": .between, "IN": .in, "CONTAINS": .contains, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith, "LIKE": .like,
        "MATCHES": .matches,
    ]

    /// `[cd]` after an operator.
    private mutating func comparisonOptions() throws(PredicateFormatError) -> NSComparisonPredicate.Options {
        guard take(symbol: "[") else { return [] }
        guard case .word(let letters, isEscaped: false) = token else { throw error("one or more of the letters c, d, n and l") }
        var options: NSComparisonPredicate.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw error("one or more of the letters c, d, n and l")
            }
        }
        place += 1
        try expect(symbol: "]")
        return options
    }
}

extension PredicateComparison {
    /// What the right side should have been, where it is a constant that the operator can do nothing with.
    var complaint: String? {
        switch (type, right) {
        case (.matches, .constant(.string(let pattern))):
            return RegularExpressions.isValid(pattern) ? nil : "a regular expression after MATCHES"
        case (.between, .constant(.collection(let bounds))): return bounds.elements.count == 2 ? nil : "two bounds after BETWEEN"
        case (.between, .aggregate(let bounds)): return bounds.count == 2 ? nil : "two bounds after BETWEEN"
        case (.between, .constant(let value)): return value.isNull ? nil : "two bounds after BETWEEN"
        case (.in, .constant(.collection)), (.in, .constant(.string)), (.in, .constant(.null)), (.in, .constant(.opaque)): return nil
        case (.in, .constant): return "a collection or a string after IN"
        default: return nil
        }
    }
}

// MARK: - Tokens

extension PredicateParser {
    var token: PredicateToken.Kind {
        tokens[place].kind
    }

    /// An error at the token that stands here.
    func error(_ expected: String) -> PredicateFormatError {
        let position = tokens[place].position
        let end = place + 1 < tokens.count ? tokens[place + 1].position : position
        let text = String(String.UnicodeScalarView(scalars[position..<end])).trimmingCharacters(in: .whitespacesAndNewlines)
        return PredicateFormatError(
            format: format, position: position, expected: expected, found: text.isEmpty ? "the end" : "\"\(text)\"")
    }

    func isAt(symbol: String) -> Bool {
        token == .symbol(symbol)
    }

    func isAt(word: String) -> Bool {
        if case .word(let text, isEscaped: false) = token { text.uppercased() == word } else { false }
    }

    mutating func take(symbol: String) -> Bool {
        guard isAt(symbol: symbol) else { return false }
        place += 1
        return true
    }

    mutating func take(word: String) -> Bool {
        guard isAt(word: word) else { return false }
        place += 1
        return true
    }

    mutating func expect(symbol: String) throws(PredicateFormatError) {
        if !take(symbol: symbol) { throw error("\"\(symbol)\"") }
    }

    /// Goes one level deeper.
    mutating func enter() throws(PredicateFormatError) {
        depth += 1
        if depth > Self.maximumDepth { throw error("at most \(Self.maximumDepth) levels of nesting") }
    }

    /// Counts an operator: a chain of them nests as deep as it is long.
    mutating func link() throws(PredicateFormatError) {
        links += 1
        if links > PredicateEvaluationError.levels { throw error("at most \(PredicateEvaluationError.levels) operators between values") }
    }

    mutating func leave() {
        depth -= 1
    }

    func isSetOperation(_ place: Int) -> Bool {
        if case .word(let word, isEscaped: false) = tokens[place].kind { SetOperation(rawValue: word.uppercased()) != nil } else { false }
    }
}
