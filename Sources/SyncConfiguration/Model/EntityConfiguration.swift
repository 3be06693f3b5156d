import JSONPaths

/// `[entity.X]`: a kind of object, its properties and what it is recognised by.
public struct EntityConfiguration: Sendable, Hashable {
    /// `NAME` of `[entity.NAME]`: at most 128 ASCII letters, digits and `_`, a letter first; unique also without regard to case.
    public var name: String
    /// One or more of its attributes, unique together. Never empty in a configuration that was read: without the key `key` it is the
    /// attribute `id`, else `remoteID`; for a ``derivedKey`` it is an attribute that is added, ``keyAttribute``.
    public var key: [String]
    /// `key = "content"` or `key = "single"`: records do not say what they are recognised by; `nil`: they do.
    public var derivedKey: DerivedKey?
    /// `version_field`: the attribute that says how new a record is. A record that is older than its row changes nothing of it; `nil`: the record
    /// that comes last counts.
    public var versionField: String?
    /// In the order of the files.
    public var attributes: [AttributeConfiguration]
    /// In the order of the files.
    public var relationships: [RelationshipConfiguration]

    /// An entity without a check: an empty `key` is not filled in, as it is when a configuration is read.
    public init(
        name: String, key: [String], attributes: [AttributeConfiguration] = [], relationships: [RelationshipConfiguration] = []
    ) {
        self.name = name
        self.key = key
        self.attributes = attributes
        self.relationships = relationships
    }

    /// What a record is recognised by that says nothing of it.
    public enum DerivedKey: String, Sendable, Hashable, CaseIterable {
        /// `content`: everything that it says, the members of objects in any order. Two records that say the same are one row.
        case content
        /// `single`: the listing. It has one record: settings, totals.
        case single
    }

    /// The attribute that holds a ``derivedKey``.
    public static let keyAttribute = "cisternKey"

    /// Adds the attribute of a key that records do not say.
    mutating func deriveKey(_ kind: DerivedKey) {
        derivedKey = kind
        var attribute = AttributeConfiguration(name: Self.keyAttribute, type: .string)
        (attribute.isRead, attribute.isOptional) = (false, false)
        attributes.append(attribute)
        key = [Self.keyAttribute]
    }

    /// The attribute of this name.
    public func attribute(named name: String) -> AttributeConfiguration? {
        attributes.first { $0.name == name }
    }

    /// The relationship of this name.
    public func relationship(named name: String) -> RelationshipConfiguration? {
        relationships.first { $0.name == name }
    }
}

/// An attribute of an entity.
public struct AttributeConfiguration: Sendable, Hashable {
    /// Its key under `[entity.X.attributes]`; also the name of its column in the SQL views.
    public var name: String
    /// `type`: required in the file. A value that does not fit the type makes its record one that is set aside.
    public var type: AttributeType
    /// Where its value stands in the record; the first path that exists counts. Empty: matched by name (``NameMatch``).
    public var paths: [JSONPath] = []
    /// `read`, default true. False: records say nothing of it, whatever their keys are called; it keeps its default value.
    public var isRead = true
    /// `optional`, default true. False: a record in which it is missing (with no default) or null is set aside.
    public var isOptional = true
    /// `default`: taken when a record has no value at any path; a `null` in the record stays null. `nil`: none.
    public var defaultValue: AttributeDefault?
    /// `index`, default false: whether the column gets an index. Refused for `json` and `data`.
    public var isIndexed = false
    /// For dates.
    public var format = DateFormat.rfc3339
    /// `transform`: what becomes of a text before it is read as the type, one after the other.
    public var transforms: [TextTransform] = []
    /// `max`: a text, address, JSON or data that is longer, in bytes of what is stored, makes its record one that is set aside; `nil`: as long as
    /// `limits.max_string` lets it be.
    public var longest: ByteCount?

    /// Optional, not indexed, without a default, matched by name, and RFC 3339 if it is a date.
    public init(name: String, type: AttributeType) {
        self.name = name
        self.type = type
    }
}

/// A relationship of an entity.
public struct RelationshipConfiguration: Sendable, Hashable {
    /// How the other side is known.
    public enum Inverse: Sendable, Hashable {
        /// Neither side names the other. Whoever builds the model adds a hidden inverse if it needs one.
        case none
        /// Named here: this relationship of the target, which exists and points back.
        case declared(String)
        /// Not named here; this relationship of the target names this one.
        case implied(String)

        /// The relationship of the target.
        public var name: String? {
            switch self {
            case .none: nil
            case .declared(let name), .implied(let name): name
            }
        }
    }

