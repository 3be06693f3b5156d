import Foundation

/// Objects that have one unique key: either one object of a save and the one that has the key already (`databaseObject`), or several
/// objects of one save (`databaseObject` is nil).
// Immutable values about objects.
public final class NSConstraintConflict: NSObject, @unchecked Sendable {
    /// The attributes of the constraint.
    public let constraint: [String]
    /// Their values, by name.
    public let constraintValues: [String: Any]
    /// The objects that could not be saved.
    public let conflictingObjectIDs: [NSManagedObjectID]
    /// For each of them the values that its context read, by property name; of a new object those that it is saved with. Attributes and to-ones
    /// (as object IDs), no to-manys.
    public let conflictingSnapshots: [[String: Any]]
    /// The object that has the key: in the store, or unsaved in a parent of the context that saves. Nil: the objects of the save have it in common.
    public let databaseObjectID: NSManagedObjectID?
    /// The values of the object that has the key, by property name.
    public let databaseSnapshot: [String: Any]?

    private weak var context: NSManagedObjectContext?

    init(
        constraint: Int, key: UniqueKey, conflicting: [Side], database: Side?, in context: NSManagedObjectContext?
    ) {
        let names = conflicting.first?.id.entity.constraintNames[constraint] ?? []
        self.constraint = names
        var named: [String: Any] = [:]
        for (name, value) in zip(names, key.values) { named[name] = value.any ?? NSNull() }
        constraintValues = named
        conflictingObjectIDs = conflicting.map(\.id)
        conflictingSnapshots = conflicting.map { $0.row?.snapshot ?? [:] }
        databaseObjectID = database?.id
        databaseSnapshot = database?.row?.snapshot
        self.context = context
    }

    /// An object and its values.
    struct Side {
        let id: NSManagedObjectID
        let row: RowSnapshot?

        init(_ id: NSManagedObjectID, _ row: RowSnapshot?) {
            self.id = id
            self.row = row
        }

        init(_ id: NSManagedObjectID, _ change: PendingRow?) { self.init(id, change?.base ?? change?.row) }
    }

    /// The objects that could not be saved. Use them on the queue of the context that saves.
    public var conflictingObjects: [NSManagedObject] { context.map { context in conflictingObjectIDs.map { context.object(with: $0) } } ?? [] }

    /// The object that has the key. Use it on the queue of the context that saves.
    public var databaseObject: NSManagedObject? { databaseObjectID.flatMap { id in context.map { $0.object(with: id) } } }

    var sentence: String {
        let key = constraint.map { "\($0) = \(constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
        let ids = conflictingObjectIDs.map(\.description)
        guard let databaseObjectID else { return "\(ids.joined(separator: " and ")) all have \(key)." }
        return "\(ids.first ?? "?") has \(key), which belongs to \(databaseObjectID)."
    }

    public override var description: String { "NSConstraintConflict: \(sentence)" }
}

extension NSConstraintConflict {
    /// What a store found, as conflicts: one for each object that met a key of the store, one for each key that several objects of the save have.
    static func conflicts(
        _ found: [StoreConflict.KeyConflict], in changes: ChangeSet, of context: NSManagedObjectContext
    ) -> [NSConstraintConflict] {
        struct Place: Hashable {
            let entity: NSEntityDescription
            let constraint: Int
            let key: UniqueKey
        }
        func side(_ id: NSManagedObjectID) -> Side { Side(id, changes[id]) }
        var result: [NSConstraintConflict] = []
        var together: [Place: [NSManagedObjectID]] = [:], order: [Place] = []
        for conflict in found {
            if let stored = conflict.stored, UniqueKey(stored, slots: stored.layout.constraints[conflict.constraint]) == conflict.key {
                result.append(
                    NSConstraintConflict(
                        constraint: conflict.constraint, key: conflict.key, conflicting: [side(conflict.id)],
                        database: Side(conflict.owner, stored), in: context))
                continue
            }
            let place = Place(entity: conflict.id.entity.declaring(conflict.constraint), constraint: conflict.constraint, key: conflict.key)
            if together[place] == nil {
                order.append(place)
                together[place] = [conflict.owner]
            }
            together[place]?.append(conflict.id)
        }
        for place in order {
            result.append(
                NSConstraintConflict(
                    constraint: place.constraint, key: place.key, conflicting: (together[place] ?? []).map(side), database: nil, in: context))
        }
        return result
    }
}

extension RowSnapshot {
    /// The stored values by property name: attributes, and to-ones as object IDs; `NSNull` for nil.
    var snapshot: [String: Any] {
        var result: [String: Any] = [:]
        for (slot, name) in layout.names.enumerated() where !layout.isTransient[slot] { result[name] = self[slot].any ?? NSNull() }
        return result
    }
}
