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

    private weak var context: NSManagedObjectContext?

    init(_ twin: NSManagedObjectContext.KeyTwin, in context: NSManagedObjectContext?) {
        let constraint = twin.id.entity.constraintNames[twin.constraint]
        self.constraint = constraint
        var named: [String: Any] = [:]
        for (name, value) in zip(constraint, twin.key.values) { named[name] = value.any ?? NSNull() }
        constraintValues = named
        conflictingObjectIDs = [twin.id]
        databaseObjectID = twin.owner
        self.context = context
    }

    /// The objects that could not be saved. Use them on the queue of the context that saves.
    public var conflictingObjects: [NSManagedObject] { context.map { context in conflictingObjectIDs.map { context.object(with: $0) } } ?? [] }

    /// The object that has the key. Use it on the queue of the context that saves.
    public var databaseObject: NSManagedObject? { databaseObjectID.flatMap { id in context.map { $0.object(with: id) } } }

    var sentence: String {
        let key = constraint.map { "\($0) = \(constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
        let id = conflictingObjectIDs.first.map(\.description) ?? "?"
        return "\(id) has \(key), which belongs to \(databaseObjectID.map(\.description) ?? "another object")."
    }

    public override var description: String { "NSConstraintConflict: \(sentence)" }
}
