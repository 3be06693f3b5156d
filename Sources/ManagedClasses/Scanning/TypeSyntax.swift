/// A type as it is written.
indirect enum TypeSyntax: Hashable, Sendable {
    struct Name: Hashable, Sendable {
        var name: String
        var arguments: [TypeSyntax] = []
    }

    case named([Name])
    case optional(TypeSyntax)
    case array(TypeSyntax)
    case dictionary(TypeSyntax, TypeSyntax)
    case composition([TypeSyntax])
    case void
    /// A tuple, a function, an opaque type: nothing that an accessor can have.
    case other
}

/// Reads types, one after the other.
struct TypeParser {
    let tokens: [SwiftTokens.Token]
    var index: Int

    private var token: SwiftTokens.Token? { index < tokens.count ? tokens[index] : nil }

    private func isMark(_ text: String) -> Bool { token?.kind == .mark && token?.text == text }

    private mutating func takes(_ text: String) -> Bool {
        guard isMark(text) else { return false }
        index += 1
        return true
    }

    private mutating func takesWord(_ text: String) -> Bool {
        guard let token, token.kind == .word, !token.isQuoted, token.text == text else { return false }
        index += 1
        return true
    }

    /// The type that begins here; nil if none does.
    mutating func type() -> TypeSyntax? {
        skipAttributes()
        guard let first = simple() else { return nil }
        var members = [first]
        while takes("&") {
            guard let next = simple() else { return nil }
            members.append(next)
        }
        if isMark("->") || isEffect {
            while isMark("->") || isEffect {
                index += 1
                // `throws(Failure)`
                if isMark("("), isAttached { skipBalanced() }
            }
            _ = type()
            return .other
        }
        return members.count == 1 ? first : .composition(members)
    }

    private var isEffect: Bool {
        guard let token, token.kind == .word, !token.isQuoted, ["throws", "async", "rethrows"].contains(token.text) else { return false }
        return true
    }

    private static let modifiers: Set = [
        "inout", "borrowing", "consuming", "sending", "isolated", "nonisolated", "__owned", "__shared", "_const", "repeat", "each", "unsafe",
    ]

    private mutating func skipAttributes() {
        while let token {
            if takes("@") {
                _ = name()
                if isMark("("), isAttached { skipBalanced() }
            } else if token.kind == .word, !token.isQuoted, Self.modifiers.contains(token.text), isModifier {
                index += 1
                if isMark("("), isAttached { skipBalanced() }
            } else {
                return
            }
        }
    }

    /// Whether a type can follow a word; otherwise it is the type.
    private var isModifier: Bool {
        guard index + 1 < tokens.count else { return false }
        return tokens[index + 1].kind == .word || ["(", "[", "@", "~"].contains(tokens[index + 1].text)
    }

    /// Nothing is between this token and the one before.
    private var isAttached: Bool { index > 0 && index < tokens.count && tokens[index - 1].range.upperBound == tokens[index].range.lowerBound }

    /// From a bracket to the one that closes it.
    private mutating func skipBalanced() {
        var depth = 0
        repeat {
            if isMark("(") || isMark("[") { depth += 1 }
            if isMark(")") || isMark("]") { depth -= 1 }
            index += 1
        } while depth > 0 && index < tokens.count
    }

    /// A type and the marks behind it.
    private mutating func simple() -> TypeSyntax? {
        guard var type = unmarked() else { return nil }
        while isAttached, isMark("?") || isMark("!") || isMark(".") {
            let mark = tokens[index].text
            if mark == "." {
                // `(any P).Type`, `[Int].Element`
                guard index + 1 < tokens.count, tokens[index + 1].kind == .word else { return type }
                index += 2
                type = .other
            } else {
                index += 1
                type = .optional(type)
            }
        }
        return type
    }

    private mutating func unmarked() -> TypeSyntax? {
        skipAttributes()
        if takesWord("any") { return simple() }
        if takes("~") {
            // What is taken away is nothing that a type has.
            guard simple() != nil else { return nil }
            return .other
        }
        if takesWord("some") {
            _ = simple()
            return .other
        }
        if isMark("[") { return bracketed() }
        if isMark("(") { return parenthesized() }
        return name()
    }

    private mutating func bracketed() -> TypeSyntax? {
        let start = index
        index += 1
        if let first = type() {
            if takes("]") { return .array(first) }
            if takes(":"), let value = type(), takes("]") { return .dictionary(first, value) }
        }
        // `[3 of Int]`
        index = start
        skipBalanced()
        return .other
    }

    private mutating func parenthesized() -> TypeSyntax? {
        let start = index
        index += 1
        if takes(")") { return .void }
        if let inner = type(), takes(")") { return inner }
        index = start
        skipBalanced()
        return .other
    }

    /// A name with its arguments, as a type or an attribute has it.
    mutating func name() -> TypeSyntax? {
        var names: [TypeSyntax.Name] = []
        repeat {
            guard let token, token.kind == .word else { return nil }
            index += 1
            var name = TypeSyntax.Name(name: token.text)
            if takes("<") {
                repeat {
                    guard let argument = argument() else { return nil }
                    name.arguments.append(argument)
                } while takes(",")
                guard takes(">") else { return nil }
            }
            names.append(name)
        } while takes(".")
        // A type of types.
        if names.count > 1, let last = names.last?.name, ["Type", "Protocol"].contains(last), !tokens[index - 1].isQuoted { return .other }
        return .named(names)
    }

    /// A type, or a number: `InlineArray<3, Int>`.
    private mutating func argument() -> TypeSyntax? {
        let start = index
        _ = takes("-")
        if token?.kind == .literal {
            index += 1
            return .other
        }
        index = start
        return type()
    }
}
