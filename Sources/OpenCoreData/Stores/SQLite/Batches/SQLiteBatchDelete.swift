import Foundation
import GRDB
import GRDBSQLite

/// Rows that go, with what the model's delete rules take along, and the references to them, which are emptied.
struct SQLiteBatchDelete: SQLiteBatch {
    private enum Selection {
        case found(SQLTranslator.Query)
        /// Keys by table, as JSON.
        case keys([Int: String])
    }

    private let selection: Selection
    private let tellsIDs: Bool
    private let store: SQLiteStore
    private(set) var counts = StatementCounts()

    private var schema: SQLSchema { store.schema }

    /// Throws 134060 for a predicate that SQL has no words for.
    init(_ delete: BatchDelete, tellsIDs: Bool, in store: SQLiteStore) throws {
        self.tellsIDs = tellsIDs
        self.store = store
        switch delete {
        case .found(let plan):
            let table = try store.schema.map(of: plan.entity).table
            let query = try SQLTranslator(schema: store.schema, identity: store.identity).query(plan) { "\(table), \($0).Z_PK, \($0).Z_ENT, 0" }
            selection = .found(query)
        case .ids(let ids):
            var keys: [Int: [Int64]] = [:]
            for id in ids where id.mayBe(in: store.identity) { keys[try store.schema.map(of: id.entity).table, default: []].append(id.key) }
            selection = .keys(keys.mapValues { JSONList.text($0) })
        }
    }

    mutating func run(in database: Database, recordedAs origin: SaveOrigin?) throws -> BatchOutcome {
        try find(in: database)
        defer {
            try? SQLiteStore.dropTargets(in: database)
            try? database.execute(sql: "DROP TABLE IF EXISTS temp.ocd_touched")
        }
        try cascade(in: database)
        var outcome = BatchOutcome()
        outcome.count = Int(try database.integer("SELECT count(*) FROM temp.ocd_targets") ?? 0)
        if outcome.count == 0 { return outcome }
        try checkReferences(in: database)
        if let origin {
            try noteTouched(in: database)
            try record(outcome.count, origin, in: database)
        }
        if tellsIDs { outcome.ids = try store.ids("SELECT key, entity FROM temp.ocd_targets ORDER BY place, key", in: database) }
        try empty(in: database)
        try delete(in: database)
        return outcome
    }

    // MARK: What goes

    /// The table of the rows that go: the number of their table, their key, their entity's number, and in which round they were found.
    private func find(in database: Database) throws {
        try SQLiteStore.dropTargets(in: database)
        try database.execute(
            sql: """
                CREATE TEMP TABLE ocd_targets (place INTEGER, key INTEGER, entity INTEGER, round INTEGER, PRIMARY KEY (place, key)) WITHOUT ROWID;
                CREATE INDEX temp.ocd_rounds ON ocd_targets (round, place, entity);
                DROP TABLE IF EXISTS temp.ocd_touched;
                CREATE TEMP TABLE ocd_touched (entity INTEGER, key INTEGER, names TEXT, PRIMARY KEY (entity, key)) WITHOUT ROWID;
                """)
        switch selection {
        case .found(let query):
            let statement = try database.prepared("INSERT INTO temp.ocd_targets \(query.sql)")
            try statement.bindNumbered(query.parameters)
            try statement.run()
        case .keys(let keys):
            for (table, keys) in keys {
                try database.run(
                    "INSERT INTO temp.ocd_targets SELECT \(table), Z_PK, Z_ENT, 0 FROM \(schema.tables[table].name.sqlName) "
                        + "WHERE Z_PK IN (SELECT value FROM json_each(?))", [.text(keys)])
            }
        }
    }

    /// Adds what the rule takes along, round after round: what the rows of one round lead to is the next.
    private func cascade(in database: Database) throws {
        var statements: [String] = []
        for map in schema.entities {
            for relationship in map.entity.relationshipsByName.values where relationship.deleteRule == .cascadeDeleteRule && !relationship.isTransient
            {
                if let related = try related(by: relationship, of: map) { statements.append(related) }
            }
        }
        if statements.isEmpty { return }
        var round: Int64 = 0, isDone = false
        while !isDone {
            isDone = true
            for sql in statements where try database.run(sql, [.integer(round)]) > 0 { isDone = false }
            round += 1
        }
    }

    /// The statement that adds what one relationship of one entity leads to from the rows that were found in round `?1`.
    private func related(by relationship: NSRelationshipDescription, of map: EntityMap) throws -> String? {
        // What leads into another store's entities is kept there, at the other end.
        guard let table = relationship.destinationEntity.flatMap({ schema[$0] })?.table else { return nil }
        let rows = schema.tables[table].name.sqlName
        let owners = "temp.ocd_targets AS o WHERE o.place = \(map.table) AND o.entity = \(map.number) AND o.round = ?1"
        let members: String
        switch map.layout.place(of: relationship.name) {
        case .slot(let slot)?:
            guard let column = map.columns[slot] else { return nil }
            members = "SELECT \(column.name.sqlName) FROM \(map.tableName.sqlName) WHERE Z_PK IN (SELECT o.key FROM \(owners))"
        case .toMany(let number)?:
            switch map.toManys[number] {
            case .inverse(let place, let column, _, _)?:
                members = "SELECT Z_PK FROM \(place.sqlName) WHERE \(column.sqlName) IN (SELECT o.key FROM \(owners))"
            case .pairs(let join, let mine, let theirs, _, _)?:
                members = "SELECT \(theirs.sqlName) FROM \(schema.joins[join].name.sqlName) WHERE \(mine.sqlName) IN (SELECT o.key FROM \(owners))"
            case nil: return nil
            }
        case .composite?, nil: return nil
        }
        return "INSERT OR IGNORE INTO temp.ocd_targets SELECT \(table), Z_PK, Z_ENT, ?1 + 1 FROM \(rows) WHERE Z_PK IN (\(members))"
    }

