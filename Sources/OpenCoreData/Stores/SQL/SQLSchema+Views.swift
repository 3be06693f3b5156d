import Foundation

/// Plain SQL over the tables: a view per entity, named as in the model, for everybody who reads the database without this library.
extension SQLSchema {
    /// Name and statement of every view. A name that a table or another view has already gets an underscore at its end.
    func views() -> [(name: String, sql: String)] {
        let others = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"] + dialect.ownTables
        var used = Set((tables.map(\.name) + joins.map(\.name) + others).map { $0.lowercased() })
        var result: [(name: String, sql: String)] = []
        func add(_ wanted: String, _ body: String) {
            var name = wanted
            while !used.insert(name.lowercased()).inserted { name += "_" }
            result.append((name, "CREATE VIEW \(name.sqlName) AS \(body)"))
        }
        let shown = entities.filter { $0.entity.hasView }
        for map in shown {
            add(map.entity.viewName, entityView(map, isLive: true))
            if liveColumn(of: map) != nil { add("\(map.entity.viewName)_tombstone", entityView(map, isLive: false)) }
        }
        for map in shown {
            for (number, relationship) in map.layout.toManys.enumerated() where relationship.entity === map.entity {
                guard case .pairs(let join, let mine, let theirs, let order, _)? = map.toManys[number],
                    let destination = relationship.destinationEntity, destination.hasView, let target = self[destination]
                else { continue }
                add(
                    "\(map.entity.viewName)_\(relationship.name)",
                    pairView(of: map, to: target, relationship: relationship, join: joins[join].name, mine: mine, theirs: theirs, order: order))
            }
        }
        // Views over these views, which the model asks for.
        for map in shown {
            for (name, sql) in (map.entity.userInfo?[ViewAnnotation.extra] as? [String: String] ?? [:]).sorted(by: { $0.key < $1.key }) {
                add(name, sql)
            }
        }
        return result
    }

    private func entityView(_ map: EntityMap, isLive: Bool) -> String {
        var names: Set<String> = [], columns: [String] = []
        for column in map.columns {
            guard let column else { continue }
            let property = map.layout.names[column.slot]
            let leaf = map.entity.leavesByName[property]
            let wanted = leaf?.userInfo?[ViewAnnotation.column] as? String ?? (leaf as? NSAttributeDescription)?.plainName ?? property
            if wanted.isEmpty { continue }
            let name = unused(wanted, among: &names)
            columns.append("\(text(of: column, in: "t", map, isLive: isLive)) AS \(name.sqlName)")
        }
        columns.append("t.Z_PK AS \(unused("_pk", among: &names).sqlName)")
        return "SELECT \(columns.joined(separator: ", ")) FROM \(map.tableName.sqlName) AS t"
            + Self.filter(conditions(on: map, alias: "t", isLive: isLive))
    }

    private func unused(_ wanted: String, among used: inout Set<String>) -> String {
        var name = wanted
        while !used.insert(name.lowercased()).inserted { name += "_" }
        return name
    }

    /// The column that is null in the live rows of an entity, where it has one.
    private func liveColumn(of map: EntityMap) -> String? {
        map.entity.liveAttribute.flatMap { map.layout.slot(of: $0) }.flatMap { map.columns[$0]?.name.sqlName }
    }

    /// What rows of an entity's table must fulfil to be shown.
    private func conditions(on map: EntityMap, alias: String, isLive: Bool) -> [String] {
        var result: [String] = []
        let numbers = numbers(of: map.entity)
        if numbers.count < tables[map.table].members.count {
            result.append("\(alias).Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))")
        }
        if let column = liveColumn(of: map) { result.append("\(alias).\(column) IS \(isLive ? "" : "NOT ")NULL") }
        return result
    }

    private static func filter(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    }

    private func pairView(
        of map: EntityMap, to target: EntityMap, relationship: NSRelationshipDescription, join: String, mine: String, theirs: String,
        order: String?
    ) -> String {
        var names: Set<String> = []
        let first = unused(map.entity.viewName, among: &names)
        let second = unused(target.entity === map.entity ? relationship.name : target.entity.viewName, among: &names)
        let position = order.map { ", j.\($0.sqlName) AS \(unused("_position", among: &names).sqlName)" } ?? ""
        return "SELECT \(identifier(of: map, alias: "a")) AS \(first.sqlName), \(identifier(of: target, alias: "b")) AS \(second.sqlName)\(position) "
            + "FROM \(join.sqlName) AS j JOIN \(map.tableName.sqlName) AS a ON a.Z_PK = j.\(mine.sqlName) "
            + "JOIN \(target.tableName.sqlName) AS b ON b.Z_PK = j.\(theirs.sqlName)"
            + Self.filter(conditions(on: map, alias: "a", isLive: true) + conditions(on: target, alias: "b", isLive: true))
    }

    /// What stands for an object of this entity: its key attribute, where the entity has a single-attribute constraint, else its primary key.
    private func identifier(of map: EntityMap, alias: String) -> String {
        guard let key = map.constraints.first, key.columns.count == 1, key.columns[0].coding != .reference else { return "\(alias).Z_PK" }
        return text(of: key.columns[0], in: alias, map)
    }

    /// - Parameter isLive: shows live rows: what a reference names that is not live itself is shown only where the delete rule would leave it there.
    private func text(of column: SlotColumn, in alias: String, _ map: EntityMap, isLive: Bool = false) -> String {
        let name = "\(alias).\(column.name.sqlName)"
        switch column.coding {
        case .integer, .boolean, .double, .string, .uri, .data, .transformable, .decimal, .date, .uuid: return dialect.readable(name, column.coding)
        case .reference:
            guard let relationship = map.layout.relationship(atSlot: column.slot), let destination = relationship.destinationEntity,
                let target = self[destination]
            else { return name }
            let isEmptied = isLive && relationship.inverseRelationship?.deleteRule == .nullifyDeleteRule
            let live = isEmptied ? liveColumn(of: target).map { " AND k.\($0) IS NULL" } : nil
            guard let key = target.constraints.first, key.columns.count == 1, key.columns[0].coding != .reference else {
                return live.map { "(SELECT k.Z_PK FROM \(target.tableName.sqlName) AS k WHERE k.Z_PK = \(name)\($0))" } ?? name
            }
            return "(SELECT \(text(of: key.columns[0], in: "k", target)) FROM \(target.tableName.sqlName) AS k WHERE k.Z_PK = \(name)\(live ?? ""))"
        }
    }
}

/// Keys of `userInfo` that shape the views.
package enum ViewAnnotation {
    /// Of an attribute: the column's name; empty: no column.
    package static let column = "view.column"
    /// Of an entity: the view's name.
    package static let name = "view.name"
    /// Of an entity: true for no view.
    package static let hidden = "view.hidden"
    /// Of an entity: the attribute that is null in live rows. The view shows only those; the others stand in `<view>_tombstone`.
    package static let liveWhereNull = "view.liveWhereNull"
    /// Of an entity: further views, name to SELECT statement over the plain views.
    package static let extra = "view.extra"
}

extension NSEntityDescription {
    /// Whether readers of the file see it: not if its name starts with an underscore, or its user info says so.
    var hasView: Bool { !(name ?? "").hasPrefix("_") && userInfo?[ViewAnnotation.hidden] as? Bool != true }
    var viewName: String { userInfo?[ViewAnnotation.name] as? String ?? name ?? "" }
    var liveAttribute: String? { userInfo?[ViewAnnotation.liveWhereNull] as? String }
}
