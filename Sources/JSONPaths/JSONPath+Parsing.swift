extension JSONPath {
    /// Reads the `$` form, or a JSON Pointer when the text is empty or starts with `/`.
    ///
    /// - Parameter allowsWildcards: whether `[*]` and `.*` may be in it. False: they are not in this version.
    /// - Throws: ``JSONPathError`` saying what is wrong and at which character.
    public init(parsing text: String, allowsWildcards: Bool = false) throws(JSONPathError) {
        var parser = JSONPathParser(text: text, allowsWildcards: allowsWildcards)
        self = try parser.parse()
    }
}

/// Goes over the text of a path once, by Unicode scalar.
private struct JSONPathParser {
    let text: String
    let scalars: [Unicode.Scalar]
    let allowsWildcards: Bool
    var position = 0

    init(text: String, allowsWildcards: Bool) {
        self.text = text
        self.allowsWildcards = allowsWildcards
        scalars = Array(text.unicodeScalars)
    }

    var current: Unicode.Scalar? {
        position < scalars.count ? scalars[position] : nil
    }

    func failure(_ reason: String, at position: Int? = nil) -> JSONPathError {
        JSONPathError(text: text, position: (position ?? self.position) + 1, problem: .malformed(reason))
    }

    func unsupported(_ what: String) -> JSONPathError {
        JSONPathError(text: text, position: position + 1, problem: .notInThisVersion(what))
    }

    mutating func parse() throws(JSONPathError) -> JSONPath {
        if let control = scalars.firstIndex(where: { $0.value < 0x20 }) { throw failure("control characters are not allowed", at: control) }
        return try text.isEmpty || text.hasPrefix("/") ? parsePointer() : parseDollar()
    }

    mutating func parseDollar() throws(JSONPathError) -> JSONPath {
        guard current == "$" else {
            let key = text.contains(" ") ? "name" : text
            throw failure("a path starts with \"$\", as in \"$.\(key)\", or is a JSON Pointer, as in \"/\(key)\"")
        }
        position += 1
        var segments: [JSONPath.Segment] = []
        while let next = current {
            switch next {
            case ".": segments.append(try parseAfterDot())
            case "[": segments.append(try parseBracket())
            default: throw failure("expected \".\" or \"[\", found \"\(next)\"; write a key with other characters as ['…']")
            }
        }
        return JSONPath(segments: segments)
    }

    mutating func parseAfterDot() throws(JSONPathError) -> JSONPath.Segment {
        position += 1
        switch current {
        case ".": throw unsupported("the search \"..\" in a path")
        case "*": return try parseWildcard()
        case nil: throw failure("a key is missing after the last \".\"")
        default: break
        }
        var key = String.UnicodeScalarView()
        // A digit in front is harmless here.
        while let next = current, JSONPath.isWord(next) {
            key.append(next)
            position += 1
        }
        guard !key.isEmpty else { throw failure("expected a key after \".\"; write a key with other characters as ['…']") }
        return .key(String(key))
    }

    mutating func parseBracket() throws(JSONPathError) -> JSONPath.Segment {
        let opening = position
        position += 1
        let segment: JSONPath.Segment
        switch current {
        case "'", "\"":
            segment = .key(try parseQuoted())
        case let digit? where ("0"..."9").contains(digit):
            segment = .index(try parseIndex())
        case "*": segment = try parseWildcard()
        case "?", "(": throw unsupported("a filter in a path")
        case "-": throw unsupported("counting from the end in a path")
        case ":": throw unsupported("a slice in a path")
        case nil: throw failure("\"[\" is not closed", at: opening)
        default: throw failure("\"[\" must be followed by an index, as in [0], or a quoted key, as in ['name']")
        }
        switch current {
        case "]": position += 1
        case ":": throw unsupported("a slice in a path")
        case ",": throw unsupported("a list in a path")
        case nil: throw failure("\"[\" is not closed", at: opening)
        default: throw failure("expected \"]\"")
        }
        return segment
    }

    mutating func parseWildcard() throws(JSONPathError) -> JSONPath.Segment {
        guard allowsWildcards else { throw unsupported("the wildcard \"*\" in a path") }
        position += 1
        return .each
    }

    mutating func parseIndex() throws(JSONPathError) -> Int {
        let start = position
        var digits = ""
        while let next = current, ("0"..."9").contains(next) {
            digits.unicodeScalars.append(next)
            position += 1
        }
        if digits.count > 1 && digits.hasPrefix("0") { throw failure("an index has no leading zeros", at: start) }
        guard let index = Int(digits), JSONPath.indices.contains(index) else {
            throw failure("the index \(digits) is larger than any array can be", at: start)
        }
        return index
    }

    mutating func parseQuoted() throws(JSONPathError) -> String {
        let opening = position
        let quote = scalars[position]
        position += 1
        var key = String.UnicodeScalarView()
        while let next = current {
            position += 1
            if next == quote { return String(key) }
            guard next == "\\" else {
                key.append(next)
                continue
            }
            guard let escaped = current else { break }
            guard escaped == "'" || escaped == "\"" || escaped == "\\" else {
                throw failure("\"\\\(escaped)\" is not an escape; only \\', \\\" and \\\\ are")
            }
            key.append(escaped)
            position += 1
        }
        throw failure("the quote is not closed", at: opening)
    }

    mutating func parsePointer() throws(JSONPathError) -> JSONPath {
        var segments: [JSONPath.Segment] = []
        while current != nil {
            // At a slash: the text starts with one, and a token ends only before one.
            position += 1
            let start = position
            var token = String.UnicodeScalarView()
            while let next = current, next != "/" {
                position += 1
                guard next == "~" else {
                    token.append(next)
                    continue
                }
                switch current {
                case "0": token.append("~")
                case "1": token.append("/")
                default: throw failure("\"~\" must be followed by 0 (for ~) or 1 (for /)")
                }
                position += 1
            }
            segments.append(try pointerSegment(String(token), at: start))
        }
        return JSONPath(segments: segments)
    }

    func pointerSegment(_ token: String, at start: Int) throws(JSONPathError) -> JSONPath.Segment {
        if token == "-" { throw failure("\"-\" (the element after the last) never exists in a document that is read", at: start) }
        let isNumber = !token.isEmpty && token.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // "007" cannot be an index, so it can only be a key; the same for a number beyond any array.
        guard isNumber, token == "0" || !token.hasPrefix("0"), let index = Int(token), JSONPath.indices.contains(index) else {
            return .key(token)
        }
        return .index(index)
    }
}
