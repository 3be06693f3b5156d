/// Reads a text as Python's `literal_eval` does: what a manifest says in a text becomes a number, a truth value, a list or a mapping where it looks
/// like one.
struct PythonLiteral {
    private static let maxDepth = 40

    private let scalars: [Unicode.Scalar]
    private let isJSON: Bool
    private var position = 0

    private init(_ text: String, isJSON: Bool) {
        scalars = Array(text.unicodeScalars)
        self.isJSON = isJSON
    }

    /// The value; nil: the text is none, and stays a text.
    ///
    /// - Parameter isJSON: the words of JSON are understood as well.
    static func value(_ text: String, isJSON: Bool = false) -> Term? {
        var reader = PythonLiteral(text, isJSON: isJSON)
        reader.skipBlanks()
        guard let result = reader.value(depth: 0) else { return nil }
        reader.skipBlanks()
        return reader.position == reader.scalars.count ? result : nil
    }

    private var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func skipBlanks() {
        while let next = current, next.properties.isWhitespace { position += 1 }
    }

    private mutating func value(depth: Int) -> Term? {
        guard depth < Self.maxDepth, let first = current else { return nil }
        switch first {
        case "'", "\"": return quoted(first).map { .text($0) }
        case "[": return elements(until: "]", depth: depth).map { .list($0) }
        case "(": return elements(until: ")", depth: depth).map { .list($0) }
        case "{": return members(depth: depth).map { .mapping($0) }
        case "-", "0"..."9": return number()
        default: return word()
        }
    }

    private mutating func word() -> Term? {
        var word = ""
        while let next = current, next.properties.isAlphabetic {
            word.unicodeScalars.append(next)
            position += 1
        }
        switch word {
        case "True": return .bool(true)
        case "False": return .bool(false)
        case "None": return Term.none
        case "true" where isJSON: return .bool(true)
        case "false" where isJSON: return .bool(false)
        case "null" where isJSON: return Term.none
        default: return nil
        }
    }

    private mutating func number() -> Term? {
        var text = ""
        while let next = current, next == "-" || next == "+" || next == "." || next == "e" || next == "E" || ("0"..."9").contains(next) {
            text.unicodeScalars.append(next)
            position += 1
        }
        let digits = text.drop { $0 == "-" }
        if let value = Int(text) { return digits.count > 1 && digits.hasPrefix("0") ? nil : .integer(value) }
        guard text.contains(where: { $0 == "." || $0 == "e" || $0 == "E" }), let value = Double(text), value.isFinite else { return nil }
        return .number(value)
    }

    private mutating func quoted(_ quote: Unicode.Scalar) -> String? {
        position += 1
        var text = String.UnicodeScalarView()
        while let next = current {
            position += 1
            if next == quote { return String(text) }
            guard next == "\\" else {
                text.append(next)
                continue
            }
            guard let escaped = current else { return nil }
            position += 1
            switch escaped {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "r": text.append("\r")
            case "\\", "'", "\"", "/": text.append(escaped)
            default: return nil
            }
        }
        return nil
    }

    private mutating func elements(until end: Unicode.Scalar, depth: Int) -> [Term]? {
        position += 1
        var elements: [Term] = []
        while true {
            skipBlanks()
            if current == end {
                position += 1
                return elements
            }
            guard let element = value(depth: depth + 1) else { return nil }
            elements.append(element)
            skipBlanks()
            if current == "," { position += 1 } else if current != end { return nil }
        }
    }

    private mutating func members(depth: Int) -> [String: Term]? {
        position += 1
        var members: [String: Term] = [:]
        while true {
            skipBlanks()
            if current == "}" {
                position += 1
                return members
            }
            guard case .text(let key)? = value(depth: depth + 1) else { return nil }
            skipBlanks()
            guard current == ":" else { return nil }
            position += 1
            skipBlanks()
            guard let member = value(depth: depth + 1) else { return nil }
            members[key] = member
            skipBlanks()
            if current == "," { position += 1 } else if current != "}" { return nil }
        }
    }
}
