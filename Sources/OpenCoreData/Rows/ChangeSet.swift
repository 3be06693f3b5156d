/// What happened to a row since the channel last heard of it.
package enum ChangeKind: Sendable {
    case inserted
    case updated
    case deleted
}

/// One changed row.
package struct PendingRow: Sendable {
    package var kind: ChangeKind
    /// The values now; for a deleted row the last known ones, if any were known.
    package var row: RowSnapshot?
    /// Which slots changed (updated rows).
    package var changed: SlotSet
    /// The row that the change started from: its version is what optimistic locking compares. Nil for an insert.
    package var base: RowSnapshot?

    package init(kind: ChangeKind, row: RowSnapshot?, changed: SlotSet = SlotSet(), base: RowSnapshot? = nil) {
        self.kind = kind
        self.row = row
        self.changed = changed
        self.base = base
    }
}

/// The changed rows of one concrete entity.
package struct EntityChanges: Sendable {
    package let entity: NSEntityDescription
    /// Those that are in no block.
    package fileprivate(set) var loose = IDTable<PendingRow>()
    /// New rows that came in blocks.
    package fileprivate(set) var blocks: [RowBlock] = []

    package init(entity: NSEntityDescription) { self.entity = entity }

    package var isEmpty: Bool { loose.isEmpty && blocks.isEmpty }

    /// All of them by ID. No block is sealed any more once they are asked for.
    package var rows: IDTable<PendingRow> {
        if blocks.isEmpty { return loose }
        if loose.isEmpty, blocks.count == 1 { return blocks[0].rows }
        var all = loose
        for block in blocks {
            for (id, change) in block.rows { all.updateValue(change, forKey: id) }
        }
        return all
    }

    package subscript(id: NSManagedObjectID) -> PendingRow? {
        loose[id] ?? (blocks.isEmpty ? nil : blocks.first { $0.holds(id) }?.rows[id])
    }

    /// Every row but those of sealed blocks.
    func forEachUnsealed(_ body: (NSManagedObjectID, PendingRow) throws -> Void) rethrows {
        for (id, change) in loose { try body(id, change) }
        for block in blocks where !block.isSealed {
            for (id, change) in block.rows { try body(id, change) }
        }
    }

    /// Opens the blocks with a row that names such an object.
    func openBlocks(naming isWanted: (NSManagedObjectID) -> Bool) {
        for block in blocks where block.isSealed && block.targets.contains(where: isWanted) { _ = block.rows }
    }

    /// Takes the rows of a block out of it.
    fileprivate mutating func dissolve(_ place: Int) -> RowBlock {
        let block = blocks.remove(at: place)
        for (id, change) in block.rows { loose.updateValue(change, forKey: id) }
        return block
    }
}

/// A to-many relationship of one object.
package struct RelationshipKey: Hashable, Sendable {
    package let owner: NSManagedObjectID
    /// The number of the to-many in the owner's layout.
    package let toMany: Int

    package init(owner: NSManagedObjectID, toMany: Int) {
        self.owner = owner
        self.toMany = toMany
    }

    package var relationship: NSRelationshipDescription { owner.layout.toManys[toMany] }
}

/// What was added to and removed from a to-many that is kept as pairs (many-to-many, or without an inverse).
///
/// Adding and removing do not cancel out: another level may have added or removed the same pair in the meantime, and the later word counts. So a store
/// is told to add pairs that are there and to remove pairs that are not.
package struct PairChanges: Sendable {
    package var added: Set<NSManagedObjectID> = []
    package var removed: Set<NSManagedObjectID> = []

    package init() {}

    package var isEmpty: Bool { added.isEmpty && removed.isEmpty }

    package mutating func add(_ id: NSManagedObjectID) {
        removed.remove(id)
        added.insert(id)
    }

    package mutating func remove(_ id: NSManagedObjectID) {
        added.remove(id)
        removed.insert(id)
    }

    /// Nothing was done to a pair after all.
    mutating func forget(_ id: NSManagedObjectID) {
        added.remove(id)
        removed.remove(id)
    }

    /// Puts what was said before under it.
    mutating func lay(over earlier: PairChanges) {
        for id in earlier.added where !removed.contains(id) { added.insert(id) }
        for id in earlier.removed where !added.contains(id) { removed.insert(id) }
    }

    mutating func forgetAddition(of id: NSManagedObjectID) { added.remove(id) }

    package mutating func apply(_ later: PairChanges) {
        for id in later.removed { remove(id) }
        for id in later.added { add(id) }
    }
}

