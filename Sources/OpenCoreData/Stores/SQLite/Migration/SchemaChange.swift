import Foundation

/// The statements that bring a file from the tables of one schema to those of another, with all that is in them.
///
/// A table that only gains, loses or renames columns is altered where it stands; any other is written anew from the old ones. What is written anew
/// reads tables as they were: they are altered, and taken away, when all of it is there.
struct SchemaChange {
    enum Step {
        /// With the rows that it goes through; nil where it takes no time, however many there are.
        case run(String, MigrationProgress.Work?)
        /// Refuses with the sentence if the query counts anything.
        case refuse(CocoaError.Code, query: String, sentence: (Int64) -> String)
    }

    /// An entity that is kept, before and after.
    struct Pair {
        let old: EntityMap
        let new: EntityMap
        let change: EntityChange

        func attribute(_ name: String) -> AttributeChange? { change.attributes.first { $0.destination.name == name } }
        func relationship(_ name: String) -> RelationshipChange? { change.relationships.first { $0.destination.name == name } }
        /// The column that the source of a property has.
        func column(of source: NSPropertyDescription) -> SlotColumn? { old.layout.slot(of: source.name).flatMap { old.columns[$0] } }
    }

    let old: SQLSchema
    let new: SQLSchema
    let pairs: [Pair]
    /// By number of an entity in the file: what it is now. A number stays.
    let successors: [Int64: EntityMap]
    /// What is added to the keys of a table's rows in another: two trees that become one may have rows with the same key.
    private let shifts: [[Int]: Int64]
    /// The largest key that each new table has counted.
    private(set) var largestKeys: [Int64]
    /// What must hold before anything is done: refusals.
    private(set) var requirements: [Step] = []
    private(set) var steps: [Step] = []
    /// Columns that go from tables that stay, and tables that go: indexes of others over them go, too.
    private(set) var goneColumns: [(table: String, columns: [String])] = []
    private(set) var goneTables: Set<String> = []

    /// - Parameters:
    ///   - largestKeys: by number of the root in the file.
    ///   - formerKeys: where the keys of new tables begin, by name of the root.
    init(from old: SQLSchema, to new: SQLSchema, _ change: ModelChange, largestKeys: [Int64: Int64], formerKeys: [String: Int64]) throws {
        self.old = old
        self.new = new
        pairs = change.entities.compactMap { change in
            guard let source = change.source.flatMap({ old[$0] }), let destination = change.destination.flatMap({ new[$0] }) else { return nil }
            return Pair(old: source, new: destination, change: change)
        }
        successors = Dictionary(pairs.map { ($0.old.number, $0.new) }, uniquingKeysWith: { first, _ in first })
        var shifts: [[Int]: Int64] = [:], largest = [Int64](repeating: 0, count: new.tables.count)
        for table in new.tables.indices {
            let root = pairs.first { $0.new.number == new.tables[table].root }?.old.table
            let sources = Set(pairs.filter { $0.new.table == table }.map(\.old.table)).sorted { ($0 == root ? 0 : 1, $0) < ($1 == root ? 0 : 1, $1) }
            if sources.isEmpty { largest[table] = new[file: new.tables[table].root].flatMap { formerKeys[$0.name] } ?? 0 }
            for source in sources {
                shifts[[source, table]] = largest[table]
                let (sum, overflows) = largest[table].addingReportingOverflow(largestKeys[old.tables[source].root] ?? 0)
                if overflows { throw NSError.exhausted("keys", in: new.tables[table].name, at: largest[table], remedy: "Count anew.") }
                largest[table] = sum
            }
        }
        self.shifts = shifts
        self.largestKeys = largest
        try plan()
    }

    mutating func run(_ sql: String, over table: String? = nil, shift: Int64 = 0) {
        steps.append(.run(sql, table.map { MigrationProgress.Work(table: $0, shift: shift) }))
    }
    mutating func refuse(_ code: CocoaError.Code, _ query: String, _ sentence: @escaping (Int64) -> String) {
        steps.append(.refuse(code, query: query, sentence: sentence))
    }

    mutating func require(_ code: CocoaError.Code, _ query: String, _ sentence: @escaping (Int64) -> String) {
        requirements.append(.refuse(code, query: query, sentence: sentence))
    }

    mutating func lets(go columns: [String], of table: String) {
        if !columns.isEmpty { goneColumns.append((table, columns)) }
    }

    /// The rows that the statements go through, one after the other.
    var works: [MigrationProgress.Work] {
        steps.compactMap { step in
            guard case .run(_, let work) = step else { return nil }
            return work
        }
    }

    /// What is added to a key on its way from one table to another.
    func shift(_ source: Int, _ destination: Int) -> Int64 { shifts[[source, destination]] ?? 0 }

    /// Whether all rows of an old table are in this new one, under their keys.
    func isStable(_ source: Int, in destination: Int) -> Bool {
        shift(source, destination) == 0 && old.tables[source].members.allSatisfy { successors[$0]?.table == destination }
    }

    // MARK: The order

