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
