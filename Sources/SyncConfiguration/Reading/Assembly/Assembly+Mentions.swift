import JSONPaths

/// The lists of other objects that a resource's pages mention.
extension Assembly {
    /// What `also` says, and where; no place: nobody says it. Of several tables that do the most specific one counts, as a whole.
    ///
    /// - Parameters:
    ///   - resource: with its entity, its records and what is set of them.
    ///   - layers: the source and, in the long form, the resource.
    func mentions(
        of resource: ResourceConfiguration, _ layers: some Sequence<Layer>, _ model: ModelConfiguration
    ) -> (value: [MentionConfiguration], place: DocumentNode.Place?) {
        var found: [(MentionConfiguration, Layer)] = [], place: DocumentNode.Place?
        for layer in layers {
            guard let node = layer.node?.table?["also"] else { continue }
            // What is replaced is checked all the same.
            found = mentions(node, layer, model)
            place = node.place
        }
        var known: Set<MentionConfiguration> = []
        for (mention, layer) in found {
            check(mention, of: resource, layer, model)
            if !known.insert(mention).inserted {
                complaints.add(at: layer.node?.place, layer.subject, "an element before it says the same", "remove one of them")
            }
        }
        return (found.map(\.0), place)
    }

    private func mentions(_ node: DocumentNode, _ layer: Layer, _ model: ModelConfiguration) -> [(MentionConfiguration, Layer)] {
        let subject = layer.subject.key("also"), remedy = "write also = [{ records = \"$.included\", entity = \"User\" }]"
        guard let elements = node.array else {
            complaints.add(at: node.place, subject, "expected a list of tables, found \(node.found)", remedy)
            return []
        }
        var result: [(MentionConfiguration, Layer)] = []
        for (index, element) in elements.enumerated() {
            guard element.table != nil else {
                complaints.add(at: element.place, subject, "expected a table, found \(element.found)", remedy)
                continue
            }
            let own = Layer(node: element, subject: layer.subject.element("also", nil, number: index + 1))
            if let mention = mention(own, model) { result.append((mention, own)) }
        }
        return result
    }

    /// Nil where something is missing, which has been complained about.
    private func mention(_ own: Layer, _ model: ModelConfiguration) -> MentionConfiguration? {
        let (table, origins) = resolve(MentionTable.self, [own]), node = own.node
        func complain(_ key: String, _ message: String, _ suggestion: @autoclosure () -> String?) {
            complaints.add(at: node?.table?[key]?.place ?? node?.place, own.subject, key: key, message, suggestion())
        }
        if node?.table?["records"] == nil { complain("records", "\"records\" is missing", "write records = \"$.included\", where the list is") }
        if node?.table?["entity"] == nil { complain("entity", "\"entity\" is missing", "write entity = \"User\", what its objects become") }
        guard let name = table.entity else { return nil }
        guard let index = modelIndex.entity(name) else {
            // An entity that was refused has been complained about under its own name.
            if document.table?["entity"]?.table?[name] == nil {
                complain(
                    "entity", "there is no entity \"\(name)\"", suggestion(for: name, among: model.entities.map(\.name), kind: "known entities"))
            }
            return nil
        }
        let entity = model.entities[index]
        if let kind = entity.derivedKey {
            complain(
                "entity", "\"\(name)\" has key = \"\(kind.rawValue)\", and nothing but its own listing says which object is meant",
                "give it a key of attributes")
        }
        if let attribute = table.mapKey { checkMapKey(attribute, of: entity, records: table.records, at: origins["map_key"], own) }
        guard let records = table.records else { return nil }
        var mention = MentionConfiguration(records: records, entity: name)
        mention.mapKey = table.mapKey
        mention.condition = table.condition
        return mention
    }

    /// What makes no sense beside the resource's own records.
    private func check(_ mention: MentionConfiguration, of resource: ResourceConfiguration, _ own: Layer, _ model: ModelConfiguration) {
        guard mention.entity == resource.entity, let entity = model.entity(named: mention.entity) else { return }
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: own.node?.table?[key]?.place ?? own.node?.place, own.subject, key: key, message, suggestion)
        }
        if mention.records == resource.records ?? .root {
            complain("records", "these are the resource's own records", "write where the other objects are, or remove it")
        }
        let names = Set(resource.assigned.map(\.name))
        if let name = entity.key.first(where: { names.contains($0) && $0 != mention.mapKey }) {
            complain(
                "entity",
                "\(name) is of the key of \"\(entity.name)\" and is set of the resource's own records, so nothing says which object is meant",
                "remove it, or make a key of what the objects say")
        } else if let name = mention.mapKey, names.contains(name) {
            complain("map_key", "\(name) is in set as well", "remove it from one of them")
        }
    }
}
