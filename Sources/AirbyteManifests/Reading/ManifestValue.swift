/// A value of a manifest, and where it stands.
struct ManifestValue: Sendable {
    /// What it is. A time is a text.
    enum Content: Sendable {
        case null
        case bool(Bool)
        case integer(Int)
        case number(Double)
        case text(String)
        case list([ManifestValue])
        case mapping(ManifestMapping)
    }

    let content: Content
    /// Counted from 1.
    let line: Int

    init(_ content: Content, line: Int) {
        self.content = content
        self.line = line
    }

    var text: String? { if case .text(let text) = content { text } else { nil } }
    var integer: Int? { if case .integer(let value) = content { value } else { nil } }
    var list: [ManifestValue]? { if case .list(let elements) = content { elements } else { nil } }
    var mapping: ManifestMapping? { if case .mapping(let mapping) = content { mapping } else { nil } }
    var isNull: Bool { if case .null = content { true } else { false } }

    /// A scalar as a text, as Python writes it; nil for anything else.
    var scalar: String? {
        switch content {
        case .text(let text): text
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .bool(let flag): flag ? "True" : "False"
        case .null, .list, .mapping: nil
        }
    }

    /// Whether Python takes it for true.
    var isTruthy: Bool {
        switch content {
        case .null: false
        case .bool(let flag): flag
        case .integer(let value): value != 0
        case .number(let value): value != 0
        case .text(let text): !text.isEmpty
        case .list(let elements): !elements.isEmpty
        case .mapping(let mapping): !mapping.entries.isEmpty
        }
    }

    /// What it says, in one short line.
    var brief: String {
        switch content {
        case .null: "null"
        case .bool, .integer, .number: scalar ?? ""
        case .text(let text): Self.shortened(text)
        case .list(let elements): Self.shortened("[" + elements.prefix(8).map(\.brief).joined(separator: ", ") + "]")
        case .mapping(let mapping): mapping["type"]?.text ?? Self.shortened("{" + mapping.entries.prefix(8).map(\.key).joined(separator: ", ") + "}")
        }
    }

    /// A text on one line, cut off where it is long.
    static func shortened(_ text: String, limit: Int = 100) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count > limit ? words.prefix(limit - 1) + "…" : words
    }
}

/// Keys with values, in the order in which they are written.
struct ManifestMapping: Sendable {
    struct Entry: Sendable {
        let key: String
        let value: ManifestValue
        /// The key's own line.
        let line: Int
    }

    let entries: [Entry]
    private let places: [String: Int]

    /// The last of several entries with one key counts.
    init(_ entries: [Entry]) {
        self.entries = entries
        places = Dictionary(entries.enumerated().map { ($1.key, $0) }) { $1 }
    }

    subscript(key: String) -> ManifestValue? { places[key].map { entries[$0].value } }

    func line(of key: String) -> Int? { places[key].map { entries[$0].line } }

    /// This with what another one has beside it.
    func over(_ base: ManifestMapping) -> ManifestMapping {
        ManifestMapping(base.entries.filter { places[$0.key] == nil } + entries)
    }

    func without(_ key: String) -> ManifestMapping { ManifestMapping(entries.filter { $0.key != key }) }
}