    private mutating func plan() throws {
        checkAbstracts()
        checkRequired()
        let changes = try new.tables.indices.map { try TableChange($0, of: self) }
        for change in changes { change.checkKeysBefore(&self) }
        var altered: Set<Int> = [], fresh: [(temporary: String, name: String)] = []
        for change in changes where change.alteration == nil {
            let name = new.tables[change.table].name, temporary = "ocd_new_\(change.table)"
            change.writeAnew(as: temporary, &self)
            fresh.append((temporary, name))
        }
        let keptJoins = writeJoins(&fresh)
        for join in old.joins where !keptJoins.contains(join.name) { run("DROP TABLE \(join.name.sqlName)") }
        for change in changes { if let alteration = change.alteration { altered.insert(alteration.source) } }
        for (number, table) in old.tables.enumerated() where !altered.contains(number) {
            run("DROP TABLE \(table.name.sqlName)")
            goneTables.insert(table.name)
        }
        for change in changes { change.alter(&self) }
        for change in changes { change.nameFinally(&self) }
        for (temporary, name) in fresh { run("ALTER TABLE \(temporary.sqlName) RENAME TO \(name.sqlName)") }
        for change in changes { change.finish(&self) }
        for join in new.joins { run(join.indexSQL) }
        countKeys()
    }

    private mutating func checkAbstracts() {
        for pair in pairs where pair.new.entity.isAbstract && !pair.old.entity.isAbstract {
            let name = pair.new.name
            require(.migration, "SELECT count(*) FROM \(pair.old.tableName.sqlName) WHERE Z_ENT = \(pair.old.number)") {
                "\(name) is abstract now, but there are \($0) objects of it. Delete them first, or leave it concrete"
            }
        }
    }

    private mutating func checkRequired() {
        for pair in pairs {
            for attribute in pair.change.attributes where attribute.needsValue {
                let name = "\(pair.new.name).\(attribute.destination.name)"
                let isMissing = attribute.source.flatMap { pair.column(of: $0) }.map { " AND \($0.name.sqlName) IS NULL" } ?? ""
                require(.migration, "SELECT count(*) FROM \(pair.old.tableName.sqlName) WHERE Z_ENT = \(pair.old.number)\(isMissing)") {
                    "\(name) is required now, but \($0) objects have none. Give it a default value, or leave it optional"
                }
            }
        }
    }

    private mutating func countKeys() {
        run("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < \(SQLiteHistoryTables.firstNumber)")
        for map in new.entities {
            let parent = map.entity.superentity.flatMap { new[$0]?.number } ?? 0
            let largest = new.tables[map.table].root == map.number ? largestKeys[map.table] : 0
            run("INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(map.number), \(map.name.sqlText), \(parent), \(largest))")
        }
    }

    // MARK: Values

    /// The key of a row that this column names, as it is afterwards; NULL where its object is no more.
    func reference(_ column: String, from source: Int, to destination: Int) -> String {
        if isStable(source, in: destination) { return column }
        return lookup(column, source, destination) { "Z_PK + \(shift(source, $0.table))" }
    }

    /// The entity of that row.
    func referenceEntity(_ column: String, _ entityColumn: String?, from source: Int, to destination: Int) -> String {
        if isStable(source, in: destination) {
            if let entityColumn { return entityColumn }
            if old.tables[source].members.count == 1 { return "CASE WHEN \(column) IS NOT NULL THEN \(old.tables[source].members[0]) END" }
        }
        return lookup(column, source, destination) { "\($0.number)" }
    }

    private func lookup(_ column: String, _ source: Int, _ destination: Int, _ value: (EntityMap) -> String) -> String {
        let cases = old.tables[source].members.compactMap { number in
            successors[number].flatMap { $0.table == destination ? "WHEN \(number) THEN \(value($0))" : nil }
        }
        if cases.isEmpty { return "NULL" }
        return
            "(SELECT CASE Z_ENT \(cases.joined(separator: " ")) END FROM \(old.tables[source].name.sqlName) AS target WHERE target.Z_PK = \(column))"
    }

    /// Names that no column of a row can be mistaken for in a look-up.
    func column(_ name: String) -> String { "row.\(name.sqlName)" }
}

extension SQLParameter {
    /// As a constant in SQL.
    var sql: String {
        switch self {
        case .null: "NULL"
        case .integer(let integer): integer == .min ? "(-9223372036854775807 - 1)" : "\(integer)"
        case .double(let double): double.isInfinite ? (double < 0 ? "-9e999" : "9e999") : "\(double)"
        case .text(let text): text.utf8.contains(0) ? "CAST(\(Self.hex(text.utf8)) AS TEXT)" : text.sqlText
        case .blob(let data): Self.hex(data)
        }
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef")
        return "x'" + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + "'"
    }
}

extension JoinTable {
    var indexName: String { name + "_" + memberColumn + "_INDEX" }

    var indexSQL: String {
        "CREATE INDEX IF NOT EXISTS \(indexName.sqlName) ON \(name.sqlName) "
            + "(\(memberColumn.sqlName), \(ownerColumn.sqlName))"
    }

    /// The statement that makes it, under this name.
    func creation(as name: String) -> String {
        var columns = ["\(ownerColumn.sqlName) INTEGER", "\(memberColumn.sqlName) INTEGER"]
        for order in [ownerOrderColumn, memberOrderColumn] { if let order { columns.append("\(order.sqlName) INTEGER") } }
        columns.append("PRIMARY KEY (\(ownerColumn.sqlName), \(memberColumn.sqlName))")
        return "CREATE TABLE \(name.sqlName) (\(columns.joined(separator: ", ")))"
    }
}

extension TableMap {
    /// The statement that makes it, under this name.
    func creation(as name: String) -> String {
        let columns =
            ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"] + (sum.map { ["\($0.column) INTEGER"] } ?? [])
            + columns.map { "\($0.name.sqlName) \($0.declaration)" }
        return "CREATE TABLE \(name.sqlName) (\(columns.joined(separator: ", ")))"
    }
}
