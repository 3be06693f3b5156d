/// Loading ahead what will be asked for: the rows of a batch, and the targets of relationships.
extension NSManagedObjectContext {
    /// The instances of what was found.
    ///
    /// - Parameter stamp: the chain's before the fetch.
    func objects(_ found: [FetchedRow], of plan: FetchPlan, _ options: ObjectFetchOptions, stamp: UInt64) throws -> [NSManagedObject] {
        if options.refreshes { try refresh(refetched: found, plan) }
        guard options.batchSize > 0 else {
            let mayBePending = mayHaveChanges
            let isPlain = !mayBePending && options.asFaults && registry.isEmpty
            let objects =
                isPlain
                ? newFaults(found, stamp: stamp)
                : found.map { materialise($0, asFault: options.asFaults, mayBePending: mayBePending, stamp: stamp) }
            if !options.prefetched.isEmpty { try prefetch(options.prefetched, of: found.map(\.id)) }
            // Those that were registered before, too.
            if !options.asFaults { for object in objects where object.isFaulted && object.row != nil { try object.realise() } }
            return objects
        }
        let ids = found.map(\.id)
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(found.count)
        for start in stride(from: 0, to: found.count, by: options.batchSize) {
            let part = start..<min(start + options.batchSize, found.count)
            let batch = FetchBatch(ids[part], options)
            for fetched in found[part] {
                let object = materialise(fetched, asFault: true)
                if object.isFaulted && object.row == nil { object.batch = batch }
                objects.append(object)
            }
        }
        return objects
    }

    /// Faults for what was found by a context that has no objects and no changes: they are registered many at a time, while they are still near.
    private func newFaults(_ found: [FetchedRow], stamp: UInt64) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(found.count)
        registry.reserve(found.count)
        var maker = ObjectMaker(self)
        for start in stride(from: 0, to: found.count, by: 512) {
            let rows = found[start..<min(start + 512, found.count)]
            var part: [NSManagedObject] = []
            part.reserveCapacity(rows.count)
            for fetched in rows {
                let object = maker.make(fetched.id)
                object.row = fetched.row
                object.wasFetched(at: stamp)
                part.append(object)
            }
            registry.add(&part)
            objects += part
        }
        return objects
    }

    /// The first object of a batch is used: the rows of all that nobody has loaded since come with one query.
    ///
    /// Throws what the store says; the batch is tried again then with the next object that is used.
    func load(_ batch: FetchBatch, for object: NSManagedObject) throws -> RowSnapshot? {
        guard batch.isWaiting else {
            object.batch = nil
            return try rows(for: [object.objectID])[object.objectID]
        }
        var waiting: [NSManagedObject] = []
        for id in batch.ids {
            guard let other = registry[id], other !== object, other.isFaulted, other.row == nil, other.batch === batch else { continue }
            waiting.append(other)
        }
        let rows = try rows(for: [object.objectID] + waiting.map(\.objectID))
        batch.isWaiting = false
        object.batch = nil
        // Before anybody's awakeFromFetch runs, all of them have their values.
        object.row = rows[object.objectID]
        for other in waiting {
            other.row = rows[other.objectID]
            other.batch = nil
        }
        if batch.realises {
            for other in waiting where other.isFaulted && other.row != nil { other.fire() }
        }
        // What can't be loaded ahead is loaded when it is asked for, and fails there.
        try? prefetch(batch.prefetched, of: Array(batch.ids))
        return rows[object.objectID]
    }

    // MARK: Relationships

    /// Loads the targets of relationships: one query each, whatever the number of owners.
    func prefetch(_ paths: PrefetchPaths, of owners: [NSManagedObjectID]) throws {
        if paths.isEmpty || owners.isEmpty { return }
        publish()
        for (name, rest) in paths.branches {
            var seen: Set<NSManagedObjectID> = []
            let targets = try (toOneTargets(name, of: owners) + toManyTargets(name, of: owners)).filter { seen.insert($0).inserted }
            try prefetch(rest, of: targets)
        }
    }

    /// The targets of a to-one, their rows in memory.
    private func toOneTargets(_ name: String, of owners: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
        let owners = owners.filter { owner in
            let layout = owner.layout
            return layout.slot(of: name).map { layout.relationship(atSlot: $0) != nil } ?? false
        }
        if owners.isEmpty { return [] }
        var unknown: [NSManagedObjectID] = [], targets: [NSManagedObjectID] = []
        for id in owners {
            if let object = registry[id], !object.isFaulted, let row = object.row {
                if let target = row[name].objectID { targets.append(target) }
            } else {
                unknown.append(id)
            }
        }
        if !unknown.isEmpty {
            for (id, row) in try rows(for: unknown) {
                registry[id]?.keep(row)
                if let target = row[name].objectID { targets.append(target) }
            }
        }
        let wanted = Set(targets).filter { id in registry[id].map { $0.isFaulted } ?? true }
        for (id, row) in try rows(for: Array(wanted)) { registry[id]?.keep(row) }
        return targets
    }

    /// The members of a to-many, their rows in memory; who asks for the to-many finds it loaded.
    private func toManyTargets(_ name: String, of owners: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
        var targets: [NSManagedObjectID] = [], keys: [RelationshipKey] = [], unregistered: Set<RelationshipKey> = []
        for id in owners {
            guard case .toMany(let number)? = id.layout.place(of: name) else { continue }
            let key = RelationshipKey(owner: id, toMany: number)
            guard let object = registry[id] else {
                keys.append(key)
                unregistered.insert(key)
                continue
            }
            if let loaded = object.members[number] { targets += loaded } else { keys.append(key) }
        }
        if keys.isEmpty { return targets }
        for (key, ids) in try prefetch(keys, remembering: unregistered) {
            if let object = registry[key.owner], object.members[key.toMany] == nil { object.members[key.toMany] = ids }
            for id in ids {
                if let member = registry[id], case .row(let row) = rowInMemory(id) { member.keep(row) }
            }
            targets += ids
        }
        return targets
    }

    // MARK: Refreshing what was found again

    /// Realised objects take over what the stores hold now, under their own changes (`shouldRefreshRefetchedObjects`).
    private func refresh(refetched found: [FetchedRow], _ plan: FetchPlan) throws {
        let known = found.compactMap { registry[$0.id] }.filter { !$0.isFaulted && ($0.state == .clean || $0.state == .updated) }
        if known.isEmpty { return }
        var fresh: [NSManagedObjectID: RowSnapshot] = [:]
        if plan.includesRows {
            for fetched in found { fresh[fetched.id] = fetched.row }
        }
        // What this level itself has changed was found with its own values: the channel's have to be asked for.
        let missing = known.filter { $0.state == .updated || fresh[$0.objectID] == nil }.map(\.objectID)
        if !missing.isEmpty {
            var again = FetchPlan(entity: plan.entity)
            again.predicate = PredicateNode.isOne(of: missing)
            for fetched in try channel(to: "refresh").fetch(again) { fresh[fetched.id] = fetched.row }
        }
        for object in known {
            guard let row = fresh[object.objectID], let base = object.base, row !== base else { continue }
            if row.version == base.version && row.differences(from: base).isEmpty { continue }
            object.fetched = [:]
            bring(row, under: object)
            events.refreshed[object.objectID] = object
        }
        publish()
    }
}

