import Foundation

/// How one table of the new schema comes to be: out of which columns, and whether an old table can be altered into it.
struct TableChange {
    /// What a column holds for the rows of one entity.
    enum Value: Hashable {
        /// What stood in an old column; where that is NULL, the constant.
        case column(String, ifNull: SQLParameter? = nil)
        case constant(SQLParameter)
        /// Computed over the old row, which is called `row`.
        case expression(String)

        /// Over the old row.
        var sql: String {
            switch self {
            case .column(let name, let constant?): "coalesce(row.\(name.sqlName), \(constant.sql))"
            case .column(let name, nil): "row.\(name.sqlName)"
            case .constant(let constant): constant.sql
            case .expression(let sql): sql
            }
        }
    }

    /// What is done to an old table so that it is the new one.
    struct Alteration {
        let source: Int
        /// Old names and new ones, where they differ.
        var renamed: [(old: String, new: String)] = []
        var dropped: [String] = []
        /// Where no row needs a value of its own, it is the column's default.
        var added: [(column: String, declaration: String, constant: SQLParameter?)] = []
        /// Values that the rows of an entity get, or those of them that have none.
        var values: [(column: String, constant: SQLParameter, entity: Int64, onlyNull: Bool)] = []
    }

    let table: Int
    /// By column, by number of the entity in the file; no value is NULL.
    private var values: [String: [Int64: Value]] = [:]
    private let sources: [Int]
    private(set) var alteration: Alteration?

    /// Throws 134110 for a default value that no column can hold.
    init(_ table: Int, of change: SchemaChange) throws {
        self.table = table
        let pairs = change.pairs.filter { $0.new.table == table }
        sources = Set(pairs.map(\.old.table)).sorted { change.shift($0, table) < change.shift($1, table) }
        for pair in pairs {
            for column in pair.new.columns {
                guard let column else { continue }
                if let attribute = pair.attribute(pair.new.layout.names[column.slot]) { try take(attribute, column, pair) }
                if let relationship = pair.relationship(pair.new.layout.names[column.slot]) { take(relationship, column, pair, change) }
            }
        }
        alteration = makeAlteration(change)
    }

    // MARK: Values

    private mutating func take(_ attribute: AttributeChange, _ column: SlotColumn, _ pair: SchemaChange.Pair) throws {
        guard let source = attribute.source, let old = pair.column(of: source) else {
            values[column.name, default: [:]][pair.old.number] = .constant(try Self.initial(attribute.destination, column.coding))
            return
        }
        let isFilled = !attribute.destination.isOptional && source.isOptional
        let constant = isFilled ? try Self.initial(attribute.destination, column.coding) : .null
        let value: Value
        switch attribute.conversion {
        case .none where isFilled: value = .column(old.name, ifNull: constant)
        // A column takes numbers as it is declared.
        case .none, .double, .decimal: value = .column(old.name)
        case .text: value = .expression("CAST(row.\(old.name.sqlName) AS TEXT)")
        case .uuidText: value = .expression("upper(\(SQLiteDialect().readable("row.\(old.name.sqlName)", .uuid)))")
        }
        values[column.name, default: [:]][pair.old.number] =
            isFilled && attribute.conversion != .none ? .expression("coalesce(\(value.sql), \(constant.sql))") : value
    }

    /// The default value as a column holds it.
    private static func initial(_ attribute: NSAttributeDescription, _ coding: ColumnCoding) throws -> SQLParameter {
        guard let value = AttributeValue.coded(attribute.defaultValue, as: attribute.kind) else { return .null }
        do { return try ValueCoding.parameter(value, coding, attribute: attribute.name, attribute) } catch {
            throw NSError.coreData(
                .migration,
                "The default value of \(attribute.entity?.name ?? "?").\(attribute.name), which objects would get, can't be stored: "
                    + "\(error.localizedDescription) Nothing was changed.", underlying: error)
        }
    }

