/// A text with places that each run of a resource, or each of its parts, fills: `/repos/{repo.fullName}/issues?since={since}`.
///
/// A place is `{NAME}`, `{NAME.PROPERTY}` or `{NAME.TO_ONE.PROPERTY}`, and may say in what form its value stands there: `{NAME.PROPERTY:FORM}`. All
/// other braces are text; `{{NAME}}` is the text `{NAME}`.
public struct Template: Sendable, Hashable, CustomStringConvertible {
    /// A place: what stands there.
    public struct Reference: Sendable, Hashable, CustomStringConvertible {
        /// What it begins with: the `as` of `for_each`, or one of ``Template/times``.
        public var alias: String
        /// The properties that lead on from there: to-ones, then the value. Empty: the thing itself.
        public var path: [String]
        /// The form of its value; `nil`: its own.
        public var form: Form?

        /// A place, nothing checked.
        public init(alias: String, path: [String] = [], form: Form? = nil) {
            self.alias = alias
            self.path = path
            self.form = form
        }

        /// As it is written, without braces.
        public var description: String { ([alias] + path).joined(separator: ".") + (form.map { ":\($0)" } ?? "") }
    }

    /// The form in which a value stands in a text.
    public enum Form: Sendable, Hashable, CustomStringConvertible {
        /// `segment`: one segment of a path, `/` escaped.
        case segment
        /// A word or a pattern of ``DateFormat``: so a time is written.
        case date(DateFormat)
        /// `split(SEPARATOR,NUMBER)`: of the pieces between separators the one of this number, from 0; from the end, the last being -1.
        case piece(separator: String, number: Int)
        /// `text`, or `unix:text` and the like: a text also where it is all of a value in JSON, written in a format of times if one is named.
        case text(DateFormat?)

        /// Reads what stands behind a colon; `nil` if that is no form.
        init?(_ text: some StringProtocol) {
            if text == "segment" {
                self = .segment
            } else if text == "text" {
                self = .text(nil)
            } else if text.hasSuffix(":text"), let format = DateFormat(String(text.dropLast(":text".count))), format.isNumber {
                self = .text(format)
            } else if text.hasPrefix("split("), text.hasSuffix(")") {
                let arguments = text.dropFirst("split(".count).dropLast()
                guard let comma = arguments.lastIndex(of: ","), comma > arguments.startIndex,
                    let number = Int(arguments[arguments.index(after: comma)...])
                else { return nil }
                self = .piece(separator: String(arguments[..<comma]), number: number)
            } else if let format = DateFormat(String(text)) {
                self = .date(format)
            } else {
                return nil
            }
        }

        /// As it is written.
        public var description: String {
            switch self {
            case .segment: "segment"
            case .date(let format): "\(format)"
            case .piece(let separator, let number): "split(\(separator),\(number))"
            case .text(let format): format.map { "\($0):text" } ?? "text"
            }
        }
    }

    /// The names of times: from where on a run asks and up to where, as `incremental` has it, and when it began.
    public static let times: Set<String> = ["since", "until", "now"]

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
        var words = text[..<end], form: Form?
        if let colon = words.firstIndex(of: ":") {
            form = Form(words[words.index(after: colon)...])
            if form == nil { return nil }
            words = words[..<colon]
        }
        let names = words.split(separator: ".", omittingEmptySubsequences: false)
        guard names.allSatisfy(isName) else { return nil }
        return (Reference(alias: String(names[0]), path: names.dropFirst().map(String.init), form: form), text.index(after: end))
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
        }
    }

    /// The first text that looks like a place with one of these names and is none, since no form stands behind its colon.
    public func malformedPlace(named names: some Collection<String>) -> String? {
        for case .text(let text) in parts {
            for name in names {
                guard let start = text.firstRange(of: "{\(name)"), let next = text[start.upperBound...].first, next == ":" || next == "." else {
                    continue
                }
                let rest = text[start.lowerBound...].prefix { $0 != "}" }
                if rest.contains(":") { return "\(rest)}" }
            }
        }
        return nil
    }

    /// Whether it says a time of a run.
    public var isTimed: Bool { references.contains { Self.times.contains($0.alias) } }

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
