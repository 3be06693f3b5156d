import GRDB
import GRDBSQLite

/// Writes new rows of one table, several by one statement where there are many: that costs a fifth less than one each.
struct RowInsertion {
    /// How the rows of an entity are written.
    private struct Form {
        let map: EntityMap
        let columns: [SlotColumn]
        /// How many parameters a row has.
        let width: Int32
        /// By slot: which of the parameters its value is, from 0; -1: none.
        let parameters: [Int32]
        let one: SQLStatement
        var several: SQLStatement?
    }

    private let schema: SQLSchema
    private let binder: RowBinder
    private let isMuch: Bool
    private let database: Database
    private var forms: [Int64: Form] = [:]

    /// - Parameter isMuch: whether a longer statement is worth its preparation.
    init(schema: SQLSchema, binder: RowBinder, isMuch: Bool, in database: Database) {
        self.schema = schema
        self.binder = binder
        self.isMuch = isMuch
        self.database = database
    }

    mutating func write(_ operations: [RowOperation]) throws {
        var place = 0
        while place < operations.count {
            let form = try form(operations[place].map)
            let run = operations[place...].prefix(Self.rowsAtOnce)
            if let several = form.several, run.count == Self.rowsAtOnce, run.allSatisfy({ $0.map === form.map && $0.pending.row != nil }) {
                try write(run, form, several)
            } else {
                try write(operations[place], form)
                place += 1
                continue
            }
            place += run.count
        }
    }

    /// Writes the rows of a block out of its bytes.
    mutating func write(_ block: RowBlock, _ map: EntityMap) throws {
        let form = try form(map)
        if block.targets.contains(where: { !$0.mayBe(in: binder.identity) }) {
            // One after the other they say which it is.
            for (id, pending) in try block.open() { try write(RowOperation(id: id, map: map, pending: pending), form) }
            return
        }
        try block.withRows { try write(block, $0, map, form) }
    }

    private func write(_ block: RowBlock, _ row: (_ place: Int) -> PackedRow, _ map: EntityMap, _ form: Form) throws {
        var place = 0
        while place < block.count {
            let statement: SQLStatement, count: Int
            if let several = form.several, block.count - place >= Self.rowsAtOnce {
                (statement, count) = (several, Self.rowsAtOnce)
            } else {
                (statement, count) = (form.one, 1)
            }
            for number in 0..<count {
                let first = Int32(number) * form.width + 1
                sqlite3_bind_int64(statement.raw, first, block.keys.lowerBound + Int64(place + number))
                sqlite3_bind_int64(statement.raw, first + 1, map.number)
                try binder.bindPacked(row(place + number), form.parameters, to: statement, from: first + 2)
            }
            do { try statement.run() } catch {
                guard error.code == SQLiteError.primaryKeyViolation else { throw error }
                // None of them was written. One after the other they say which it is.
                let first = block.keys.lowerBound + Int64(place)
                for (id, pending) in (first..<first + Int64(count)).compactMap({ block.row(withKey: $0) }) {
                    try write(RowOperation(id: id, map: map, pending: pending), form)
                }
            }
            place += count
        }
    }

    private func write(_ operations: ArraySlice<RowOperation>, _ form: Form, _ statement: SQLStatement) throws {
        binder.begin()
        var place: Int32 = 1
        for operation in operations {
            try bind(operation, form, statement, place)
            place += form.width
        }
        do { try statement.run() } catch {
            guard error.code == SQLiteError.primaryKeyViolation else { throw error }
            // None of them was written. One after the other they say which it is.
            for operation in operations { try write(operation, form) }
        }
    }

    private func write(_ operation: RowOperation, _ form: Form) throws {
        if operation.pending.row == nil { return }
        binder.begin()
        try bind(operation, form, form.one, 1)
        do { try form.one.run() } catch {
            guard error.code == SQLiteError.primaryKeyViolation else { throw error }
            throw error.cocoaError(
                .persistentStoreSave,
                "\(operation.id) can't be inserted: \(form.map.tableName) already has a row \(operation.key). Delete the object and make it anew.")
        }
    }

    private func bind(_ operation: RowOperation, _ form: Form, _ statement: SQLStatement, _ place: Int32) throws {
        guard let row = operation.pending.row else { return }
        sqlite3_bind_int64(statement.raw, place, operation.key)
        sqlite3_bind_int64(statement.raw, place + 1, form.map.number)
        try binder.bindNext(row, columns: form.columns, to: statement, from: place + 2)
    }

    private mutating func form(_ map: EntityMap) throws -> Form {
        if let known = forms[map.number] { return known }
        let columns = map.givenColumns, width = 2 + columns.reduce(0) { $0 + $1.names.count }, sum = schema.tables[map.table].sum
        var parameters = Array(repeating: Int32(-1), count: map.layout.count), next: Int32 = 0
        for column in columns {
            parameters[column.slot] = next
            next += Int32(column.names.count)
        }
        var form = Form(
            map: map, columns: columns, width: Int32(width), parameters: parameters, one: try database.cached(Self.statement(map, columns, sum: sum)))
        if isMuch, Self.mayBeSeveral(width: width) {
            form.several = try database.cached(Self.statement(map, columns, sum: sum, rows: Self.rowsAtOnce))
        }
        forms[map.number] = form
        return form
    }

    // MARK: Statements

    /// More by one statement gain nothing.
    static let rowsAtOnce = 8

    /// Whether a statement for several rows of so many parameters keeps well below SQLite's limits of parameters and of text.
    static func mayBeSeveral(width: Int) -> Bool { width <= 250 }

    /// The statement for new rows: of each its key, its entity, then the values of these columns.
    static func statement(_ map: EntityMap, _ columns: [SlotColumn], sum: (any SQLRowSum)?, rows: Int = 1) -> String {
        let names = ["Z_PK", "Z_ENT"] + columns.flatMap(\.names)
        let all = names.map(\.sqlName) + ["Z_OPT"] + (sum.map { [$0.column] } ?? [])
        let tuples = (0..<rows).map { row in
            let values = names.enumerated().map { (column: $0.element, value: "?\(row * names.count + $0.offset + 1)") }
            return "(\((values.map(\.value) + ["1"] + [sum?.whole(values)].compactMap { $0 }).joined(separator: ", ")))"
        }
        return "INSERT INTO \(map.tableName.sqlName) (\(all.joined(separator: ", "))) VALUES \(tuples.joined(separator: ", "))"
    }
}
