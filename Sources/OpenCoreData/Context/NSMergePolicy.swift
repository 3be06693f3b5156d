import Foundation

/// Kinds of merge policies, with Apple's raw values.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// What to do where the store has moved on since a context read it.
// Immutable.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    public let mergeType: NSMergePolicyType

    public init(merge type: NSMergePolicyType) {
        mergeType = type
        super.init()
    }

    /// Fails the save with 133020 or 133021.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// Property by property; where both changed, the store's value stays.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// Property by property; where both changed, the object's value wins.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// The whole object replaces the row.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// The object's changes are dropped.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// One row's change laid over the row that is in the store now. Nil: the change is dropped.
    func merged(_ change: PendingRow, over stored: RowSnapshot) -> (row: RowSnapshot, changed: SlotSet)? {
        guard let mine = change.row else { return nil }
        switch mergeType {
        case .errorMergePolicyType, .rollbackMergePolicyType: return nil
        case .overwriteMergePolicyType: return (mine.copy(version: stored.version), SlotSet(0..<mine.count))
        case .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType:
            let storeTrumps = mergeType == .mergeByPropertyStoreTrumpMergePolicyType
            // A new object that met its key in the store has no common ancestor: under store trump nothing of it is newer.
            if storeTrumps && change.kind == .inserted { return nil }
            let row = stored.copy()
            var changed = SlotSet()
            change.changed.forEach { slot in
                if storeTrumps, let base = change.base, base[slot] != stored[slot] { return }
                row.update(slot, to: mine[slot])
                changed.insert(slot)
            }
            return (row, changed)
        }
    }
}

/// An object whose row changed in the store since its context read it.
// Immutable values about objects.
public final class NSMergeConflict: NSObject, @unchecked Sendable {
    public let sourceObjectID: NSManagedObjectID
    /// The values this context last read, by property name.
    public let objectSnapshot: [String: Any]?
    /// The newer values.
    public let cachedSnapshot: [String: Any]?
    public let persistedSnapshot: [String: Any]?
    public let oldVersionNumber: Int
    /// 0: the row was deleted.
    public let newVersionNumber: Int

    init(_ conflict: StoreConflict.VersionConflict, base: RowSnapshot?) {
        sourceObjectID = conflict.id
        objectSnapshot = base.map(Self.values)
        cachedSnapshot = conflict.stored.map(Self.values)
        persistedSnapshot = nil
        oldVersionNumber = Int(base?.version ?? 0)
        newVersionNumber = Int(conflict.stored?.version ?? 0)
    }

    private static func values(_ row: RowSnapshot) -> [String: Any] {
        var result: [String: Any] = [:]
        for (slot, name) in row.layout.names.enumerated() where !row.layout.isTransient[slot] { result[name] = row[slot].any ?? NSNull() }
        return result
    }

    public override var description: String {
        "NSMergeConflict for \(sourceObjectID): read version \(oldVersionNumber), the store has \(newVersionNumber)"
    }
}

/// Objects that have one unique key.
// Immutable values about objects.
public final class NSConstraintConflict: NSObject, @unchecked Sendable {
    /// The attributes of the constraint.
    public let constraint: [String]
    /// Their values, by name.
    public let constraintValues: [String: Any]
    /// The object that could not be saved.
    public let conflictingObjectIDs: [NSManagedObjectID]
    /// The object that has the key.
    public let databaseObjectID: NSManagedObjectID?

    init(constraint: [String], values: [AttributeValue], objectID: NSManagedObjectID, ownerID: NSManagedObjectID?) {
        self.constraint = constraint
        var named: [String: Any] = [:]
        for (name, value) in zip(constraint, values) { named[name] = value.any ?? NSNull() }
        constraintValues = named
        conflictingObjectIDs = [objectID]
        databaseObjectID = ownerID
    }

    var sentence: String {
        let key = constraint.map { "\($0) = \(constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
        let id = conflictingObjectIDs.first.map(\.description) ?? "?"
        return "\(id) has \(key), which belongs to \(databaseObjectID.map(\.description) ?? "another object")."
    }

    public override var description: String { "NSConstraintConflict: \(sentence)" }
}
