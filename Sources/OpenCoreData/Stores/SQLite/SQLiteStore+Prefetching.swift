import Foundation
import GRDB
import GRDBSQLite

extension SQLiteStore {
    /// Keys of one relationship, whatever the concrete entities of their owners.
    private struct Group {
        let place: ToManyPlace
        let destination: NSEntityDescription
        var owners: [Int64: RelationshipKey] = [:]
    }

    /// The members of many to-manys with their rows: one query a relationship, the owners as one parameter.
    func members(of keys: [RelationshipKey], at state: SQLiteState? = nil) throws -> [RelationshipKey: [FetchedRow]] {
        var groups: [String: Group] = [:]
        for key in keys {
            let map = try schema.map(of: key.owner.entity)
            guard let place = map.toManys[key.toMany], let destination = key.relationship.destinationEntity else { continue }
            groups[place.name, default: Group(place: place, destination: destination)].owners[key.owner.key] = key
        }
        var result: [RelationshipKey: [FetchedRow]] = [:]
        for group in groups.values { try read(group, at: state, into: &result) }
        return result
    }

    private func read(_ group: Group, at state: SQLiteState?, into result: inout [RelationshipKey: [FetchedRow]]) throws {
        let target = try schema.map(of: group.destination), shape = shape(of: group.destination.rootEntity)
        let sql: String
        // CROSS JOIN keeps the list of owners outside, so that the index is searched once an owner.
        switch group.place {
        case .inverse(let table, let column, _, let order):
            sql =
                "SELECT \(shape.list(alias: "t")), k.value, \(order.map { "t.\($0.sqlName)" } ?? "NULL") "
                + "FROM json_each(?) AS k CROSS JOIN \(table.sqlName) AS t WHERE t.\(column.sqlName) = k.value"
        case .pairs(let join, let mine, let theirs, let order, _):
            sql =
                "SELECT \(shape.list(alias: "t")), k.value, \(order.map { "j.\($0.sqlName)" } ?? "NULL") "
                + "FROM json_each(?) AS k CROSS JOIN \(schema.joins[join].name.sqlName) AS j CROSS JOIN \(target.tableName.sqlName) AS t "
                + "WHERE j.\(mine.sqlName) = k.value AND t.Z_PK = j.\(theirs.sqlName)"
        }
        let ownerIndex = Int32(shape.columns.count)
        let found = try reading(at: state) { database in
            let statement = try database.cached(sql)
            try statement.bind([.text(JSONList.text(group.owners.keys.sorted()))])
            var reader = RowReader(shape, schema: schema, identity: identity)
            // A member of many owners is read once.
            var known: [Int64: FetchedRow] = [:]
            var found: [Int64: [(order: Int64, member: FetchedRow)]] = [:]
            try statement.forEachRow { raw in
                let key = sqlite3_column_int64(raw, 0)
                guard let member = try known[key] ?? reader.read(raw) else { return }
                known[key] = member
                let isOrdered = sqlite3_column_type(raw, ownerIndex + 1) != SQLITE_NULL
                found[sqlite3_column_int64(raw, ownerIndex), default: []]
                    .append((isOrdered ? sqlite3_column_int64(raw, ownerIndex + 1) : .max, member))
            }
            return found
        }
        for (owner, members) in found {
            guard let key = group.owners[owner] else { continue }
            result[key] = members.sorted { ($0.order, $0.member.id.key) < ($1.order, $1.member.id.key) }.map(\.member)
        }
    }
}

extension ToManyPlace {
    /// Distinguishes places of one store.
    fileprivate var name: String {
        switch self {
        case .inverse(let table, let column, _, let order): "\(table).\(column).\(order ?? "")"
        case .pairs(let join, let mine, _, _, _): "\(join).\(mine)"
        }
    }
}
