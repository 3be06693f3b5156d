import Foundation
import GRDB
import GRDBSQLite

/// New values for the rows that a plan finds. Which rows those are, and what is computed of them, is settled before the first of them changes.
struct SQLiteBatchUpdate: SQLiteBatch {
    private let update: BatchUpdate
    private let tellsIDs: Bool
    private let store: SQLiteStore
    private let map: EntityMap
    private let query: SQLTranslator.Query
    private(set) var counts = StatementCounts()

    /// Throws 134060 for a predicate or an expression that SQL has no words for.
    init(_ update: BatchUpdate, tellsIDs: Bool, in store: SQLiteStore) throws {
        self.update = update
        self.tellsIDs = tellsIDs
        self.store = store
        map = try store.schema.map(of: update.plan.entity)
        let translator = SQLTranslator(schema: store.schema, identity: store.identity)
        query = try translator.computedQuery(update.plan) { scope in
            let alias = scope.object.alias
            let computed = try update.values.compactMap { slot, value -> String? in
                guard case .computed(let node) = value else { return nil }
                return try translator.stored(try translator.value(node, scope), node, as: slot, of: update.layout)
            }
            return (["\(alias).Z_PK", "\(alias).Z_ENT"] + computed).joined(separator: ", ")
        }
    }

    mutating func run(in database: Database, recordedAs origin: SaveOrigin?) throws -> BatchOutcome {
        try find(in: database)
        defer { try? SQLiteStore.dropTargets(in: database) }
        var outcome = BatchOutcome()
        outcome.count = Int(try database.integer("SELECT count(*) FROM temp.ocd_targets") ?? 0)
        if outcome.count == 0 { return outcome }
        try set(in: database)
        counts.updates += outcome.count
        if let origin { try record(outcome.count, origin, in: database) }
        if tellsIDs { outcome.ids = try store.ids("SELECT key, entity FROM temp.ocd_targets ORDER BY key", in: database) }
        return outcome
    }

    private func find(in database: Database) throws {
        let computed = update.values.indices.compactMap { index -> String? in
            if case .computed = update.values[index].value { return ", v\(index)" }
            return nil
        }
        try SQLiteStore.dropTargets(in: database)
        try database.execute(sql: "CREATE TEMP TABLE ocd_targets (key INTEGER PRIMARY KEY, entity INTEGER\(computed.joined()))")
        let statement = try database.prepared("INSERT INTO temp.ocd_targets \(query.sql)")
        try statement.bindNumbered(query.parameters)
        try statement.run()
    }

    /// What a column is set to, in SQL.
    private struct Assignments {
        var values: [(column: String, value: String)] = []
        var parameters: [SQLParameter] = []

        mutating func set(_ column: String, to parameter: SQLParameter) {
            parameters.append(parameter)
            values.append((column, "?\(parameters.count)"))
        }
    }

    private func set(in database: Database) throws {
        var assignments = Assignments()
        for (index, (slot, value)) in update.values.enumerated() {
            guard let column = map.columns[slot] else { continue }
            switch value {
            case .computed: assignments.values.append((column.name, "ocd_targets.v\(index)"))
            case .constant(let constant):
                if let target = constant.objectID { try store.checkTarget(target, of: update.layout.fullName(slot), in: database) }
                assignments.set(
                    column.name,
                    to: try ValueCoding.parameter(
                        constant, column.coding, attribute: update.layout.fullName(slot), update.layout.attribute(atSlot: slot)))
                if let entityColumn = column.entityColumn {
                    let number = constant.objectID.flatMap { store.schema[$0.entity]?.number }
                    assignments.set(entityColumn, to: number.map { .integer($0) } ?? .null)
                }
            }
        }
        for (slot, order) in try SavePlan.orderedOwners(of: map, schema: store.schema) where update.slots.contains(slot) {
            guard let owner = map.columns[slot]?.name, let value = assignments.values.first(where: { $0.column == owner })?.value else { continue }
            assignments.values.append((order, SQLiteRowInserter.place(order, keptWhere: owner, is: value)))
        }
        let members = update.plan.members.compactMap { store.schema[$0] }
        do {
            try write(assignments, in: database)
        } catch let error as SQLiteError where error.code == SQLiteError.uniqueViolation {
            // The keys may be right in the end and collide on the way: rows exchange them.
            let keys = members.flatMap(\.constraints).flatMap(\.columns).filter { update.slots.contains($0.slot) }
            if keys.isEmpty { throw store.constraintError(error, of: members, "update") }
            // An owner stays where it can: who keeps it keeps his place.
            let plain = keys.filter { $0.coding != .reference }
            let cleared = Set((plain.isEmpty ? keys : plain).map(\.name)).sorted().map { (column: $0, value: "NULL") }
            try write(Assignments(values: cleared), raisesVersion: false, in: database)
            do { try write(assignments, in: database) } catch let error as SQLiteError where error.code == SQLiteError.uniqueViolation {
                throw store.constraintError(error, of: members, "update")
            }
        }
    }

    private func write(_ assignments: Assignments, raisesVersion: Bool = true, in database: Database) throws {
        let table = map.tableName.sqlName, sum = store.schema.tables[map.table].sum
        var terms = assignments.values.map { "\($0.column.sqlName) = \($0.value)" }
        if raisesVersion { terms.append("Z_OPT = \(SaveOperation.nextVersion)") }
        if let sum { terms.append("\(sum.column) = \(sum.replacing(assignments.values))") }
        let statement = try database.prepared(
            "UPDATE \(table) SET \(terms.joined(separator: ", ")) FROM temp.ocd_targets WHERE ocd_targets.key = \(table).Z_PK")
        try statement.bind(assignments.parameters)
        try statement.run()
    }

    private func record(_ count: Int, _ origin: SaveOrigin, in database: Database) throws {
        let entry = try SQLiteHistoryEntry(origin, changes: count, schema: store.schema, in: database)
        for member in update.plan.members.compactMap({ store.schema[$0] }) {
            let form = try entry.form(of: member)
            try entry.add(
                .update, of: member, keys: "SELECT key FROM temp.ocd_targets WHERE entity = \(member.number)", names: form.namesText,
                mask: form.mask(update.slots))
        }
    }
}
