import Foundation

/// Plain SQL over the tables: a view per entity, named as in the model, for everybody who reads the file with `sqlite3` or the like.
extension SQLiteSchema {
    /// Name and statement of every view. A name that a table or another view has already gets an underscore at its end.
    func views() -> [(name: String, sql: String)] {
        var used = Set((tables.map(\.name) + joins.map(\.name) + ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]).map { $0.lowercased() })
        var result: [(name: String, sql: String)] = []
        func add(_ wanted: String, _ body: String) {
            var name = wanted
            while !used.insert(name.lowercased()).inserted { name += "_" }
            result.append((name, "CREATE VIEW \(name.quoted) AS \(body)"))
        }
        let shown = entities.filter { $0.entity.hasView }
        for map in shown { add(map.name, entityView(map)) }
        for map in shown {
            for (number, relationship) in map.layout.toManys.enumerated() where relationship.entity === map.entity {
                guard case .pairs(let join, let mine, let theirs, let order, _)? = map.toManys[number],
                    let destination = relationship.destinationEntity, destination.hasView, let target = self[destination]
                else { continue }
                add(
                    "\(map.name)_\(relationship.name)",
                    pairView(of: map, to: target, relationship: relationship, join: joins[join].name, mine: mine, theirs: theirs, order: order))
            }
        }
        return result
    }

    private func entityView(_ map: EntityMap) -> String {
        var names: Set<String> = [], columns: [String] = []
        for column in map.columns {
            guard let column else { continue }
            let name = unused(map.layout.names[column.slot], among: &names)
            columns.append("\(text(of: column, in: "t", map)) AS \(name.quoted)")
        }
        columns.append("t.Z_PK AS \(unused("_pk", among: &names).quoted)")
        return "SELECT \(columns.joined(separator: ", ")) FROM \(map.tableName.quoted) AS t" + filter(map, alias: "t", keyword: "WHERE")
    }

    private func unused(_ wanted: String, among used: inout Set<String>) -> String {
        var name = wanted
        while !used.insert(name.lowercased()).inserted { name += "_" }
        return name
    }

    private func filter(_ map: EntityMap, alias: String, keyword: String) -> String {
        let numbers = numbers(of: map.entity)
        if numbers.count == tables[map.table].members.count { return "" }
        return " \(keyword) \(alias).Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }

    private func pairView(
        of map: EntityMap, to target: EntityMap, relationship: NSRelationshipDescription, join: String, mine: String, theirs: String,
        order: String?
    ) -> String {
        var names: Set<String> = []
        let first = unused(map.name, among: &names)
        let second = unused(target.entity === map.entity ? relationship.name : target.name, among: &names)
        let position = order.map { ", j.\($0.quoted) AS \(unused("_position", among: &names).quoted)" } ?? ""
        return "SELECT \(identifier(of: map, alias: "a")) AS \(first.quoted), \(identifier(of: target, alias: "b")) AS \(second.quoted)\(position) "
            + "FROM \(join.quoted) AS j JOIN \(map.tableName.quoted) AS a ON a.Z_PK = j.\(mine.quoted) "
            + "JOIN \(target.tableName.quoted) AS b ON b.Z_PK = j.\(theirs.quoted)" + filter(map, alias: "a", keyword: "WHERE")
    }

    /// What stands for an object of this entity: its key attribute, where the entity has a single-attribute constraint, else its primary key.
    private func identifier(of map: EntityMap, alias: String) -> String {
        guard let key = map.constraints.first, key.columns.count == 1, key.columns[0].coding != .reference else { return "\(alias).Z_PK" }
        return text(of: key.columns[0], in: alias, map)
    }

    private func text(of column: SlotColumn, in alias: String, _ map: EntityMap) -> String {
        let name = "\(alias).\(column.name.quoted)"
        switch column.coding {
        case .integer, .boolean, .double, .string, .uri, .data, .transformable: return name
        case .decimal: return "CASE typeof(\(name)) WHEN 'blob' THEN CAST(\(name) AS TEXT) ELSE \(name) END"
        case .date:
            let unix = "\(name) + 978307200.0, 'unixepoch'"
            return "CASE WHEN \(name) = CAST(\(name) AS INTEGER) THEN strftime('%Y-%m-%dT%H:%M:%SZ', \(unix)) "
                + "ELSE rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', \(unix)), '0'), '.') || 'Z' END"
        case .uuid:
            let hex = "lower(hex(\(name)))"
            let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(\(hex), \($0.0), \($0.1))" }.joined(separator: " || '-' || ")
            return "CASE WHEN \(name) IS NOT NULL THEN \(parts) END"
        case .reference:
            guard let destination = map.layout.relationship(atSlot: column.slot)?.destinationEntity, let target = self[destination],
                let key = target.constraints.first, key.columns.count == 1, key.columns[0].coding != .reference
            else { return name }
            return "(SELECT \(text(of: key.columns[0], in: "k", target)) FROM \(target.tableName.quoted) AS k WHERE k.Z_PK = \(name))"
        }
    }
}

extension NSEntityDescription {
    /// Whether readers of the file see it: not if its name starts with an underscore, or its user info says `cistern.internal`.
    var hasView: Bool { !(name ?? "").hasPrefix("_") && userInfo?["cistern.internal"] == nil }
}