/// Inserted, updated and deleted rows by object ID, and the relationships that are not in rows. A `Sendable` value: what a save hands to its
/// parent, what the root hands to the coordinator, and what a context's own unsaved changes are kept as.
///
/// An unordered one-to-many has no entry here: the foreign key in the row of the other side is its only truth.
package struct ChangeSet: Sendable {
    /// By entity number.
    package private(set) var entities: [Int: EntityChanges] = [:]
    /// The pairs of to-manys that are kept as such.
    package var pairs = PairTable()
    /// Ordered to-manys that changed, whole.
    package var orders: [RelationshipKey: [NSManagedObjectID]] = [:]
    /// Rows, as they were read, that must be stored in that version still for the changes to be written. For changes on their way into a store.
    package var watched: [NSManagedObjectID: RowSnapshot] = [:]
    /// The first and the last of the entries of a push journal that these changes come from; nil where none is kept.
    package var journaled: ClosedRange<UInt64>?
    /// Whether all rows came into a context from its children, and were settled with everything from there toward the store as they did.
    package var isAdmitted = false
    /// Who saves them. For changes on their way into a store.
    package var origin: SaveOrigin?
    /// Other objects, of which a store has computed values anew. For changes that come back from one.
    package var computed: Set<NSManagedObjectID> = []
    package private(set) var insertedCount = 0
    package private(set) var updatedCount = 0
    package private(set) var deletedCount = 0
    /// Roughly what the rows take in memory, in bytes.
    package private(set) var cost = 0

    package init() {}

    package var rowCount: Int { insertedCount + updatedCount + deletedCount }
    package var isEmpty: Bool { rowCount == 0 && pairs.isEmpty && orders.isEmpty }

    package subscript(id: NSManagedObjectID) -> PendingRow? {
        entities[id.layout.number]?[id]
    }

    /// Sets or, with nil, forgets what is pending for a row.
    package mutating func set(_ id: NSManagedObjectID, _ pending: PendingRow?) {
        let number = id.layout.number
        let old: PendingRow?
        isAdmitted = false
        if let place = entities[number]?.blocks.firstIndex(where: { $0.holds(id) }) { dissolve(place, of: number) }
        if let pending {
            old = entities[number, default: EntityChanges(entity: id.entity)].loose.updateValue(pending, forKey: id)
        } else {
            old = entities[number]?.loose.removeValue(forKey: id)
        }
        if let old { count(old, by: -1) }
        if let pending { count(pending, by: 1) }
    }

    /// Adds new rows, of which nothing is pending. What they list is added to the pairs, by who knows that nobody has taken it back.
    mutating func add(_ block: RowBlock) {
        isAdmitted = false
        entities[block.layout.number, default: EntityChanges(entity: block.layout.entity)].blocks.append(block)
        insertedCount += block.count
        cost += block.cost
    }

    /// Whether all rows of a block are new here still.
    func holds(_ block: RowBlock) -> Bool { entities[block.layout.number]?.blocks.contains { $0 === block } == true }

    private mutating func dissolve(_ place: Int, of number: Int) {
        guard let block = entities[number]?.dissolve(place) else { return }
        cost -= block.cost
        for (_, change) in block.rows { cost += change.row?.cost ?? 0 }
    }

    private mutating func count(_ pending: PendingRow, by step: Int) {
        switch pending.kind {
        case .inserted: insertedCount += step
        case .updated: updatedCount += step
        case .deleted: deletedCount += step
        }
        cost += step * (pending.row?.cost ?? 64)
    }

    /// Every changed row.
    package func forEach(_ body: (NSManagedObjectID, PendingRow) throws -> Void) rethrows {
        for changes in entities.values {
            for (id, pending) in changes.rows { try body(id, pending) }
        }
    }

    /// Every changed row but those of sealed blocks: of those nobody has heard yet.
    func forEachUnsealed(_ body: (NSManagedObjectID, PendingRow) throws -> Void) rethrows {
        for changes in entities.values { try changes.forEachUnsealed(body) }
    }

    /// Opens the blocks with a row that names such an object.
    func openBlocks(naming isWanted: (NSManagedObjectID) -> Bool) {
        for part in entities.values where !part.entity.layout.toOneSlots.isEmpty { part.openBlocks(naming: isWanted) }
    }

    /// The blocks of new rows.
    var blocks: [RowBlock] { entities.values.flatMap(\.blocks) }

    /// The changed rows of these entities.
    package func rows(of members: [NSEntityDescription]) -> [(id: NSManagedObjectID, pending: PendingRow)] {
        members.flatMap { member in entities[member.number]?.rows.map { (id: $0.key, pending: $0.value) } ?? [] }
    }

    /// Whether a store that computes values has any to find, or to take the place of what was set.
    var mayHaveComputedValues: Bool { entities.values.contains { $0.entity.layout.hasDerived && !$0.isEmpty } }

    package func hasRows(of members: [NSEntityDescription]) -> Bool {
        members.contains { entities[$0.number].map { !$0.isEmpty } ?? false }
    }

    package func ids(_ kind: ChangeKind) -> [NSManagedObjectID] {
        let count =
            switch kind {
            case .inserted: insertedCount
            case .updated: updatedCount
            case .deleted: deletedCount
            }
        if count == 0 { return [] }
        // In blocks is what is new, and nothing else.
        let parts = entities.values.map { changes in (kind == .inserted ? changes.rows : changes.loose).keys { $0.kind == kind } }
        return parts.count == 1 ? parts[0] : parts.flatMap { $0 }
    }
}

