import JSONPaths

extension ModelConfiguration: ConfigurationTable {
    /// How the SQL views and their columns are called.
    private enum Naming: String, CaseIterable {
        /// As the entities and attributes are.
        case model
    }

    static var fileName: Codec<String> {
        .text("a package of Xcode's model editor, such as \"Model.xcdatamodeld\"", isEmptyAllowed: true, maxLength: 4096)
    }

    static var keys: [Key<Self>] {
        [
            Key("naming", .choice(Naming.self, later: ["snake"]), always: .model),
            Key("version", .integer(1...1_000_000), \.version),
            Key("file", fileName, \.file),
        ]
    }
}

/// `[entity.X]` as it stands in the files.
struct EntityTable: ConfigurationTable {
    var key: EntityKey?
    var versionField: String?
    var renamedFrom: String?
    var isDropped = false

    static var keys: [Key<Self>] {
        [
            Key("key", Codec<EntityKey>.entityKey.optional(), \.key),
            Key("version_field", Codec<String>.text("the name of an attribute", maxLength: 128).optional(), \.versionField),
            Key("renamed_from", .formerName("an entity"), \.renamedFrom),
            Key("drop", .bool, \.isDropped),
        ]
            + Key.structural("attributes", "relationships")
            + Key.later("abstract", "parent", "discriminator")
    }
}

/// What records are recognised by, as it is written.
enum EntityKey: Hashable {
    case attributes([String])
    case derived(EntityConfiguration.DerivedKey)
}

extension Codec where Value == EntityKey {
    fileprivate static var entityKey: Codec {
        let names = Codec<[String]>.attributeNames, words = EntityConfiguration.DerivedKey.allCases.map(\.rawValue)
        let expected = "\(names.expected), or \"content\" or \"single\" for records that have none"
        return Codec(expected: expected, wrong: ["1", "true", "[]", "[1]", "\"\""]) { node in
            if let text = node.string {
                if let kind = EntityConfiguration.DerivedKey(rawValue: text) { return .value(.derived(kind)) }
                return mismatch(node, expected, text.isEmpty ? "write [\"id\"]" : suggestion(for: text, among: words, kind: "known words"))
            }
            switch names.read(node) {
            case .value(let names): return .value(.attributes(names))
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            switch $0 {
            case .attributes(let list): names.toml(list)
            case .derived(let kind): tomlQuoted(kind.rawValue)
            }
        }
    }
}

/// An attribute as it stands in the files.
struct AttributeTable: ConfigurationTable {
    var paths: [JSONPath] = []
    var isRead = true
    var type: AttributeType?
    var isOptional = true
    var defaultValue: DocumentNode?
    var isIndexed = false
    var format = DateFormat.rfc3339
    var transforms: [TextTransform] = []
    var longest: ByteCount?
    var renamedFrom: String?
    var isDropped = false

    static var keys: [Key<Self>] {
        [
            Key("path", .jsonPaths, \.paths),
            Key("read", .bool, \.isRead),
            Key("type", Codec<AttributeType>.attributeType.optional(), \.type),
            Key("optional", .bool, \.isOptional),
            Key("default", .anyScalar, \.defaultValue),
            Key("index", .bool, \.isIndexed),
            Key("format", .dateFormat, \.format),
            Key("transform", .transforms, \.transforms),
            Key("max", Codec<ByteCount>.byteCount(.bytes(1) ... .gibibytes(1)).optional(), \.longest),
            Key("renamed_from", .formerName("an attribute"), \.renamedFrom),
            Key("drop", .bool, \.isDropped),
        ] + Key.later("sensitive")
    }
}

/// A relationship as it stands in the files.
struct RelationshipTable: ConfigurationTable {
    var destination: String?
    var paths: [JSONPath] = []
    var isRead = true
    var isToMany = false
    var isOrdered = false
    var inverse: String?
    var onDelete = RelationshipConfiguration.DeleteRule.nullify
    var match = RelationshipConfiguration.Match.auto
    var mode = RelationshipConfiguration.Mode.replace
    var partialPath: JSONPath?
    var renamedFrom: String?
    var isDropped = false

    /// A key that no row has yet.
    private enum Unresolved: String, CaseIterable {
        /// A row with nothing but its key.
        case stub
    }

