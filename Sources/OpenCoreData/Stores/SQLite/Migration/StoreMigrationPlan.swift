package import Foundation
import GRDB

/// What opening a file with a model would do to what is in it: told before anything is done.
package struct StoreMigrationPlan: Sendable, Equatable {
    /// One change, by names; of a property with the entity that declares it.
    package enum Change: Sendable, Equatable {
        case addedEntity(String)
        case renamedEntity(String, from: String)
        case removedEntity(String, objects: Int)
        case addedProperty(String, of: String)
        case renamedProperty(String, of: String, from: String)
        /// With how many objects have a value, or members.
        case removedProperty(String, of: String, values: Int)
        /// What it was and is, in words.
        case changedProperty(String, of: String, from: String, to: String)
        /// An entity's constraints.
        case changedConstraints(of: String)
    }

    /// In the order of the entities' names.
    package let changes: [Change]
    /// How many rows are gone through, once for each statement that does: what takes time. A property that is only added goes through none.
    package let rows: Int

    /// Nil where there is no file yet, or where it is of this model already. Others may write meanwhile.
    ///
    /// Throws as opening would before anything is done: 134190 where the change can't be inferred, 134130 where the file does not say which model it was
    /// made with, 134080 and the rest where it can't be read.
    package static func plan(for url: URL, model: NSManagedObjectModel) throws -> StoreMigrationPlan? {
        model.freeze()
        let opening = SQLiteStoreOpening(url: url, entities: model.entities, model: model, options: try SQLiteStoreOptions(nil), isReadOnly: true)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        // As opening does: to SQLite a file is damaged where the disk does not give it out.
        return try opening.lookingTwice { try plan(opening, model) }
    }

    private static func plan(_ opening: SQLiteStoreOpening, _ model: NSManagedObjectModel) throws -> StoreMigrationPlan? {
        guard let probe = try opening.probe(), !opening.isOfModel(probe) else { return nil }
        let migration = SQLiteMigration(
            url: opening.url, probe: probe, source: try opening.source(of: probe), entities: model.entities, model: model, sumsRows: false)
        return try opening.reading { database in
            var metadata = probe.metadata
            let change = try migration.checked(&metadata, in: database)
            return Self(
                changes: try change.model.entities.sorted { $0.name < $1.name }.flatMap { try changes($0, change.schema.old, database) },
                rows: try change.schema.works.reduce(0) {
                    try $0 + Int(database.integer("SELECT count(*) FROM \($1.table.sqlName)") ?? 0)
                })
        }
    }

    private static func changes(_ change: EntityChange, _ schema: SQLSchema, _ database: Database) throws -> [Change] {
        guard let destination = change.destination else {
            guard let map = change.source.flatMap({ schema[$0] }) else { return [] }
            let count = try database.integer("SELECT count(*) FROM \(map.tableName.sqlName) WHERE Z_ENT = ?", [.integer(map.number)]) ?? 0
            return [.removedEntity(change.name, objects: Int(count))]
        }
        guard let source = change.source, let map = schema[source] else { return [.addedEntity(change.name)] }
        let name = change.name
        var result: [Change] = source.name == name ? [] : [.renamedEntity(name, from: source.name ?? "")]
        var kept: Set<String> = []
        func add(_ property: NSPropertyDescription, from before: NSPropertyDescription?, _ words: (NSPropertyDescription) -> String) {
            if let before { kept.insert(before.name) }
            guard property.entity === destination else { return }
            guard let before else { return result.append(.addedProperty(property.name, of: name)) }
            if before.name != property.name { result.append(.renamedProperty(property.name, of: name, from: before.name)) }
            let was = words(before), now = words(property)
            if was != now { result.append(.changedProperty(property.name, of: name, from: was, to: now)) }
        }
        for attribute in change.attributes { add(attribute.destination, from: attribute.source) { Self.words($0) } }
        for relationship in change.relationships { add(relationship.destination, from: relationship.source) { Self.words($0) } }
        for property in source.declaredLeaves.sorted(by: { $0.name < $1.name }) where property.isStored && !kept.contains(property.name) {
            result.append(.removedProperty(property.name, of: name, values: try count(of: property, map, schema, database)))
        }
        if source.constraintNames != destination.constraintNames { result.append(.changedConstraints(of: name)) }
        return result
    }

    private static func words(_ property: NSPropertyDescription) -> String {
        let kind: String
        switch property {
        case let attribute as NSAttributeDescription: kind = attribute.kind.name
        case let relationship as NSRelationshipDescription:
            kind = relationship.isToMany ? relationship.isOrdered ? "ordered to-many" : "to-many" : "to-one"
        default: kind = ""
        }
        return kind + (property.isOptional ? "" : ", required")
    }

    private static func count(of property: NSPropertyDescription, _ map: EntityMap, _ schema: SQLSchema, _ database: Database) throws -> Int {
        let query: String
        if let column = map.layout.slot(of: property.name).flatMap({ map.columns[$0] }) {
            query = "SELECT count(\(column.name.sqlName)) FROM \(map.tableName.sqlName) WHERE Z_ENT = \(map.number)"
        } else if let number = map.layout.toManys.firstIndex(where: { $0 === property }), let place = map.toManys[number] {
            switch place {
            // What names the owner is the members' own.
            case .inverse: return 0
            case .pairs(let join, _, _, _, _): query = "SELECT count(*) FROM \(schema.joins[join].name.sqlName)"
            }
        } else {
            return 0
        }
        return Int(try database.integer(query) ?? 0)
    }
}

extension EntityChange {
    /// What it is called, or was.
    fileprivate var name: String { destination?.name ?? source?.name ?? "?" }
}
