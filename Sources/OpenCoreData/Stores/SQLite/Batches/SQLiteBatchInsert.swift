import Foundation
import GRDB
import GRDBSQLite

/// New rows, as they come.
struct SQLiteBatchInsert: SQLiteBatch {
    private let insert: BatchInsert
    private let feed: RowFeed
    /// What is known before the transaction begins.
    private var first: [BatchInsert.Row]
    private let tellsIDs: Bool
    private let store: SQLiteStore
    private let map: EntityMap
    private let columns: [SlotColumn]
    private(set) var counts = StatementCounts()

    private var table: TableMap { store.schema.tables[map.table] }

    /// Asks for the first rows. Throws what the program's code throws.
    init(_ insert: BatchInsert, _ feed: RowFeed, tellsIDs: Bool, in store: SQLiteStore) throws {
        self.insert = insert
        self.feed = feed
        first = try feed.rows(atMost: SaveOperation.bulkThreshold + 1)
        self.tellsIDs = tellsIDs
        self.store = store
        map = try store.schema.map(of: insert.entity)
        columns = map.givenColumns
    }

    mutating func run(in database: Database, recordedAs origin: SaveOrigin?) throws -> BatchOutcome {
        if first.isEmpty { return BatchOutcome() }
        let indexes = first.count > SaveOperation.bulkThreshold ? try takeIndexes(in: database) : []
        var writer = try SQLiteRowInserter(map, takenKey: insert.takenKey, columns: columns, store: store, in: database)
        try writer.write(first)
        first = []
        while true {
            var rows = try feed.chunk()
            if rows.isEmpty { break }
            try writer.write(rows)
            feed.giveBack(&rows)
        }
        do {
            for index in indexes { try database.execute(sql: index.sql) }
        } catch let error as DatabaseError where error.extendedResultCode.rawValue == SQLiteError.uniqueViolation {
            throw store.constraintError(SQLiteError(error, operation: "while inserting"), of: [map], "insert")
        }
        try writer.finish()
        counts.inserts += writer.inserted.count
        counts.updates += writer.updated.count
        var outcome = BatchOutcome()
        outcome.count = writer.inserted.count + writer.updated.count
        if outcome.count == 0 { return outcome }
        if let origin { try record(writer, origin, in: database) }
        if tellsIDs {
            outcome.ids = (writer.updated.keys.sorted() + writer.inserted).map {
                NSManagedObjectID(entity: insert.entity, key: $0, store: store.identity, isTemporary: false)
            }
        }
        return outcome
    }

    /// Building an index once over the whole costs a third of keeping it in random order. Those that say which keys are taken are needed while rows
    /// may be others than new ones.
    private func takeIndexes(in database: Database) throws -> [IndexMap] {
        guard try database.integer("SELECT EXISTS (SELECT 1 FROM \(table.name.sqlName))") == 0 else { return [] }
        let taken = table.indexes.filter { !$0.isUnique || insert.takenKey == .refuse }
        for index in taken { try database.execute(sql: "DROP INDEX IF EXISTS \(index.name.sqlName)") }
        return taken
    }

    private func record(_ writer: SQLiteRowInserter, _ origin: SaveOrigin, in database: Database) throws {
        let entry = try SQLiteHistoryEntry(origin, changes: writer.inserted.count + writer.updated.count, schema: store.schema, in: database)
        if !writer.inserted.isEmpty {
            try entry.add(
                .insert, of: map,
                keys:
                    "SELECT Z_PK AS key FROM \(table.name.sqlName) WHERE Z_PK BETWEEN \(writer.inserted.lowerBound) AND \(writer.inserted.upperBound - 1)"
            )
        }
        if writer.updated.isEmpty { return }
        let statement = try entry.insertion(), form = try entry.form(of: map)
        for (key, slots) in writer.updated.sorted(by: { $0.key < $1.key }) {
            try entry.add(statement, .update, entity: map.number, key: key, names: form.namesText, mask: form.mask(slots))
        }
    }
}

