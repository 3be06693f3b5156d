import Foundation

/// An object whose row changed where it is being saved since its context read it.
///
/// Somebody else who saves through the same coordinator leaves his values in its row cache, and those are `cachedSnapshot`. What was written to the
/// file past this coordinator (by another one, by another process) is `persistedSnapshot`; then `cachedSnapshot` is the older row that the
/// coordinator still had, or, if it had none any more, what this context read. Towards a parent context there are only its current values, the
/// cached ones.
///
/// Snapshots hold attributes and to-ones (as object IDs) by property name, with `NSNull` for nil, and no to-manys.
///
/// A merge policy of one's own reads the snapshots and sets values on `sourceObject`; what the object holds when the policy returns is saved.
/// Use it on the queue of the context that saves.
// Made and used on the queue of the context that saves.
public final class NSMergeConflict: NSObject, @unchecked Sendable {
    /// The ID of the object in conflict; unlike `sourceObject`, usable after the context is gone.
    public let sourceObjectID: NSManagedObjectID
    /// The values this context last read.
    public let objectSnapshot: [String: Any]?
    /// The values that the coordinator (or the parent) has in memory: newer than the object's, unless there is a `persistedSnapshot`. Nil if it
    /// knows of none.
    public let cachedSnapshot: [String: Any]?
    /// The values in the file, where they are newer than the coordinator's; nil where it knows them already, and where the row was deleted.
    public let persistedSnapshot: [String: Any]?
    /// The version that this context read.
    public let oldVersionNumber: Int
    /// The version that is there now; 0: the row was deleted.
    public let newVersionNumber: Int

    private weak var context: NSManagedObjectContext?
    /// The change that met the newer row; nil for an object that was only watched.
    let change: PendingRow?
    /// The newer row.
    let stored: RowSnapshot?
    /// Whether a program made it: there is no save whose change could be decided.
    let isMadeByHand: Bool
    /// What one of the five kinds of policy made of it.
    private(set) var decision: Decision?

    /// What is saved; a change of nil is dropped.
    struct Decision {
        let change: PendingRow?
    }

    /// - Parameter known: the row that the coordinator had in memory; of a conflict with a parent context, the row there.
    init(
        _ conflict: StoreConflict.VersionConflict, base: RowSnapshot?, known: RowSnapshot?, change: PendingRow?, context: NSManagedObjectContext
    ) {
        sourceObjectID = conflict.id
        self.context = context
        self.change = change
        isMadeByHand = false
        stored = conflict.stored
        objectSnapshot = base?.snapshot
        if let stored = conflict.stored, known?.version != stored.version {
            persistedSnapshot = stored.snapshot
            cachedSnapshot = (known ?? base)?.snapshot
        } else {
            persistedSnapshot = nil
            cachedSnapshot = (conflict.stored ?? known)?.snapshot
        }
        oldVersionNumber = Int(base?.version ?? 0)
        newVersionNumber = Int(conflict.stored?.version ?? 0)
    }

