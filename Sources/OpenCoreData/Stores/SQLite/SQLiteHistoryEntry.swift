import Foundation
import GRDB
import GRDBSQLite

/// One transaction of a history while it is written, inside the transaction that it tells of.
final class SQLiteHistoryEntry {
    private let schema: SQLSchema
    private let database: Database
    private var forms: [Int64: Form] = [:]
    private var transaction: Int64 = 0
    private var nextChange: Int64 = 0

    /// How changes of one entity are written.
    final class Form {
        private let map: EntityMap
        private let places: [String: Int]
        let names: [String]
        let tombstones: [SlotColumn]
        /// The numbers of the texts that say what a mask counts, and what a deletion keeps.
        fileprivate(set) var namesText: Int64?
        fileprivate(set) var tombstonesText: Int64?
        private var masks: [SlotSet: Data] = [:]

        fileprivate init(_ map: EntityMap) {
            self.map = map
            names = map.historyNames
            places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, $0.offset) })
            tombstones = map.tombstoneColumns
        }

        /// The stored properties of these slots.
        func names(of slots: SlotSet) -> Set<String> {
            var result: Set<String> = []
            slots.forEach { if map.columns[$0] != nil { result.insert(map.layout.names[$0]) } }
            return result
        }

        /// Which properties changed, as bits: the first property is the highest bit of the first byte.
        func mask(_ names: some Sequence<String>) -> Data {
            var bytes = [UInt8](repeating: 0, count: (self.names.count + 7) / 8)
            for name in names {
                guard let place = places[name] else { continue }
                bytes[place / 8] |= 0x80 >> UInt8(place % 8)
            }
            return Data(bytes)
        }

        func mask(_ slots: SlotSet) -> Data {
            if let known = masks[slots] { return known }
            let made = mask(names(of: slots))
            masks[slots] = made
            return made
        }
    }

    /// Begins it. As many changes have to follow.
    init(_ origin: SaveOrigin?, changes: Int, schema: SQLSchema, in database: Database) throws {
        self.schema = schema
        self.database = database
        let count = Int64(changes)
        transaction = try number(of: SQLiteHistoryTables.transactionNumber, raisedBy: 1)
        nextChange = try number(of: SQLiteHistoryTables.changeNumber, raisedBy: count) - count + 1
        let program = Self.program
        try database.run(
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP, ZAUTHORTS, ZCONTEXTNAMETS, ZBUNDLEIDTS, ZPROCESSIDTS) "
                + "VALUES (?, 16002, 1, ?, ?, ?, ?, ?)",
            [
                .integer(transaction), .double(Date().timeIntervalSinceReferenceDate), try text(origin?.author), try text(origin?.contextName),
                try text(program.bundleID), try text(program.processID),
            ])
    }

    /// Who this process is.
    static let program: (bundleID: String, processID: String) = {
        let name = ProcessInfo.processInfo.processName
        return (Bundle.main.bundleIdentifier ?? name, name)
    }()

    // MARK: One change

    private static let columns = "Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZNAMESTS, ZCOLUMNS"

    /// The statement for a change that copies nothing.
    func insertion() throws -> SQLStatement {
        try database.cached("INSERT INTO ACHANGE (\(Self.columns)) VALUES (?1, 16001, 1, ?2, ?3, ?4, ?5, ?6, ?7)")
    }

    /// The statement for a deletion that keeps values of the row.
    func copying(_ columns: [SlotColumn], from table: String) throws -> SQLStatement {
        try database.cached(
            "INSERT INTO ACHANGE (\(Self.columns)\(Self.places(columns))) SELECT ?1, 16001, 1, ?2, ?3, Z_PK, ?5, ?6, ?7\(Self.values(columns)) "
                + "FROM \(table.sqlName) WHERE Z_PK = ?4")
    }

    private static func places(_ columns: [SlotColumn]) -> String { columns.indices.map { ", \(SQLiteHistoryTables.tombstone($0))" }.joined() }
    private static func values(_ columns: [SlotColumn]) -> String { columns.map { ", \($0.name.sqlName)" }.joined() }

    func add(
        _ statement: SQLStatement, _ type: NSPersistentHistoryChangeType, entity: Int64, key: Int64, names: Int64? = nil, mask: Data? = nil
    ) throws {
        try bind(statement, type, entity: entity, names: names, mask: mask)
        sqlite3_bind_int64(statement.raw, 4, key)
        try statement.run()
        nextChange += 1
    }

    private func bind(_ statement: SQLStatement, _ type: NSPersistentHistoryChangeType, entity: Int64, names: Int64?, mask: Data?) throws {
        sqlite3_bind_int64(statement.raw, 1, nextChange)
        sqlite3_bind_int64(statement.raw, 2, Int64(type.rawValue))
        sqlite3_bind_int64(statement.raw, 3, entity)
        sqlite3_bind_int64(statement.raw, 5, transaction)
        if let names { sqlite3_bind_int64(statement.raw, 6, names) } else { sqlite3_bind_null(statement.raw, 6) }
        if let mask { try statement.bind(.blob(mask), at: 7) } else { sqlite3_bind_null(statement.raw, 7) }
    }

    // MARK: Many changes

    /// The same change of all rows of an entity whose keys a SELECT of one column, `key`, finds.
    func add(
        _ type: NSPersistentHistoryChangeType, of map: EntityMap, keys: String, _ parameters: [SQLParameter] = [], names: Int64? = nil,
        mask: Data? = nil
    ) throws {
        let kept = type == .delete ? try form(of: map).tombstones : []
        let source = kept.isEmpty ? "found" : "found JOIN \(map.tableName.sqlName) ON Z_PK = key"
        let statement = try database.prepared(
            "WITH found AS (\(keys)) INSERT INTO ACHANGE (\(Self.columns)\(Self.places(kept))) "
                + "SELECT ?1 - 1 + row_number() OVER (ORDER BY key), 16001, 1, ?2, ?3, key, ?5, ?6, ?7\(Self.values(kept)) FROM \(source) WHERE ?4 IS NULL"
        )
        try bind(statement, type, entity: map.number, names: names, mask: mask)
        for (index, parameter) in parameters.enumerated() { try statement.bind(parameter, at: Int32(index + 8)) }
        nextChange += Int64(try statement.run())
    }

    // MARK: Names

    func form(of map: EntityMap) throws -> Form {
        if let known = forms[map.number] { return known }
        let made = Form(map)
        made.namesText = try string(made.names.joined(separator: ","))
        if !made.tombstones.isEmpty {
            made.tombstonesText = try string(made.tombstones.map { map.layout.names[$0.slot] }.joined(separator: ","))
        }
        forms[map.number] = made
        return made
    }

    // MARK: Numbers and texts

    private func number(of entity: Int64, raisedBy count: Int64) throws -> Int64 {
        switch try database.raiseCounter(of: entity, by: count) {
        case .raised(let largest): return largest
        case .exhausted(let largest):
            throw NSError.exhausted(
                "the entries of its history (Z_MAX of Z_ENT \(entity) in Z_PRIMARYKEY)", in: "The store", at: largest,
                remedy: "Close the store and set it to the largest Z_PK of \(SQLiteHistoryTables.table(of: entity)).")
        case .missing:
            throw SQLiteError(code: SQLITE_CORRUPT, message: "Z_PRIMARYKEY has no row for entity \(entity)", operation: "while recording history")
        }
    }

    private func text(_ text: String?) throws -> SQLParameter { try text.map { .integer(try string($0)) } ?? .null }

    /// The number of a text, which is written once.
    private func string(_ text: String) throws -> Int64 {
        if let known = try database.integer("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(text)]) { return known }
        let made = try number(of: SQLiteHistoryTables.stringNumber, raisedBy: 1)
        try database.run("INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, 16003, 1, ?)", [.integer(made), .text(text)])
        return made
    }
}