/// Writes row after row under ascending keys, and says what became of each.
struct SQLiteRowInserter {
    private let map: EntityMap
    private let takenKey: BatchInsert.TakenKey
    private let columns: [SlotColumn]
    private let store: SQLiteStore
    private let database: Database
    private let binder: RowBinder
    private var statements: [SlotSet: SQLStatement] = [:]
    private var current: (given: SlotSet, statement: SQLStatement)?
    /// The statement that inserts several rows.
    private var severalRows: SQLStatement?
    private var checkedTargets: Set<NSManagedObjectID> = []
    private let referenceSlots: SlotSet
    /// The to-ones by which a row has a place among the members of its owner, and the columns that say which.
    private let places: [(slot: Int, column: String)]
    private let firstKey: Int64
    private var nextKey: Int64
    /// How many parameters a row has.
    private let width: Int32
    private var sum: (any SQLRowSum)? { store.schema.tables[map.table].sum }
    /// Whether a row may be one that is there already.
    private let mayMeetOthers: Bool
    /// Stored rows that were given values, and which.
    private(set) var updated: [Int64: SlotSet] = [:]
    /// The keys of the rows that are new.
    var inserted: Range<Int64> { firstKey..<nextKey }

    init(_ map: EntityMap, takenKey: BatchInsert.TakenKey, columns: [SlotColumn], store: SQLiteStore, in database: Database) throws {
        self.map = map
        self.takenKey = takenKey
        self.columns = columns
        self.store = store
        self.database = database
        binder = RowBinder(schema: store.schema, identity: store.identity)
        width = Int32(2 + columns.flatMap(\.names).count)
        referenceSlots = SlotSet(map.layout.toOneSlots)
        places = try SavePlan.orderedOwners(of: map, schema: store.schema)
        mayMeetOthers = takenKey != .refuse && !map.constraints.isEmpty
        let root = store.schema.tables[map.table].root
        guard let largest = try database.integer("SELECT CAST(Z_MAX AS INTEGER) FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(root)]) else {
            throw SQLiteError(code: SQLITE_CORRUPT, message: "Z_PRIMARYKEY has no row for entity \(root)", operation: "while reserving keys")
        }
        firstKey = largest == .max ? largest : largest + 1
        nextKey = firstKey
    }

    mutating func write(_ rows: [BatchInsert.Row]) throws {
        do {
            var rest = rows[...]
            let several = RowInsertion.rowsAtOnce, maySeveral = !mayMeetOthers && RowInsertion.mayBeSeveral(width: Int(width))
            while maySeveral, rest.count >= several, nextKey < .max - Int64(several) {
                try insert(rest.prefix(several))
                rest = rest.dropFirst(several)
            }
            for row in rest { try write(row) }
        } catch let error as SQLiteError where error.code == SQLiteError.uniqueViolation {
            throw store.constraintError(error, of: [map], "insert")
        }
    }

    /// Inserts rows by one statement, which costs a fifth less than one each.
    private mutating func insert(_ rows: ArraySlice<BatchInsert.Row>) throws {
        let statement = try severalRows ?? database.prepared(RowInsertion.statement(map, columns, sum: sum, rows: rows.count))
        severalRows = statement
        var place: Int32 = 1
        binder.begin()
        for row in rows {
            try bind(row, to: statement, from: place)
            place += width
            nextKey += 1
        }
        try statement.run()
    }

    /// Binds a row under the next key.
    private mutating func bind(_ row: BatchInsert.Row, to statement: SQLStatement, from place: Int32) throws {
        if row.given.intersects(referenceSlots) { try checkTargets(of: row) }
        sqlite3_bind_int64(statement.raw, place, nextKey)
        sqlite3_bind_int64(statement.raw, place + 1, map.number)
        try binder.bindNext(row.values, columns: columns, to: statement, from: place + 2)
    }

    private mutating func write(_ row: BatchInsert.Row) throws {
        if nextKey == .max { throw exhausted() }
        let statement = try statement(for: row.given)
        binder.begin()
        try bind(row, to: statement, from: 1)
        guard mayMeetOthers else {
            try statement.run()
            nextKey += 1
            return
        }
        defer { statement.reset() }
        guard try statement.step() else {
            if takenKey.writes { throw ofAnotherEntity(row) }
            return
        }
        let key = sqlite3_column_int64(statement.raw, 0)
        while try statement.step() {}
        if key == nextKey {
            nextKey += 1
        } else if key < firstKey {
            updated[key, default: SlotSet()].formUnion(takenKey == .replace ? SlotSet(replaced(row.given).map(\.slot)) : row.given)
        }
    }

