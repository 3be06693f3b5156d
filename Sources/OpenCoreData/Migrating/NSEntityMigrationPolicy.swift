public import Foundation

/// How the objects of one entity mapping are made, related and validated. A program's own subclass does what expressions can't say.
///
/// For each mapping, also for one without a source, the manager calls, in this order: first `begin`, `createDestinationInstances` for each object of the source,
/// `endInstanceCreation`; when that is done for all mappings, `createRelationships` for each object that was made, `endRelationshipCreation`; in the end
/// `performCustomValidation` and `end`. What one of them throws ends the migration with 134170.
// A policy has no state of its own; a subclass is used by one migration, on one thread.
open class NSEntityMigrationPolicy: NSObject, @unchecked Sendable {
    public required override init() { super.init() }

    /// Comes first. Does nothing.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what an object of the source becomes: one object of the destination's entity, with its attributes as the mapping says, associated with it.
    /// Whoever overrides it and does not call it makes none, one or more, and associates them.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping), let name = entity.name else { return }
        if entity.isAbstract {
            throw NSError.coreData(
                .migration,
                "The mapping \"\(mapping.name ?? "")\" would make objects of \(name), which is abstract: what is in the store would be lost. Name an entity "
                    + "below it, or override createDestinationInstances.")
        }
        let made = NSEntityDescription.insertNewObject(forEntityName: name, into: manager.destinationContext)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
        try MigrationValues(manager: manager, mapping: mapping, policy: self).setAttributes(of: made, from: sInstance)
    }

    /// All objects of the mapping are made. Does nothing.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Relates an object of the destination to others, as the mapping says.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try MigrationValues(manager: manager, mapping: mapping, policy: self).setRelationships(of: dInstance)
    }

    /// All objects of the mapping are related. Does nothing.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Throws where something is wrong that no rule of the model says. Does nothing.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Comes last. Does nothing.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// What `FUNCTION($entityPolicy, "selector:", …)` in an expression of the mapping is: where there is Objective-C, the method of that name is called; here
    /// a policy overrides this. Throws `PredicateEvaluationError.unansweredMessage`.
    open func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw PredicateEvaluationError.unansweredMessage(selector)
    }
}

extension NSEntityMapping {
    /// The subclass of `NSEntityMigrationPolicy` that does what is done; it goes before `entityMigrationPolicyClassName`. Not Apple's: for classes that no
    /// name leads to.
    public var entityMigrationPolicyClass: NSEntityMigrationPolicy.Type? {
        get { ownPolicyClass as? NSEntityMigrationPolicy.Type }
        set { ownPolicyClass = newValue }
    }
}

/// What the variable `$manager` of an expression of a mapping stands for.
public let NSMigrationManagerKey = "manager"
/// The same for `$source`: the object that is taken.
public let NSMigrationSourceObjectKey = "source"
/// The same for `$destination`: the object that is made.
public let NSMigrationDestinationObjectKey = "destination"
/// The same for `$entityMapping`.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The same for `$propertyMapping`.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The same for `$entityPolicy`.
public let NSMigrationEntityPolicyKey = "entityPolicy"