    static var keys: [Key<Self>] {
        [
            Key("to", Codec<String>.text("the name of an entity", maxLength: 128).optional(), \.destination),
            Key("path", .jsonPaths, \.paths),
            Key("read", .bool, \.isRead),
            Key("many", .bool, \.isToMany),
            Key("ordered", .bool, \.isOrdered),
            Key("inverse", Codec<String>.text("the name of a relationship of the target", maxLength: 128).optional(), \.inverse),
            Key("on_delete", .choice(RelationshipConfiguration.DeleteRule.self), \.onDelete),
            Key("match", .choice(RelationshipConfiguration.Match.self), \.match),
            Key("mode", .choice(RelationshipConfiguration.Mode.self), \.mode),
            Key("partial_if", Codec<JSONPath>.jsonPath.optional(), \.partialPath),
            Key("renamed_from", .formerName("a relationship"), \.renamedFrom),
            Key("drop", .bool, \.isDropped),
            Key("unresolved", .choice(Unresolved.self, later: ["defer", "null", "fail"]), always: .stub),
        ]
    }
}

extension Codec where Value == String? {
    /// What something was called when the store was written.
    fileprivate static func formerName(_ what: String) -> Codec {
        Codec<String>.text("the earlier name of \(what)", maxLength: 128).optional()
    }
}

extension Codec where Value == AttributeType {
    static var attributeType: Codec {
        let words = AttributeType.all.map(\.description)
        let expected = "one of " + words.joined(separator: ", ")
        return Codec(expected: expected, wrong: ["1", "true", "\"strng\"", "\"data(rot13)\""]) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            if text == "data" { return .value(.data(.base64)) }
            if let type = AttributeType.all.first(where: { $0.description == text }) { return .value(type) }
            if let better = AttributeType.all.first(where: { $0.nicknames.contains(text.lowercased()) }) {
                // Plain "data" is how the first of its kinds is written.
                return mismatch(node, expected, "did you mean \"\(better == .data(.base64) ? "data" : "\(better)")\"?")
            }
            return mismatch(node, expected, suggestion(for: text, among: words, kind: "known types"))
        } toml: {
            tomlQuoted($0.description)
        }
    }
}

extension Codec where Value == DateFormat {
    static var dateFormat: Codec {
        let expected = "rfc3339, unix, unix-ms, unix-us, http-date or a pattern such as \"%Y-%m-%d\""
        return Codec(expected: expected, wrong: ["1", "true", "\"\"", "\"yyyy-MM-dd\"", "\"%Q\"", "\"%Y-%\""]) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            if let format = DateFormat(text) { return .value(format) }
            if text.contains("%") {
                let known = DateFormat.directives.sorted().map { "%\($0)" }.joined(separator: " ")
                return .wrong("\"\(text)\" has an unknown directive", "known directives: \(known)")
            }
            return mismatch(
                node, expected, suggestion(for: text, among: ["rfc3339", "unix", "unix-ms", "unix-us", "http-date"], kind: "known formats"))
        } toml: {
            tomlQuoted($0.description)
        }
    }
}

extension Codec where Value == [TextTransform] {
    /// One word, or several in the order in which they are applied.
    static var transforms: Codec {
        let expected = "a list of trim, lower, upper, empty-to-null and truncate:255"
        func word(_ node: DocumentNode) -> Codec<TextTransform>.Outcome {
            guard let text = node.string else { return Codec<TextTransform>.mismatch(node, expected) }
            if let transform = TextTransform(text) { return .value(transform) }
            if text.hasPrefix("truncate") {
                return .wrong("\"\(text)\" is no truncation", "write truncate: and how many characters stay, 1 to 1000000: \"truncate:255\"")
            }
            if text.hasPrefix("unix") {
                return .wrong("\"\(text)\" is no transform", "times are read by the format of a date: type = \"date\", format = \"\(text)\"")
            }
            return Codec<TextTransform>.mismatch(node, expected, suggestion(for: text, among: TextTransform.words, kind: "known transforms"))
        }
        return Codec(expected: expected, wrong: ["1", "true", "[1]", "\"trimm\"", "[\"truncate:0\"]", "[\"unix-ms\"]", "{}"]) { node in
            var transforms: [TextTransform] = []
            for element in node.array ?? [node] {
                switch word(element) {
                case .value(let transform): transforms.append(transform)
                case .wrong(let what, let suggestion): return .wrong(what, suggestion)
                case .later(let what): return .later(what)
                }
            }
            return .value(transforms)
        } toml: {
            $0.isEmpty ? nil : "[" + $0.map { tomlQuoted($0.description) }.joined(separator: ", ") + "]"
        }
    }
}

extension Codec where Value == DocumentNode? {
    /// A text, number or truth value, judged later.
    static var anyScalar: Codec {
        Codec(expected: "a value of the attribute's type", wrong: ["[]", "{}"]) { node in
            switch node.value {
            case .array, .table: mismatch(node, "a value of the attribute's type")
            case .moment: mismatch(node, "a text", "write the date in quotes")
            default: .value(node)
            }
        } toml: { _ in
            nil
        }
    }
}
