import JSONPaths

/// Where a resource's records are, and what of that they are told by.
extension Assembly {
    /// The name of a record's member becomes an attribute that can be one.
    func checkMapKey(of entity: EntityConfiguration, _ values: ResourceTable, _ origins: [String: DocumentNode.Place], _ own: Layer) {
        guard let name = values.mapKey else { return }
        let place = origins["map_key"]
        if values.assigned.contains(where: { $0.name == name }) {
            complaints.add(at: place, own.subject, key: "map_key", "\(name) is in set as well", "remove it from one of them")
        }
        checkMapKey(name, of: entity, records: values.records, at: place, own)
    }

    /// - Parameters:
    ///   - records: the path that has to go over a map.
    ///   - own: the table that says both.
    func checkMapKey(_ name: String, of entity: EntityConfiguration, records: JSONPath?, at place: DocumentNode.Place?, _ own: Layer) {
        func complain(_ message: String, _ suggestion: String?) {
            complaints.add(at: place, own.subject, key: "map_key", message, suggestion)
        }
        // A path that was refused has been complained about.
        let isRefused = records == nil && own.node?.table?["records"] != nil
        if records?.hasWildcard != true, !isRefused {
            complain(
                "the names of a map's members are meant, and records goes over no map",
                "write records = \"$.data.*\", where data is the map, or remove map_key")
        }
        guard let attribute = entity.attribute(named: name) else {
            let isRelationship = entity.relationship(named: name) != nil
            return complain(
                "\"\(name)\" is not an attribute of \"\(entity.name)\"",
                isRelationship
                    ? "name an attribute; a relationship finds its object by one"
                    : suggestion(for: name, among: entity.attributes.map(\.name), kind: "known attributes"))
        }
        if entity.derivedKey != nil, name == EntityConfiguration.keyAttribute {
            complain("\(name) is made of what records say", "name another attribute")
        } else if !attribute.type.mayBeName {
            complain("\"\(name)\" has the type \(attribute.type), and a name is a text", "use string or an integer type")
        }
    }
}

extension AttributeType {
    /// Whether the name of a member can be its value.
    fileprivate var mayBeName: Bool {
        switch self {
        case .string, .int16, .int32, .int64: true
        case .decimal, .double, .bool, .date, .uuid, .uri, .data, .json: false
        }
    }
}
