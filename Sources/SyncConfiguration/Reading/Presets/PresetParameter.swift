/// What a preset is told: a key of `[source.with]`.
public struct PresetParameter: Sendable, Hashable {
    /// What its value is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A text.
        case text
        /// A text of letters, digits, `.`, `_` and `-`.
        case name
        /// A whole number.
        case integer
        /// A list of texts.
        case texts
        /// A list of names.
        case names
    }

    /// A value of one.
    public enum Value: Sendable, Hashable, CustomStringConvertible {
        /// Of a ``Kind/text`` or a ``Kind/name``.
        case text(String)
        /// Of an ``Kind/integer``.
        case integer(Int)
        /// Of ``Kind/texts`` or ``Kind/names``; never empty.
        case texts([String])

        /// As TOML.
        public var description: String {
            switch self {
            case .text(let text): tomlQuoted(text)
            case .integer(let integer): "\(integer)"
            case .texts(let texts): "[" + texts.map(tomlQuoted).joined(separator: ", ") + "]"
            }
        }

        fileprivate var texts: [String] {
            switch self {
            case .text(let text): [text]
            case .integer: []
            case .texts(let texts): texts
            }
        }
    }

    /// Letters, digits and `_`, beginning with a letter.
    public var name: String
    /// `type`.
    public var kind: Kind
    /// Whether a source has to say it. One that is neither required nor has a default may be left out, and what depends on it is left out, too.
    public var isRequired = false
    /// What it is where a source does not say it.
    public var defaultValue: Value?
    /// `one_of`: the texts that it may be; empty: any.
    public var choices: [String] = []
    /// What it is for.
    public var meaning: String

    /// One that is left out unless a source says it.
    init(_ name: String, _ kind: Kind, meaning: String) {
        self.name = name
        self.kind = kind
        self.meaning = meaning
    }

    /// What stands for it in an example.
    var placeholder: String {
        switch kind {
        case .text, .name: choices.first.map(tomlQuoted) ?? "\"…\""
        case .integer: "1"
        case .texts, .names: "[\"…\"]"
        }
    }

    /// Its type, and whether it has to be said, in words.
    public var requirement: String {
        let type =
            switch kind {
            case .text: "text"
            case .name: "name"
            case .integer: "integer"
            case .texts: "list of texts"
            case .names: "list of names"
            }
        let choice = choices.isEmpty ? type : choices.map(tomlQuoted).joined(separator: " or ")
        if let defaultValue { return "\(choice), \(defaultValue) unless said otherwise" }
        return "\(choice), \(isRequired ? "required" : "optional")"
    }
}

extension PresetParameter {
    /// How a value of it is read.
    var codec: Codec<Value> {
        let plain = plainCodec
        let choices = choices
        guard !choices.isEmpty else { return plain }
        let expected = "one of " + choices.map(tomlQuoted).joined(separator: ", ")
        return Codec<Value>(expected: expected, wrong: plain.wrong) { node in
            let outcome = plain.read(node)
            guard case .value(let value) = outcome, let stranger = value.texts.first(where: { !choices.contains($0) }) else { return outcome }
            return .wrong("\(tomlQuoted(stranger)) is none of its values", suggestion(for: stranger, among: choices, kind: "known values"))
        } toml: {
            $0.description
        }
    }

    private var plainCodec: Codec<Value> {
        let text = Codec<String>.text("a text") { text in
            text.contains("{") ? ("a value of a preset has no places of its own", "write it without braces") : nil
        }
        let name = Codec<String>.text("a text of letters, digits, \".\", \"_\" and \"-\"", maxLength: 256) { name in
            let isName = name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || ".-_".utf8.contains(byte)
            }
            return isName && name != "." && name != ".." ? nil : ("\(tomlQuoted(name)) is not a name", "use letters, digits, \".\", \"_\" and \"-\"")
        }
        switch kind {
        case .text: return Self.wrapped(text) { .text($0) }
        case .name: return Self.wrapped(name) { .text($0) }
        case .integer: return Self.wrapped(Codec<Int>.integer(-1_000_000_000_000...1_000_000_000_000)) { .integer($0) }
        case .texts:
            let list = Codec<[String]>.list(of: text, expected: "a list of texts, as in [\"a\", \"b\"]", isEmptyAllowed: false)
            return Self.wrapped(list) { .texts($0) }
        case .names:
            let list = Codec<[String]>.list(of: name, expected: "a list of names, as in [\"a\", \"b\"]", isEmptyAllowed: false)
            return Self.wrapped(list) { .texts($0) }
        }
    }

    private static func wrapped<Inner>(_ inner: Codec<Inner>, _ wrap: @escaping (Inner) -> Value) -> Codec<Value> {
        Codec<Value>(expected: inner.expected, wrong: inner.wrong) { node in
            switch inner.read(node) {
            case .value(let value): .value(wrap(value))
            case .wrong(let message, let suggestion): .wrong(message, suggestion)
            case .later(let what): .later(what)
            }
        } toml: {
            $0.description
        }
    }
}
