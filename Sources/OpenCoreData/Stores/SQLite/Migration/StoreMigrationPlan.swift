import Foundation
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
        /// Over attributes that were there before.
        case addedIndex(over: [String], of: String)
        /// Over attributes that are still there.
        case removedIndex(over: [String], of: String)
    }

    /// How often the rows of one table are gone through.
    package struct Pass: Sendable, Equatable {
        package let rows: Int
        package let times: Int
        /// Whether they are pairs of a relationship: else they are objects.
        package let arePairs: Bool

        package init(rows: Int, times: Int, arePairs: Bool = false) {
            self.rows = rows
            self.times = times
            self.arePairs = arePairs
        }
    }

    /// In the order of the entities' names.
    package let changes: [Change]
    /// What takes time, a table each, without those that have no rows. A property that is only added goes through none.
    package let passes: [Pass]
    /// Whether the file is of the model already, but for what no hash tells of, as indexes: opening it for writing brings it to that unasked.
    package let isOfModel: Bool

    /// Nil where there is no file yet, or where it is of this model already, with all its indexes. Others may write meanwhile.
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
        guard let probe = try opening.probe() else { return nil }
        if !opening.isOfModel(probe) { return try plan(opening, probe, model, isOfModel: false) }
        // What stands against it leaves the store as it is, and usable.
        guard opening.mayBeRefreshed(probe), let plan = try? plan(opening, probe, model, isOfModel: true) else { return nil }
        return plan.changes.isEmpty && plan.passes.isEmpty ? nil : plan
    }

    private static func plan(
        _ opening: SQLiteStoreOpening, _ probe: SQLiteStoreOpening.Probe, _ model: NSManagedObjectModel, isOfModel: Bool
    ) throws -> StoreMigrationPlan {
        let migration = SQLiteMigration(
            url: opening.url, probe: probe, source: try opening.source(of: probe), entities: opening.entities, model: model, sumsRows: false)
        return try opening.reading { database in
            var metadata = probe.metadata
            let change = try migration.checked(&metadata, in: database), joins = Set(change.schema.old.joins.map(\.name))
            let times = Dictionary(change.schema.works.map { ($0.table, 1) }, uniquingKeysWith: +)
            return Self(
                changes: try change.model.entities.sorted { $0.name < $1.name }.flatMap { try changes($0, change.schema.old, database) },
                passes: try times.sorted { $0.key < $1.key }.compactMap { table, times in
                    let rows = Int(try database.integer("SELECT count(*) FROM \(table.sqlName)") ?? 0)
                    return rows == 0 ? nil : Pass(rows: rows, times: times, arePairs: joins.contains(table))
                },
                isOfModel: isOfModel)
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
        return result + indexChanges(change, from: source, to: destination)
    }

    /// Without the indexes of attributes that come or go themselves.
    private static func indexChanges(_ change: EntityChange, from source: NSEntityDescription, to destination: NSEntityDescription) -> [Change] {
        let kept =
            change.attributes.compactMap { attribute in attribute.source.map { (was: $0.name, now: attribute.destination.name) } }
            + change.relationships.compactMap { relationship in relationship.source.map { (was: $0.name, now: relationship.destination.name) } }
        let now = Dictionary(kept.map { ($0.was, $0.now) }, uniquingKeysWith: { first, _ in first }), known = Set(kept.map(\.now))
        let before = Set(
            indexed(source).compactMap { names -> [String]? in
                let renamed = names.compactMap { now[$0] }
                return renamed.count == names.count ? renamed : nil
            })
        let after = indexed(destination).filter { known.isSuperset(of: $0) }
        func sorted(_ indexes: Set<[String]>) -> [[String]] { indexes.sorted { $0.lexicographicallyPrecedes($1) } }
        return sorted(after.subtracting(before)).map { .addedIndex(over: $0, of: change.name) }
            + sorted(before.subtracting(after)).map { .removedIndex(over: $0, of: change.name) }
    }

    /// What an entity itself declares indexes over.
    private static func indexed(_ entity: NSEntityDescription) -> Set<[String]> {
        // A to-one has one in any case.
        let attributes = entity.declaredLeaves.filter { $0 is NSAttributeDescription && $0.isStored && $0.isIndexed }.map { [$0.name] }
        return Set(attributes + entity.indexes.map { $0.elements.compactMap(\.indexedName) }.filter { !$0.isEmpty })
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
