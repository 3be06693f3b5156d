import Foundation

/// One row to be written.
struct RowOperation {
    let id: NSManagedObjectID
    let map: EntityMap
    let pending: PendingRow

    var key: Int64 { id.key }
    /// The version that the change started from; nil: whatever is stored is replaced.
    var baseVersion: Int64? { pending.base?.version }
}

/// What is written to one table, in the order of the primary keys.
struct TableOperations {
    var deletes: [RowOperation] = []
    var updates: [RowOperation] = []
    var inserts: [RowOperation] = []
    /// New rows that came in blocks, and how they are written.
    var blocks: [(map: EntityMap, block: RowBlock)] = []
    /// Rows that are not written, but must be as they were read.
    var checks: [RowOperation] = []

    var isEmpty: Bool { deletes.isEmpty && updates.isEmpty && inserts.isEmpty && blocks.isEmpty && checks.isEmpty }
    /// How many rows are new.
    var insertCount: Int { blocks.reduce(inserts.count) { $0 + $1.block.count } }

    mutating func sort() {
        deletes = Self.sorted(deletes)
        updates = Self.sorted(updates)
        inserts = Self.sorted(inserts)
        blocks.sort { $0.block.keys.lowerBound < $1.block.keys.lowerBound }
    }

    /// Sorts places instead of operations: moving references about costs several times as much.
    private static func sorted(_ operations: [RowOperation]) -> [RowOperation] {
        // New rows mostly come as they were made.
        if zip(operations, operations.dropFirst()).allSatisfy({ $0.key < $1.key }) { return operations }
        var order: [(key: Int64, place: Int32)] = []
        order.reserveCapacity(operations.count)
        for (place, operation) in operations.enumerated() { order.append((operation.key, Int32(place))) }
        order.sort { $0.key < $1.key }
        return order.map { operations[Int($0.place)] }
    }
}

/// A pair of a join table.
struct PairOperation: Hashable {
    let owner: Int64
    let member: Int64
}

/// The pairs of a join table that a block's rows list in one of their to-manys.
struct Listing {
    let block: RowBlock
    let toMany: Int
    /// Whether the rows are the owners of the pairs; otherwise they are the members.
    let isOwnerSide: Bool
}

/// The members of an ordered to-many, whole.
struct OrderOperation {
    let owner: Int64
    let place: ToManyPlace
    let members: [Int64]
}

/// A row that loses its place in an order.
struct MoveOperation {
    let table: String
    let column: String
    let key: Int64
}
