/// Unique key → pending object, for one constraint.
struct KeyIndex {
    private let constraint: UniquenessConstraint
    /// Of several objects with one key, that which was made first.
    private(set) var owners: [UniqueKey: NSManagedObjectID] = [:]
    /// The others.
    private var others: [UniqueKey: [NSManagedObjectID]] = [:]
    /// Blocks that nobody has looked for one of these keys in: their rows are not among the owners yet. By importer.
    private var blocks: [ObjectIdentifier: [RowBlock]] = [:]

    init(_ constraint: UniquenessConstraint) { self.constraint = constraint }

    private func key(_ change: PendingRow) -> UniqueKey? {
        change.row.flatMap { $0.layout.constraints[constraint.number].key(of: $0) }
    }

    mutating func add(_ block: RowBlock) { blocks[ObjectIdentifier(block.uniqueKeys), default: []].append(block) }

    /// A block that may hold the row with a key, and is asked for it only once.
    mutating func takeBlock(of key: UniqueKey) -> RowBlock? {
        guard !blocks.isEmpty, let hash = RowBlockBuilder.hash(of: key, constraint) else { return nil }
        for importer in blocks.indices {
            // Asked once: it may have to read what is not in memory.
            guard let primaryKey = blocks.values[importer].first?.uniqueKeys.primaryKey(of: hash),
                let place = blocks.values[importer].firstIndex(where: { $0.keys.contains(primaryKey) })
            else { continue }
            return blocks.values[importer].remove(at: place)
        }
        return nil
    }

    mutating func update(_ id: NSManagedObjectID, to change: PendingRow) {
        guard let key = key(change) else { return }
        if change.kind == .deleted { return forget(id, key) }
        guard let known = owners[key], known != id else {
            owners[key] = id
            return
        }
        owners[key] = known.key < id.key ? known : id
        let other = known.key < id.key ? id : known
        if others[key]?.contains(other) != true { others[key, default: []].append(other) }
    }

    mutating func forget(_ id: NSManagedObjectID, _ change: PendingRow) {
        if let key = key(change) { forget(id, key) }
    }

    private mutating func forget(_ id: NSManagedObjectID, _ key: UniqueKey) {
        var rest = others[key] ?? []
        if owners[key] == id {
            owners[key] = rest.min { $0.key < $1.key }
            rest.removeAll { $0 == owners[key] }
        } else {
            rest.removeAll { $0 == id }
        }
        others[key] = rest.isEmpty ? nil : rest
    }
}