    /// A conflict that was found elsewhere, for a policy of one's own to look at. The object's snapshot is what its context read. The five kinds
    /// resolve conflicts of a save only, and throw 133020 for such a one.
    ///
    /// - Parameters:
    ///   - cachedSnapshot: the values in memory at the coordinator or the parent, by property name.
    ///   - persistedSnapshot: the values in the store, where they are newer.
    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int, cachedSnapshot cachesnap: [String: Any]?,
        persistedSnapshot persnap: [String: Any]?
    ) {
        sourceObjectID = srcObject.objectID
        context = srcObject.managedObjectContext
        change = nil
        stored = nil
        isMadeByHand = true
        objectSnapshot = srcObject.base?.snapshot
        cachedSnapshot = cachesnap
        persistedSnapshot = persnap
        oldVersionNumber = oldvers
        newVersionNumber = newvers
    }

    /// The object, in the context that saves. Use it on that context's queue.
    public var sourceObject: NSManagedObject {
        guard let context else { Violation.misuse("the context of this merge conflict is gone; use sourceObjectID") }
        return context.object(with: sourceObjectID)
    }

    /// The values that are being saved, by property name; nil for a deletion.
    var savedValues: [String: Any]? { change.flatMap { $0.kind == .deleted ? nil : $0.row?.snapshot } }

    /// The values that are there now, by property name; nil if the row was deleted.
    var storedValues: [String: Any]? { stored?.snapshot }

    /// Lets one of the five kinds decide, and shows it in the object.
    func decide(by policy: NSMergePolicy) {
        let settled = change.flatMap { policy.settled($0, stored: stored) }
        decision = Decision(change: settled)
        guard let settled, let context, let object = context.registeredObject(for: sourceObjectID) else { return }
        object.take(settled)
        context.decided.append(sourceObjectID)
    }

    public override var description: String {
        "NSMergeConflict for \(sourceObjectID): read version \(oldVersionNumber), the store has \(newVersionNumber)"
    }
}

/// Objects that have one unique key: either one object of a save and the one that has the key already (`databaseObject`), or several
/// objects of one save (`databaseObject` is nil).
/// It is immutable; its objects belong to the context that saves.
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

    /// A conflict that was found elsewhere.
    ///
    /// - Parameters:
    ///   - contraint: the attributes that are unique together.
    ///   - databaseObject: who has the key; nil: the conflicting objects have it in common.
    ///   - conflictingSnapshots: for each of the objects its values, by property name.
    public init(
        constraint contraint: [String], database databaseObject: NSManagedObject?, databaseSnapshot: [AnyHashable: Any]?,
        conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
    ) {
        func byName(_ values: Any?) -> [String: Any] {
            var result: [String: Any] = [:]
            for (key, value) in values as? [AnyHashable: Any] ?? [:] { result["\(key)"] = value }
            return result
        }
        constraint = contraint
        let first = conflictingObjects.first
        constraintValues = Dictionary(contraint.map { ($0, first?.value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
        conflictingObjectIDs = conflictingObjects.map(\.objectID)
        self.conflictingSnapshots = conflictingSnapshots.map { byName($0) }
        databaseObjectID = databaseObject?.objectID
        self.databaseSnapshot = databaseSnapshot.map { byName($0) }
        context = (first ?? databaseObject)?.managedObjectContext
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
            let constraint: UniquenessConstraint
            let key: UniqueKey
        }
        func side(_ id: NSManagedObjectID) -> Side { Side(id, changes[id]) }
        var result: [NSConstraintConflict] = []
        var together: [Place: [NSManagedObjectID]] = [:], order: [Place] = []
        for conflict in found {
            if let stored = conflict.stored, stored.layout.constraints[conflict.constraint].key(of: stored) == conflict.key {
                result.append(
                    NSConstraintConflict(
                        constraint: conflict.constraint, key: conflict.key, conflicting: [side(conflict.id)],
                        database: Side(conflict.owner, stored), in: context))
                continue
            }
            let place = Place(constraint: conflict.id.layout.constraints[conflict.constraint], key: conflict.key)
            if together[place] == nil {
                order.append(place)
                together[place] = [conflict.owner]
            }
            together[place]?.append(conflict.id)
        }
        for place in order {
            result.append(
                NSConstraintConflict(
                    constraint: place.constraint.number, key: place.key, conflicting: (together[place] ?? []).map(side), database: nil, in: context))
        }
        return result
    }
}

extension RowSnapshot {
    /// The stored values by property name: attributes, and to-ones as object IDs; `NSNull` for nil.
    var snapshot: [String: Any] {
        layout.values(atSlots: (0..<count).lazy.filter { !self.layout.isTransient[$0] }) { self[$0].any }
    }
}

extension CocoaError {
    /// The conflicts because of which a save was refused, where they are of versions: under `NSPersistentStoreSaveConflictsErrorKey`.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? { userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] }
}
