import Foundation

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
