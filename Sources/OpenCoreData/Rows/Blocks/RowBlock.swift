import Synchronization

/// New rows of one entity, with primary keys in a row, which travel from an importer to the store as they were written: by reference, without an
/// object ID or an entry in a table for each of them.
///
/// A block is *sealed* until somebody asks for one of its rows. Then all of them become what rows are elsewhere, an ID and a `PendingRow` each, once and
/// for all: whoever asks later gets the same IDs. What handles a sealed block without looking into it relies on what an importer has promised: its rows
/// are new, they keep the rules of the model, no two of them have one unique key, and nobody has heard of their IDs.
///
/// Blocks are for the entities of which `EntityLayout.isBlockable` says so. Whoever has to look at every row that names an object, because the object is
/// gone or turned out to be another one, opens the blocks that name it first: `ChangeSet.openBlocks(naming:)`.
// The bytes are immutable; a mutex guards what becomes of them.
package final class RowBlock: @unchecked Sendable {
    let layout: EntityLayout
    /// The primary keys.
    package let keys: Range<Int64>
    /// Where the objects will live.
    let store: StoreIdentity
    /// The slots that were set on purpose, in every row.
    let set: SlotSet
    /// The unique keys of these rows and of those in the other blocks of the importer.
    let uniqueKeys: BlockKeys
    /// The objects that its rows name and list, each once or more. The references in the bytes are theirs.
    let targets: [NSManagedObjectID]
    /// Those that its rows list in to-manys.
    let members: Set<NSManagedObjectID>
    /// Those of them that have the rows as members in turn.
    let partners: Set<NSManagedObjectID>
    private let built: BuiltRows
    private let opened = Atomic<Bool>(false)
    private let state = Mutex(State())

    private struct State: Sendable {
        var rows: IDTable<PendingRow>?
        var pairs: [RelationshipKey: PairChanges]?
        var isPermanent = false
    }

    init(
        _ layout: EntityLayout, firstKey: Int64, store: StoreIdentity, set: SlotSet, uniqueKeys: BlockKeys, rows: BuiltRows,
        targets: [NSManagedObjectID], members: Set<NSManagedObjectID>, partners: Set<NSManagedObjectID>
    ) {
        self.layout = layout
        keys = firstKey..<firstKey + Int64(rows.count)
        self.store = store
        self.set = set
        self.uniqueKeys = uniqueKeys
        built = rows
        self.targets = targets
        self.members = members
        self.partners = partners
    }

    package var count: Int { built.count }

    /// Whether an object of the entity is one of these. A block that is sealed stays sealed.
    func holds(_ id: NSManagedObjectID) -> Bool {
        // The IDs of an opened block may have been moved to another store.
        keys.contains(id.key) && (isSealed ? store.isSame(as: id.storeIdentity) : rows[id] != nil)
    }

    /// Roughly what the rows take in memory, in bytes, or would take.
    var cost: Int { built.cost + targets.count * Self.costOfTarget }

    private static let costOfTarget = 64

    package var isSealed: Bool { !opened.load(ordering: .acquiring) }

    /// The rows by ID, as those of other changes.
    package var rows: IDTable<PendingRow> {
        do { return try open() } catch {
            // Whoever asks for an object can't be told, and must not get another than was inserted.
            fatalError(error.localizedDescription)
        }
    }

    /// The same for whoever can be told that the rows can't be read: throws `NSFileReadUnknownError`.
    @discardableResult
    func open() throws -> IDTable<PendingRow> {
        try state.withLock { state in
            if let rows = state.rows { return rows }
            var rows = IDTable<PendingRow>()
            rows.reserveCapacity(count)
            try built.withLists { lists in
                let (bytes, offsets) = (lists.rows, lists.offsets)
                for place in 0..<count {
                    let id = NSManagedObjectID(
                        entity: layout.entity, key: keys.lowerBound + Int64(place), store: store, isTemporary: !state.isPermanent)
                    let own = UnsafeRawBufferPointer(rebasing: bytes[Int(offsets[place])..<Int(offsets[place + 1])])
                    let row = RowSnapshot.packed(layout, version: state.isPermanent ? 1 : 0, bytes: own, retains: true)
                    rows.updateValue(PendingRow(kind: .inserted, row: row, changed: set), forKey: id)
                }
            }
            state.rows = rows
            opened.store(true, ordering: .releasing)
            return rows
        }
    }

    /// The row with a primary key of the block, as those of other changes.
    func row(withKey key: Int64) -> IDTable<PendingRow>.Element? { rows.element(withKey: key) }

    /// Hands out what gives the values of a row by its place, whether or not the block is sealed; valid until the closure returns. Throws what the closure
    /// throws, and `NSFileReadUnknownError` where the rows wait in a file that can't be read.
    func withRows<T>(_ body: ((_ place: Int) -> PackedRow) throws -> T) throws -> T {
        try built.withLists { [layout] lists in
            guard let start = lists.rows.baseAddress else { preconditionFailure("a block without rows") }
            return try body { PackedRow(UnsafeMutableRawPointer(mutating: start + Int(lists.offsets[$0])), layout.count) }
        }
    }

    var pairCount: Int { built.pairCount }

    /// Hands out what the rows list, whether or not the block is sealed: row after row the number of the to-many and the object, as a number among the
    /// targets. Throws as `withRows` does.
    func withPairs<T>(_ body: (UnsafeBufferPointer<BuiltRows.Pair>) throws -> T) throws -> T { try built.withLists { try body($0.pairs) } }

    /// Whether an object may be one that a row lists, or the row.
    func mayPair(_ id: NSManagedObjectID) -> Bool { members.contains(id) || id.layout === layout && holds(id) }

    /// Whether an object may be one whose to-manys these pairs change.
    func mayChangeMembers(of id: NSManagedObjectID) -> Bool { partners.contains(id) || id.layout === layout && holds(id) }

    /// What the rows list, as other pairs are recorded: at both ends, where both have a name. The block is not sealed any more once it is asked for.
    var pairs: [RelationshipKey: PairChanges] {
        let rows = rows
        return state.withLock { state in
            if let pairs = state.pairs { return pairs }
            var pairs: [RelationshipKey: PairChanges] = [:]
            do {
                try withPairs { list in
                    for pair in list {
                        guard let owner = rows.element(withKey: keys.lowerBound + Int64(pair.row))?.key else { continue }
                        let member = targets[Int(pair.target)]
                        pairs[RelationshipKey(owner: owner, toMany: Int(pair.toMany)), default: PairChanges()].add(member)
                        guard let back = layout.toManys[Int(pair.toMany)].key(of: member) else { continue }
                        pairs[back, default: PairChanges()].add(owner)
                    }
                }
            } catch {
                // As where its rows can't be read.
                fatalError(error.localizedDescription)
            }
            state.pairs = pairs
            return pairs
        }
    }

    /// The rows are in the store.
    ///
    /// - Parameter version: that of a row whose ID somebody has.
    func didCommit(version: (NSManagedObjectID) -> Int64?) {
        state.withLock { state in
            state.isPermanent = true
            for (id, change) in state.rows ?? [:] {
                guard let version = version(id) else { continue }
                change.row?.stamp(version: version)
                id.makePermanent()
            }
        }
    }
}
