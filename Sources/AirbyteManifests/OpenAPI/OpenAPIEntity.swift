import JSONPaths
import SyncConfiguration

/// An entity as the schema of a description suggests it.
struct OpenAPIEntity {
    struct Attribute {
        let name: String
        /// The members that lead to it; empty: it is set, whatever records say.
        let path: [String]
        let type: String
        let isRequired: Bool
    }

    struct Relationship {
        let name: String
        let path: [String]
        let target: String
        let isMany: Bool
        let match: String
        /// Nil: records say nothing of it, it is set.
        let reason: String?
    }

    let name: String
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    /// Empty: all that a record says.
    var key: [String] = []
    var keyReason = ""
    /// What is not in it, and why.
    var leftOut: [String] = []

    /// A name for a property that none of it has.
    func free(_ wanted: String) -> String {
        let taken = Set((attributes.map(\.name) + relationships.map(\.name)).map { $0.lowercased() })
        return Names.free(Names.attribute(wanted, of: name)) { !taken.contains($0.lowercased()) }
    }

    func has(_ property: String) -> Bool {
        let plain = property.lowercased()
        return attributes.contains { $0.name.lowercased() == plain } || relationships.contains { $0.name.lowercased() == plain }
    }

    func attribute(named name: String) -> Attribute? { attributes.first { $0.name == name } }
    func attribute(at path: [String]) -> Attribute? { attributes.first { $0.path == path } }

    // MARK: Key

    /// Members that tell objects apart, the best first; others are not taken for such.
    private static let identities = [
        "id", "uuid", "guid", "uid", "_id", "key", "code", "slug", "sku", "symbol", "login", "username", "number", "name",
    ]
    /// Of these no two objects have the same, whatever list they are in.
    private static let certain: Set = ["id", "uuid", "guid", "uid", "_id"]

    /// The member of a shape by which its objects are recognised, and why; nil: nothing seems to.
    static func identity(
        of shape: OpenAPISchema.Shape, entity: String, in schemas: OpenAPISchema
    ) throws(Unsayable) -> (name: String, reason: String)? {
        let own = ["\(entity)id", "\(entity)_id", "\(NameMatch.snakeCase(entity))_id", "\(entity)uuid"].map { $0.lowercased() }
        var fallback: String?
        for wanted in [identities[0]] + own + identities.dropFirst() {
            guard let property = shape.properties.first(where: { $0.name.lowercased() == wanted }) else { continue }
            guard case .scalar(let type) = try schemas.kind(of: property.schema), ["int32", "int64", "string", "uuid"].contains(type) else {
                continue
            }
            let mayBeNull = try schemas.mayBeNull(property.schema)
            if shape.required.contains(property.name), !mayBeNull {
                return (property.name, "\"\(property.name)\" is required, and its name says that it tells records apart.")
            }
            if Self.certain.contains(wanted) || own.contains(wanted) { fallback = fallback ?? property.name }
        }
        return fallback.map { ($0, "\"\($0)\" tells records apart by its name. The document does not say that it is always there.") }
    }

    /// Whether no two records have the same, whatever list they are in.
    var isKeyCertain: Bool {
        guard key.count == 1, let path = attribute(named: key[0])?.path.last?.lowercased() else { return key.isEmpty }
        return Self.certain.contains(path) || path.hasSuffix("id")
    }

    // MARK: Text

    var lines: [String] {
        var lines = ["[entity.\(name)]", "# \(ConfigurationText.comment(keyReason))"]
        lines.append(key.isEmpty ? "key = \"content\"" : "key = \(TOMLValue.texts(key).toml)")
        if !leftOut.isEmpty { lines.append("# Left out: \(ConfigurationText.comment(leftOut.joined(separator: "; ")))") }
        lines += ["", "[entity.\(name).attributes]"]
        for attribute in attributes {
            var table = TOMLTable()
            if !attribute.path.isEmpty, !isFoundByName(attribute) { table["path"] = .text(JSONPath(keys: attribute.path).description) }
            table["type"] = .text(attribute.type)
            if attribute.isRequired { table["optional"] = .bool(false) }
            lines.append("\(attribute.name) = \(table.toml)")
        }
        guard !relationships.isEmpty else { return lines }
        lines += ["", "[entity.\(name).relationships]"]
        for relationship in relationships {
            var table = TOMLTable([("to", .text(relationship.target))])
            if !relationship.path.isEmpty { table["path"] = .text(JSONPath(keys: relationship.path).description) }
            if relationship.isMany { table["many"] = .bool(true) }
            if !relationship.path.isEmpty { table["match"] = .text(relationship.match) }
            if let reason = relationship.reason { lines.append("# \(ConfigurationText.comment(reason))") }
            lines.append("\(relationship.name) = \(table.toml)")
        }
        return lines
    }

    /// Whether its name alone leads there, and to nothing else.
    private func isFoundByName(_ attribute: Attribute) -> Bool {
        attribute.path == [attribute.name] && NameMatch.candidates(for: attribute.name, in: name) == [attribute.name] && attribute.name != "remoteID"
    }
}
