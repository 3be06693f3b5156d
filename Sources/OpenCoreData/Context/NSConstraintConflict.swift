import Foundation

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
