/// Reads the text of a ``JSONPathText``.
struct JSONPathParser {
    private var rest: Substring
    private let text: String

    init(_ text: String) {
        self.text = text
        self.rest = text[...]
    }

    /// Whether a key may follow a dot without quotes.
    static func isPlain(_ key: String) -> Bool {
        guard let first = key.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return key.unicodeScalars.allSatisfy { isPlain($0) }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "-" || scalar.value > 0x7F || (scalar.isASCII && scalar.properties.isAlphabetic)
            || ("0"..."9").contains(scalar)
    }

    mutating func parse() throws(JSONPathText.Complaint) -> [JSONPathText.Segment] {
        if text.unicodeScalars.contains(where: { $0.value < 0x20 }) { throw .malformed("control characters are not allowed") }
        if text.hasPrefix("/") { return try parsePointer() }
        guard text.hasPrefix("$") else {
            let key = text.allSatisfy { $0 != " " } && !text.isEmpty ? text : "name"
            throw .malformed("a path begins with \"$\", as in \"$.\(key)\", or is a JSON Pointer, as in \"/\(key)\"")
        }
        rest.removeFirst()
        var segments: [JSONPathText.Segment] = []
        while let next = rest.first {
            rest.removeFirst()
            switch next {
            case ".": segments.append(try parseName())
            case "[": segments.append(try parseBracket())
            default: throw .malformed("\"\(next)\" stands where \".\" or \"[\" was expected")
            }
        }
        return segments
    }

    private mutating func parseName() throws(JSONPathText.Complaint) -> JSONPathText.Segment {
        if rest.first == "*" { throw .notInThisVersion("the wildcard \"*\" in a path") }
        if rest.first == "." { throw .notInThisVersion("the search \"..\" in a path") }
        let name = String(rest.unicodeScalars.prefix { Self.isPlain($0) })
        guard !name.isEmpty else { throw .malformed("a name is missing after \".\"; a key with other characters is written ['key']") }
        rest = rest[rest.unicodeScalars.index(rest.startIndex, offsetBy: name.unicodeScalars.count)...]
        return .key(name)
    }

    private mutating func parseBracket() throws(JSONPathText.Complaint) -> JSONPathText.Segment {
        guard let first = rest.first else { throw .malformed("\"[\" is not closed") }
        switch first {
        case "'", "\"":
            rest.removeFirst()
            return .key(try parseQuoted(until: first))
        case "*": throw .notInThisVersion("the wildcard \"*\" in a path")
        case "?", "(": throw .notInThisVersion("a filter in a path")
        case "-": throw .notInThisVersion("counting from the end in a path")
        default:
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[digits.endIndex...]
            if rest.first == ":" || rest.first == "," { throw .notInThisVersion("a slice or list in a path") }
            guard rest.first == "]", let index = Int(digits), index < 1 << 31, digits.count == 1 || digits.first != "0" else {
                throw .malformed("between \"[\" and \"]\" stands a number, as in [0], or a quoted key, as in ['name']")
            }
            rest.removeFirst()
            return .index(index)
        }
    }

    private mutating func parseQuoted(until quote: Character) throws(JSONPathText.Complaint) -> String {
        var key = ""
        while let next = rest.popFirst() {
            if next == quote {
                guard rest.popFirst() == "]" else { throw .malformed("\"]\" is missing after a quoted key") }
                return key
            }
            if next == "\\" {
                guard let escaped = rest.popFirst(), escaped == "\\" || escaped == "'" || escaped == "\"" else {
                    throw .malformed("after \"\\\" only a quote or another \"\\\" may stand")
                }
                key.append(escaped)
            } else {
                key.append(next)
            }
        }
        throw .malformed("a quoted key is not closed")
    }

    /// A pointer does not say whether a number is a key or an index; it is read as an index, as a document's array would take it.
    private mutating func parsePointer() throws(JSONPathText.Complaint) -> [JSONPathText.Segment] {
        var segments: [JSONPathText.Segment] = []
        for token in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            if token == "-" { throw .malformed("\"-\", the place after the last element, holds no value") }
            let isIndex = !token.isEmpty && token.allSatisfy { $0.isASCII && $0.isNumber } && (token.count == 1 || token.first != "0")
            if isIndex, let index = Int(token), index < 1 << 31 {
                segments.append(.index(index))
                continue
            }
            var key = ""
            var rest = token
            while let next = rest.popFirst() {
                guard next == "~" else { key.append(next); continue }
                switch rest.popFirst() {
                case "0": key.append("~")
                case "1": key.append("/")
                default: throw .malformed("\"~\" is written ~0 in a pointer, and \"/\" ~1")
                }
            }
            segments.append(.key(key))
        }
        return segments
    }
}
