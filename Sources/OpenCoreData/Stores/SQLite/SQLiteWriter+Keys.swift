import Foundation
import GRDB
import GRDBSQLite

/// Primary keys.
extension SQLiteWriter {
    func reserveKeys(for root: NSEntityDescription, count: Int) throws -> Range<Int64> {
        let map = try schema.map(of: root)
        let table = map.table, number = schema.tables[table].root
        if let taken = store.keyPool.take(count, table: table) { return taken }
        guard !store.isReadOnly else {
            throw NSError.coreData(.persistentStoreSave, "\(store.path) was opened for reading only; it has no keys for new objects.")
        }
        try store.asking.check(store)
        do {
            return try store.pool.writeWithoutTransaction { database in
                // Somebody may have reserved while this thread waited for the writer.
                if let taken = store.keyPool.take(count, table: table) { return taken }
                try store.checkModel(in: database)
                let request = store.keyPool.request(count, table: table, root: number)
                guard let reservation = try store.keyPool.reserve(request, in: database) else {
                    throw NSError.exhausted(
                        "the keys of \(root.name ?? "?") (Z_MAX of Z_ENT \(number) in Z_PRIMARYKEY)", in: store.path, at: .max,
                        remedy: "Close the store and set it to the largest Z_PK of \(schema.tables[table].name).")
                }
                store.statements.add {
                    $0.updates += 1
                    $0.transactions += 1
                }
                return store.keyPool.take(count, outOf: reservation)
            }
        } catch {
            throw store.storeError(error, .persistentStoreSave, doing: "reserve keys in")
        }
    }

    func readyKeys(for root: NSEntityDescription, atMost count: Int) -> Range<Int64>? {
        schema[root].flatMap { store.keyPool.take(atMost: count, table: $0.table) }
    }

    func releaseKeys(for root: NSEntityDescription, unused: Range<Int64>) {
        guard let map = schema[root] else { return }
        store.keyPool.giveBack(unused, table: map.table)
    }

    func largestKey(for root: NSEntityDescription) throws -> Int64 {
        let number = try counter(of: root)
        return try SQLiteReader(store).reading { try $0.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(number)]) } ?? 0
    }

    func raiseLargestKey(for root: NSEntityDescription, to key: Int64) throws { _ = try raise(root, to: key, ifBelow: key) }

    func takeKeys(_ keys: ClosedRange<Int64>, for root: NSEntityDescription) throws -> Bool {
        try raise(root, to: keys.upperBound, ifBelow: keys.lowerBound)
    }

    /// Raises a counter that is below `limit`, and says whether it was.
    private func raise(_ root: NSEntityDescription, to key: Int64, ifBelow limit: Int64) throws -> Bool {
        let number = try counter(of: root)
        try store.asking.check(store)
        do {
            return try store.pool.writeWithoutTransaction { database in
                try store.checkModel(in: database)
                return try database.run(
                    "UPDATE Z_PRIMARYKEY SET Z_MAX = ?1 WHERE Z_ENT = ?2 AND Z_MAX < ?3", [.integer(key), .integer(number), .integer(limit)]) > 0
            }
        } catch {
            throw store.storeError(error, .persistentStoreSave, doing: "reserve keys in")
        }
    }

    /// The number under which the keys of a tree are counted.
    private func counter(of root: NSEntityDescription) throws -> Int64 {
        let map = try schema.map(of: root)
        return schema.tables[map.table].root
    }

    /// Lowers the counters again where nobody reserved more in the meantime.
    func releasePooledKeys(in database: Database) throws {
        try store.checkModel(in: database)
        for reservation in store.keyPool.drain() {
            let root = schema.tables[reservation.table].root
            try database.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?",
                [.integer(reservation.range.lowerBound - 1), .integer(root), .integer(reservation.range.upperBound - 1)])
        }
    }
}
