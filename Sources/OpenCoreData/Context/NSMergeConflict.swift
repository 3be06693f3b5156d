import Foundation

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
