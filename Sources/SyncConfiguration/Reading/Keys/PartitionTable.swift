/// `for_each` as it stands in the files.
struct PartitionTable: ConfigurationTable {
    var resource: String?
    var values: [String]?
    var alias: String?
    var filter: String?

    static var keys: [Key<Self>] {
        let alias = Codec<String>.text("a name such as \"repo\"", maxLength: 64, wrong: ["\"a b\"", "\"a.b\"", "\"1a\""]) { name in
            Template("{\(name)}").only == Template.Reference(alias: name)
                ? nil : ("\"\(name)\" is not a name that templates can use", "use letters, digits and \"_\", beginning with a letter")
        }
        return [
            Key("resource", Codec<String>.text("a resource, such as \"repos\" or \"github/repos\"", maxLength: 129).optional(), \.resource),
            Key("values", Codec<[String]>.partitionValues.optional(), \.values),
            Key("as", alias.optional(), \.alias),
            Key("where", Codec<String>.text("a predicate such as \"archived == NO\"").optional(), \.filter),
        ] + Key.later("order", "changed_only")
    }
}

extension Codec where Value == [String] {
    /// Texts and whole numbers, each once.
    fileprivate static var partitionValues: Codec {
        let text = Codec<String>.text("a text", maxLength: 512)
        let one = Codec<String>(expected: "a text or a whole number", wrong: ["true", "1.5", "\"\""]) { node in
            if case .integer(let integer) = node.value { return .value("\(integer)") }
            return text.read(node)
        } toml: {
            tomlQuoted($0)
        }
        return .list(of: one, expected: "a list of texts, as in [\"eu\", \"us\"]", isEmptyAllowed: false)
    }
}

extension Codec where Value == [AssignedProperty] {
    /// A table of properties and what they are set to.
    static var assignments: Codec {
        let expected = "a table of properties and texts, as in { region = \"{region}\" }"
        return Codec(expected: expected, wrong: ["1", "\"region\"", "{ region = 1 }", "{ region = [] }"]) { node in
            guard let table = node.table else { return mismatch(node, expected) }
            var assigned: [AssignedProperty] = []
            for (name, value) in table.ordered {
                guard let text = value.string else { return .wrong("\(name): expected a text, found \(value.found)", "write it in quotes") }
                assigned.append(AssignedProperty(name: name, Template(text)))
            }
            return .value(assigned)
        } toml: { assigned in
            assigned.isEmpty
                ? "{}" : "{ " + assigned.map { "\(tomlKey($0.name)) = \(tomlQuoted($0.template.description))" }.joined(separator: ", ") + " }"
        }
    }
}

extension [AssignedProperty] {
    /// These with others laid over them: a property that is set there is taken from there.
    func overlaid(with later: [AssignedProperty]) -> [AssignedProperty] {
        let names = Set(later.map(\.name))
        return (filter { !names.contains($0.name) } + later).sorted { $0.name < $1.name }
    }
}
