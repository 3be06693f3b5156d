import Foundation
import GRDB
import GRDBSQLite

/// Keeps the values of derived attributes in a file: triggers of the connection that writes note which rows have to be looked at, and before a
/// transaction is committed their values are found anew. Nothing of it stands in the file, so that everybody else can write there as before.
///
/// Also hears what triggers do that Apple's framework has left in the file.
// Touched only by whoever has the connection that writes.
final class SQLiteDerivations: @unchecked Sendable {
    private let derivations: [Derivation]
    private let schema: SQLSchema
    /// How the rows of each derivation are found, and the keys that were noted to find them by.
    private var routes: [(derivation: Int, route: DerivationRoute, noted: Set<Int64>)] = []
    /// By number of the table: the keys of rows to which triggers of the file have given values.
    private var changed: [Int: Set<Int64>] = [:]

    init(_ derivations: [Derivation], in schema: SQLSchema) {
        self.derivations = derivations
        self.schema = schema
    }

    // MARK: Noting

    static let function = "ocd_derive"

    /// Once, on the connection that writes.
    func arm(_ database: Database) throws {
        try SQLFunctions.registerTriggers(
            on: database.sqliteConnection, deriving: { self.routes[$0].noted.insert($1) },
            changed: { entity, key in
                if let table = self.schema[file: entity]?.table { self.changed[table, default: []].insert(key) }
            })
        var bodies: [Occasion: [String]] = [:]
        for (number, derivation) in derivations.enumerated() {
            var numbers: [DerivationRoute: Int] = [:]
            for occasion in derivation.occasions {
                let route = numbers[occasion.route] ?? routes.count
                if numbers.updateValue(route, forKey: occasion.route) == nil { routes.append((number, occasion.route, [])) }
                bodies[Occasion(table: occasion.table, event: occasion.event), default: []].append(
                    "SELECT \(Self.function)(\(route), \(occasion.key))")
            }
        }
        for (number, (occasion, body)) in bodies.enumerated() {
            let event =
                switch occasion.event {
                case .insert: "INSERT"
                case .delete: "DELETE"
                case .update(let column): "UPDATE OF \(column.sqlName)"
                }
            try database.execute(
                sql:
                    "CREATE TEMP TRIGGER ocd_derive_\(number) AFTER \(event) ON main.\(occasion.table.sqlName) BEGIN \(body.joined(separator: "; ")); END"
            )
        }
    }

    private struct Occasion: Hashable {
        let table: String
        let event: DerivationOccasion.Event
    }

    /// What a transaction noted that came to nothing is no concern of the next one.
    func forget() {
        for number in routes.indices where !routes[number].noted.isEmpty { routes[number].noted = [] }
        if !changed.isEmpty { changed = [:] }
    }

    // MARK: Settling

    /// Inside a transaction that is about to be committed: finds the values that have to be found. Returns the rows that have other values now, those
    /// too that triggers of the file changed: keys by number of the table.
    func settle(in database: Database) throws -> [Int: Set<Int64>] {
        var found = try settleChanged(in: database)
        for (number, keys) in try notedRows(in: database) {
            let derivation = derivations[number], query: SQLTranslator.Query
            switch derivation.value {
            // The second stands where others have the key.
            case .now: query = SQLTranslator.Query(sql: "SELECT ?1 AS v", parameters: [.double(Date().timeIntervalSinceReferenceDate), .null])
            case .computed(let one, _): query = one
            }
            let place = Int32(query.parameters.count)
            let statement = try database.cached(setting(derivation, query) + " \(derivation.map.tableName.sqlName).Z_PK = ?\(place)")
            try statement.bind(query.parameters)
            for key in keys.sorted() {
                try statement.bind(.integer(key), at: place)
                if try statement.run() > 0 { found[derivation.map.table, default: []].insert(key) }
            }
        }
        return found
    }

    /// The keys of the rows to look at, by number of the derivation.
    private func notedRows(in database: Database) throws -> [(Int, Set<Int64>)] {
        var rows: [Int: Set<Int64>] = [:]
        for number in routes.indices where !routes[number].noted.isEmpty {
            let (derivation, route, keys) = routes[number]
            routes[number].noted = []
            if route.hops.isEmpty {
                rows[derivation, default: []].formUnion(keys)
                continue
            }
            let statement = try database.cached(route.owners(of: "SELECT value FROM json_each(?1)"))
            try statement.bind([.text(JSONList.text(keys.sorted()))])
            try statement.forEachRow { raw in
                if sqlite3_column_type(raw, 0) == SQLITE_INTEGER { rows[derivation, default: []].insert(sqlite3_column_int64(raw, 0)) }
            }
        }
        return rows.sorted { $0.key < $1.key }
    }

    /// The sum of a row knows nothing of what a trigger of the file has done.
    private func settleChanged(in database: Database) throws -> [Int: Set<Int64>] {
        for (table, keys) in changed {
            guard let sum = schema.tables[table].sum else { continue }
            let statement = try database.cached("UPDATE \(schema.tables[table].name.sqlName) SET \(sum.column) = \(sum.stored) WHERE Z_PK = ?")
            for key in keys {
                try statement.bind([.integer(key)])
                try statement.run()
            }
        }
        return changed
    }

    /// Finds all values that rows tell.
    func settleAll(in database: Database) throws {
        for derivation in derivations {
            guard case .computed(_, let all) = derivation.value else { continue }
            let statement = try database.prepared(setting(derivation, all) + " \(derivation.map.tableName.sqlName).Z_PK = d.k")
            try statement.bindNumbered(all.parameters)
            try statement.run()
        }
        forget()
    }

    /// An UPDATE up to the condition that says of which rows.
    private func setting(_ derivation: Derivation, _ query: SQLTranslator.Query) -> String {
        let table = derivation.map.tableName.sqlName, column = derivation.column.name
        let sum = schema.tables[derivation.map.table].sum.map { ", \($0.column) = \($0.replacing([(column, "d.v")]))" } ?? ""
        return "UPDATE \(table) SET \(column.sqlName) = d.v\(sum) FROM (\(query.sql)) AS d WHERE \(table).\(column.sqlName) IS NOT d.v "
            + "AND \(table).Z_ENT IN (\(derivation.entities.map(String.init).joined(separator: ", "))) AND"
    }

    // MARK: What a save has to know

    /// Settles, and reads what became of rows: those of the save that have derived values, and others whose values are others now.
    func settle(_ changes: ChangeSet, of store: SQLiteStore, in database: Database) throws -> [NSManagedObjectID: ComputedRow] {
        var keys = try settle(in: database)
        let byOthers = changed
        for part in changes.entities.values where part.entity.layout.hasDerived {
            guard let table = schema[part.entity]?.table else { continue }
            for (id, pending) in part.rows where pending.kind != .deleted { keys[table, default: []].insert(id.key) }
        }
        var rows: [NSManagedObjectID: ComputedRow] = [:]
        for (table, keys) in keys {
            for found in try store.rows(Array(keys), table: table, in: database).values {
                guard let row = found.row else { continue }
                let isByOthers = byOthers[table]?.contains(found.id.key) ?? false
                rows[found.id] = ComputedRow(row: row, slots: isByOthers ? row.layout.attributeSlots : row.layout.derivedSlots)
            }
        }
        return rows
    }

    /// What tells whether the values of a file were found by these derivations.
    static func mark(_ derivations: [Derivation]) -> Data? {
        derivations.isEmpty ? nil : Data(SHA256.hash(derivations.map(\.text).joined(separator: "\n").utf8))
    }
}
