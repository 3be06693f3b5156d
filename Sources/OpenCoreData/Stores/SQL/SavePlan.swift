import Foundation

/// A change set as SQL will write it: by table, in the order of keys, pairs only from their canonical side.
struct SavePlan {
    /// By number of the table.
    private(set) var tables: [TableOperations]
    /// By number of the join table.
    private(set) var addedPairs: [[PairOperation]]
    private(set) var removedPairs: [[PairOperation]]
    /// Blocks of new rows that list objects, by number of the join table. What else is said of pairs is a later word.
    private(set) var listings: [[Listing]]
    private(set) var orders: [OrderOperation] = []
    /// Rows that get another owner: where they stood among the members of the one before says nothing of the new one's order.
    private(set) var moves: [MoveOperation] = []
    /// The largest key that is inserted, by table.
    private(set) var largestKeys: [Int64]

    init(_ changes: ChangeSet, schema: SQLSchema) throws {
        tables = Array(repeating: TableOperations(), count: schema.tables.count)
        largestKeys = Array(repeating: 0, count: schema.tables.count)
        addedPairs = Array(repeating: [], count: schema.joins.count)
        removedPairs = addedPairs
        listings = Array(repeating: [], count: schema.joins.count)
        for entityChanges in changes.entities.values where !entityChanges.isEmpty {
            let map = try schema.map(of: entityChanges.entity)
            let stored = SlotSet(map.givenColumns.map(\.slot))
            let ordered = try Self.orderedOwners(of: map, schema: schema)
            for block in entityChanges.blocks {
                tables[map.table].blocks.append((map, block))
                largestKeys[map.table] = max(largestKeys[map.table], block.keys.upperBound - 1)
            }
            for (id, pending) in entityChanges.loose {
                add(RowOperation(id: id, map: map, pending: pending), stored: stored)
                guard pending.kind == .updated else { continue }
                for (slot, column) in ordered where pending.changed.contains(slot) && pending.base?[slot] != pending.row?[slot] {
                    moves.append(MoveOperation(table: map.tableName, column: column, key: id.key))
                }
            }
        }
        for (id, base) in changes.watched {
            let map = try schema.map(of: id.entity)
            tables[map.table].checks.append(RowOperation(id: id, map: map, pending: PendingRow(kind: .updated, row: base, base: base)))
        }
        for index in tables.indices { tables[index].sort() }
        try addPairs(of: changes, schema: schema)
        try addOrders(of: changes, schema: schema)
    }

    /// The same with each row of a block by itself.
    var withoutBlocks: SavePlan {
        var plan = self
        for index in plan.tables.indices where !plan.tables[index].blocks.isEmpty {
            for (map, block) in plan.tables[index].blocks {
                for (id, pending) in block.rows { plan.tables[index].inserts.append(RowOperation(id: id, map: map, pending: pending)) }
            }
            plan.tables[index].blocks = []
            plan.tables[index].sort()
        }
        return plan
    }

    private mutating func add(_ operation: RowOperation, stored: SlotSet) {
        let table = operation.map.table
        switch operation.pending.kind {
        case .deleted: tables[table].deletes.append(operation)
        case .inserted:
            tables[table].inserts.append(operation)
            largestKeys[table] = max(largestKeys[table], operation.key)
        case .updated:
            // Changes of transient values and of to-manys are no changes of the row.
            guard operation.pending.changed.intersects(stored) else { return }
            tables[table].updates.append(operation)
        }
    }

    /// The to-ones of an entity by which it is a member of an ordered to-many: their slots, and the columns of the order.
    static func orderedOwners(of map: EntityMap, schema: SQLSchema) throws -> [(slot: Int, column: String)] {
        try map.layout.toOneSlots.compactMap { slot in
            guard let inverse = map.layout.relationship(atSlot: slot)?.inverseRelationship, inverse.isToMany, inverse.isOrdered,
                let owner = try inverse.entity.map(schema.map(of:)), let number = owner.layout.toManyNumber(inverse),
                case .inverse(_, _, _, let order?)? = owner.toManys[number]
            else { return nil }
            return (slot, order)
        }
    }

    private mutating func addPairs(of changes: ChangeSet, schema: SQLSchema) throws {
        var table = changes.pairs
        // A block stays one as long as all of its rows are new.
        table.loosen { !changes.holds($0) }
        for block in table.blocks {
            for (number, place) in try schema.map(of: block.layout.entity).toManys.enumerated() {
                guard case .pairs(let join, _, _, _, let isOwnerSide)? = place, block.layout.isListable(number) else { continue }
                listings[join].append(Listing(block: block, toMany: number, isOwnerSide: isOwnerSide))
            }
        }
        for (key, pairs) in table.loose {
            if changes[key.owner]?.kind == .deleted { continue }
            let map = try schema.map(of: key.owner.entity)
            // Both sides are recorded where both are named; one of them is written.
            guard case .pairs(let join, _, _, _, true)? = map.toManys[key.toMany] else { continue }
            for id in pairs.removed { removedPairs[join].append(PairOperation(owner: key.owner.key, member: id.key)) }
            for id in pairs.added where changes[id]?.kind != .deleted {
                addedPairs[join].append(PairOperation(owner: key.owner.key, member: id.key))
            }
        }
        for index in addedPairs.indices {
            addedPairs[index].sort { ($0.owner, $0.member) < ($1.owner, $1.member) }
            removedPairs[index].sort { ($0.owner, $0.member) < ($1.owner, $1.member) }
            listings[index].sort { $0.block.keys.lowerBound < $1.block.keys.lowerBound }
        }
    }

    private mutating func addOrders(of changes: ChangeSet, schema: SQLSchema) throws {
        for (key, ids) in changes.orders {
            if changes[key.owner]?.kind == .deleted { continue }
            let map = try schema.map(of: key.owner.entity)
            guard let place = map.toManys[key.toMany] else { continue }
            let members = ids.lazy.filter { changes[$0]?.kind != .deleted }.map(\.key)
            orders.append(OrderOperation(owner: key.owner.key, place: place, members: Array(members)))
        }
        orders.sort { $0.owner < $1.owner }
    }

    var isEmpty: Bool {
        orders.isEmpty && tables.allSatisfy(\.isEmpty) && addedPairs.allSatisfy(\.isEmpty) && removedPairs.allSatisfy(\.isEmpty)
    }
}

extension SlotSet {
    func intersects(_ other: SlotSet) -> Bool {
        var found = false
        forEach { if other.contains($0) { found = true } }
        return found
    }
}