    private mutating func take(_ relationship: RelationshipChange, _ column: SlotColumn, _ pair: SchemaChange.Pair, _ change: SchemaChange) {
        let number = pair.old.number, order = Self.orderColumn(of: relationship.destination.inverseRelationship, in: change.new)
        guard let source = relationship.source, let old = pair.column(of: source),
            let was = source.destinationEntity.flatMap({ change.old[$0]?.table }),
            let now = relationship.destination.destinationEntity.flatMap({ change.new[$0]?.table })
        else { return }
        let isStable = change.isStable(was, in: now), place = change.column(old.name)
        values[column.name, default: [:]][number] = isStable ? .column(old.name) : .expression(change.reference(place, from: was, to: now))
        if let entityColumn = column.entityColumn {
            if isStable, let known = old.entityColumn {
                values[entityColumn, default: [:]][number] = .column(known)
            } else {
                values[entityColumn, default: [:]][number] = .expression(
                    change.referenceEntity(place, old.entityColumn.map(change.column), from: was, to: now))
            }
        }
        guard let order else { return }
        if let known = Self.orderColumn(of: source.inverseRelationship, in: change.old) {
            values[order, default: [:]][number] = .column(known)
        } else {
            values[order, default: [:]][number] = .expression(
                "CASE WHEN \(place) IS NOT NULL THEN row_number() OVER (PARTITION BY \(place) ORDER BY row.Z_PK) END")
        }
    }

    /// The column that orders the members of a to-many in their own rows.
    static func orderColumn(of toMany: NSRelationshipDescription?, in schema: SQLSchema) -> String? {
        guard let toMany, let map = toMany.entity.flatMap({ schema[$0] }), let number = map.layout.toManys.firstIndex(where: { $0 === toMany }),
            case .inverse(_, _, _, let order)? = map.toManys[number]
        else { return nil }
        return order
    }

    // MARK: Altering

    private func makeAlteration(_ change: SchemaChange) -> Alteration? {
        guard sources.count == 1, let source = sources.first, change.shift(source, table) == 0,
            change.pairs.allSatisfy({ $0.old.table != source || $0.new.table == table })
        else { return nil }
        let before = change.old.tables[source], after = change.new.tables[table]
        guard (before.sum == nil) == (after.sum == nil) else { return nil }
        var made = Alteration(source: source), used: Set<String> = []
        for column in after.columns {
            let values = values[column.name] ?? [:]
            var names: Set<String> = [], constants: [Int64: SQLParameter] = [:]
            for (entity, value) in values.sorted(by: { $0.key < $1.key }) {
                switch value {
                case .column(let name, let constant):
                    names.insert(name)
                    if let constant { made.values.append((column.name, constant, entity, true)) }
                case .constant(let constant): constants[entity] = constant
                case .expression: return nil
                }
            }
            if let name = names.first {
                guard names.count == 1, constants.isEmpty, used.insert(name).inserted,
                    before.columns.contains(where: { $0.name == name && $0.declaration == column.declaration })
                else { return nil }
                if name != column.name { made.renamed.append((name, column.name)) }
            } else {
                add(column, constants, isSummed: after.sum != nil, isEverybodys: constants.count == before.members.count, &made)
            }
        }
        made.dropped = before.columns.map(\.name).filter { !used.contains($0) }
        return made
    }

    private func add(
        _ column: (name: String, declaration: String), _ constants: [Int64: SQLParameter], isSummed: Bool, isEverybodys: Bool,
        _ made: inout Alteration
    ) {
        let distinct = Set(constants.values)
        // As the column's own default it takes no time, however many rows there are.
        if !isSummed, isEverybodys, distinct.count == 1, let constant = distinct.first, !constant.sql.contains("(") {
            made.added.append((column.name, column.declaration, constant))
            return
        }
        made.added.append((column.name, column.declaration, nil))
        for (entity, constant) in constants.sorted(by: { $0.key < $1.key }) where constant != .null {
            made.values.append((column.name, constant, entity, false))
        }
    }

    private var temporary: String { "ocd_old_\(table)" }

