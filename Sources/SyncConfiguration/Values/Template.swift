/// A text with places that each part of a resource fills: `/repos/{repo.fullName}/issues`.
///
/// A place is `{NAME}`, `{NAME.PROPERTY}` or `{NAME.TO_ONE.PROPERTY}`, and `{NAME.PROPERTY:segment}` where `/` may not stand for itself. All other braces
/// are text; `{{NAME}}` is the text `{NAME}`.
public struct Template: Sendable, Hashable, CustomStringConvertible {
    /// A place: what stands there.
    public struct Reference: Sendable, Hashable, CustomStringConvertible {
        /// What it begins with: the `as` of `for_each`.
        public var alias: String
        /// The properties that lead on from there: to-ones, then the value. Empty: the thing itself.
        public var path: [String]
        /// Whether it is to be one segment of a path, `/` escaped.
        public var isSegment: Bool

        /// A place, nothing checked.
        public init(alias: String, path: [String] = [], isSegment: Bool = false) {
            self.alias = alias
            self.path = path
            self.isSegment = isSegment
        }

        /// As it is written, without braces.
        public var description: String { ([alias] + path).joined(separator: ".") + (isSegment ? ":segment" : "") }
    }

    /// A piece of it.
    public enum Part: Sendable, Hashable {
        case text(String)
        case value(Reference)
    }

    /// Texts and places, in turn as they come.
    public let parts: [Part]
    /// As it is written.
    public let description: String

    /// Reads a text. Every text is a template, most of them without places.
    public init(_ text: String) {
        description = text
        var parts: [Part] = [], plain = "", rest = Substring(text)
        while let brace = rest.firstIndex(of: "{") {
            plain += rest[..<brace]
            rest = rest[brace...]
            let isEscaped = rest.hasPrefix("{{")
            if let (reference, end) = Self.reference(in: rest.dropFirst(isEscaped ? 2 : 1)), !isEscaped || rest[end...].hasPrefix("}") {
                if isEscaped {
                    plain += "{\(reference)}"
                    rest = rest[end...].dropFirst()
                } else {
                    if !plain.isEmpty { parts.append(.text(plain)) }
                    plain = ""
                    parts.append(.value(reference))
                    rest = rest[end...]
                }
            } else {
                plain += "{"
                rest = rest.dropFirst()
            }
        }
        plain += rest
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// A place, after its opening brace, and where the text goes on after the closing one.
    private static func reference(in text: Substring) -> (Reference, Substring.Index)? {
        guard let end = text.firstIndex(of: "}") else { return nil }
        var words = text[..<end]
        let isSegment = words.hasSuffix(":segment")
        if isSegment { words = words.dropLast(":segment".count) }
        let names = words.split(separator: ".", omittingEmptySubsequences: false)
        guard names.allSatisfy(isName) else { return nil }
        return (Reference(alias: String(names[0]), path: names.dropFirst().map(String.init), isSegment: isSegment), text.index(after: end))
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
        }
    }

    /// Its places, in order.
    public var references: [Reference] {
        parts.compactMap { if case .value(let reference) = $0 { reference } else { nil } }
    }

    /// The one place that it consists of; nil: there is text, or more than one.
    public var only: Reference? {
        if parts.count == 1, case .value(let reference) = parts[0] { reference } else { nil }
    }

    /// The text with its places filled.
    public func filled(_ value: (Reference) throws -> String) rethrows -> String {
        try parts.reduce(into: "") { text, part in
            switch part {
            case .text(let plain): text += plain
            case .value(let reference): text += try value(reference)
            }
        }
    }
}
