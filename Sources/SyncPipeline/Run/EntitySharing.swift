import SyncConfiguration

/// Which resources have records of the same entity, or pages that write the same objects beside their records: worked out once for a configuration.
struct EntitySharing: Sendable {
    private let mapping: ModelMapping
    /// The resources whose records are rows of an entity.
    private var scopes: [String: Set<ResourceScope>] = [:]
    /// The entities of resources whose pages hold objects of an entity: in their records, or beside them.
    private var holders: [String: Set<String>] = [:]
    /// The resources whose pages write objects of an entity, as records or beside them.
    private var writers: [String: Set<ResourceScope>] = [:]

    init(_ configuration: CisternConfiguration, _ mapping: ModelMapping) {
        self.mapping = mapping
        // Records that only say what is gone make nothing of any row.
        for resource in configuration.sources.flatMap(\.resources) where resource.deletion.detect != .records {
            let scope = ResourceScope(source: resource.source, resource: resource.name), held = held(by: resource)
            scopes[resource.entity, default: []].insert(scope)
            for entity in held { holders[entity, default: []].insert(resource.entity) }
            for entity in held.union([resource.entity]) { writers[entity, default: []].insert(scope) }
        }
    }

    /// The entities of the objects that the resource's pages hold besides its records' own.
    private func held(by resource: ResourceConfiguration) -> Set<String> {
        resource.also.reduce(mapping.held[resource.entity] ?? []) { held, mention in
            held.union([mention.entity]).union(mapping.held[mention.entity] ?? [])
        }
    }

    /// The other resources whose pages write objects that the pages of this one may write, too.
    func sharers(of resource: ResourceConfiguration, in scope: ResourceScope) -> Set<ResourceScope> {
        held(by: resource).union([resource.entity]).reduce(into: Set<ResourceScope>()) { $0.formUnion(writers[$1] ?? []) }.subtracting([scope])
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

extension SyncPipeline.State {
    /// Which resources write the same rows, under the configuration in force.
    mutating func knownSharing() -> EntitySharing {
        let sharing = sharing ?? EntitySharing(configuration, mapping)
        self.sharing = sharing
        return sharing
    }
}