    /// First part: what the table must let go of. It goes on under another name where its own may be somebody else's yet.
    func alter(_ change: inout SchemaChange) {
        guard let alteration else { return }
        let before = change.old.tables[alteration.source], after = change.new.tables[table], name = before.name.sqlName
        if let sum = before.sum, isSummedAnew(change) {
            change.run("UPDATE \(name) SET \(sum.column) = NULL WHERE \(sum.column) IS NOT \(sum.stored)", over: before.name)
        }
        let gone = before.members.filter { change.successors[$0] == nil }
        if !gone.isEmpty { change.run("DELETE FROM \(name) WHERE Z_ENT IN (\(gone.map(String.init).joined(separator: ", ")))", over: before.name) }
        for name in Set((before.indexes + after.indexes).filter { !isKept($0, change) }.map(\.name)).sorted() {
            change.run("DROP INDEX IF EXISTS \(name.sqlName)")
        }
        change.lets(go: alteration.dropped, of: before.name)
        for column in alteration.dropped { change.run("ALTER TABLE \(name) DROP COLUMN \(column.sqlName)", over: before.name) }
        for (number, column) in alteration.renamed.enumerated() {
            change.run("ALTER TABLE \(name) RENAME COLUMN \(column.old.sqlName) TO ocd_column_\(number)")
        }
        for (number, column) in alteration.renamed.enumerated() {
            change.run("ALTER TABLE \(name) RENAME COLUMN ocd_column_\(number) TO \(column.new.sqlName)")
        }
        if before.name != after.name { change.run("ALTER TABLE \(name) RENAME TO \(temporary.sqlName)") }
    }

    /// Second part: its name.
    func nameFinally(_ change: inout SchemaChange) {
        guard let alteration, change.old.tables[alteration.source].name != change.new.tables[table].name else { return }
        change.run("ALTER TABLE \(temporary.sqlName) RENAME TO \(change.new.tables[table].name.sqlName)")
    }

    /// Whether an index of the old table is one of the new, over columns that have not changed: one that has follows its column to another name.
    private func isKept(_ index: IndexMap, _ change: SchemaChange) -> Bool {
        guard let alteration else { return false }
        let isSame = { (other: IndexMap) in other.name == index.name && other.sql == index.sql }
        guard change.old.tables[alteration.source].indexes.contains(where: isSame), change.new.tables[table].indexes.contains(where: isSame) else {
            return false
        }
        let touched =
            alteration.dropped + alteration.renamed.flatMap { [$0.old, $0.new] } + alteration.added.map(\.column) + alteration.values.map(\.column)
        return Set(touched).isDisjoint(with: index.columns)
    }

    private func isSummedAnew(_ change: SchemaChange) -> Bool {
        guard change.new.tables[table].sum != nil else { return false }
        guard let alteration else { return true }
        return !alteration.dropped.isEmpty || !alteration.renamed.isEmpty || !alteration.values.isEmpty
    }

    // MARK: Writing anew

    /// Makes the table under another name, and fills it from the old ones.
    func writeAnew(as name: String, _ change: inout SchemaChange) {
        let after = change.new.tables[table]
        change.run(after.creation(as: name))
        for source in sources {
            let members = change.pairs.filter { $0.old.table == source && $0.new.table == table }.map(\.old.number).sorted()
            let before = change.old.tables[source], shift = change.shift(source, table)
            var columns = ["Z_PK", "Z_ENT", "Z_OPT"], selected = [shift == 0 ? "row.Z_PK" : "row.Z_PK + \(shift)", "row.Z_ENT", "row.Z_OPT"]
            if let sum = after.sum {
                columns.append(sum.column)
                // A row that was not as it had been written is not so afterwards either.
                selected.append(
                    before.sum.map { "CASE WHEN row.\($0.column) IS \($0.whole($0.columns.map { ($0, "row.\($0.sqlName)") })) THEN 0 END" } ?? "0")
            }
            for column in after.columns {
                guard let values = values[column.name] else { continue }
                let parts = members.compactMap { member in values[member].map { (member, $0.sql) } }
                if parts.isEmpty { continue }
                columns.append(column.name.sqlName)
                if parts.count == members.count, Set(parts.map(\.1)).count == 1 {
                    selected.append(parts[0].1)
                } else {
                    selected.append("CASE row.Z_ENT \(parts.map { "WHEN \($0.0) THEN \($0.1)" }.joined(separator: " ")) END")
                }
            }
            change.run(
                "INSERT INTO \(name.sqlName) (\(columns.joined(separator: ", "))) SELECT \(selected.joined(separator: ", ")) "
                    + "FROM \(before.name.sqlName) AS row WHERE row.Z_ENT IN (\(members.map(String.init).joined(separator: ", ")))",
                over: before.name, shift: shift)
        }
    }

