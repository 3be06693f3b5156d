import JSONPaths

/// An element of `also` as it stands in the files.
struct MentionTable: ConfigurationTable {
    var records: JSONPath?
    var entity: String?
    var mapKey: String?

    static var keys: [Key<Self>] {
        [
            Key("records", Codec<JSONPath>.recordsPath.optional(), \.records),
            Key("entity", Codec<String>.text("the name of an entity", maxLength: 128).optional(), \.entity),
            Key("map_key", Codec<String>.text("the name of an attribute", maxLength: 128).optional(), \.mapKey),
        ] + Key.structural("where")
    }
}

/// `where` in it.
struct MentionConditionTable: ConfigurationTable {
    var path: JSONPath?
    var values: [MentionCondition.Value]?

    static var keys: [Key<Self>] {
        [
            Key("path", Codec<JSONPath>.jsonPath.optional(), \.path),
            Key("equals", Codec<[MentionCondition.Value]>.wantedValues.optional(), \.values),
        ]
    }
}

extension Codec where Value == [MentionCondition.Value] {
    /// One value, or texts of which any will do.
    fileprivate static var wantedValues: Codec {
        let expected = "a text, a number, true, false, or a list of texts"
        let texts = Codec<[String]>.list(
            of: .text("a text", isEmptyAllowed: true), expected: "a list of texts, as in [\"users\", \"people\"]", isEmptyAllowed: false)
        return Codec(expected: expected, wrong: ["[]", "[1]", "[\"a\", \"a\"]", "{}", "nan", "2024-01-01"]) { node in
            switch node.value {
            case .string(let text): return .value([.text(text)])
            case .integer(let integer): return .value([.integer(integer)])
            case .number(let number) where number.isFinite: return .value([.number(number)])
            case .boolean(let flag): return .value([.boolean(flag)])
            case .array:
                switch texts.read(node) {
                case .value(let found): return .value(found.map { .text($0) })
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            case .number, .moment, .table: return mismatch(node, expected)
            }
        } toml: { values in
            let written = values.map(\.toml)
            return written.count == 1 ? written[0] : "[" + written.joined(separator: ", ") + "]"
        }
    }
}

extension MentionCondition.Value {
    fileprivate var toml: String {
        switch self {
        case .text(let text): tomlQuoted(text)
        case .integer(let integer): "\(integer)"
        case .number(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        }
    }
}

extension [MentionConfiguration] {
    /// As TOML, on one line.
    var toml: String { "[" + map(\.toml).joined(separator: ", ") + "]" }
}

extension MentionConfiguration {
    fileprivate var toml: String {
        var table = MentionTable(), entries: [String] = []
        (table.records, table.entity, table.mapKey) = (records, entity, mapKey)
        for key in MentionTable.keys { if let text = key.toml(table) { entries.append("\(key.name) = \(text)") } }
        if let condition {
            let values = Codec<[MentionCondition.Value]>.wantedValues.toml(condition.values) ?? "[]"
            entries.append("where = { path = \(tomlQuoted(condition.path.description)), equals = \(values) }")
        }
        return "{ \(entries.joined(separator: ", ")) }"
    }
}
