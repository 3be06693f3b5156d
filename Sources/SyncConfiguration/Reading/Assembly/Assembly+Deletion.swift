import JSONPaths

/// Whether what `deletion` says fits together, and fits the resource.
extension Assembly {
    /// - Parameters:
    ///   - entity: that of the resource; nil: there is none, which has been complained about.
    ///   - origins: where the keys in force stand.
    ///   - layers: the tables that they are merged from, the most specific last.
    func checkDeletion(
        _ resource: ResourceConfiguration, _ entity: EntityConfiguration?, _ origins: [String: DocumentNode.Place], _ layers: [Layer]
    ) {
        guard let own = layers.last?.table("deletion") else { return }
        let deletion = resource.deletion, written = own.node?.table ?? [:]
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(
                at: written[key]?.place ?? origins[key] ?? origins["detect"] ?? own.node?.place, own.subject, key: key, message, suggestion)
        }
        for layer in layers {
            let table = layer.table("deletion").node?.table ?? [:], named = ConditionTable.tests.filter { table[$0] != nil }
            if named.count > 1 { complain(named[1], "\(named[0]) and \(named[1]) cannot be used together", "remove one of them") }
        }
        switch deletion.detect {
        case .field where deletion.path == nil:
            // A path that was refused has been complained about.
            if !layers.contains(where: { $0.table("deletion").node?.table?["path"] != nil }) {
                complain("path", "detect = \"field\" needs path", "write path = \"$.deleted\", where a record says that its object is gone")
            }
        case .snapshot where deletion.path == nil:
            if let test = ConditionTable.tests.first(where: { written[$0] != nil }), written["path"] == nil {
                complain(test, "\(test) is about what stands at path, and there is no path", "write path = \"$.deleted\"")
            }
        case .none, .records, .goneStatus:
            // What less specific tables say of other resources does no harm.
            for key in ["path"] + ConditionTable.tests where written[key] != nil {
                complain(
                    key, "\"\(key)\" belongs to detect = \"field\" or \"snapshot\", but detect is \"\(deletion.detect.rawValue)\"",
                    "remove it, or change detect")
            }
        case .field, .snapshot: break
        }
        checkGoneStatuses(resource, entity, complain)
        if deletion.isSaid, entity?.derivedKey == .content {
            complain(
                "detect", "\(resource.entity) has key = \"content\", and a record that says that its object is gone is another one",
                "use deletion.detect = \"snapshot\" without path, or another key")
        }
    }

    /// What records of a former time say of what had changed or was gone must not be said once more of what is there now.
    ///
    /// - Parameter origins: where the keys of `schema` stand that are in force.
    func checkKeptBodies(_ resource: ResourceConfiguration, _ origins: [String: DocumentNode.Place], _ own: Layer) {
        guard resource.schema.raw != .none else { return }
        let reason: String
        if resource.incremental != nil {
            reason = "it asks for what has changed (incremental)"
        } else if resource.deletion.isSaid {
            reason = "its records say what is gone (deletion.detect = \"\(resource.deletion.detect.rawValue)\")"
        } else {
            return
        }
        complaints.add(
            at: origins["raw"], own.subject.key("schema"), key: "raw",
            "bodies of \(resource.scope) cannot be kept to be mapped again in this version: \(reason)",
            "write schema = { raw = \"none\" } at this resource")
    }

    private func checkGoneStatuses(
        _ resource: ResourceConfiguration, _ entity: EntityConfiguration?,
        _ complain: (_ key: String, _ message: String, _ suggestion: String) -> Void
    ) {
        let deletion = resource.deletion, statuses = deletion.goneStatuses, key = deletion.detect == .goneStatus ? "detect" : "statuses"
        if deletion.statuses != nil, statuses.isEmpty {
            complain(
                "statuses",
                "\"statuses\" belongs to detect = \"gone-status\", \"snapshot\" or \"field\", but detect is \"\(deletion.detect.rawValue)\"",
                "remove it, or change detect")
        }
        guard let first = statuses.first else { return }
        if resource.partitions == nil, entity?.derivedKey != .single, resource.records != .root {
            complain(
                key, "status \(first) in place of a list does not say that everything in it is gone",
                "use it for a resource with for_each, or of one object: records = \"$\", or an entity with key = \"single\"")
        }
        if let both = statuses.first(where: resource.emptyStatuses.contains) {
            complain(key, "status \(both) is one of the empty_statuses, and means a list without records", "remove it from one of them")
        }
    }
}
