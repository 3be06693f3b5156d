import CoreData

// Migration by mappings and by stages, and the controller of fetched results. Each statement uses one of Apple's declarations as it is spelled
// and typed; the comment behind or above it names it, and COVERAGE.md counts them.

// MARK: NSMappingModel

private func nsMappingModel() {
    // = init(from:forSourceModel:destinationModel:)
    let _: ([Bundle]?, NSManagedObjectModel?, NSManagedObjectModel?) -> NSMappingModel? = NSMappingModel.init(
        from:forSourceModel:destinationModel:)
    let _: (URL?) -> NSMappingModel? = NSMappingModel.init(contentsOf:)  // = init(contentsOf:)
    let _: () -> NSMappingModel = NSMappingModel.init  // = init()
    // = inferredMappingModel(forSourceModel:destinationModel:)
    let _: (NSManagedObjectModel, NSManagedObjectModel) throws -> NSMappingModel = NSMappingModel.inferredMappingModel(
        forSourceModel:destinationModel:)
    let _: ReferenceWritableKeyPath<NSMappingModel, [NSEntityMapping]?> = \.entityMappings  // = entityMappings
    let _: KeyPath<NSMappingModel, [String: NSEntityMapping]> = \.entityMappingsByName  // = entityMappingsByName
}

// MARK: NSEntityMapping

private func nsEntityMapping() {
    let _: () -> NSEntityMapping = NSEntityMapping.init  // = init()
    let _: ReferenceWritableKeyPath<NSEntityMapping, String?> = \.name  // = name
    let _: ReferenceWritableKeyPath<NSEntityMapping, NSEntityMappingType> = \.mappingType  // = mappingType
    let _: ReferenceWritableKeyPath<NSEntityMapping, String?> = \.sourceEntityName  // = sourceEntityName
    let _: ReferenceWritableKeyPath<NSEntityMapping, Data?> = \.sourceEntityVersionHash  // = sourceEntityVersionHash
    let _: ReferenceWritableKeyPath<NSEntityMapping, String?> = \.destinationEntityName  // = destinationEntityName
    let _: ReferenceWritableKeyPath<NSEntityMapping, Data?> = \.destinationEntityVersionHash  // = destinationEntityVersionHash
    let _: ReferenceWritableKeyPath<NSEntityMapping, [NSPropertyMapping]?> = \.attributeMappings  // = attributeMappings
    let _: ReferenceWritableKeyPath<NSEntityMapping, [NSPropertyMapping]?> = \.relationshipMappings  // = relationshipMappings
    let _: ReferenceWritableKeyPath<NSEntityMapping, NSExpression?> = \.sourceExpression  // = sourceExpression
    let _: ReferenceWritableKeyPath<NSEntityMapping, [AnyHashable: Any]?> = \.userInfo  // = userInfo
    let _: ReferenceWritableKeyPath<NSEntityMapping, String?> = \.entityMigrationPolicyClassName  // = entityMigrationPolicyClassName
}

// MARK: NSEntityMappingType

private func nsEntityMappingType() {
    let _: (UInt) -> NSEntityMappingType? = NSEntityMappingType.init(rawValue:)  // = init(rawValue:)
    let _: NSEntityMappingType = .undefinedEntityMappingType  // = undefinedEntityMappingType
    let _: NSEntityMappingType = .customEntityMappingType  // = customEntityMappingType
    let _: NSEntityMappingType = .addEntityMappingType  // = addEntityMappingType
    let _: NSEntityMappingType = .removeEntityMappingType  // = removeEntityMappingType
    let _: NSEntityMappingType = .copyEntityMappingType  // = copyEntityMappingType
    let _: NSEntityMappingType = .transformEntityMappingType  // = transformEntityMappingType
}

// MARK: NSPropertyMapping

private func nsPropertyMapping() {
    let _: () -> NSPropertyMapping = NSPropertyMapping.init  // = init()
    let _: ReferenceWritableKeyPath<NSPropertyMapping, String?> = \.name  // = name
    let _: ReferenceWritableKeyPath<NSPropertyMapping, NSExpression?> = \.valueExpression  // = valueExpression
    let _: ReferenceWritableKeyPath<NSPropertyMapping, [AnyHashable: Any]?> = \.userInfo  // = userInfo
}

// MARK: NSMigrationManager