    // MARK: What led to it

    /// A to-one that may lead to rows that go, in rows that stay.
    private struct Reference {
        let map: EntityMap
        let relationship: NSRelationshipDescription
        let column: SlotColumn
        let target: Int
    }

    /// The to-ones that are emptied where what they lead to goes: each for the entity that declares it.
    private func references(_ body: (Reference) throws -> Void) throws {
        for map in schema.entities {
            for slot in map.layout.toOneSlots {
                guard let relationship = map.layout.relationship(atSlot: slot), let column = map.columns[slot],
                    map.entity.superentity?.relationshipsByName[relationship.name] == nil,
                    relationship.inverseRelationship?.deleteRule != .noActionDeleteRule, let destination = relationship.destinationEntity
                else { continue }
                try body(Reference(map: map, relationship: relationship, column: column, target: try schema.map(of: destination).table))
            }
        }
    }

    /// Rows of the reference that stay and lead to what goes.
    private func remaining(_ reference: Reference) -> String {
        "\(reference.column.name.sqlName) IN (SELECT key FROM temp.ocd_targets WHERE place = \(reference.target)) "
            + "AND Z_PK NOT IN (SELECT key FROM temp.ocd_targets WHERE place = \(reference.map.table))"
    }

    private func rows(_ reference: Reference) -> String { "FROM \(reference.map.tableName.sqlName) WHERE \(remaining(reference))" }

    /// Throws where a reference would be emptied that may not be empty.
    private func checkReferences(in database: Database) throws {
        try references { reference in
            guard !reference.relationship.isOptional, let key = try database.integer("SELECT Z_PK \(rows(reference))") else { return }
            throw NSError.requiredReference(reference.map.layout.fullName(reference.column.slot), of: key)
        }
    }

    /// Notes which rows that stay are changed, and in which properties.
    private func noteTouched(in database: Database) throws {
        func note(_ name: String, _ query: String) throws {
            try database.run(
                "INSERT INTO temp.ocd_touched SELECT f.Z_ENT, f.Z_PK, ?1 FROM (\(query)) AS f WHERE true "
                    + "ON CONFLICT (entity, key) DO UPDATE SET names = names || ',' || excluded.names", [.text(name)])
        }
        try references { try note($0.relationship.name, "SELECT Z_ENT, Z_PK \(rows($0))") }
        for map in schema.entities {
            for (number, place) in map.toManys.enumerated() {
                let relationship = map.layout.toManys[number]
                guard case .pairs(let join, let mine, let theirs, _, _)? = place,
                    let target = relationship.destinationEntity.flatMap({ schema[$0] })?.table
                else { continue }
                try note(
                    relationship.name,
                    "SELECT Z_ENT, Z_PK FROM \(map.tableName.sqlName) WHERE Z_ENT = \(map.number) AND Z_PK NOT IN "
                        + "(SELECT key FROM temp.ocd_targets WHERE place = \(map.table)) AND Z_PK IN (SELECT \(mine.sqlName) FROM "
                        + "\(schema.joins[join].name.sqlName) WHERE \(theirs.sqlName) IN (SELECT key FROM temp.ocd_targets WHERE place = \(target)))")
            }
        }
    }

    private mutating func empty(in database: Database) throws {
        var updated = 0
        try references { reference in
            guard reference.relationship.isOptional else { return }
            var columns = reference.column.names
            columns += try SavePlan.orderedOwners(of: reference.map, schema: schema).filter { $0.slot == reference.column.slot }.map(\.column)
            let sum = schema.tables[reference.map.table].sum
            var terms = columns.map { "\($0.sqlName) = NULL" } + ["Z_OPT = \(SaveOperation.nextVersion)"]
            if let sum { terms.append("\(sum.column) = \(sum.replacing(columns.map { ($0, "NULL") }))") }
            updated += try database.run(
                "UPDATE \(reference.map.tableName.sqlName) SET \(terms.joined(separator: ", ")) WHERE \(remaining(reference))")
        }
        counts.updates += updated
    }

    // MARK: Writing

    private func record(_ count: Int, _ origin: SaveOrigin, in database: Database) throws {
        let touched = Int(try database.integer("SELECT count(*) FROM temp.ocd_touched") ?? 0)
        let entry = try SQLiteHistoryEntry(origin, changes: count + touched, schema: schema, in: database)
        for map in schema.entities {
            let form = try entry.form(of: map)
            if touched > 0 {
                for names in try String.fetchAll(database, sql: "SELECT DISTINCT names FROM temp.ocd_touched WHERE entity = \(map.number)") {
                    try entry.add(
                        .update, of: map, keys: "SELECT key FROM temp.ocd_touched WHERE entity = \(map.number) AND names = ?8", [.text(names)],
                        names: form.namesText, mask: form.mask(names.split(separator: ",").map(String.init)))
                }
            }
            try entry.add(
                .delete, of: map, keys: "SELECT key FROM temp.ocd_targets WHERE entity = \(map.number)", names: form.tombstonesText)
        }
    }

    private mutating func delete(in database: Database) throws {
        for (number, table) in schema.tables.enumerated() {
            let keys = "SELECT key FROM temp.ocd_targets WHERE place = \(number)"
            for join in table.joins {
                counts.deletes += try database.run("DELETE FROM \(join.table.sqlName) WHERE \(join.column.sqlName) IN (\(keys))")
            }
            counts.deletes += try database.run("DELETE FROM \(table.name.sqlName) WHERE Z_PK IN (\(keys))")
        }
    }
}
