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