    // MARK: The end

    /// Last part, under the table's own name: columns and values that are new, sums, indexes.
    func finish(_ change: inout SchemaChange) {
        let after = change.new.tables[table], name = after.name.sqlName, source = sources.first.map { change.old.tables[$0].name }
        for column in alteration?.added ?? [] {
            let initial = column.constant.map { $0 == .null ? "" : " DEFAULT \($0.sql)" } ?? ""
            change.run("ALTER TABLE \(name) ADD COLUMN \(column.column.sqlName) \(column.declaration)\(initial)")
        }
        for value in alteration?.values ?? [] {
            change.run(
                "UPDATE \(name) SET \(value.column.sqlName) = \(value.constant.sql) WHERE Z_ENT = \(value.entity)"
                    + (value.onlyNull ? " AND \(value.column.sqlName) IS NULL" : ""), over: source)
        }
        if let sum = after.sum, isSummedAnew(change) {
            change.run("UPDATE \(name) SET \(sum.column) = \(sum.stored) WHERE \(sum.column) IS NOT NULL", over: source)
        }
        checkKeys(&change)
        for index in after.indexes where !isKept(index, change) { change.run(index.sql, over: source) }
    }

    /// What has one key now must not be two objects.
    private func checkKeys(_ change: inout SchemaChange) {
        for key in keys(change) {
            change.refuse(
                .migrationConstraintViolation, Self.duplicates(in: key.map.tableName.sqlName, key.columns.map(\.name), key.scope), key.sentence)
        }
    }

    /// The same before anything is changed, where the values stand in the old table as they will in the new.
    func checkKeysBefore(_ change: inout SchemaChange) {
        guard sources.count == 1, let source = sources.first else { return }
        for key in keys(change) {
            let members = change.pairs.filter { $0.old.table == source && $0.new.table == table && (key.scope?.contains($0.new.number) ?? true) }.map(
                \.old.number)
            let expressions = key.columns.compactMap { column -> String? in
                let all = Set(members.map { values[column.name]?[$0]?.sql ?? "NULL" })
                return all.count == 1 ? all.first : nil
            }
            guard expressions.count == key.columns.count, !members.isEmpty else { continue }
            let named = expressions.enumerated().map { "\($0.element) AS k\($0.offset)" }.joined(separator: ", ")
            let numbers = members.sorted().map(String.init).joined(separator: ", ")
            let rows = "(SELECT \(named) FROM \(change.old.tables[source].name.sqlName) AS row WHERE row.Z_ENT IN (\(numbers)))"
            change.require(.migrationConstraintViolation, Self.duplicates(in: rows, expressions.indices.map { "k\($0)" }, nil), key.sentence)
        }
    }

    /// Which values of some columns several rows have.
    private static func duplicates(in table: String, _ columns: [String], _ scope: [Int64]?) -> String {
        let names = columns.map(\.sqlName), numbers = scope.map { " AND Z_ENT IN (\($0.map(String.init).joined(separator: ", ")))" } ?? ""
        return "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(names.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))\(numbers) "
            + "GROUP BY \(names.map { "\($0) COLLATE BINARY" }.joined(separator: ", ")) HAVING count(*) > 1)"
    }

    private struct Key {
        let map: EntityMap
        let columns: [SlotColumn]
        let scope: [Int64]?
        let sentence: (Int64) -> String
    }

    /// The uniqueness constraints whose index is made.
    private func keys(_ change: SchemaChange) -> [Key] {
        if change.new.tables[table].indexes.allSatisfy({ !$0.isUnique || isKept($0, change) }) { return [] }
        return change.new.entities.filter { $0.table == table }.flatMap { map in
            zip(map.layout.constraints, map.constraints).filter { $0.0.declarer === map.entity }.map { _, columns in
                let names = columns.columns.map { map.layout.names[$0.slot] }.joined(separator: " and ")
                return Key(map: map, columns: columns.columns, scope: columns.scope) {
                    "\(map.name) is to be unique by \(names) now, but \($0 == 1 ? "one value is" : "\($0) values are") those of several objects. "
                        + "Make them different first"
                }
            }
        }
    }
}
