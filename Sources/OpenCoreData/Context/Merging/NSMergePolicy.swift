import Foundation

/// What to do where the store has moved on since a context read it.
///
/// Five kinds are ready; a subclass decides by itself, object by object: in `resolve(optimisticLockingConflicts:)`, setting values on each
/// conflict's `sourceObject` (before or after `super`, which lets the kind decide), or, simpler, in `values(old:mine:theirs:for:)`.
/// Contexts share a policy: a subclass must not keep state that changes.
// Immutable; a subclass is shared between contexts and has to be, too.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    /// Which of the five kinds settles what a subclass leaves undecided.
    public let mergeType: NSMergePolicyType

    /// Makes a policy of one of the five kinds, for subclasses; the kinds themselves are ready as `error`, `overwrite` and so on.
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

    // MARK: For subclasses

    /// Settles the conflicts of one save: `NSMergeConflict`s first, then `NSConstraintConflict`s. Throwing refuses the save; nothing has
    /// changed then.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? NSMergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Settles objects whose rows changed meanwhile. Throws 133020 where the kind is `error`, and for a conflict made by hand.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        if list.contains(where: \.isMadeByHand) { throw NSError.mergeConflict(list) }
        for conflict in list {
            guard let mine = conflict.savedValues, let theirs = conflict.storedValues,
                let chosen = try values(old: conflict.objectSnapshot ?? [:], mine: mine, theirs: theirs, for: conflict)
            else {
                if mergeType == .errorMergePolicyType { throw NSError.mergeConflict(list) }
                conflict.decide(by: self)
                continue
            }
            let object = conflict.sourceObject
            for (name, value) in chosen { object.setValue(value is NSNull ? nil : value, forKey: name) }
        }
    }

    /// Settles objects whose unique key another object has. Throws 133021 where the kind is `error`.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        if mergeType == .errorMergePolicyType { throw NSError.constraintConflict(list) }
    }

    /// The values to save for one object, of those by property name that this context read (`old`), that it saves (`mine`) and that are there
    /// now (`theirs`); a property that is left out keeps `mine`. Nil, as here, leaves it to the kind.
    open func values(
        old: [String: Any], mine: [String: Any], theirs: [String: Any], for conflict: NSMergeConflict
    ) throws -> [String: Any]? { nil }

    // MARK: The five kinds

    /// What becomes of a change whose row is `stored` now. Nil: the change is dropped.
    func settled(_ change: PendingRow, stored: RowSnapshot?) -> PendingRow? {
        guard let stored else {
            // The row was deleted meanwhile: object trump and overwrite write it again, the others let it go.
            let recreates = [.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType].contains(mergeType)
            return recreates && change.kind != .deleted
                ? PendingRow(kind: .inserted, row: change.row?.copy(version: 0), changed: change.changed) : nil
        }
        if change.kind == .deleted {
            let keeps = [.rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType].contains(mergeType)
            return keeps ? nil : PendingRow(kind: .deleted, row: change.row, base: stored)
        }
        guard let merged = merged(change, over: stored) else { return nil }
        return PendingRow(kind: .updated, row: merged.row, changed: merged.changed, base: stored)
    }

    /// One row's change laid over the row that is in the store now. Nil: the change is dropped.
    func merged(_ change: PendingRow, over stored: RowSnapshot) -> (row: RowSnapshot, changed: SlotSet)? {
        guard let mine = change.row else { return nil }
        switch mergeType {
        case .errorMergePolicyType, .rollbackMergePolicyType: return nil
        case .overwriteMergePolicyType:
            let all = SlotSet(0..<mine.count)
            if mine.layout === stored.layout { return (mine.copy(version: stored.version), all) }
            return stored.overlaid(with: mine, all)
        case .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType:
            let storeTrumps = mergeType == .mergeByPropertyStoreTrumpMergePolicyType
            // A new object that met its key in the store has no common ancestor: under store trump nothing of it is newer.
            if storeTrumps && change.kind == .inserted { return nil }
            var wanted = SlotSet()
            change.changed.forEach { slot in
                if storeTrumps, let base = change.base, slot < stored.count, base[slot] != stored[slot] { return }
                wanted.insert(slot)
            }
            return stored.overlaid(with: mine, wanted)
        }
    }
}

/// Kinds of merge policies, with Apple's raw values.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails, with 133020 for a changed row or 133021 for a unique key that another object has.
    case errorMergePolicyType = 0
    /// Changes are merged property by property; where both sides changed one, the store's value stays. A row that the store lost stays gone.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Changes are merged property by property; where both sides changed one, the object's value wins. A row that the store lost is written again.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The whole object replaces the row; a row that the store lost is written again.
    case overwriteMergePolicyType = 3
    /// The object's changes are dropped, a deletion too; the row stays as the store has it.
    case rollbackMergePolicyType = 4
}

/// Core Data's names of the five kinds.
public let NSErrorMergePolicy = NSMergePolicy.error
/// `NSMergePolicy.mergeByPropertyStoreTrump`
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
/// `NSMergePolicy.mergeByPropertyObjectTrump`
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// `NSMergePolicy.overwrite`
public let NSOverwriteMergePolicy = NSMergePolicy.overwrite
/// `NSMergePolicy.rollback`
public let NSRollbackMergePolicy = NSMergePolicy.rollback
