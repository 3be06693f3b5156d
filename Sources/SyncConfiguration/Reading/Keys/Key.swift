/// What may be done with a key.
enum KeyStatus: Sendable, Hashable {
    /// It may be set.
    case settable
    /// Its value is in force, and may not be set in this version.
    case inForce
    /// It belongs to a later version.
    case later
    /// Read elsewhere; here only its name is known.
    case structural
}

/// The outcome of setting a value.
enum KeyOutcome {
    case done
    case wrong(String, String?)
    case later(String)
}

/// A key of a table: its name, and its effect on the value the table becomes.
struct Key<Root> {
    var name: String
    var status: KeyStatus
    var expected = ""
    /// What to do about a key of a later version.
    var hint = "remove it"
    var wrong: [String] = []
    var set: (DocumentNode, inout Root) -> KeyOutcome = { _, _ in .done }
    var toml: (Root) -> String? = { _ in nil }

    /// A key that may be set.
    init<Value>(_ name: String, _ codec: Codec<Value>, _ path: WritableKeyPath<Root, Value>) {
        self.name = name
        self.status = .settable
        self.expected = codec.expected
        self.wrong = codec.wrong
        self.set = { node, root in
            switch codec.read(node) {
            case .value(let value):
                root[keyPath: path] = value
                return .done
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        }
        self.toml = { codec.toml($0[keyPath: path]) }
    }

    /// A key that adds to what a less specific table said, instead of replacing it.
    init<Value>(_ name: String, _ codec: Codec<Value>, _ path: KeyPath<Root, Value>, merge: @escaping (Value, inout Root) -> Void) {
        self.name = name
        self.status = .settable
        self.expected = codec.expected
        self.wrong = codec.wrong
        self.set = { node, root in
            switch codec.read(node) {
            case .value(let value):
                merge(value, &root)
                return .done
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        }
        self.toml = { codec.toml($0[keyPath: path]) }
    }

    /// A key that takes only the value in force: it is checked, but not kept.
    init<Value>(_ name: String, _ codec: Codec<Value>, always value: Value) {
        self.name = name
        self.status = .settable
        self.expected = codec.expected
        self.wrong = codec.wrong
        self.set = { node, _ in
            switch codec.read(node) {
            case .value: .done
            case .wrong(let message, let suggestion): .wrong(message, suggestion)
            case .later(let what): .later(what)
            }
        }
        self.toml = { _ in codec.toml(value) }
    }

    /// A key of which only the name is known.
    init(name: String) {
        self.name = name
        self.status = .structural
    }

    private init(_ name: String, _ status: KeyStatus, toml: @escaping (Root) -> String? = { _ in nil }) {
        self.name = name
        self.status = status
        self.toml = toml
    }

    /// A key whose value is in force but may not be set: the program knows no other.
    static func inForce(_ name: String, _ word: String) -> Key {
        inForce(name) { _ in tomlQuoted(word) }
    }

    /// A key whose value is in force but may not be set.
    static func inForce(_ name: String, _ toml: @escaping (Root) -> String) -> Key {
        Key(name, .inForce, toml: toml)
    }

    /// Keys of later versions.
    static func later(_ names: String...) -> [Key] {
        names.map { Key($0, .later) }
    }

    /// Keys that are read elsewhere.
    static func structural(_ names: String...) -> [Key] {
        names.map { Key($0, .structural) }
    }
}

/// A value that a table of the configuration becomes.
protocol ConfigurationTable {
    /// The built-in values.
    init()
    static var keys: [Key<Self>] { get }
}

/// The keys of each kind of table, made once for a reading: every source has a dozen of them.
final class KeyTables {
    /// The keys of one kind of table.
    final class Keys<Root> {
        /// In the order people read them.
        let all: [Key<Root>]
        private let byName: [String: Key<Root>]

        fileprivate init(_ keys: [Key<Root>]) {
            all = keys
            byName = Dictionary(keys.map { ($0.name, $0) }) { first, _ in first }
        }

        subscript(name: String) -> Key<Root>? { byName[name] }
    }

    private var tables: [ObjectIdentifier: AnyObject] = [:]

    func keys<Table: ConfigurationTable>(of type: Table.Type) -> Keys<Table> {
        if let known = tables[ObjectIdentifier(type)] as? Keys<Table> { return known }
        let keys = Keys(Table.keys)
        tables[ObjectIdentifier(type)] = keys
        return keys
    }
}

/// What a complaint is about: a place in the configuration, for people (`source "github": schedule.every`) and for machines
/// (`source.github.schedule.every`).
struct Subject: Sendable, Hashable {
    private var elements: [String] = []
    private var keys: [String] = []
    private(set) var keyPath = ""

    static let root = Subject()

    /// A key of a table.
    func key(_ name: String) -> Subject {
        var result = self
        result.keys.append(name)
        result.keyPath += (keyPath.isEmpty ? "" : ".") + tomlKey(name)
        return result
    }

    /// A named thing, such as a source; without a name, its number.
    func element(_ kind: String, _ name: String?, number: Int = 0, keyed: String? = nil) -> Subject {
        var result = self
        if !keys.isEmpty { result.elements.append(keys.joined(separator: ".")) }
        result.keys = []
        result.elements.append(name.map { "\(kind) \"\($0)\"" } ?? "\(kind) \(number)")
        result.keyPath += (keyPath.isEmpty ? "" : ".") + (keyed ?? kind) + "." + (name.map(tomlKey) ?? "\(number)")
        return result
    }

    var text: String {
        (elements + (keys.isEmpty ? [] : [keys.joined(separator: ".")])).joined(separator: ": ")
    }
}

/// The variables that may stand at the front of a path.
enum ConfiguredPath {
    static let variables = ["$STATE_DIRECTORY", "$RUNTIME_DIRECTORY"]

    /// Where they point by default: a tool that runs outside the service then finds the service's own directories.
    private static let fallbacks = ["$STATE_DIRECTORY": "/var/lib/cistern", "$RUNTIME_DIRECTORY": "/run/cistern"]

    /// The path with its variable filled in. A service manager may name several directories, separated by colons; the first counts.
    static func expand(_ path: String, in environment: [String: String]) -> String {
        for variable in variables where path == variable || path.hasPrefix(variable + "/") {
            let listed = environment[String(variable.dropFirst())] ?? ""
            let directory = listed.split(separator: ":").first.map(String.init) ?? fallbacks[variable] ?? ""
            return directory + path.dropFirst(variable.count)
        }
        return path
    }
}
