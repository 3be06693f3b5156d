import SyncConfiguration

/// A value as it is written into a configuration.
indirect enum TOMLValue: Hashable {
    case text(String)
    case integer(Int)
    case number(Double)
    case bool(Bool)
    case array([TOMLValue])
    case table(TOMLTable)

    /// `{ credential = "NAME" }`
    static func credential(_ name: String) -> TOMLValue { .table(TOMLTable([("credential", .text(name))])) }

    static func texts(_ texts: [String]) -> TOMLValue { .array(texts.map { .text($0) }) }

    /// On one line.
    var toml: String {
        switch self {
        case .text(let text): tomlQuoted(text)
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .bool(let flag): "\(flag)"
        case .array(let elements): "[" + elements.map(\.toml).joined(separator: ", ") + "]"
        case .table(let table): table.toml
        }
    }
}

/// Keys and values, in the order in which they are written.
struct TOMLTable: Hashable {
    struct Entry: Hashable {
        let key: String
        var value: TOMLValue
    }

    private(set) var entries: [Entry] = []

    init(_ entries: [(String, TOMLValue)] = []) {
        self.entries = entries.map { Entry(key: $0.0, value: $0.1) }
    }

    var isEmpty: Bool { entries.isEmpty }

    subscript(key: String) -> TOMLValue? {
        get { entries.first { $0.key == key }?.value }
        set {
            if let place = entries.firstIndex(where: { $0.key == key }) {
                if let newValue { entries[place].value = newValue } else { entries.remove(at: place) }
            } else if let newValue {
                entries.append(Entry(key: key, value: newValue))
            }
        }
    }

    /// Sets a value below others; the tables on the way are made. False: something else than a table is in the way, or a value is there already.
    mutating func insert(_ value: TOMLValue, at path: [String]) -> Bool {
        guard let first = path.first else { return false }
        if path.count == 1 {
            guard self[first] == nil else { return false }
            self[first] = value
            return true
        }
        var inner = TOMLTable()
        switch self[first] {
        case nil: break
        case .table(let table)?: inner = table
        default: return false
        }
        guard inner.insert(value, at: Array(path.dropFirst())) else { return false }
        self[first] = .table(inner)
        return true
    }

    /// As an inline table.
    var toml: String {
        entries.isEmpty ? "{}" : "{ " + entries.map { "\(tomlKey($0.key)) = \($0.value.toml)" }.joined(separator: ", ") + " }"
    }

    /// A line for each entry.
    var lines: [String] { entries.map { "\(tomlKey($0.key)) = \($0.value.toml)" } }
}
