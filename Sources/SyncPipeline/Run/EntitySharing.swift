import SyncConfiguration

/// Which resources have records of the same entity, or records that hold the same objects: worked out once for a configuration.
struct EntitySharing: Sendable {
    private let mapping: ModelMapping
    /// The resources whose records are rows of an entity.
    private var scopes: [String: Set<ResourceScope>] = [:]
    /// The entities of resources whose records hold objects of an entity.
    private var holders: [String: Set<String>] = [:]

    init(_ configuration: CisternConfiguration, _ mapping: ModelMapping) {
        self.mapping = mapping
        // Records that only say what is gone make nothing of any row.
        for resource in configuration.sources.flatMap(\.resources) where resource.deletion.detect != .records {
            scopes[resource.entity, default: []].insert(ResourceScope(source: resource.source, resource: resource.name))
        }
        for entity in scopes.keys {
            for held in mapping.held[entity] ?? [] { holders[held, default: []].insert(entity) }
        }
    }

    /// How the records of a resource may be compared with those of its last reading.
    func comparison(of resource: ResourceConfiguration, in scope: ResourceScope) -> RecordComparison {
        if resource.deletion.detect == .records { return RecordComparison() }
        let entity = resource.entity, held = mapping.held[entity] ?? []
        let isAlone = scopes[entity]?.isSubset(of: [scope]) ?? true
        // Parts may have records of one object.
        var comparison = RecordComparison(isAlone: isAlone && resource.partitions == nil)
        // Objects that records hold are written by these records alone, or they may be other than what was said.
        comparison.isComparable =
            mapping.comparable.contains(entity) && held.allSatisfy { scopes[$0] == nil && holders[$0]?.isSubset(of: [entity]) != false }
        if !isAlone { comparison.others.insert(entity) }
        for written in held.union([entity]) { comparison.others.formUnion((holders[written] ?? []).subtracting([entity])) }
        return comparison
    }
}
