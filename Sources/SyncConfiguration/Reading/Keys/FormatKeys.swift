import JSONPaths

extension ResourceTable {
    /// `format` as it stands in the files.
    enum Format: String, CaseIterable {
        case json, ndjson, csv
        case jsonSequence = "json-seq"
    }

    /// `unpack` as it stands in the files.
    enum Packing: String, CaseIterable {
        case none, gzip, zip
    }
}

extension CSVFormat: ConfigurationTable {
    static var keys: [Key<Self>] {
        let column = Codec<String>.text("the name of a column", maxLength: 1024)
        let columns = Codec<[String]>.list(of: column, expected: "a list of columns, as in [\"id\", \"name\"]", isEmptyAllowed: false)
        return [
            Key("delimiter", .cellDelimiter, \.delimiter),
            Key("quote", .cellQuote, \.quote),
            Key("header", .bool, \.hasHeader),
            Key("columns", columns.optional(), \.columns),
            Key("empty", .choice(EmptyCell.self), \.empty),
        ]
    }
}

extension Codec where Value == ColumnNames {
    /// A list of names, a path to one, or a word.
    static var columnNames: Codec {
        let one = Codec<String>.text("the name of a column", maxLength: 1024)
        let names = Codec<[String]>.list(of: one, expected: "a list of columns, as in [\"id\", \"name\"]", isEmptyAllowed: false)
        let path = Codec<JSONPath>.recordsPath
        let expected = "\(names.expected), a path to one, \"header\" or \"members\""
        return Codec(expected: expected, wrong: ["1", "true", "\"\"", "\"columns\"", "[]", "[1]", "\"$.a[*].b[*]\""]) { node in
            switch node.string {
            case nil:
                guard node.array != nil else { return mismatch(node, expected) }
                switch names.read(node) {
                case .value(let list): return .value(.fixed(list))
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            case "header": return .value(.header)
            case "members": return .value(.members)
            case let text? where !text.hasPrefix("$") && !text.hasPrefix("/"):
                return mismatch(node, expected, suggestion(for: text, among: ["header", "members"], kind: "known words"))
            default:
                switch path.read(node) {
                case .value(let path) where path.segments.filter({ $0 == .each }).count > 1:
                    return .wrong("\(path) leads to more than one list", "write a path with one wildcard, as in \"$.fields[*].name\"")
                case .value(let path): return .value(.path(path))
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            }
        } toml: {
            switch $0 {
            case .fixed(let list): names.toml(list)
            case .header: "\"header\""
            case .path(let columns): path.toml(columns)
            case .members: "\"members\""
            }
        }
    }
}

extension Codec where Value == UInt8 {
    /// One ASCII character that may stand between cells.
    static var cellDelimiter: Codec {
        let expected = "one ASCII character such as \",\", \";\" or \"\\t\""
        return Codec(expected: expected, wrong: ["1", "true", "\"\"", "\", \"", "\"\\n\"", "\"é\"", "[]"]) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            guard let byte = cellCharacter(text) else { return .wrong("\(tomlQuoted(text)) cannot stand between cells", "write \(expected)") }
            return .value(byte)
        } toml: {
            tomlQuoted(String(UnicodeScalar($0)))
        }
    }
}

extension Codec where Value == UInt8? {
    /// One ASCII character that may stand around a cell.
    static var cellQuote: Codec {
        let expected = "one ASCII character such as \"'\", or \"\" for none"
        return Codec(expected: expected, wrong: ["1", "true", "\"''\"", "\"\\n\"", "\"é\"", "[]"]) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            if text.isEmpty { return .value(nil) }
            guard let byte = cellCharacter(text) else { return .wrong("\(tomlQuoted(text)) cannot stand around cells", "write \(expected)") }
            return .value(byte)
        } toml: {
            tomlQuoted($0.map { String(UnicodeScalar($0)) } ?? "")
        }
    }
}

/// The only byte of a text; nil: it is no ASCII character, or would be taken for something else.
private func cellCharacter(_ text: String) -> UInt8? {
    guard text.utf8.count == 1, let byte = text.utf8.first, byte != 0, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") else { return nil }
    return byte
}
