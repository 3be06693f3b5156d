/// What a source says of the preset that it names, beside the values in `with`.
struct PresetUseTable: ConfigurationTable {
    /// The keys of a source that only one with a preset has.
    static let names = ["preset", "with", "resources", "entity_prefix"]

    var preset: String?
    var resources: [String]?
    var prefix: String?

    static var keys: [Key<Self>] {
        let prefix = Codec<String>.text("a name such as \"Shop\"", maxLength: 64, wrong: ["\"a b\"", "\"1a\""]) { text in
            ModelCheck.isIdentifier(text)
                ? nil : ("\(tomlQuoted(text)) cannot begin the name of an entity", "use letters, digits and \"_\", beginning with a letter")
        }
        let resources = Codec<[String]>.list(
            of: Codec<String>.name, expected: "a list of the preset's resources, as in [\"issues\"]", isEmptyAllowed: false)
        return [
            Key("preset", Codec<String>.name.optional(), \.preset),
            Key("resources", resources.optional(), \.resources),
            Key("entity_prefix", prefix.optional(), \.prefix),
        ]
    }
}

/// The top of a preset's file.
struct PresetTopTable: ConfigurationTable {
    static var keys: [Key<Self>] { Key.structural("preset", "source", "entity") }
}

/// `[preset]` as it stands in the file of one.
struct PresetTable: ConfigurationTable {
    var summary = ""
    var documentation: String?
    var resources: [String]?
    var uniqueness = Preset.Uniqueness.server

    static var keys: [Key<Self>] {
        let resources = Codec<[String]>.list(
            of: Codec<String>.name, expected: "a list of resources, as in [\"issues\"]", isEmptyAllowed: false)
        return [
            Key("summary", .text("what is mirrored, on one line", maxLength: 200), \.summary),
            Key("documentation", Codec<String>.url.optional(), \.documentation),
            Key("resources", resources.optional(), \.resources),
            Key("unique", .choice(Preset.Uniqueness.self), \.uniqueness),
        ] + Key.structural("with", "credentials")
    }
}

/// `[preset.with.NAME]` as it stands in the file.
struct PresetParameterTable: ConfigurationTable {
    var kind: PresetParameter.Kind?
    var isRequired = false
    var choices: [String] = []
    var meaning = ""

    static var keys: [Key<Self>] {
        let choices = Codec<[String]>.list(of: Codec<String>.text("a text"), expected: "a list of texts", isEmptyAllowed: false)
        return [
            Key("type", Codec<PresetParameter.Kind>.choice(PresetParameter.Kind.self).optional(), \.kind),
            Key("required", .bool, \.isRequired),
            Key("one_of", choices, \.choices),
            Key("meaning", .text("what it is for", maxLength: 300), \.meaning),
        ] + Key.structural("default")
    }
}

/// What of a preset's resource decides whether it is there. The rest of it is read where the source is.
struct PresetVariantTable: ConfigurationTable {
    /// The keys that only a resource of a preset has.
    static let names = ["when_given", "when_missing"]

    var whenGiven: [String] = []
    var whenMissing: [String] = []

    static var keys: [Key<Self>] {
        let parameters = Codec<[String]>.list(
            of: Codec<String>.text("the name of a parameter"), expected: "a list of parameters, as in [\"group\"]", isEmptyAllowed: false)
        return [Key("when_given", parameters, \.whenGiven), Key("when_missing", parameters, \.whenMissing)]
    }
}

extension DocumentNode {
    /// The table without some of its keys, or with these only.
    func keeping(_ isKept: (String) -> Bool) -> DocumentNode {
        guard let table else { return self }
        return DocumentNode(value: .table(table.filter { isKept($0.key) }), place: place)
    }
}
