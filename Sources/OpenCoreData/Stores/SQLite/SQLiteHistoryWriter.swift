import Foundation
import GRDB
import GRDBSQLite

/// Records a save in the tables of its history, inside the transaction of that save and before its rows are written: what a deletion keeps is still
/// there then.
final class SQLiteHistoryWriter {
    private let plan: SavePlan
    private let schema: SQLSchema
    private let database: Database
    /// To-manys that changed and are kept apart from the rows, by owner.
    private var touched: [NSManagedObjectID: Set<String>] = [:]
    private var forms: [Int64: Form] = [:]
    private var transaction: Int64 = 0
    private var nextChange: Int64 = 0

    /// How changes of one entity are written.
    private final class Form {
        let names: [String]
        let places: [String: Int]
        let tombstones: [SlotColumn]
        /// The numbers of the texts that say what a mask counts, and what a deletion keeps.
        var namesText: Int64?
        var tombstonesText: Int64?
        var masks: [SlotSet: Data] = [:]

        init(_ map: EntityMap) {
            names = map.historyNames
            places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, $0.offset) })
            tombstones = map.tombstoneColumns
        }
    }

    /// Nil if the save changes no object of the store.
    init?(_ plan: SavePlan, of changes: ChangeSet, schema: SQLSchema, in database: Database) {
        self.plan = plan
        self.schema = schema
        self.database = database
        func touch(_ key: RelationshipKey) {
            if let kind = changes[key.owner]?.kind, kind != .updated { return }
            touched[key.owner, default: []].insert(key.relationship.name)
        }
        for (key, pairs) in changes.pairs where !pairs.isEmpty { touch(key) }
        for key in changes.orders.keys { touch(key) }
        if rowCount == 0 && touched.isEmpty { return nil }
    }

    private var rowCount: Int { plan.tables.reduce(0) { $0 + $1.deletes.count + $1.updates.count + $1.inserts.count } }

    func write(_ origin: SaveOrigin?) throws {
        let count = Int64(rowCount + touched.count)
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
        for operations in plan.tables where !operations.inserts.isEmpty { try writeInserts(operations.inserts) }
        try writeUpdates()
        for operations in plan.tables where !operations.deletes.isEmpty { try writeDeletes(operations.deletes) }
    }

    /// Who this process is.
    static let program: (bundleID: String, processID: String) = {
        let name = ProcessInfo.processInfo.processName
        return (Bundle.main.bundleIdentifier ?? name, name)
    }()

    // MARK: Changes

    private static let insertion =
        "INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZNAMESTS, ZCOLUMNS) "
        + "VALUES (?1, 16001, 1, ?2, ?3, ?4, ?5, ?6, ?7)"

    private func add(
        _ statement: SQLStatement, _ type: NSPersistentHistoryChangeType, entity: Int64, key: Int64, names: Int64? = nil, mask: Data? = nil
    ) throws {
        sqlite3_bind_int64(statement.raw, 1, nextChange)
        sqlite3_bind_int64(statement.raw, 2, Int64(type.rawValue))
        sqlite3_bind_int64(statement.raw, 3, entity)
        sqlite3_bind_int64(statement.raw, 4, key)
        sqlite3_bind_int64(statement.raw, 5, transaction)
        if let names { sqlite3_bind_int64(statement.raw, 6, names) } else { sqlite3_bind_null(statement.raw, 6) }
        if let mask { try statement.bind(.blob(mask), at: 7) } else { sqlite3_bind_null(statement.raw, 7) }
        try statement.run()
        nextChange += 1
    }

    private func writeInserts(_ operations: [RowOperation]) throws {
        let statement = try database.cached(Self.insertion)
        for operation in operations { try add(statement, .insert, entity: operation.map.number, key: operation.key) }
    }

    private func writeUpdates() throws {
        let statement = try database.cached(Self.insertion)
        var apart = touched
        for operation in plan.tables.lazy.flatMap(\.updates) {
            let form = try form(of: operation.map), changed = Self.changed(operation.pending)
            let mask: Data
            if !apart.isEmpty, let names = apart.removeValue(forKey: operation.id) {
                mask = Self.mask(form, names.union(Self.names(of: changed, in: operation.map)))
            } else if let known = form.masks[changed] {
                mask = known
            } else {
                mask = Self.mask(form, Self.names(of: changed, in: operation.map))
                form.masks[changed] = mask
            }
            try add(statement, .update, entity: operation.map.number, key: operation.key, names: form.namesText, mask: mask)
        }
        for (id, names) in apart.sorted(by: { ($0.key.layout.number, $0.key.key) < ($1.key.layout.number, $1.key.key) }) {
            let map = try schema.map(of: id.entity), form = try form(of: map)
            try add(statement, .update, entity: map.number, key: id.key, names: form.namesText, mask: Self.mask(form, names))
        }
    }

    /// Copies what is to be kept from the row itself: it is what the deletion deletes, whatever the context knew of it.
    private func writeDeletes(_ operations: [RowOperation]) throws {
        let plain = try database.cached(Self.insertion)
        var copying: [Int64: SQLStatement] = [:]
        for operation in operations {
            let number = operation.map.number, form = try form(of: operation.map)
            if form.tombstones.isEmpty {
                try add(plain, .delete, entity: number, key: operation.key)
                continue
            }
            let statement = try copying[number] ?? database.cached(Self.copying(form.tombstones, from: operation.map.tableName))
            copying[number] = statement
            try add(statement, .delete, entity: number, key: operation.key, names: form.tombstonesText)
        }
    }

    private static func copying(_ columns: [SlotColumn], from table: String) -> String {
        let names = columns.indices.map(SQLiteHistoryTables.tombstone).joined(separator: ", ")
        return "INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZNAMESTS, ZCOLUMNS, \(names)) "
            + "SELECT ?1, 16001, 1, ?2, ?3, Z_PK, ?5, ?6, ?7, \(columns.map(\.name.sqlName).joined(separator: ", ")) "
            + "FROM \(table.sqlName) WHERE Z_PK = ?4"
    }

    // MARK: Names

    private func form(of map: EntityMap) throws -> Form {
        if let known = forms[map.number] { return known }
        let made = Form(map)
        made.namesText = try string(made.names.joined(separator: ","))
        if !made.tombstones.isEmpty {
            made.tombstonesText = try string(made.tombstones.map { map.layout.names[$0.slot] }.joined(separator: ","))
        }
        forms[map.number] = made
        return made
    }

    /// What an update changes: a value that was set and set back did not change.
    private static func changed(_ pending: PendingRow) -> SlotSet {
        guard let row = pending.row, let base = pending.base, row.layout === base.layout else { return pending.changed }
        var result = SlotSet()
        pending.changed.forEach { if row[$0] != base[$0] { result.insert($0) } }
        return result
    }

    private static func names(of slots: SlotSet, in map: EntityMap) -> Set<String> {
        var result: Set<String> = []
        slots.forEach { if map.columns[$0] != nil { result.insert(map.layout.names[$0]) } }
        return result
    }

    /// The first property is the highest bit of the first byte.
    private static func mask(_ form: Form, _ names: Set<String>) -> Data {
        var bytes = [UInt8](repeating: 0, count: (form.names.count + 7) / 8)
        for name in names {
            guard let place = form.places[name] else { continue }
            bytes[place / 8] |= 0x80 >> UInt8(place % 8)
        }
        return Data(bytes)
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
