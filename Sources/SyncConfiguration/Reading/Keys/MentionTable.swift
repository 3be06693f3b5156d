import JSONPaths

/// An element of `also` as it stands in the files.
struct MentionTable: ConfigurationTable {
    var records: JSONPath?
    var entity: String?
    var mapKey: String?
    var condition: RecordCondition?

    static var keys: [Key<Self>] {
        [
            Key("records", Codec<JSONPath>.recordsPath.optional(), \.records),
            Key("entity", Codec<String>.text("the name of an entity", maxLength: 128).optional(), \.entity),
            Key("map_key", Codec<String>.text("the name of an attribute", maxLength: 128).optional(), \.mapKey),
            Key("where", Codec<RecordCondition>.condition.optional(), \.condition),
        ]
    }
}

extension [MentionConfiguration] {
    /// As TOML, on one line.
    var toml: String { "[" + map(\.toml).joined(separator: ", ") + "]" }
}

extension MentionConfiguration {
    fileprivate var toml: String {
        var table = MentionTable()
        (table.records, table.entity, table.mapKey, table.condition) = (records, entity, mapKey, condition)
        let entries = MentionTable.keys.compactMap { key in key.toml(table).map { "\(key.name) = \($0)" } }
        return "{ \(entries.joined(separator: ", ")) }"
    }
}
