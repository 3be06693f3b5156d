import Foundation
import GRDB
import GRDBSQLite

/// Reads the tables of history, inside one read of the file.
struct SQLiteHistoryReader {
    private let database: Database
    private let schema: SQLSchema
    private let identity: StoreIdentity
    private let changesStatement: SQLStatement
    private let stringStatement: SQLStatement
    private let tombstoneCount: Int
    /// Lists of names by the number of their text.
    private var lists: [Int64: [String]] = [:]
    private var decoded: [Mask: [String]?] = [:]

    /// A mask, and what it counts: the number of a text, or that of an entity, negative.
    private struct Mask: Hashable {
        let names: Int64
        let bits: Data
    }

    init(_ database: Database, schema: SQLSchema, identity: StoreIdentity) throws {
        self.database = database
        self.schema = schema
        self.identity = identity
        let present = try SQLiteHistoryTables.columns(of: SQLiteHistoryTables.changes, in: database)
        var count = 0
        while present.contains(SQLiteHistoryTables.tombstone(count)) { count += 1 }
        tombstoneCount = count
        // A file that Core Data wrote does not say what its masks count.
        let columns =
            ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS", present.contains("ZNAMESTS") ? "ZNAMESTS" : "NULL"]
            + (0..<count).map(SQLiteHistoryTables.tombstone)
        changesStatement = try database.cached("SELECT \(columns.joined(separator: ", ")) FROM ACHANGE WHERE ZTRANSACTIONID = ? ORDER BY Z_PK")
        stringStatement = try database.cached("SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = ?")
    }

    /// The number of the last transaction, whether it is still there or not.
    static func lastNumber(in database: Database) throws -> Int64 {
        try database.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(SQLiteHistoryTables.transactionNumber)") ?? 0
    }

    /// The number of the first transaction that is there; where there is none, that of the next.
    static func firstNumber(in database: Database) throws -> Int64 {
        if let first = try database.integer("SELECT min(Z_PK) FROM ATRANSACTION") { return first }
        let last = try lastNumber(in: database)
        return last == .max ? last : last + 1
    }

    mutating func records(
        after number: Int64, withChanges: Bool, limit: Int?, where isWanted: ((HistoryRecord) throws -> Bool)?
    ) throws -> [HistoryRecord] {
        var result: [HistoryRecord] = []
        let statement = try database.cached(try Self.transactions(in: database))
        try statement.bind([.integer(number)])
        defer { statement.reset() }
        while result.count < limit ?? .max, try statement.step() {
            var record = record(statement.raw)
            if let isWanted, try !isWanted(record) { continue }
            if withChanges { record.changes = try changes(of: record.number) }
            result.append(record)
        }
        return result
    }

    // MARK: Transactions

    private static func transactions(in database: Database) throws -> String {
        let present = try SQLiteHistoryTables.columns(of: SQLiteHistoryTables.transactions, in: database)
        func text(_ name: String) -> String {
            let ways = [
                present.contains("\(name)TS") ? "(SELECT ZNAME FROM ATRANSACTIONSTRING AS s WHERE s.Z_PK = t.\(name)TS)" : nil,
                present.contains(name) ? "t.\(name)" : nil,
            ].compactMap { $0 }
            return ways.count == 2 ? "coalesce(\(ways[0]), \(ways[1]))" : ways.first ?? "NULL"
        }
        let texts = ["ZAUTHOR", "ZCONTEXTNAME", "ZBUNDLEID", "ZPROCESSID"].map(text).joined(separator: ", ")
        return "SELECT t.Z_PK, t.ZTIMESTAMP, \(texts) FROM ATRANSACTION AS t WHERE t.Z_PK > ? ORDER BY t.Z_PK"
    }

    private func record(_ raw: OpaquePointer) -> HistoryRecord {
        func text(_ index: Int32) -> String? {
            let value = sqlite3_column_value(raw, index)
            return sqlite3_value_type(value) == SQLITE_NULL ? nil : ValueCoding.text(value)
        }
        return HistoryRecord(
            store: identity.uuid ?? "", number: sqlite3_column_int64(raw, 0), time: sqlite3_column_double(raw, 1),
            origin: SaveOrigin(author: text(2), contextName: text(3)), bundleID: text(4) ?? "", processID: text(5) ?? "")
    }

    // MARK: Changes

    private mutating func changes(of transaction: Int64) throws -> [HistoryChangeRecord] {
        var result: [HistoryChangeRecord] = []
        let raw = changesStatement.raw
        try changesStatement.bind([.integer(transaction)])
        defer { changesStatement.reset() }
        while try changesStatement.step() {
            // What is of no entity of this store's model, or of no kind that is known, can't be told.
            guard let map = schema[file: sqlite3_column_int64(raw, 2)],
                let type = NSPersistentHistoryChangeType(rawValue: Int(sqlite3_column_int64(raw, 1)))
            else { continue }
            let id = NSManagedObjectID(entity: map.entity, key: sqlite3_column_int64(raw, 3), store: identity, isTemporary: false)
            let names = sqlite3_column_type(raw, 5) == SQLITE_NULL ? nil : sqlite3_column_int64(raw, 5)
            result.append(
                HistoryChangeRecord(
                    number: sqlite3_column_int64(raw, 0), id: id, type: type,
                    updated: type == .update ? try updated(raw, names: names, map) : nil,
                    tombstone: type == .delete ? try tombstone(raw, names: names, map) : nil))
        }
        return result
    }

    private mutating func updated(_ raw: OpaquePointer, names: Int64?, _ map: EntityMap) throws -> [String]? {
        guard sqlite3_column_type(raw, 4) != SQLITE_NULL else { return nil }
        let mask = Mask(names: names ?? -map.number, bits: ValueCoding.data(sqlite3_column_value(raw, 4)))
        if let known = decoded[mask] { return known }
        let all = try names.flatMap { try list($0) } ?? map.historyNames
        var found: [String]? = []
        for (index, byte) in mask.bits.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                let place = index * 8 + bit
                // A part of the answer would say that the rest did not change.
                if place < all.count { found?.append(all[place]) } else { found = nil }
            }
        }
        decoded[mask] = .some(found)
        return found
    }

    private mutating func tombstone(_ raw: OpaquePointer, names: Int64?, _ map: EntityMap) throws -> [String: AttributeValue]? {
        let kept = try names.flatMap { try list($0) } ?? map.tombstoneColumns.map { map.layout.names[$0.slot] }
        if kept.isEmpty { return nil }
        var result: [String: AttributeValue] = [:]
        for (number, name) in kept.prefix(tombstoneCount).enumerated() {
            let value = sqlite3_column_value(raw, Int32(6 + number))
            guard sqlite3_value_type(value) != SQLITE_NULL, let slot = map.layout.slot(of: name), let column = map.columns[slot] else { continue }
            result[name] = ValueCoding.value(value, column.coding, map.layout.attribute(atSlot: slot))
        }
        return result
    }

    private mutating func list(_ number: Int64) throws -> [String]? {
        if let known = lists[number] { return known }
        try stringStatement.bind([.integer(number)])
        defer { stringStatement.reset() }
        guard try stringStatement.step() else { return nil }
        let made = ValueCoding.text(sqlite3_column_value(stringStatement.raw, 0)).split(separator: ",").map(String.init)
        lists[number] = made
        return made
    }
}