private func nsMigrationManager(_ it: NSMigrationManager, _ url: URL, _ mapping: NSMappingModel) throws {
    // = init(sourceModel:destinationModel:)
    let _: (NSManagedObjectModel, NSManagedObjectModel) -> NSMigrationManager = NSMigrationManager.init(sourceModel:destinationModel:)
    // = migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)
    let _: (URL, String, [AnyHashable: Any]?, NSMappingModel?, URL, String, [AnyHashable: Any]?) throws -> Void = it.migrateStore(
        from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)
    // = migrateStore(from:type:options:mapping:to:type:options:)
    try it.migrateStore(from: url, type: .sqlite, options: nil as [AnyHashable: Any]?, mapping: mapping, to: url, type: .sqlite, options: nil)
    let _: ReferenceWritableKeyPath<NSMigrationManager, Bool> = \.usesStoreSpecificMigrationManager  // = usesStoreSpecificMigrationManager
    let _: () -> Void = it.reset  // = reset()
    let _: KeyPath<NSMigrationManager, NSMappingModel> = \.mappingModel  // = mappingModel
    let _: KeyPath<NSMigrationManager, NSManagedObjectModel> = \.sourceModel  // = sourceModel
    let _: KeyPath<NSMigrationManager, NSManagedObjectModel> = \.destinationModel  // = destinationModel
    let _: KeyPath<NSMigrationManager, NSManagedObjectContext> = \.sourceContext  // = sourceContext
    let _: KeyPath<NSMigrationManager, NSManagedObjectContext> = \.destinationContext  // = destinationContext
    let _: (NSEntityMapping) -> NSEntityDescription? = it.sourceEntity(for:)  // = sourceEntity(for:)
    let _: (NSEntityMapping) -> NSEntityDescription? = it.destinationEntity(for:)  // = destinationEntity(for:)
    // = associate(sourceInstance:withDestinationInstance:for:)
    let _: (NSManagedObject, NSManagedObject, NSEntityMapping) -> Void = it.associate(sourceInstance:withDestinationInstance:for:)
    // = destinationInstances(forEntityMappingName:sourceInstances:)
    let _: (String, [NSManagedObject]?) -> [NSManagedObject] = it.destinationInstances(forEntityMappingName:sourceInstances:)
    // = sourceInstances(forEntityMappingName:destinationInstances:)
    let _: (String, [NSManagedObject]?) -> [NSManagedObject] = it.sourceInstances(forEntityMappingName:destinationInstances:)
    let _: KeyPath<NSMigrationManager, NSEntityMapping> = \.currentEntityMapping  // = currentEntityMapping
    let _: KeyPath<NSMigrationManager, Float> = \.migrationProgress  // = migrationProgress
    let _: ReferenceWritableKeyPath<NSMigrationManager, [AnyHashable: Any]?> = \.userInfo  // = userInfo
    let _: (any Error) -> Void = it.cancelMigrationWithError(_:)  // = cancelMigrationWithError(_:)
}

// MARK: NSEntityMigrationPolicy

private func nsEntityMigrationPolicy(_ it: NSEntityMigrationPolicy) {
    let _: (NSEntityMapping, NSMigrationManager) throws -> Void = it.begin(_:with:)  // = begin(_:with:)
    // = createDestinationInstances(forSource:in:manager:)
    let _: (NSManagedObject, NSEntityMapping, NSMigrationManager) throws -> Void = it.createDestinationInstances(forSource:in:manager:)
    // = endInstanceCreation(forMapping:manager:)
    let _: (NSEntityMapping, NSMigrationManager) throws -> Void = it.endInstanceCreation(forMapping:manager:)
    // = createRelationships(forDestination:in:manager:)
    let _: (NSManagedObject, NSEntityMapping, NSMigrationManager) throws -> Void = it.createRelationships(forDestination:in:manager:)
    // = endRelationshipCreation(forMapping:manager:)
    let _: (NSEntityMapping, NSMigrationManager) throws -> Void = it.endRelationshipCreation(forMapping:manager:)
    // = performCustomValidation(forMapping:manager:)
    let _: (NSEntityMapping, NSMigrationManager) throws -> Void = it.performCustomValidation(forMapping:manager:)
    let _: (NSEntityMapping, NSMigrationManager) throws -> Void = it.end(_:manager:)  // = end(_:manager:)
    let _: String = NSMigrationManagerKey  // = NSMigrationManagerKey
    let _: String = NSMigrationSourceObjectKey  // = NSMigrationSourceObjectKey
    let _: String = NSMigrationDestinationObjectKey  // = NSMigrationDestinationObjectKey
    let _: String = NSMigrationEntityMappingKey  // = NSMigrationEntityMappingKey
    let _: String = NSMigrationPropertyMappingKey  // = NSMigrationPropertyMappingKey
    let _: String = NSMigrationEntityPolicyKey  // = NSMigrationEntityPolicyKey
}

