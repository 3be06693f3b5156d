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
            index += 1
            while isMark("->") || isEffect { index += 1 }
            _ = type()
            return .other
        }
        return members.count == 1 ? first : .composition(members)
    }

    private var isEffect: Bool {
        guard let token, token.kind == .word, !token.isQuoted, ["throws", "async", "rethrows"].contains(token.text) else { return false }
        return true
    }

    private mutating func skipAttributes() {
        while true {
            if takes("@") {
                index += 1
                if isMark("(") { skipBalanced() }
            } else if !(takesWord("inout") || takesWord("borrowing") || takesWord("consuming") || takesWord("sending") || takesWord("__owned")) {
                return
            }
        }
    }

    private mutating func skipBalanced() {
        var depth = 0
        repeat {
            if isMark("(") { depth += 1 }
            if isMark(")") { depth -= 1 }
            index += 1
        } while depth > 0 && index < tokens.count
    }

    /// A type and the marks behind it.
    private mutating func simple() -> TypeSyntax? {
        guard var type = unmarked() else { return nil }
        while let token, token.kind == .mark, token.text == "?" || token.text == "!", index > 0,
            tokens[index - 1].range.upperBound == token.range.lowerBound
        {
            index += 1
            type = .optional(type)
        }
        return type
    }

    private mutating func unmarked() -> TypeSyntax? {
        if takesWord("any") { return simple() }
        if takesWord("some") {
            _ = simple()
            return .other
        }
        if takes("[") {
            guard let first = type() else { return nil }
            if takes(":") {
                guard let value = type(), takes("]") else { return nil }
                return .dictionary(first, value)
            }
            return takes("]") ? .array(first) : nil
        }
        if isMark("(") { return parenthesized() }
        return named()
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

    private mutating func named() -> TypeSyntax? {
        var names: [TypeSyntax.Name] = []
        repeat {
            guard let token, token.kind == .word else { return nil }
            index += 1
            var name = TypeSyntax.Name(name: token.text)
            if takes("<") {
                repeat {
                    guard let argument = type() else { return nil }
                    name.arguments.append(argument)
                } while takes(",")
                guard takes(">") else { return nil }
            }
            names.append(name)
        } while takes(".")
        return .named(names)
    }
}
