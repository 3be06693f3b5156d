import GRDB
import GRDBSQLite

/// Writes pairs of one join table that blocks of new rows list, several by one statement.
struct PairInsertion {
    private let one: SQLStatement
    private let several: SQLStatement

    /// More by one statement gain nothing.
    private static let pairsAtOnce = 16

    init(_ join: JoinTable, in database: Database) throws {
        func statement(_ count: Int) throws -> SQLStatement {
            let values = Array(repeating: "(?, ?)", count: count).joined(separator: ", ")
            return try database.cached(
                "INSERT OR IGNORE INTO \(join.name.sqlName) (\(join.ownerColumn.sqlName), \(join.memberColumn.sqlName)) VALUES \(values)")
        }
        one = try statement(1)
        several = try statement(Self.pairsAtOnce)
    }

    /// Writes them in the order of the rows, and of each row in that of what it lists: that of the table, where the rows are the owners.
    ///
    /// - Parameter keys: the primary keys of the block's targets; nil for one that is not there.
    /// - Returns: how many pairs were written.
    func write(_ listing: Listing, keys: [Int64?]) throws -> Int {
        let block = listing.block
        var waiting: [(row: Int64, key: Int64)] = [], count = 0
        waiting.reserveCapacity(Self.pairsAtOnce * 2)
        func run(_ statement: SQLStatement, _ pairs: ArraySlice<(row: Int64, key: Int64)>) throws {
            var place: Int32 = 1
            for pair in pairs {
                sqlite3_bind_int64(statement.raw, place, listing.isOwnerSide ? pair.row : pair.key)
                sqlite3_bind_int64(statement.raw, place + 1, listing.isOwnerSide ? pair.key : pair.row)
                place += 2
            }
            try statement.run()
            count += pairs.count
        }
        try block.withPairs { pairs in
            var place = 0, written = 0
            while place < pairs.count {
                let row = pairs[place].row, first = waiting.count
                while place < pairs.count, pairs[place].row == row {
                    if pairs[place].toMany == listing.toMany, let key = keys[Int(pairs[place].target)] {
                        waiting.append((block.keys.lowerBound + Int64(row), key))
                    }
                    place += 1
                }
                if waiting.count > first + 1 { waiting[first...].sort { $0.key < $1.key } }
                while waiting.count - written >= Self.pairsAtOnce {
                    try run(several, waiting[written..<written + Self.pairsAtOnce])
                    written += Self.pairsAtOnce
                }
                if written == waiting.count {
                    waiting.removeAll(keepingCapacity: true)
                    written = 0
                } else if written > 1024 {
                    waiting.removeFirst(written)
                    written = 0
                }
            }
            while written < waiting.count {
                try run(one, waiting[written...written])
                written += 1
            }
        }
        return count
    }
}
