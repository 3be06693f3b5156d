import Foundation
import OpenCoreData
import SyncConfiguration

/// Removes rows: as tombstones, or for good.
struct Removal {
    let mapping: ModelMapping
    let entity: EntityMapping
    let action: DeletionConfiguration.Action
    let now: Date
    let run: Int64

    /// Removes the rows with these keys in `context`. Returns those that there were, and those that became tombstones with them, by entity; rows
    /// that are deleted for good take others along when the context processes its changes.
    func remove(_ keys: Set<Int64>, in context: NSManagedObjectContext) throws -> (removed: Set<Int64>, all: [String: Set<Int64>]) {
        var removed: Set<Int64> = [], all: [String: Set<Int64>] = [:]
        let rules = DeleteRules(mapping: mapping, context: context)
        for (id, row) in try entity.rows(keys, in: context) {
            switch action {
            case .delete: context.delete(context.object(with: id))
            case .tombstone:
                guard row[entity.bookkeeping.deletedAt].isNull else { continue }
                for (id, row) in try rules.owned(by: id, row) where bury(id, row, in: context) {
                    all[id.entity.name ?? "", default: []].insert(id.key)
                }
                _ = bury(id, row, in: context)
            }
            removed.insert(id.key)
        }
        all[entity.name, default: []].formUnion(removed)
        return (removed, all)
    }

    /// Makes a tombstone of a row. It keeps its values and references, so that nothing is lost if it comes back.
    private func bury(_ id: NSManagedObjectID, _ row: RowSnapshot, in context: NSManagedObjectContext) -> Bool {
        guard let slots = mapping.entities[id.entity.name ?? ""]?.bookkeeping, row[slots.deletedAt].isNull else { return false }
        let copy = row.copy()
        copy.update(slots.deletedAt, to: AttributeValue(now))
        copy.update(slots.lastChanged, to: AttributeValue(now))
        copy.update(slots.run, to: .int64(run))
        context.updateRow(id, to: copy, changed: SlotSet([slots.deletedAt, slots.lastChanged, slots.run]), base: row)
        return true
    }

    /// Deletes for good those of these tombstones that are still the ones made in that second: a row may have come back since, and gone again for
    /// another resource. Returns those that have to wait, as living rows would go with them or forbid it: those came back by records of their own.
    func purge(_ keys: Set<Int64>, madeAt second: Int64, in context: NSManagedObjectContext) throws -> Set<Int64> {
        let rules = DeleteRules(mapping: mapping, context: context)
        var waiting: Set<Int64> = []
        for (id, row) in try entity.rows(keys, in: context) {
            guard let time = Date(row[entity.bookkeeping.deletedAt]), MissingKeys.second(time) == second else { continue }
            if try rules.isNeeded(id, row) { waiting.insert(id.key) } else { context.delete(context.object(with: id)) }
        }
        return waiting
    }

    /// All tombstones of the entity, by the second they were made in.
    func tombstones(in context: NSManagedObjectContext) throws -> [Int64: KeySet] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.predicate = NSPredicate(format: "%K != nil", ModelBuilder.Bookkeeping.deletedAt.rawValue)
        return try context.fetch(request).reduce(into: [:]) { found, object in
            guard let time = object.value(forKey: ModelBuilder.Bookkeeping.deletedAt.rawValue) as? Date else { return }
            found[MissingKeys.second(time), default: KeySet()].keys.insert(object.objectID.key)
        }
    }
}
