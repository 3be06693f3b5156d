/// What may be done with a key.
enum KeyStatus: Sendable, Hashable {
    /// It may be set.
    case settable
    /// Its value holds, and may not be set in this version.
    case inForce
    /// It belongs to a later version.
    case later
    /// Read elsewhere; here only its name is known.
    case structural
}

/// What became of setting a value.
enum KeyOutcome {
    case done
    case wrong(String, String?)
    case later(String)
}

/// A key of a table: how it is called, and what it does to the value the table becomes.
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

    /// A key that takes one value only, the one that holds: it is checked, and kept nowhere.
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

    /// A key whose value holds but may not be set: the program knows no other.
    static func inForce(_ name: String, _ word: String) -> Key {
        inForce(name) { _ in tomlQuoted(word) }
    }

    /// A key whose value holds but may not be set.
    static func inForce(_ name: String, _ toml: @escaping (Root) -> String) -> Key {
        Key(name, .inForce, toml: toml)
    }

    /// Keys of later versions.
    static func later(_ names: String...) -> [Key] {
        names.map { Key($0, .later) }
    }

    /// A key of a later version, and what to use until then.
    static func later(_ name: String, insteadUse hint: String) -> Key {
        var key = Key(name, .later)
        key.hint = hint
        return key
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
