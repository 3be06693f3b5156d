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
// Made and used on the queue of the context that saves.
public final class NSMergeConflict: NSObject, @unchecked Sendable {
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
