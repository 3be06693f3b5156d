/// A model as earlier versions kept it in a store: each property in words, inherited ones in every entity.
struct ModelInWords: Codable {
    struct Entity: Codable {
        let name: String
        let parent: String?
        let isAbstract: Bool
        /// By name: "String, optional", "to-many Pet, inverse owner".
        let properties: [String: String]
        /// The inherited ones first.
        let constraints: [[String]]
    }

    let entities: [Entity]
}

extension ModelInWords.Entity {
    /// The entity with what it declares itself.
    func archived(among all: [Self]) -> ModelArchive.Entity {
        let parent = all.first { $0.name == self.parent }
        var made = ModelArchive.Entity(name: name)
        made.parent = self.parent
        made.isAbstract = isAbstract
        made.properties = properties.filter { parent?.properties[$0.key] == nil }.map { Self.property($0.key, $0.value) }.sorted { $0.name < $1.name }
        made.constraints = Array(constraints.dropFirst(parent?.constraints.count ?? 0))
        return made
    }

    private static func property(_ name: String, _ text: String) -> ModelArchive.Property {
        var made = ModelArchive.Property(name: name), parts = text.split(separator: ", ").map(String.init)[...]
        let form = parts.popFirst() ?? ""
        made.isOptional = parts.contains("optional")
        made.versionHashModifier = parts.first { $0.hasPrefix("modifier ") }.map { String($0.dropFirst("modifier ".count)) }
        for (prefix, most) in [("to-many ", 0), ("to-one ", 1)] where form.hasPrefix(prefix) {
            made.relationship = ModelArchive.Relationship(
                destination: String(form.dropFirst(prefix.count)),
                inverse: parts.first { $0.hasPrefix("inverse ") }.map { String($0.dropFirst("inverse ".count)) },
                deleteRule: NSDeleteRule.nullifyDeleteRule.rawValue, minCount: 0, maxCount: most, isOrdered: parts.contains("ordered"))
            return made
        }
        // A kind that is not known has no type; the model says so.
        made.attribute = ModelArchive.Attribute(type: AttributeKind.type(named: form)?.rawValue ?? 0)
        return made
    }
}
