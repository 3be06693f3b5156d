import Foundation
import OpenCoreData
import SyncConfiguration
import SyncPipeline

/// Sets the rows of a store against those of a test. For the queue of the context.
struct RowComparison {
    let configuration: ModelConfiguration
    let context: NSManagedObjectContext

    /// All rows of an entity that are no tombstones; nil: there is no such entity.
    func rows(of name: String) throws -> [NSManagedObject]? {
        guard configuration.entity(named: name) != nil else { return nil }
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        let deletedAt = ModelBuilder.Bookkeeping.deletedAt.rawValue
        return try context.fetch(request).filter { $0.value(forKey: deletedAt) == nil }.map { ($0, words($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// Each row of the test takes the one of its key, or where it does not say its key, the first that is as it says. What is left over on either
    /// side is a difference.
    func differences(_ entity: EntityConfiguration, wanted rows: [Expectation.Row], at place: String) throws -> [TestDifference] {
        var rest = try self.rows(of: entity.name) ?? []
        var differences: [TestDifference] = [], keyless: [Expectation.Row] = []
        for row in rows {
            if let name = row.values.keys.sorted().first(where: { !isProperty($0, of: entity) }) {
                differences.append(TestDifference(row.place, "\(entity.name) has no property \(tomlQuoted(name))"))
                continue
            }
            let key = row.values.filter { entity.key.contains($0.key) }
            guard key.count == entity.key.count else {
                keyless.append(row)
                continue
            }
            guard let index = rest.firstIndex(where: { object in key.allSatisfy { agrees($0.key, of: object, entity, with: $0.value) } }) else {
                differences.append(TestDifference(row.place, "there is no \(entity.name) like this", wanted: TestValue.table(row.values).toml))
                continue
            }
            let object = rest.remove(at: index)
            for (name, value) in row.values.sorted(by: { $0.key < $1.key }) where !agrees(name, of: object, entity, with: value) {
                differences.append(
                    TestDifference(row.place, "\(words(object)): \(name)", wanted: value.toml, got: self.value(name, of: object, entity).toml))
            }
        }
        for row in keyless {
            let index = rest.firstIndex { object in row.values.allSatisfy { agrees($0.key, of: object, entity, with: $0.value) } }
            if let index {
                rest.remove(at: index)
            } else {
                differences.append(TestDifference(row.place, "there is no \(entity.name) like this", wanted: TestValue.table(row.values).toml))
            }
        }
        for object in rest {
            let got = "\(entity.name) \(TestValue.table(values(object, entity)).toml)"
            differences.append(TestDifference(place, "there is a row that the test does not name", got: got))
        }
        return differences
    }

    private func isProperty(_ name: String, of entity: EntityConfiguration) -> Bool {
        entity.attributes.contains { $0.name == name } || entity.relationship(named: name) != nil
    }

    /// Everything that a row says, as a test may say it: what has no value is left out, and so are relationships to many.
    func values(_ object: NSManagedObject, _ entity: EntityConfiguration) -> [String: TestValue] {
        var values: [String: TestValue] = [:]
        for attribute in entity.attributes where attribute.name != EntityConfiguration.keyAttribute {
            values[attribute.name] = StoredValues.value(attribute.name, of: object)
        }
        for relationship in entity.relationships where object.entity.relationshipsByName[relationship.name]?.isToMany == false {
            values[relationship.name] = value(relationship.name, of: object, entity)
        }
        return values.filter { $0.value != .nothing }
    }

    // MARK: Properties

    /// What a property holds; for what a relationship leads to, its keys.
    private func value(_ name: String, of object: NSManagedObject, _ entity: EntityConfiguration) -> TestValue {
        guard let relationship = object.entity.relationshipsByName[name] else { return StoredValues.value(name, of: object) }
        let keys = StoredValues.members(name, of: object).map { key(of: $0) }
        return relationship.isToMany ? .list(keys) : keys.first ?? .nothing
    }

    private func agrees(_ name: String, of object: NSManagedObject, _ entity: EntityConfiguration, with wanted: TestValue) -> Bool {
        guard let relationship = object.entity.relationshipsByName[name] else { return StoredValues.agrees(name, of: object, with: wanted) }
        var members = StoredValues.members(name, of: object)
        guard relationship.isToMany else {
            if wanted == .nothing || wanted == .null { return members.isEmpty }
            return members.first.map { leads(to: $0, wanted) } ?? false
        }
        guard case .list(let list) = wanted, list.count == members.count else { return false }
        if relationship.isOrdered { return zip(members, list).allSatisfy { leads(to: $0, $1) } }
        for value in list {
            guard let index = members.firstIndex(where: { leads(to: $0, value) }) else { return false }
            members.remove(at: index)
        }
        return true
    }

    /// Whether a test means an object: by its key, or by a table of its properties.
    private func leads(to object: NSManagedObject, _ wanted: TestValue) -> Bool {
        guard let entity = object.entity.name.flatMap({ configuration.entity(named: $0) }) else { return false }
        if case .table(let values) = wanted { return values.allSatisfy { agrees($0.key, of: object, entity, with: $0.value) } }
        guard entity.key.count == 1, let name = entity.key.first else { return false }
        return StoredValues.agrees(name, of: object, with: wanted)
    }

    /// The key of an object: a value where it is one, else a table.
    private func key(of object: NSManagedObject) -> TestValue {
        guard let entity = object.entity.name.flatMap({ configuration.entity(named: $0) }) else { return .nothing }
        let values = entity.key.map { ($0, StoredValues.value($0, of: object)) }
        if let only = values.first, values.count == 1 { return only.1 }
        return .table(Dictionary(values) { first, _ in first })
    }

    /// `Issue with number = 1`
    private func words(_ object: NSManagedObject) -> String {
        let name = object.entity.name ?? "?"
        guard let entity = configuration.entity(named: name), entity.derivedKey == nil else { return "\(name) \(object.objectID)" }
        let key = entity.key.map { "\($0) = \(StoredValues.value($0, of: object).toml)" }
        return "\(name) with \(key.joined(separator: ", "))"
    }
}
