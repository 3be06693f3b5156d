/// The entities of the presets in use, of which a configuration gets those that it refers to.
struct PresetEntities {
    private struct Offer {
        let node: DocumentNode
        let preset: String
        let name: String
    }

    private var offers: [String: Offer] = [:]

    /// The entities of a file under the names that they have in a source.
    static func renamed(_ entities: [String: DocumentNode], prefix: String) -> [String: DocumentNode] {
        if prefix.isEmpty { return entities }
        var result: [String: DocumentNode] = [:]
        for (name, node) in entities { result[prefix + name] = renamed(node, among: entities, prefix: prefix) }
        return result
    }

    private static func renamed(_ node: DocumentNode, among entities: [String: DocumentNode], prefix: String) -> DocumentNode {
        guard var table = node.table, let relationships = table["relationships"], let properties = relationships.table else { return node }
        let changed = properties.mapValues { renamed($0, key: "to", among: entities, prefix: prefix) }
        table["relationships"] = DocumentNode(value: .table(changed), place: relationships.place)
        return DocumentNode(value: .table(table), place: node.place)
    }

    /// A table whose key names one of some entities, with that one's other name.
    static func renamed(_ node: DocumentNode, key: String, among entities: [String: DocumentNode], prefix: String) -> DocumentNode {
        guard var table = node.table, let target = table[key], let name = target.string, entities[name] != nil else { return node }
        table[key] = DocumentNode(value: .string(prefix + name), place: target.place)
        return DocumentNode(value: .table(table), place: node.place)
    }

    /// Offers the entities of a source's preset.
    ///
    /// - Parameters:
    ///   - entities: by the names that they have in the source.
    ///   - prefix: what these begin with.
    ///   - place: where the source names the preset.
    mutating func add(
        _ entities: [String: DocumentNode], of preset: String, prefix: String, at place: DocumentNode.Place, _ subject: Subject,
        _ complaints: Complaints
    ) {
        for (name, node) in entities.sorted(by: { $0.key < $1.key }) {
            let plain = String(name.dropFirst(prefix.count))
            if let known = offers[name], known.preset != preset || known.name != plain {
                complaints.add(
                    at: place, subject, key: "preset", "the entity \"\(name)\" is in the preset \(known.preset), too",
                    "write entity_prefix = \"…\" in one of the two sources")
                continue
            }
            offers[name] = Offer(node: node, preset: preset, name: plain)
        }
    }

    /// The entities that a configuration refers to, as a document with nothing else; nil: none.
    ///
    /// - Parameter document: with the sources as they are without presets.
    func wanted(by document: DocumentNode) -> DocumentNode? {
        if offers.isEmpty { return nil }
        let own = document.table?["entity"]?.table ?? [:]
        var open = Self.mentioned(in: document), found: [String: DocumentNode] = [:]
        for (name, node) in own { open += [name] + Self.targets(of: node) }
        while let name = open.popLast() {
            guard found[name] == nil, let offer = offers[name] else { continue }
            found[name] = offer.node
            open += Self.targets(of: offer.node) + (own[name].map(Self.targets) ?? [])
        }
        guard !found.isEmpty else { return nil }
        let table = ["entity": DocumentNode(value: .table(found), place: document.place)]
        return DocumentNode(value: .table(table), place: document.place)
    }

    /// What sources and resources have as their entity.
    private static func mentioned(in document: DocumentNode) -> [String] {
        (document.table?["source"]?.array ?? []).flatMap { source in
            ([source] + (source.table?["resource"]?.array ?? [])).compactMap { $0.table?["entity"]?.string }
        }
    }

    /// Where the relationships of an entity lead.
    private static func targets(of node: DocumentNode) -> [String] {
        (node.table?["relationships"]?.table ?? [:]).values.compactMap { $0.table?["to"]?.string }
    }
}