    /// Takes the keys out of circulation.
    func finish() throws {
        if inserted.isEmpty { return }
        let root = store.schema.tables[map.table].root
        guard case .raised = try database.raiseCounter(of: root, by: nextKey - firstKey) else { throw exhausted() }
    }

    private func exhausted() -> NSError {
        .exhausted(
            "the keys of \(map.name)", in: store.path, at: nextKey,
            remedy:
                "Close the store and set Z_MAX of Z_ENT \(store.schema.tables[map.table].root) in Z_PRIMARYKEY to the largest Z_PK of \(map.tableName)."
        )
    }

    private mutating func checkTargets(of row: BatchInsert.Row) throws {
        for slot in map.layout.toOneSlots {
            guard let id = row.values[slot].objectID, checkedTargets.insert(id).inserted else { continue }
            try store.checkTarget(id, of: map.layout.fullName(slot), in: database)
        }
    }

    /// A constraint holds for all of a tree, and values of one entity are none of another's.
    private func ofAnotherEntity(_ row: BatchInsert.Row) -> NSError {
        let names = map.layout.constraints.flatMap(\.slots).map { "\(map.layout.names[$0]) \(row.values[$0].inWords)" }
        return .coreData(
            .managedObjectConstraintMerge,
            "Can't insert an object of \(map.name) (\(names.joined(separator: ", "))): its unique key is that of an object of another entity. "
                + "Nothing was written.")
    }

    // MARK: Statements

    private mutating func statement(for given: SlotSet) throws -> SQLStatement {
        // Where no stored row is given anything it does not matter what was.
        let given = takenKey.writes ? given : SlotSet()
        if let current, current.given == given { return current.statement }
        let statement = try statements[given] ?? database.prepared(sql(given))
        statements[given] = statement
        current = (given, statement)
        return statement
    }

    private func sql(_ given: SlotSet) -> String {
        let sql = RowInsertion.statement(map, columns, sum: sum)
        guard mayMeetOthers else { return sql }
        let action = action(given)
        return sql + map.constraints.map { " ON CONFLICT (\(target(of: $0))) DO \(action)" }.joined() + " RETURNING Z_PK"
    }

    /// What is done where a row with the key is there.
    private func action(_ given: SlotSet) -> String {
        let written: [SlotColumn]
        switch takenKey {
        case .update: written = columns.filter { given.contains($0.slot) }
        case .replace: written = replaced(given)
        case .keep, .refuse: return "NOTHING"
        }
        var values = written.flatMap(\.names).map { (column: $0, value: "excluded.\($0.sqlName)") }
        for column in written {
            for place in places where place.slot == column.slot {
                values.append((place.column, Self.place(place.column, keptWhere: column.name, is: "excluded.\(column.name.sqlName)")))
            }
        }
        var terms = values.map { "\($0.column.sqlName) = \($0.value)" } + ["Z_OPT = \(SaveOperation.nextVersion)"]
        if let sum { terms.append("\(sum.column) = \(sum.replacing(values))") }
        return "UPDATE SET \(terms.joined(separator: ", ")) WHERE Z_ENT = excluded.Z_ENT"
    }

    /// Where a row stood among the members of one owner says nothing of another's order.
    static func place(_ column: String, keptWhere owner: String, is value: String) -> String {
        "CASE WHEN \(owner.sqlName) IS \(value) THEN \(column.sqlName) END"
    }

    private func replaced(_ given: SlotSet) -> [SlotColumn] { columns.filter { $0.coding != .reference || given.contains($0.slot) } }

    /// A constraint as its index says it.
    private func target(of constraint: ConstraintMap) -> String {
        let columns = constraint.columns.map { store.schema.dialect.bytewise($0.name.sqlName) }.joined(separator: ", ")
        return columns + (constraint.scope.map { ") WHERE Z_ENT IN (\($0.map(String.init).joined(separator: ", "))" } ?? "")
    }
}
