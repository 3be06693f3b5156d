import Foundation

/// An object whose row changed where it is being saved since its context read it.
///
/// A merge policy of one's own reads the snapshots and sets values on `sourceObject`; what the object holds when the policy returns is saved.
// Made and used on the queue of the context that saves.
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

    init(_ conflict: StoreConflict.VersionConflict, base: RowSnapshot?, change: PendingRow?, context: NSManagedObjectContext) {
        sourceObjectID = conflict.id
        self.context = context
        self.change = change
        stored = conflict.stored
        objectSnapshot = base.map(Self.values)
        cachedSnapshot = conflict.stored.map(Self.values)
        persistedSnapshot = nil
        oldVersionNumber = Int(base?.version ?? 0)
        newVersionNumber = Int(conflict.stored?.version ?? 0)
    }

    /// The object, in the context that saves. Use it on that context's queue.
    public var sourceObject: NSManagedObject {
        guard let context else { Violation.misuse("the context of this merge conflict is gone; use sourceObjectID") }
        return context.object(with: sourceObjectID)
    }

    /// The values that are being saved, by property name; nil for a deletion.
    var savedValues: [String: Any]? { change.flatMap { $0.kind == .deleted ? nil : $0.row.map(Self.values) } }

    /// Lets one of the five kinds decide, and shows it in the object.
    func decide(by policy: NSMergePolicy) {
        let settled = change.flatMap { policy.settled($0, stored: stored) }
        decision = Decision(change: settled)
        guard let settled, let context, let object = context.registeredObject(for: sourceObjectID) else { return }
        object.take(settled)
        context.decided.append(sourceObjectID)
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
