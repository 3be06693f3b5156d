import GRDB
import Synchronization

/// Primary keys that this store took out of circulation and has not handed out yet, by table. Handing out costs no transaction; taking more is
/// done along with a save where possible, so that nobody who inserts has to wait for a save that is under way.
final class KeyPool: Sendable {
    /// A wish for more keys.
    struct Request: Sendable {
        let table: Int
        let root: Int64
        let count: Int64
    }

    /// Keys that were taken.
    struct Reservation: Sendable {
        let table: Int
        let range: Range<Int64>
    }

    private struct Block: Sendable {
        var ranges: [Range<Int64>] = []
        /// How many to take next.
        var size: Int64 = 1024

        /// How many there are in one piece.
        var largest: Int { ranges.map(\.count).max() ?? 0 }

        mutating func take(_ count: Int) -> Range<Int64>? {
            guard let index = ranges.firstIndex(where: { $0.count >= count }) else { return nil }
            let range = ranges[index], taken = range.lowerBound..<(range.lowerBound + Int64(count))
            ranges[index] = taken.upperBound..<range.upperBound
            if ranges[index].isEmpty { ranges.remove(at: index) }
            return taken
        }

        /// Joins keys to those that they border on.
        mutating func add(_ range: Range<Int64>) {
            var merged = range
            ranges.removeAll { other in
                guard other.upperBound == merged.lowerBound || merged.upperBound == other.lowerBound else { return false }
                merged = min(other.lowerBound, merged.lowerBound)..<max(other.upperBound, merged.upperBound)
                return true
            }
            ranges.append(merged)
            ranges.sort { $0.lowerBound < $1.lowerBound }
        }
    }

    private static let largestBlock: Int64 = 1 << 20
    /// With fewer in one piece, a save takes more: whoever inserts next may insert many, while another program holds the file.
    private static let leastReady = 2048
    private let blocks = Mutex<[Int: Block]>([:])

    /// Keys from memory; nil if there are not that many in one piece.
    func take(_ count: Int, table: Int) -> Range<Int64>? { blocks.withLock { $0[table]?.take(count) } }

    /// Keys from memory, so many at most; nil if there are none.
    func take(atMost count: Int, table: Int) -> Range<Int64>? {
        blocks.withLock { blocks in
            guard let largest = blocks[table]?.largest else { return nil }
            return blocks[table]?.take(min(count, largest))
        }
    }

    /// That many keys, of what was just taken out of circulation and what was left that it borders on.
    func take(_ count: Int, outOf reservation: Reservation) -> Range<Int64> {
        blocks.withLock { blocks in
            blocks[reservation.table, default: Block()].add(reservation.range)
            guard let taken = blocks[reservation.table]?.take(count) else { Violation.misuse("fewer keys were reserved than are taken") }
            return taken
        }
    }

    /// How much to reserve where `count` are needed now.
    func request(_ count: Int, table: Int, root: Int64) -> Request {
        blocks.withLock { blocks in
            var block = blocks[table] ?? Block()
            let wanted = max(Int64(count), block.size)
            block.size = min(max(block.size, Int64(count)) * 2, Self.largestBlock)
            blocks[table] = block
            return Request(table: table, root: root, count: wanted)
        }
    }

    /// What a save should reserve besides: as many as it inserts, where less than that is left in one piece.
    func topUp(for plan: SavePlan, schema: SQLSchema) -> [Request] {
        plan.tables.enumerated().compactMap { index, operations in
            let inserted = operations.insertCount
            guard inserted > 0 else { return nil }
            let isLow = blocks.withLock { ($0[index]?.largest ?? 0) < max(inserted, Self.leastReady) }
            return isLow ? request(inserted, table: index, root: schema.tables[index].root) : nil
        }
    }

    /// Takes keys out of circulation, inside a transaction or as one of its own. Nil: another program has counted so far that none are left.
    func reserve(_ request: Request, in database: Database) throws -> Reservation? {
        switch try database.raiseCounter(of: request.root, by: request.count) {
        case .raised(let largest): return Reservation(table: request.table, range: (largest - request.count + 1)..<(largest + 1))
        case .exhausted: return nil
        case .missing:
            throw SQLiteError(code: 11, message: "Z_PRIMARYKEY has no row for entity \(request.root)", operation: "while reserving keys")
        }
    }

    func add(_ reservations: [Reservation]) {
        for reservation in reservations { giveBack(reservation.range, table: reservation.table) }
    }

    /// Puts keys back, joined to those that they border on.
    func giveBack(_ range: Range<Int64>, table: Int) {
        guard !range.isEmpty else { return }
        blocks.withLock { $0[table, default: Block()].add(range) }
    }

    /// Empties the pool: what can be given back to the file, the highest range first.
    func drain() -> [Reservation] {
        blocks.withLock { blocks in
            defer { blocks = [:] }
            return blocks.flatMap { table, block in
                block.ranges.sorted { $0.lowerBound > $1.lowerBound }.map { Reservation(table: table, range: $0) }
            }
        }
    }
}

extension Database {
    enum RaisedCounter {
        /// The number it has come to.
        case raised(Int64)
        /// It stays what it is: the sum would be no integer.
        case exhausted(at: Int64)
        case missing
    }

    /// Counts up what `Z_PRIMARYKEY` counts of an entity. SQLite's own sum would become a real number beyond the last integer.
    func raiseCounter(of entity: Int64, by count: Int64) throws -> RaisedCounter {
        let sum = "UPDATE Z_PRIMARYKEY SET Z_MAX = CAST(Z_MAX AS INTEGER) + ?1 WHERE Z_ENT = ?2 AND CAST(Z_MAX AS INTEGER) < ?3 RETURNING Z_MAX"
        // The last number of all stays free, so that ranges have an end.
        if let largest = try integer(sum, [.integer(count), .integer(entity), .integer(.max - count)]) { return .raised(largest) }
        return try integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(entity)]).map { .exhausted(at: $0) } ?? .missing
    }
}