extension NSManagedObject {
    /// The values of a fault, kept until it fires.
    fileprivate func keep(_ found: RowSnapshot) {
        guard isFaulted, row == nil else { return }
        row = found
        batch = nil
    }
}

extension PredicateNode {
    /// `SELF IN {…}`
    static func isOne(of ids: [NSManagedObjectID]) -> PredicateNode {
        let list = PredicateCollection(ids.map { .object(PredicateObject($0)) }, kind: .array)
        return .comparison(PredicateComparison(left: .evaluatedObject, right: .constant(.collection(list)), type: .in))
    }
}

/// Relationships to load ahead, as a tree: what two key paths have in common is loaded once.
struct PrefetchPaths {
    /// In the order in which they were named.
    private(set) var branches: [(name: String, rest: PrefetchPaths)] = []

    var isEmpty: Bool { branches.isEmpty }

    init(_ keyPaths: [String]) {
        for path in keyPaths { add(path.split(separator: ".").map(String.init)[...]) }
    }

    private mutating func add(_ names: ArraySlice<String>) {
        guard let name = names.first else { return }
        let index: Int
        if let known = branches.firstIndex(where: { $0.name == name }) {
            index = known
        } else {
            index = branches.count
            branches.append((name, PrefetchPaths([])))
        }
        branches[index].rest.add(names.dropFirst())
    }

    /// Traps for a name that is no relationship of the entity or of one that inherits from it.
    func check(against entity: NSEntityDescription) throws {
        for (name, rest) in branches {
            let found = entity.withDescendants.lazy.compactMap { $0.propertiesByName[name] }.first
            guard let found else { throw CoreDataMisuse.unknownKey(name, entity: entity.name).survived() }
            guard let relationship = found as? NSRelationshipDescription, let destination = relationship.destinationEntity else {
                throw CoreDataMisuse(.wrongType, "\(entity.name ?? "?").\(name) can't be prefetched: it is not a relationship").survived()
            }
            try rest.check(against: destination)
        }
    }
}