// MARK: NSEntityMigrationPolicy

// It has no state of its own.
private class OwnNSEntityMigrationPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // = begin(_:with:), overridden
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { try super.begin(mapping, with: manager) }
    // = createDestinationInstances(forSource:in:manager:), overridden
    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
    // = endInstanceCreation(forMapping:manager:), overridden
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
    // = createRelationships(forDestination:in:manager:), overridden
    override func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
    // = endRelationshipCreation(forMapping:manager:), overridden
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
    // = performCustomValidation(forMapping:manager:), overridden
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}  // = end(_:manager:), overridden
}

// MARK: NSStagedMigrationManager

private func nsStagedMigrationManager() {
    let _: ([NSMigrationStage]) -> NSStagedMigrationManager = NSStagedMigrationManager.init(_:)  // = init(_:)
    let _: KeyPath<NSStagedMigrationManager, NSPersistentContainer?> = \.container  // = container
    let _: KeyPath<NSStagedMigrationManager, [NSMigrationStage]> = \.stages  // = stages
}

// MARK: NSMigrationStage

private func nsMigrationStage() {
    let _: ReferenceWritableKeyPath<NSMigrationStage, String?> = \.label  // = label
}

// MARK: NSLightweightMigrationStage

private func nsLightweightMigrationStage() {
    let _: ([String]) -> NSLightweightMigrationStage = NSLightweightMigrationStage.init(_:)  // = init(_:)
    let _: KeyPath<NSLightweightMigrationStage, [String]> = \.versionChecksums  // = versionChecksums
}

// MARK: NSCustomMigrationStage

private func nsCustomMigrationStage() {
    // = init(migratingFrom:to:)
    let _: (NSManagedObjectModelReference, NSManagedObjectModelReference) -> NSCustomMigrationStage = NSCustomMigrationStage.init(migratingFrom:to:)
    let _: KeyPath<NSCustomMigrationStage, NSManagedObjectModelReference> = \.currentModel  // = currentModel
    let _: KeyPath<NSCustomMigrationStage, NSManagedObjectModelReference> = \.nextModel  // = nextModel
    // = willMigrateHandler
    let _: ReferenceWritableKeyPath<NSCustomMigrationStage, ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?> =
        \.willMigrateHandler
    // = didMigrateHandler
    let _: ReferenceWritableKeyPath<NSCustomMigrationStage, ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?> =
        \.didMigrateHandler
}

// MARK: NSManagedObjectModelReference

private func nsManagedObjectModelReference() {
    // = init(model:versionChecksum:)
    let _: (NSManagedObjectModel, String) -> NSManagedObjectModelReference = NSManagedObjectModelReference.init(model:versionChecksum:)
    // = init(name:in:versionChecksum:)
    let _: (String, Bundle?, String) -> NSManagedObjectModelReference = NSManagedObjectModelReference.init(name:in:versionChecksum:)
    // = init(fileURL:versionChecksum:)
    let _: (URL, String) -> NSManagedObjectModelReference = NSManagedObjectModelReference.init(fileURL:versionChecksum:)
    // = init(entityVersionHashes:in:versionChecksum:)
    let _: ([AnyHashable: Any], Bundle?, String) -> NSManagedObjectModelReference = NSManagedObjectModelReference.init(
        entityVersionHashes:in:versionChecksum:)
    let _: KeyPath<NSManagedObjectModelReference, NSManagedObjectModel> = \.resolvedModel  // = resolvedModel
    let _: KeyPath<NSManagedObjectModelReference, String> = \.versionChecksum  // = versionChecksum
}

// MARK: NSFetchedResultsController