/// What a parent made of the changes that it was handed.
package struct ReceivedChanges: Sendable {
    /// As they came in; nil: as they were handed over.
    var changes: ChangeSet?
    /// New objects that turned out to be others.
    var identities: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// Objects that are not what was handed over.
    var corrected: Set<NSManagedObjectID> = []
    /// Rows with values that the store computed.
    var computed: [NSManagedObjectID: ComputedRow] = [:]

    package init() {}

    init(changes: ChangeSet, identities: [NSManagedObjectID: NSManagedObjectID], corrected: Set<NSManagedObjectID>) {
        self.changes = changes
        self.identities = identities
        self.corrected = corrected
    }
}

extension ChangeSet {
    /// Adds changes of other objects.
    mutating func add(_ other: ChangeSet) {
        other.forEach { set($0, $1) }
        for (key, changes) in other.pairs { pairs[key] = changes }
        orders.merge(other.orders) { _, new in new }
    }

    /// The changes of these objects alone.
    func filter(_ isIncluded: (NSManagedObjectID) -> Bool) -> ChangeSet {
        var result = self
        forEach { id, _ in if !isIncluded(id) { result.set(id, nil) } }
        for key in pairs.all.keys where !isIncluded(key.owner) { result.pairs[key] = nil }
        result.orders = orders.filter { isIncluded($0.key.owner) }
        return result
    }

    /// The same with the names of other objects that have computed values.
    func naming(_ computed: [NSManagedObjectID: ComputedRow]) -> ChangeSet {
        if computed.isEmpty { return self }
        var result = self
        result.computed = Set(computed.keys.filter { self[$0] == nil && !changesToMany(of: $0) })
        return result
    }

    /// The objects whose to-manys changed without their rows.
    var relationshipOwners: Set<NSManagedObjectID> { pairs.owners.union(orders.keys.map(\.owner)) }

    /// Whether anything says that a to-many of the object changed.
    func changesToMany(of id: NSManagedObjectID) -> Bool {
        if pairs.isEmpty && orders.isEmpty { return false }
        return pairs.blocks.contains { $0.mayChangeMembers(of: id) }
            || id.layout.toManys.indices.contains { number in
                let key = RelationshipKey(owner: id, toMany: number)
                return pairs.loose[key] != nil || orders[key] != nil
            }
    }
}
