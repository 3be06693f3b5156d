/// A value of a configuration file, with the place it stands at.
struct DocumentNode: Sendable {
    indirect enum Value: Sendable {
        case string(String)
        case integer(Int64)
        case number(Double)
        case boolean(Bool)
        /// A TOML date or time; no key takes one.
        case moment(String)
        case array([DocumentNode])
        case table([String: DocumentNode])
    }

    struct Place: Sendable, Hashable {
        var file: String
        /// The position of the file in the order of merging.
        var rank: Int
        var line: Int?
        var column: Int?
    }

    var value: Value
    var place: Place

    /// The value in words, for complaints: `the integer 15`.
    var found: String {
        switch value {
        case .string(let text): "the text \(tomlQuoted(text.count > 60 ? text.prefix(60) + "…" : text))"
        case .integer(let integer): "the integer \(integer)"
        case .number(let number): "the number \(number)"
        case .boolean(let flag): "\(flag)"
        case .moment: "a date or time"
        case .array: "an array"
        case .table: "a table"
        }
    }

    var table: [String: DocumentNode]? {
        if case .table(let table) = value { table } else { nil }
    }

    var array: [DocumentNode]? {
        if case .array(let array) = value { array } else { nil }
    }

    var string: String? {
        if case .string(let string) = value { string } else { nil }
    }
}

extension [String: DocumentNode] {
    /// The entries in the order they stand in the files.
    var ordered: [(key: String, value: DocumentNode)] {
        func rank(_ entry: Element) -> (Int, Int, Int, String) {
            let place = entry.value.place
            return (place.rank, place.line ?? .max, place.column ?? .max, entry.key)
        }
        return sorted { rank($0) < rank($1) }
    }
}
