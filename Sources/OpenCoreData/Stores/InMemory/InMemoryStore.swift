import Foundation
import Synchronization

/// A store that keeps its rows in memory for as long as it lives: same versions, constraints and conflicts as on disk, and no file.
///
/// It answers by looking at every row of an entity; it is meant for tests, previews and small graphs.
// What changes is guarded by one lock, which is never held while predicates or observers run.
package class InMemoryStore: NSPersistentStore, RowSource, @unchecked Sendable {
    struct State: Sendable {
        var rows: [NSManagedObjectID: RowSnapshot] = [:]
        /// Members of to-manys that no foreign key tells: many-to-many, or without an inverse.
        var pairs: [RelationshipKey: [NSManagedObjectID]] = [:]
        /// The order of ordered to-manys.
        var orders: [RelationshipKey: [NSManagedObjectID]] = [:]
        var nextKeys: [Int: Int64] = [:]
        var pushMark: UInt64 = 0
        var observer: (@Sendable (StoreRequest) throws -> Void)?
        var metadata = Metadata(values: [:])
    }

    // A property list that nobody changes.
    struct Metadata: @unchecked Sendable {
        let values: [String: Any]
    }

    let state = Mutex(State())

    package init(
        entities: [NSEntityDescription], configurationName: String? = nil, url: URL? = nil, options: [AnyHashable: Any]? = nil,
        uuid: String = UUID().uuidString
    ) {
        super.init(entities: entities, configurationName: configurationName, url: url, options: options, uuid: uuid)
    }

    package override var type: String { NSInMemoryStoreType }

    static let storeClass = StoreClass(
        InMemoryStore.self,
        destination: MigrationDestination(ownMetadataKeys: [NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey]) { store, source in
            guard let store = store as? InMemoryStore else { return }
            func fill(from source: NSPersistentStore) throws { try source.forEachPart { store.fill($0) } }
            if let file = source as? any CopyableStore { try file.withSnapshot(fill) } else { try fill(from: source) }
        },
        composes: true
    ) { InMemoryStore(entities: $0.entities, configurationName: $0.configurationName, url: $0.url, options: $0.options) }

    /// Kept for as long as the store lives.
    package override var metadata: [String: Any]! {
        get { state.withLock { $0.metadata }.values.merging(super.metadata) { _, own in own } }
        set {
            let metadata = Metadata(values: newValue ?? [:])
            state.withLock { $0.metadata = metadata }
        }
    }

    /// Calls `observer` before every request; what it throws is what the request throws. For counting requests and trying failures.
    package func observe(_ observer: (@Sendable (StoreRequest) throws -> Void)?) { state.withLock { $0.observer = observer } }

    /// How many rows there are.
    package var rowCount: Int { state.withLock { $0.rows.count } }

    func tell(_ request: StoreRequest) throws { try state.withLock { $0.observer }?(request) }

    package override func fetch(_ plan: FetchPlan) throws -> [FetchedRow] {
        try tell(.fetch(plan))
        let members = Set(plan.members.map(\.number))
        let candidates = state.withLock { state in state.rows.filter { members.contains($0.key.entity.number) } }
        let reader = CheckedReader(self)
        let found = try candidates.filter { try plan.predicate?.selects(RowView(id: $0.key, row: $0.value, reader: reader)) ?? true }
        let sorted = RowOrdering(plan.sort, reader: reader).sorted(found.map { FetchedRow(id: $0.key, row: $0.value) })
        try reader.check()
        return plan.windowed(sorted)
    }

    package func rowInMemory(_ id: NSManagedObjectID) -> RowLookup { state.withLock { $0.rows[id] }.map { .row($0) } ?? .deleted }

    package override func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        try tell(.rows(ids))
        return state.withLock { state in
            var result: [NSManagedObjectID: RowSnapshot] = [:]
            for id in ids { result[id] = state.rows[id] }
            return result
        }
    }

    package override func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        try tell(.relatedIDs(key))
        return state.withLock { Self.members([key], $0)[key] ?? [] }
    }

    package override func related(_ keys: [RelationshipKey]) throws -> [RelationshipKey: [FetchedRow]] {
        try tell(.related(keys))
        return state.withLock { state in
            Self.members(keys, state).mapValues { ids in ids.map { FetchedRow(id: $0, row: state.rows[$0]) } }
        }
    }

    /// One pass over the rows for each foreign key that is asked about.
    private static func members(_ keys: [RelationshipKey], _ state: State) -> [RelationshipKey: [NSManagedObjectID]] {
        var result: [RelationshipKey: [NSManagedObjectID]] = [:]
        var wanted: [NSRelationshipDescription: [NSManagedObjectID: RelationshipKey]] = [:]
        for key in keys {
            if let inverse = key.relationship.inverseRelationship, !inverse.isToMany {
                wanted[inverse, default: [:]][key.owner] = key
            } else {
                result[key] = (state.pairs[key] ?? []).filter { state.rows[$0] != nil }
            }
        }
        for (inverse, owners) in wanted {
            for (id, row) in state.rows {
                guard let slot = row.layout.slot(of: inverse.name), let owner = row[slot].objectID, let key = owners[owner],
                    row.layout.relationship(atSlot: slot) === inverse
                else { continue }
                result[key, default: []].append(id)
            }
            for key in owners.values { result[key]?.sort { $0.key < $1.key } }
        }
        for key in keys { if let order = state.orders[key] { result[key]?.sort(by: order) } }
        return result
    }

    package override func objects(
        of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]
    ) throws -> [UniqueKey: FetchedRow] {
        try tell(.objects(keys))
        return state.withLock { Self.owners(of: keys, entity.layout.constraints[constraint], $0) }
    }

    /// Which counter gives the keys of a tree.
    func counter(of root: NSEntityDescription) -> Int { root.number }

    /// Writes what the store is about to hold where it outlives the store; nil where it does not. Called before a commit, with which it takes its place.
    func keep(_ next: @autoclosure () -> State) throws -> AtomicFile.Prepared? { nil }

    package override func reserveKeys(for root: NSEntityDescription, count: Int) throws -> Range<Int64> {
        try tell(.reserveKeys(root, count))
        let counter = counter(of: root)
        return try state.withLock { state throws in
            let first = state.nextKeys[counter] ?? 1, (end, isTooMany) = first.addingReportingOverflow(Int64(count))
            if isTooMany {
                throw NSError.exhausted("the keys of \(root.name ?? "?")", in: "The store in memory", at: first, remedy: "Use a new store.")
            }
            state.nextKeys[counter] = end
            return first..<end
        }
    }

    package override func largestKey(for root: NSEntityDescription) throws -> Int64 {
        state.withLock { ($0.nextKeys[counter(of: root)] ?? 1) - 1 }
    }

    package override func raiseLargestKey(for root: NSEntityDescription, to key: Int64) throws {
        let counter = counter(of: root)
        state.withLock { $0.nextKeys[counter] = max($0.nextKeys[counter] ?? 1, key == .max ? key : key + 1) }
    }

    package override func takeKeys(_ keys: ClosedRange<Int64>, for root: NSEntityDescription) throws -> Bool {
        let counter = counter(of: root)
        return state.withLock { state in
            guard state.nextKeys[counter] ?? 1 <= keys.lowerBound else { return false }
            state.nextKeys[counter] = keys.upperBound == .max ? keys.upperBound : keys.upperBound + 1
            return true
        }
    }

    package override func prepare(_ batch: BatchPlan, _ body: (any PreparedBatch) throws -> Void) throws { try carryOut(batch, body) }

    // MARK: Saving

    /// Puts rows and members of relationships in as they are, their versions too, as long as nobody else has the store.
    package func fill(_ contents: StoreContents) {
        state.withLock { state in
            for fetched in contents.rows { state.rows[fetched.id] = fetched.row?.withoutTransients }
            state.pairs.merge(contents.pairs) { _, new in new }
            state.orders.merge(contents.orders) { _, new in new }
        }
    }

    package override var pushMark: UInt64 { get throws { state.withLock { $0.pushMark } } }

    package override func save(_ changes: ChangeSet) throws -> SavedRows {
        try asking.check(self)
        try tell(.save(changes))
        return try state.withLock { state throws in
            try Self.checkVersions(changes, state)
            try Self.checkConstraints(changes, state)
            try Self.checkReferences(changes, state, identity)
            state.pushMark = max(state.pushMark, changes.journaled?.upperBound ?? 0)
            return Self.apply(changes, &state)
        }
    }

    package override var commitTurn: CommitTurn { .always }

    // The coordinator has one save after the other, so the rows stay as they are until this one is committed.
    package override func prepare(_ changes: ChangeSet, _ body: (any PreparedSave) throws -> Void) throws {
        try asking.check(self)
        try tell(.save(changes))
        let (next, saved) = try state.withLock { state throws in
            var next = state
            try Self.checkVersions(changes, state)
            try Self.checkConstraints(changes, state)
            try Self.checkReferences(changes, state, identity)
            next.pushMark = max(next.pushMark, changes.journaled?.upperBound ?? 0)
            let saved = Self.apply(changes, &next)
            return (next, saved)
        }
        let kept = try keep(next)
        defer { kept?.discard() }
        try body(
            UnwrittenSave { [self] in
                try tell(.commit)
                try kept?.commit()
                state.withLock { state in
                    state.rows = next.rows
                    state.pairs = next.pairs
                    state.orders = next.orders
                    state.pushMark = next.pushMark
                }
                return saved
            })
    }

    private static func checkVersions(_ changes: ChangeSet, _ state: State) throws {
        var conflicts: [StoreConflict.VersionConflict] = [], taken: NSManagedObjectID?
        changes.forEach { id, change in
            if change.kind == .inserted, state.rows[id] != nil { taken = id }
            guard change.kind != .inserted, let base = change.base else { return }
            let stored = state.rows[id]
            if stored?.version != base.version { conflicts.append(StoreConflict.VersionConflict(id: id, stored: stored)) }
        }
        for (id, base) in changes.watched where state.rows[id]?.version != base.version {
            conflicts.append(StoreConflict.VersionConflict(id: id, stored: state.rows[id]))
        }
        if let taken {
            throw NSError.coreData(
                .persistentStoreSave,
                "\(taken) is another object by now: somebody else wrote it while this one was not saved yet. Insert this one anew. Nothing was written."
            )
        }
        if !conflicts.isEmpty { throw StoreConflict.versions(conflicts) }
    }

    static func checkConstraints(_ changes: ChangeSet, _ state: State) throws {
        let conflicts = KeyClaims(changes, writesWholeRows: true).conflicts { constraint, keys in
            owners(of: keys, constraint, state)
        }
        if !conflicts.isEmpty { throw StoreConflict.constraints(conflicts) }
    }

    /// Which rows have these keys, among those of the entity that declares the constraint and of its descendants.
    static func owners(of keys: [UniqueKey], _ constraint: UniquenessConstraint, _ state: State) -> [UniqueKey: FetchedRow] {
        let wanted = Set(keys), members = Set(constraint.declarer.withDescendants.map(\.number))
        var result: [UniqueKey: FetchedRow] = [:]
        for (id, row) in state.rows where members.contains(id.layout.number) {
            guard let key = row.layout.constraints[constraint.number].key(of: row), wanted.contains(key) else { continue }
            result[key] = FetchedRow(id: id, row: row)
        }
        return result
    }

    /// Every to-one names a row when all is written.
    private static func checkReferences(_ changes: ChangeSet, _ state: State, _ identity: StoreIdentity) throws {
        var conflicts: [StoreConflict.ReferenceConflict] = [], external: NSError?
        func isThere(_ id: NSManagedObjectID) -> Bool { changes[id].map { $0.kind != .deleted } ?? (state.rows[id] != nil) }
        changes.forEach { id, change in
            guard change.kind != .deleted, let row = change.row else { return }
            for slot in row.layout.toOneSlots where change.kind == .inserted || change.changed.contains(slot) {
                guard let target = row[slot].objectID, !row.layout.isTransient[slot] else { continue }
                if !target.mayBe(in: identity) { external = .leadsElsewhere(row, slot: slot, to: target) }
                guard !isThere(target), row.layout.referenceSlots.contains(slot) else { continue }
                conflicts.append(StoreConflict.ReferenceConflict(id: id, slot: slot, target: target, isNew: true))
            }
        }
        if let external { throw external }
        if changes.deletedCount > 0 {
            for (id, stored) in state.rows {
                let change = changes[id]
                guard change?.kind != .deleted else { continue }
                let row = change?.row ?? stored
                for slot in row.layout.referenceSlots where change?.changed.contains(slot) != true && !row.layout.isTransient[slot] {
                    guard let target = row[slot].objectID, changes[target]?.kind == .deleted else { continue }
                    conflicts.append(StoreConflict.ReferenceConflict(id: id, slot: slot, target: target, isNew: false))
                }
            }
        }
        if !conflicts.isEmpty { throw StoreConflict.references(conflicts) }
    }

    static func apply(_ changes: ChangeSet, _ state: inout State) -> SavedRows {
        var saved = SavedRows()
        var deleted: Set<NSManagedObjectID> = []
        var orders = state.orders
        orders.loseNewcomers(of: changes) { id, _ in
            state.rows[id]
        } wasMember: { id, key in
            state.pairs[key]?.contains(id) == true
        }
        state.orders = orders
        changes.forEach { id, change in
            guard change.kind != .deleted, let row = change.row else {
                state.rows[id] = nil
                deleted.insert(id)
                return
            }
            let version = RowSnapshot.version(after: state.rows[id]?.version ?? 0)
            state.rows[id] = row.withoutTransients.copy(version: version)
            saved.versions[id] = version
        }
        for (key, change) in changes.pairs where state.rows[key.owner] != nil {
            var members = state.pairs[key] ?? []
            members.removeAll { change.removed.contains($0) || change.added.contains($0) }
            members.append(contentsOf: change.added.filter { state.rows[$0] != nil }.sorted { $0.key < $1.key })
            state.pairs[key] = members
        }
        for (key, order) in changes.orders { state.orders[key] = order }
        if !deleted.isEmpty {
            state.pairs = state.pairs.filter { !deleted.contains($0.key.owner) }.mapValues { $0.filter { !deleted.contains($0) } }
            state.orders = state.orders.filter { !deleted.contains($0.key.owner) }
        }
        return saved
    }
}

/// What a store is asked, as its observer sees it.
package enum StoreRequest: Sendable {
    case fetch(FetchPlan)
    case rows([NSManagedObjectID])
    case relatedIDs(RelationshipKey)
    case related([RelationshipKey])
    case objects([UniqueKey])
    case save(ChangeSet)
    /// Follows a save that several stores share, when all have prepared it.
    case commit
    case batch
    case reserveKeys(NSEntityDescription, Int)
}