private func nsFetchedResultsController(_ it: NSFetchedResultsController<NSManagedObject>) {
    // = init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:)
    let _: (NSFetchRequest<NSManagedObject>, NSManagedObjectContext, String?, String?) -> NSFetchedResultsController<NSManagedObject> =
        NSFetchedResultsController<NSManagedObject>.init(fetchRequest:managedObjectContext:sectionNameKeyPath:cacheName:)
    let _: () throws -> Void = it.performFetch  // = performFetch()
    let _: KeyPath<NSFetchedResultsController<NSManagedObject>, NSFetchRequest<NSManagedObject>> = \.fetchRequest  // = fetchRequest
    let _: KeyPath<NSFetchedResultsController<NSManagedObject>, NSManagedObjectContext> = \.managedObjectContext  // = managedObjectContext
    let _: KeyPath<NSFetchedResultsController<NSManagedObject>, String?> = \.sectionNameKeyPath  // = sectionNameKeyPath
    let _: KeyPath<NSFetchedResultsController<NSManagedObject>, String?> = \.cacheName  // = cacheName
    // = delegate
    let _: ReferenceWritableKeyPath<NSFetchedResultsController<NSManagedObject>, (any NSFetchedResultsControllerDelegate)?> = \.delegate
    let _: (String?) -> Void = NSFetchedResultsController<NSManagedObject>.deleteCache(withName:)  // = deleteCache(withName:)
    let _: KeyPath<NSFetchedResultsController<NSManagedObject>, [NSManagedObject]?> = \.fetchedObjects  // = fetchedObjects
    let _: (IndexPath) -> NSManagedObject = it.object(at:)  // = object(at:)
    let _: (NSManagedObject) -> IndexPath? = it.indexPath(forObject:)  // = indexPath(forObject:)
    let _: (String) -> String? = it.sectionIndexTitle(forSectionName:)  // = sectionIndexTitle(forSectionName:)
    let _: KeyPath<NSFetchedResultsController<NSManagedObject>, [String]> = \.sectionIndexTitles  // = sectionIndexTitles
    let _: KeyPath<NSFetchedResultsController<NSManagedObject>, [any NSFetchedResultsSectionInfo]?> = \.sections  // = sections
    let _: (String, Int) -> Int = it.section(forSectionIndexTitle:at:)  // = section(forSectionIndexTitle:at:)
}

// MARK: NSFetchedResultsSectionInfo

private func nsFetchedResultsSectionInfo(_ it: any NSFetchedResultsSectionInfo) {
    let _: String = it.name  // = name
    let _: String? = it.indexTitle  // = indexTitle
    let _: Int = it.numberOfObjects  // = numberOfObjects
    let _: [Any]? = it.objects  // = objects
}

// MARK: NSFetchedResultsChangeType

private func nsFetchedResultsChangeType() {
    let _: (UInt) -> NSFetchedResultsChangeType? = NSFetchedResultsChangeType.init(rawValue:)  // = init(rawValue:)
    let _: NSFetchedResultsChangeType = .insert  // = insert
    let _: NSFetchedResultsChangeType = .delete  // = delete
    let _: NSFetchedResultsChangeType = .move  // = move
    let _: NSFetchedResultsChangeType = .update  // = update
}

// MARK: NSFetchedResultsControllerDelegate

private func nsFetchedResultsControllerDelegate(_ it: any NSFetchedResultsControllerDelegate) {
    // = controllerWillChangeContent(_:)
    let _: ((NSFetchedResultsController<any NSFetchRequestResult>) -> Void)? = it.controllerWillChangeContent(_:)
    // = controllerDidChangeContent(_:)
    let _: ((NSFetchedResultsController<any NSFetchRequestResult>) -> Void)? = it.controllerDidChangeContent(_:)
    // = controller(_:didChange:at:for:newIndexPath:)
    let _: ((NSFetchedResultsController<any NSFetchRequestResult>, Any, IndexPath?, NSFetchedResultsChangeType, IndexPath?) -> Void)? = it.controller(
        _:didChange:at:for:newIndexPath:)
    // = controller(_:didChange:atSectionIndex:for:)
    let _: ((NSFetchedResultsController<any NSFetchRequestResult>, any NSFetchedResultsSectionInfo, Int, NSFetchedResultsChangeType) -> Void)? = it
        .controller(_:didChange:atSectionIndex:for:)
    // = controller(_:sectionIndexTitleForSectionName:)
    let _: ((NSFetchedResultsController<any NSFetchRequestResult>, String) -> String?)? = it.controller(_:sectionIndexTitleForSectionName:)
    // = controller(_:didChangeContentWith:)
    let _: ((NSFetchedResultsController<any NSFetchRequestResult>, CollectionDifference<NSManagedObjectID>) -> Void)? = it.controller(
        _:didChangeContentWith:)
}
