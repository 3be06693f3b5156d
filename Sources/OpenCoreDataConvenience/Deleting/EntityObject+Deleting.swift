import CoreData
import Foundation

// What is deleted is gone from the store when the context is saved; until then a rollback brings it back.
extension EntityObject {
    /// Deletes the object from its context. Nothing happens if it belongs to none any more.
    public func delete() { managedObjectContext?.delete(self) }

    /// Deletes the objects that a predicate holds for, and says how many. Throws what the fetch throws.
    @discardableResult
    public static func deleteAll(matching predicate: NSPredicate, in context: NSManagedObjectContext) throws -> Int {
        let objects = try findAll(matching: predicate, in: context)
        objects.forEach(context.delete)
        return objects.count
    }

    /// Deletes the objects that a predicate's text holds for, and says how many. Throws `PredicateFormatError` for text that is none.
    @discardableResult
    public static func deleteAll(where format: String, _ arguments: Any?..., in context: NSManagedObjectContext) throws -> Int {
        try deleteAll(matching: NSPredicate.parse(format, arguments: arguments), in: context)
    }

    /// Deletes all objects of this class, those of subentities too, and says how many. Throws what the fetch throws.
    @discardableResult
    public static func truncate(in context: NSManagedObjectContext) throws -> Int {
        let objects = try findAll(in: context)
        objects.forEach(context.delete)
        return objects.count
    }
}
