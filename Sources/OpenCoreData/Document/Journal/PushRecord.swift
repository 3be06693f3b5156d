import Foundation

/// One thing that an entry of the journal says.
enum PushRecord {
    /// A new object with all its values; `set` are those set on purpose.
    case insert(NSManagedObjectID, RowSnapshot, set: SlotSet)
    /// A new object of the document's own context, which something in the entry leans on: counts only where the object is not there.
    case foundation(NSManagedObjectID, RowSnapshot)
    case update(NSManagedObjectID, [(slot: Int, value: AttributeValue)])
    case delete(NSManagedObjectID)
    case pairs(RelationshipKey, PairChanges)
    case order(RelationshipKey, [NSManagedObjectID])

    /// The object that it is about.
    var id: NSManagedObjectID {
        switch self {
        case .insert(let id, _, _), .foundation(let id, _), .update(let id, _), .delete(let id): id
        case .pairs(let key, _), .order(let key, _): key.owner
        }
    }

    enum Tag: UInt8 {
        case insert = 1, foundation, update, delete, pairs, order
    }

    enum ValueTag: UInt8 {
        case null = 0, int64, double, no, yes, date, string, data, uuid, decimal, objectID, url, archive
    }
}

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

/// What a save of a worker, which a document's context took in, survives before the document has written it to its store.
public enum PushJournaling: Hashable, Sendable {
    /// Nothing: it is in memory until the document saves. Costs nothing.
    case off
    /// The end of the process, however it ends. The save returns when the journal's file has it; the machine may not have it on the disk yet.
    case written
    /// Loss of power, too. The save returns when the disk has it: about as long as a commit takes.
    case synchronized
}
