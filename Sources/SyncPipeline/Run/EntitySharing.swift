import SyncConfiguration

/// Which resources have records of the same entity, or pages that write the same objects beside their records: worked out once for a configuration.
struct EntitySharing: Sendable {
    private let mapping: ModelMapping
    /// The resources whose records are rows of an entity.
    private var scopes: [String: Set<ResourceScope>] = [:]
    /// The entities of resources whose pages hold objects of an entity: in their records, or beside them.
    private var holders: [String: Set<String>] = [:]

    init(_ configuration: CisternConfiguration, _ mapping: ModelMapping) {
        self.mapping = mapping
        // Records that only say what is gone make nothing of any row.
        for resource in configuration.sources.flatMap(\.resources) where resource.deletion.detect != .records {
            scopes[resource.entity, default: []].insert(ResourceScope(source: resource.source, resource: resource.name))
            for entity in held(by: resource) { holders[entity, default: []].insert(resource.entity) }
        }
    }

    /// The entities of the objects that the resource's pages hold besides its records' own.
    private func held(by resource: ResourceConfiguration) -> Set<String> {
        resource.also.reduce(mapping.held[resource.entity] ?? []) { held, mention in
            held.union([mention.entity]).union(mapping.held[mention.entity] ?? [])
        }
    }

    /// How the records of a resource may be compared with those of its last reading.
    func comparison(of resource: ResourceConfiguration, in scope: ResourceScope) -> RecordComparison {
        if resource.deletion.detect == .records { return RecordComparison() }
        let entity = resource.entity, held = held(by: resource)
        let isAlone = scopes[entity]?.isSubset(of: [scope]) ?? true
        // Parts may have records of one object.
        var comparison = RecordComparison(isAlone: isAlone && resource.partitions == nil)
        // Objects that records hold are written by these records alone, or they may be other than what was said. A page that mentions others is read whole.
        comparison.isComparable =
            resource.also.isEmpty && mapping.comparable.contains(entity)
            && held.allSatisfy { scopes[$0] == nil && holders[$0]?.isSubset(of: [entity]) != false }
        // What is kept of its pages is from a time when they mentioned nothing, and what one mentions now another one's records may hold.
        comparison.mayBeKept = resource.also.isEmpty
        if !isAlone { comparison.others.insert(entity) }
        for written in held.union([entity]) { comparison.others.formUnion((holders[written] ?? []).subtracting([entity])) }
        return comparison
    }
}