    /// What happens to the targets when the object is deleted.
    public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
        /// The targets stay and forget the object.
        case nullify
        /// The targets go too.
        case cascade
        /// The object cannot go while it has targets.
        case deny
        /// The targets are left alone and may still name the object.
        case noAction = "no-action"
    }

    /// How the JSON names the targets.
    public enum Match: String, Sendable, Hashable, CaseIterable {
        /// By the token: an object is embedded, a scalar is a key, an array is several of either.
        case auto
        /// Objects, found or made by their key.
        case embedded
        /// One value of the target's key.
        case key
        /// An array of values of the target's key.
        case keys
    }

    /// What the targets of a record are to those that were there.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// They are all that there are.
        case replace
        /// They are there besides the others, in an order before them.
        case merge
        /// They are there besides the others; those that are new come last.
        case append
    }

    /// Its key under `[entity.X.relationships]`.
    public var name: String
    /// The target entity; it exists in the model.
    public var destination: String
    /// Where the record holds the targets; the first path that exists counts. Empty: matched by name (``NameMatch``).
    public var paths: [JSONPath] = []
    /// `read`, default true. False: records say nothing of it, whatever their keys are called; its inverse may.
    public var isRead = true
    /// `many`, default false: several targets instead of at most one.
    public var isToMany = false
    /// `ordered`, default false: the order of the targets in the record is kept. Only with `many`.
    public var isOrdered = false
    /// `inverse`: a relationship of the target that points back. Default: none, unless one of the target's names this one.
    public var inverse = Inverse.none
    /// `on_delete`, default `nullify`.
    public var onDelete = DeleteRule.nullify
    /// `match`, default `auto`. `keys` needs `many = true`, `key` forbids it.
    public var match = Match.auto
    /// `mode`, default `replace`. Another needs `many = true`, and `append` an order besides.
    public var mode = Mode.replace
    /// `partial_if`: where a record says that it names only some of the targets, with anything but null and false: then none of the others is taken away.
    /// `nil`: nowhere. Only with `many`, and with `mode = "replace"`.
    public var partialPath: JSONPath?

    /// To one, matched by name, without an inverse; `nullify` on delete.
    public init(name: String, destination: String) {
        self.name = name
        self.destination = destination
    }
}

/// The type of an attribute.
public enum AttributeType: Sendable, Hashable, CustomStringConvertible {
    /// The types without a parameter; numbers in `intN` are signed and N bits wide, `date` is a moment, `uri` a URL.
    case int16, int32, int64, decimal, double, bool, string, date, uuid, uri
    /// Bytes, written as text in the JSON.
    case data(DataEncoding)
    /// Any JSON value, kept as its text.
    case json

    /// How the bytes are written in the JSON text: `data(base64)`, which plain `data` means too, or `data(hex)`.
    public enum DataEncoding: String, Sendable, Hashable, CaseIterable {
        /// Base64 text; what plain `data` means.
        case base64
        /// Two hexadecimal digits a byte.
        case hex
    }

    /// Every type, as the configuration writes it.
    public static let all: [AttributeType] = [
        .int16, .int32, .int64, .decimal, .double, .bool, .string, .date, .uuid, .uri, .data(.base64), .data(.hex), .json,
    ]

    /// The type as the configuration writes it.
    public var description: String { traits.name }

    /// What people write in its place.
    var nicknames: [String] { traits.nicknames }
    /// Whether a key can be made of it: its values are compared exactly.
    var mayBeKey: Bool { traits.mayBeKey }
    /// Whether of two of its values it can be told which is the later one.
    var mayBeVersion: Bool {
        switch self {
        case .int16, .int32, .int64, .decimal, .date, .string: true
        case .double, .bool, .uuid, .uri, .data, .json: false
        }
    }
    /// Whether it has an order worth an index.
    var mayBeIndexed: Bool { traits.mayBeIndexed }
    /// Whether its values are as long as somebody likes.
    var hasLength: Bool {
        switch self {
        case .string, .uri, .data, .json: true
        case .int16, .int32, .int64, .decimal, .double, .bool, .date, .uuid: false
        }
    }

    /// All that the configuration knows of a type, in one place.
    private struct Traits {
        let name: String
        var nicknames: [String] = []
        var mayBeKey = true
        var mayBeIndexed = true
    }

    private var traits: Traits {
        switch self {
        case .int16: Traits(name: "int16")
        case .int32: Traits(name: "int32")
        case .int64: Traits(name: "int64", nicknames: ["int", "integer"])
        case .decimal: Traits(name: "decimal")
        case .double: Traits(name: "double", nicknames: ["number", "float"], mayBeKey: false)
        case .bool: Traits(name: "bool", nicknames: ["boolean"])
        case .string: Traits(name: "string", nicknames: ["text"])
        case .date: Traits(name: "date", nicknames: ["datetime", "timestamp"])
        case .uuid: Traits(name: "uuid")
        case .uri: Traits(name: "uri", nicknames: ["url"])
        case .data(let encoding):
            Traits(name: "data(\(encoding.rawValue))", nicknames: encoding == .base64 ? ["binary"] : [], mayBeKey: false, mayBeIndexed: false)
        case .json: Traits(name: "json", nicknames: ["object", "array"], mayBeKey: false, mayBeIndexed: false)
        }
    }
}

/// `[model]` and `[entity.…]`: the object graph.
public struct ModelConfiguration: Sendable, Hashable {
    /// The number of the model. The store has it in its metadata, as the version identifier of the model that it was last opened with.
    public var version = 1
    /// `file`: a package of Xcode's model editor whose entities were read before the tables `[entity.…]`, relative to the main file's directory; empty
    /// without one.
    public var file = ""
    /// In the order of the files, that of the model first.
    public var entities: [EntityConfiguration] = []
    /// `renamed_from`: what entities and their properties were called when the store was written, by what they are called: `City`, or `City.name` for a
    /// property of it.
    public var renamed: [String: String] = [:]
    /// `drop`: entities, and properties as `City.name`, that are not part of the model any more and whose values may go from the store.
    public var dropped: Set<String> = []

    /// The built-in values: no entities.
    public init() {}

    /// The entity of this name.
    public func entity(named name: String) -> EntityConfiguration? {
        entities.first { $0.name == name }
    }
}
