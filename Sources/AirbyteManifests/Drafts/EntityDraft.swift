import JSONPaths
import SyncConfiguration

/// An entity as it will be written.
struct EntityDraft {
    /// An attribute of it.
    struct Attribute: Hashable {
        var name: String
        /// Where records have it, the first that exists; empty: it is set, whatever they say.
        var paths: [JSONPath]
        var type: String
        /// Of dates; nil: RFC 3339.
        var format: String?
    }

    let name: String
    private(set) var attributes: [Attribute] = []
    /// The attributes that a record is recognised by; empty: all of it.
    var key: [String] = []

    init(name: String) {
        self.name = name
    }

    func attribute(at path: JSONPath) -> Attribute? { attributes.first { $0.paths.contains(path) } }
    func attribute(named name: String) -> Attribute? { attributes.first { $0.name == name } }

    /// Adds an attribute under a name that is free and allowed.
    ///
    /// - Parameter wanted: as the record calls it.
    /// - Returns: what it is called.
    @discardableResult mutating func add(_ wanted: String, paths: [JSONPath], type: String, format: String? = nil) -> String {
        let taken = Set(attributes.map { $0.name.lowercased() })
        let name = Names.free(Names.attribute(wanted, of: self.name)) { !taken.contains($0.lowercased()) }
        attributes.append(Attribute(name: name, paths: paths, type: type, format: format))
        return name
    }

    mutating func change(_ name: String, _ change: (inout Attribute) -> Void) {
        guard let place = attributes.firstIndex(where: { $0.name == name }) else { return }
        change(&attributes[place])
    }

    mutating func remove(_ names: Set<String>) { attributes.removeAll { names.contains($0.name) } }

    /// The lines of its tables.
    var lines: [String] {
        let keyLine = key.isEmpty ? "key = \"content\"" : "key = \(TOMLValue.texts(key).toml)"
        var lines = ["[entity.\(name)]", keyLine, "", "[entity.\(name).attributes]"]
        // Names that differ only in how they are spelt would match each other's keys.
        let spellings = Dictionary(grouping: attributes) { Self.spelling($0.name) }
        for attribute in attributes {
            var table = TOMLTable()
            let isPlain =
                spellings[Self.spelling(attribute.name)]?.count == 1 && !mayMeanAnother(attribute.name) && !isReadElsewhere(attribute)
            if attribute.paths.isEmpty {
                // Its name would take a key that another attribute is read from.
                if isReadElsewhere(attribute), !key.contains(attribute.name) { table["read"] = .bool(false) }
            } else if attribute.paths.count > 1 {
                table["path"] = .texts(attribute.paths.map(\.description))
            } else if let path = attribute.paths.first, !isPlain || path != JSONPath(keys: [attribute.name]) {
                table["path"] = .text(path.description)
            }
            table["type"] = .text(attribute.type)
            if let format = attribute.format { table["format"] = .text(format) }
            lines.append("\(attribute.name) = \(table.toml)")
        }
        return lines
    }

    private static func spelling(_ name: String) -> String { name.lowercased().filter { $0 != "_" } }

    /// Whether another attribute is read from the key that this one is called like.
    private func isReadElsewhere(_ attribute: Attribute) -> Bool {
        attributes.contains { other in
            other.name != attribute.name
                && other.paths.contains { path in
                    guard path.segments.count == 1, case .key(let key) = path.segments[0] else { return false }
                    return Self.spelling(key) == Self.spelling(attribute.name)
                }
        }
    }

    /// Whether a name is one that stands for a key of another name, too.
    private func mayMeanAnother(_ name: String) -> Bool {
        let plain = Self.spelling(name)
        return plain == "remoteid" || plain.hasPrefix(Self.spelling(self.name))
    }
}
