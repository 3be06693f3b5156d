/// A text with expressions in it: `Bearer {{ config['token'] }}`.
struct Interpolation {
    enum Part: Hashable {
        case text(String)
        case expression(JinjaExpression)
    }

    let parts: [Part]

    /// - Throws: `Unsayable` for statements, and for expressions that are not understood.
    init(_ text: String) throws {
        var parts: [Part] = [], plain = "", rest = Substring(text)
        while let brace = rest.firstIndex(of: "{") {
            plain += rest[..<brace]
            rest = rest[brace...]
            if rest.hasPrefix("{%") { throw Unsayable("statements between {% and %} are not understood") }
            if rest.hasPrefix("{#") { throw Unsayable("comments between {# and #} are not understood") }
            guard rest.hasPrefix("{{") else {
                plain += "{"
                rest = rest.dropFirst()
                continue
            }
            let (source, after) = try Self.source(rest.dropFirst(2))
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(.expression(try JinjaParser.expression(source)))
            rest = after
        }
        plain += rest
        // Jinja drops one end of line at the end.
        if plain.hasSuffix("\n") { plain.removeLast() }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// The one expression that it consists of, blanks around it aside; nil: there is text, or more than one.
    var only: JinjaExpression? {
        var found: JinjaExpression?
        for part in parts {
            switch part {
            case .text(let text): if !text.allSatisfy(\.isWhitespace) { return nil }
            case .expression(let expression):
                if found != nil { return nil }
                found = expression
            }
        }
        return found
    }

    /// What stands before the closing braces, and what comes after them.
    private static func source(_ text: Substring) throws -> (String, Substring) {
        var quote: Character?, depth = 0, index = text.startIndex
        while index < text.endIndex {
            let character = text[index], next = text.index(after: index)
            if let open = quote {
                if character == "\\", next < text.endIndex {
                    index = text.index(after: next)
                    continue
                }
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "{" {
                depth += 1
            } else if character == "}", depth > 0 {
                depth -= 1
            } else if character == "}", next < text.endIndex, text[next] == "}" {
                var source = text[..<index]
                if source.first == "-" || source.first == "+" { source = source.dropFirst() }
                if source.last == "-" { source = source.dropLast() }
                return (String(source), text[text.index(after: next)...])
            }
            index = next
        }
        throw Unsayable("an expression is not closed by }}")
    }
}
