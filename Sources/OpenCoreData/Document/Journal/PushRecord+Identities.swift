import Foundation

extension PushRecord {
    /// What this says of objects that turned out to be others, said of the others; nil: nothing is left to say.
    func replacing(_ identity: (NSManagedObjectID) -> NSManagedObjectID?) -> PushRecord? {
        func renamed(_ id: NSManagedObjectID) -> NSManagedObjectID { identity(id) ?? id }
        func renamed(_ value: AttributeValue) -> AttributeValue { value.objectID.flatMap(identity).map { .objectID($0) } ?? value }
        switch self {
        case .insert(let id, let row, let set):
            let row = row.replacing(identity) ?? row
            guard let other = identity(id) else { return .insert(id, row, set: set) }
            return .update(other, set.slots.filter { $0 < other.layout.commonCount(with: id.layout) }.map { ($0, row[$0]) })
        case .foundation(let id, let row):
            // The other one is there.
            return identity(id) == nil ? .foundation(id, row.replacing(identity) ?? row) : nil
        case .update(let id, let values):
            let other = renamed(id), common = other.layout.commonCount(with: id.layout)
            return .update(other, values.filter { $0.slot < common }.map { ($0.slot, renamed($0.value)) })
        case .delete(let id): return .delete(renamed(id))
        case .pairs(let key, let pairs):
            var changes = PairChanges()
            for id in pairs.removed { changes.remove(renamed(id)) }
            for id in pairs.added { changes.add(renamed(id)) }
            return .pairs(key.replacing(identity), changes)
        case .order(let key, let order):
            var listed: Set<NSManagedObjectID> = []
            return .order(key.replacing(identity), order.map(renamed).filter { listed.insert($0).inserted })
        }
    }
}
