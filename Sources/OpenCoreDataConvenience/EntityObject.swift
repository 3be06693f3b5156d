import CoreData
import Foundation

/// A managed object whose class answers for its entity: finds objects, makes new ones, deletes, and takes in records. Every `NSManagedObject` is one.
///
/// All of it belongs to the queue of the context that is given, like everything else that touches a context: call it within `perform`,
/// `performAndWait`, or on the main queue for a context of that queue.
public protocol EntityObject: NSManagedObject {}

extension NSManagedObject: EntityObject {}

extension EntityObject {
    /// The entity of this class in the context's model. Of several the one that is called like the class.
    static func entity(in context: NSManagedObjectContext) throws(RecordError) -> NSEntityDescription {
        let model = try context.modelInUse()
        let candidates = model.entities.filter { $0.names(self) }
        if let only = candidates.first, candidates.count == 1 { return only }
        if let named = candidates.first(where: { $0.name == entityName }) { return named }
        throw RecordError(
            entity: "\(self)",
            problem: candidates.isEmpty
                ? "no entity of the context's model has this class"
                : "the entities \(candidates.compactMap(\.name).sorted().joined(separator: ", ")) all have this class",
            remedy: candidates.isEmpty
                ? "give an entity this class with setManagedObjectClass(_:), or open a store with the model that has it"
                : "give each entity a class of its own, or override entityName in the class")
    }

    /// A request for objects of this class, in an order.
    static func request(
        matching predicate: NSPredicate?, sortedBy order: [Sorting], in context: NSManagedObjectContext
    ) throws(RecordError) -> NSFetchRequest<Self> {
        let request = NSFetchRequest<Self>()
        request.entity = try entity(in: context)
        request.predicate = predicate
        request.sortDescriptors = order.map(\.descriptor)
        return request
    }
}

extension NSManagedObjectContext {
    /// The model of the coordinator at the end of the context's chain.
    func modelInUse() throws(RecordError) -> NSManagedObjectModel {
        guard let coordinator = endOfChain else {
            throw RecordError(
                entity: "?", problem: "the context has neither a parent nor a coordinator",
                remedy: "use a context of a container, or set persistentStoreCoordinator or parent first")
        }
        return coordinator.managedObjectModel
    }

    /// The entity of a name in the context's model.
    func entity(named name: String) throws(RecordError) -> NSEntityDescription {
        let model = try modelInUse()
        if let entity = model.entitiesByName[name] { return entity }
        throw RecordError(
            entity: name, problem: "the context's model has no such entity",
            remedy: "use one of \(model.entitiesByName.keys.sorted().joined(separator: ", "))")
    }
}

extension NSEntityDescription {
    /// Whether the entity says that its objects are of this class, with or without the module's name.
    fileprivate func names(_ type: NSManagedObject.Type) -> Bool {
        guard let written = managedObjectClassName else { return false }
        if NSClassFromString(written) == type { return true }
        // Not `NSStringFromClass`, which stops the program for a class within another type.
        let path = String(reflecting: type).split(separator: ".", maxSplits: 1)
        return path.count == 2 && path[1] == written
    }

    /// The class that objects of this entity have.
    ///
    /// - Parameter module: Where to look for it, if the entity does not say so.
    func objectClass(module: String?) -> NSManagedObject.Type? {
        guard let written = managedObjectClassName else { return nil }
        let found: AnyClass? = NSClassFromString(written) ?? module.flatMap { NSClassFromString("\($0).\(written)") }
        return found as? NSManagedObject.Type
    }

    /// An attribute of this entity.
    func attribute(_ name: String) throws(RecordError) -> NSAttributeDescription {
        if let attribute = attributesByName[name] { return attribute }
        throw RecordError(
            entity: self.name ?? "?", property: name, problem: "the entity has no such attribute",
            remedy: "use one of \(attributesByName.keys.sorted().joined(separator: ", "))")
    }
}
