import CoreData

// What describes data: models, entities and their properties. Each statement uses one of Apple's declarations as it is spelled and typed; the
// comment behind or above it names it, and COVERAGE.md counts them.

// MARK: NSManagedObjectModel

private func nsManagedObjectModel(_ it: NSManagedObjectModel) {
    let _: any NSCopying = it  // = NSCopying
    let _: () -> NSManagedObjectModel = NSManagedObjectModel.init  // = init()
    let _: (URL) -> NSManagedObjectModel? = NSManagedObjectModel.init(contentsOf:)  // = init(contentsOf:)
    let _: ([NSManagedObjectModel]?) -> NSManagedObjectModel? = NSManagedObjectModel.init(byMerging:)  // = init(byMerging:)
    // = init(byMerging:forStoreMetadata:)
    let _: ([NSManagedObjectModel], [String: Any]) -> NSManagedObjectModel? = NSManagedObjectModel.init(byMerging:forStoreMetadata:)
    let _: ([Bundle]?) -> NSManagedObjectModel? = NSManagedObjectModel.mergedModel(from:)  // = mergedModel(from:)
    // = mergedModel(from:forStoreMetadata:)
    let _: ([Bundle]?, [String: Any]) -> NSManagedObjectModel? = NSManagedObjectModel.mergedModel(from:forStoreMetadata:)
    let _: KeyPath<NSManagedObjectModel, [String: NSEntityDescription]> = \.entitiesByName  // = entitiesByName
    let _: ReferenceWritableKeyPath<NSManagedObjectModel, [NSEntityDescription]> = \.entities  // = entities
    let _: KeyPath<NSManagedObjectModel, [String]> = \.configurations  // = configurations
    let _: (String?) -> [NSEntityDescription]? = it.entities(forConfigurationName:)  // = entities(forConfigurationName:)
    let _: ([NSEntityDescription], String) -> Void = it.setEntities(_:forConfigurationName:)  // = setEntities(_:forConfigurationName:)
    // = setFetchRequestTemplate(_:forName:)
    let _: (NSFetchRequest<any NSFetchRequestResult>?, String) -> Void = it.setFetchRequestTemplate(_:forName:)
    let _: (String) -> NSFetchRequest<any NSFetchRequestResult>? = it.fetchRequestTemplate(forName:)  // = fetchRequestTemplate(forName:)
    // = fetchRequestFromTemplate(withName:substitutionVariables:)
    let _: (String, [String: Any]) -> NSFetchRequest<any NSFetchRequestResult>? = it.fetchRequestFromTemplate(withName:substitutionVariables:)
    // = fetchRequestTemplatesByName
    let _: KeyPath<NSManagedObjectModel, [String: NSFetchRequest<any NSFetchRequestResult>]> = \.fetchRequestTemplatesByName
    let _: ReferenceWritableKeyPath<NSManagedObjectModel, Set<AnyHashable>> = \.versionIdentifiers  // = versionIdentifiers
    // = isConfiguration(withName:compatibleWithStoreMetadata:)
    let _: (String?, [String: Any]) -> Bool = it.isConfiguration(withName:compatibleWithStoreMetadata:)
    let _: KeyPath<NSManagedObjectModel, [String: Data]> = \.entityVersionHashesByName  // = entityVersionHashesByName
    let _: KeyPath<NSManagedObjectModel, String> = \.versionChecksum  // = versionChecksum
    let _: (URL) throws -> [String: String] = NSManagedObjectModel.checksumsForVersionedModel(at:)  // = checksumsForVersionedModel(at:)
    let _: ReferenceWritableKeyPath<NSManagedObjectModel, [String: String]?> = \.localizationDictionary  // = localizationDictionary
}

// MARK: NSEntityDescription

private func nsEntityDescription(_ it: NSEntityDescription) {
    let _: any NSCopying = it  // = NSCopying
    let _: () -> NSEntityDescription = NSEntityDescription.init  // = init()
    // = entity(forEntityName:in:)
    let _: (String, NSManagedObjectContext) -> NSEntityDescription? = NSEntityDescription.entity(forEntityName:in:)
    // = insertNewObject(forEntityName:into:)
    let _: (String, NSManagedObjectContext) -> NSManagedObject = NSEntityDescription.insertNewObject(forEntityName:into:)
    let _: NSManagedObjectModel = it.managedObjectModel  // = managedObjectModel
    let _: ReferenceWritableKeyPath<NSEntityDescription, String?> = \.managedObjectClassName  // = managedObjectClassName
    let _: ReferenceWritableKeyPath<NSEntityDescription, String?> = \.name  // = name
    let _: ReferenceWritableKeyPath<NSEntityDescription, Bool> = \.isAbstract  // = isAbstract
    let _: KeyPath<NSEntityDescription, [String: NSEntityDescription]> = \.subentitiesByName  // = subentitiesByName
    let _: ReferenceWritableKeyPath<NSEntityDescription, [NSEntityDescription]> = \.subentities  // = subentities
    let _: KeyPath<NSEntityDescription, NSEntityDescription?> = \.superentity  // = superentity
    let _: KeyPath<NSEntityDescription, [String: NSPropertyDescription]> = \.propertiesByName  // = propertiesByName
    let _: ReferenceWritableKeyPath<NSEntityDescription, [NSPropertyDescription]> = \.properties  // = properties
    let _: ReferenceWritableKeyPath<NSEntityDescription, [AnyHashable: Any]?> = \.userInfo  // = userInfo
    let _: KeyPath<NSEntityDescription, [String: NSAttributeDescription]> = \.attributesByName  // = attributesByName
    let _: KeyPath<NSEntityDescription, [String: NSRelationshipDescription]> = \.relationshipsByName  // = relationshipsByName
    let _: (NSEntityDescription) -> [NSRelationshipDescription] = it.relationships(forDestination:)  // = relationships(forDestination:)
    let _: (NSEntityDescription) -> Bool = it.isKindOf(entity:)  // = isKindOf(entity:)
    let _: KeyPath<NSEntityDescription, Data> = \.versionHash  // = versionHash
    let _: ReferenceWritableKeyPath<NSEntityDescription, String?> = \.versionHashModifier  // = versionHashModifier
    let _: ReferenceWritableKeyPath<NSEntityDescription, String?> = \.renamingIdentifier  // = renamingIdentifier
    let _: ReferenceWritableKeyPath<NSEntityDescription, [NSFetchIndexDescription]> = \.indexes  // = indexes
    let _: ReferenceWritableKeyPath<NSEntityDescription, [[Any]]> = \.uniquenessConstraints  // = uniquenessConstraints
}

// MARK: NSPropertyDescription

private func nsPropertyDescription(_ it: NSPropertyDescription) {
    let _: any NSCopying = it  // = NSCopying
    let _: () -> NSPropertyDescription = NSPropertyDescription.init  // = init()
    let _: ReferenceWritableKeyPath<NSPropertyDescription, String> = \.name  // = name
    let _: ReferenceWritableKeyPath<NSPropertyDescription, Bool> = \.isOptional  // = isOptional
    let _: ReferenceWritableKeyPath<NSPropertyDescription, Bool> = \.isTransient  // = isTransient
    let _: ReferenceWritableKeyPath<NSPropertyDescription, [AnyHashable: Any]?> = \.userInfo  // = userInfo
    let _: KeyPath<NSPropertyDescription, Data> = \.versionHash  // = versionHash
    let _: ReferenceWritableKeyPath<NSPropertyDescription, String?> = \.versionHashModifier  // = versionHashModifier
    let _: ReferenceWritableKeyPath<NSPropertyDescription, String?> = \.renamingIdentifier  // = renamingIdentifier
    let _: KeyPath<NSPropertyDescription, [NSPredicate]> = \.validationPredicates  // = validationPredicates
    let _: KeyPath<NSPropertyDescription, [Any]> = \.validationWarnings  // = validationWarnings
    // = setValidationPredicates(_:withValidationWarnings:)
    let _: ([NSPredicate]?, [String]?) -> Void = it.setValidationPredicates(_:withValidationWarnings:)
}

@available(*, deprecated)
private func nsPropertyDescriptionDeprecated() {
    let _: ReferenceWritableKeyPath<NSPropertyDescription, Bool> = \.isIndexed  // = isIndexed
}

// MARK: NSAttributeDescription

private func nsAttributeDescription() {
    let _: () -> NSAttributeDescription = NSAttributeDescription.init  // = init()
    let _: ReferenceWritableKeyPath<NSAttributeDescription, NSAttributeDescription.AttributeType> = \.type  // = type
    let _: ReferenceWritableKeyPath<NSAttributeDescription, NSAttributeType> = \.attributeType  // = attributeType
    let _: ReferenceWritableKeyPath<NSAttributeDescription, String?> = \.attributeValueClassName  // = attributeValueClassName
    let _: ReferenceWritableKeyPath<NSAttributeDescription, Any?> = \.defaultValue  // = defaultValue
    let _: KeyPath<NSAttributeDescription, Data> = \.versionHash  // = versionHash
    let _: ReferenceWritableKeyPath<NSAttributeDescription, String?> = \.valueTransformerName  // = valueTransformerName
    let _: ReferenceWritableKeyPath<NSAttributeDescription, Bool> = \.allowsExternalBinaryDataStorage  // = allowsExternalBinaryDataStorage
    // = preservesValueInHistoryOnDeletion
    let _: ReferenceWritableKeyPath<NSAttributeDescription, Bool> = \.preservesValueInHistoryOnDeletion
}

// MARK: NSAttributeDescription.AttributeType

private func attributeTypeOfNSAttributeDescription() {
    let _: (UInt) -> NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.init(rawValue:)  // = init(rawValue:)
    let _: KeyPath<NSAttributeDescription.AttributeType, UInt> = \.rawValue  // = rawValue
    let _: NSAttributeDescription.AttributeType = .undefined  // = undefined
    let _: NSAttributeDescription.AttributeType = .integer16  // = integer16
    let _: NSAttributeDescription.AttributeType = .integer32  // = integer32
    let _: NSAttributeDescription.AttributeType = .integer64  // = integer64
    let _: NSAttributeDescription.AttributeType = .decimal  // = decimal
    let _: NSAttributeDescription.AttributeType = .double  // = double
    let _: NSAttributeDescription.AttributeType = .float  // = float
    let _: NSAttributeDescription.AttributeType = .string  // = string
    let _: NSAttributeDescription.AttributeType = .boolean  // = boolean
    let _: NSAttributeDescription.AttributeType = .date  // = date
    let _: NSAttributeDescription.AttributeType = .binaryData  // = binaryData
    let _: NSAttributeDescription.AttributeType = .uuid  // = uuid
    let _: NSAttributeDescription.AttributeType = .uri  // = uri
    let _: NSAttributeDescription.AttributeType = .transformable  // = transformable
    let _: NSAttributeDescription.AttributeType = .objectID  // = objectID
    let _: NSAttributeDescription.AttributeType = .composite  // = composite
}

// MARK: NSAttributeType

private func nsAttributeType() {
    let _: (UInt) -> NSAttributeType? = NSAttributeType.init(rawValue:)  // = init(rawValue:)
    let _: NSAttributeType = .undefinedAttributeType  // = undefinedAttributeType
    let _: NSAttributeType = .integer16AttributeType  // = integer16AttributeType
    let _: NSAttributeType = .integer32AttributeType  // = integer32AttributeType
    let _: NSAttributeType = .integer64AttributeType  // = integer64AttributeType
    let _: NSAttributeType = .decimalAttributeType  // = decimalAttributeType
    let _: NSAttributeType = .doubleAttributeType  // = doubleAttributeType
    let _: NSAttributeType = .floatAttributeType  // = floatAttributeType
    let _: NSAttributeType = .stringAttributeType  // = stringAttributeType
    let _: NSAttributeType = .booleanAttributeType  // = booleanAttributeType
    let _: NSAttributeType = .dateAttributeType  // = dateAttributeType
    let _: NSAttributeType = .binaryDataAttributeType  // = binaryDataAttributeType
    let _: NSAttributeType = .UUIDAttributeType  // = UUIDAttributeType
    let _: NSAttributeType = .URIAttributeType  // = URIAttributeType
    let _: NSAttributeType = .transformableAttributeType  // = transformableAttributeType
    let _: NSAttributeType = .objectIDAttributeType  // = objectIDAttributeType
    let _: NSAttributeType = .compositeAttributeType  // = compositeAttributeType
}

// MARK: NSDerivedAttributeDescription

private func nsDerivedAttributeDescription() {
    let _: () -> NSDerivedAttributeDescription = NSDerivedAttributeDescription.init  // = init()
    let _: ReferenceWritableKeyPath<NSDerivedAttributeDescription, NSExpression?> = \.derivationExpression  // = derivationExpression
}

// MARK: NSCompositeAttributeDescription

private func nsCompositeAttributeDescription() {
    let _: () -> NSCompositeAttributeDescription = NSCompositeAttributeDescription.init  // = init()
    let _: ReferenceWritableKeyPath<NSCompositeAttributeDescription, [NSAttributeDescription]> = \.elements  // = elements
}

// MARK: NSRelationshipDescription

private func nsRelationshipDescription() {
    let _: () -> NSRelationshipDescription = NSRelationshipDescription.init  // = init()
    let _: ReferenceWritableKeyPath<NSRelationshipDescription, NSEntityDescription?> = \.destinationEntity  // = destinationEntity
    let _: ReferenceWritableKeyPath<NSRelationshipDescription, NSRelationshipDescription?> = \.inverseRelationship  // = inverseRelationship
    let _: ReferenceWritableKeyPath<NSRelationshipDescription, Int> = \.maxCount  // = maxCount
    let _: ReferenceWritableKeyPath<NSRelationshipDescription, Int> = \.minCount  // = minCount
    let _: ReferenceWritableKeyPath<NSRelationshipDescription, NSDeleteRule> = \.deleteRule  // = deleteRule
    let _: KeyPath<NSRelationshipDescription, Bool> = \.isToMany  // = isToMany
    let _: KeyPath<NSRelationshipDescription, Data> = \.versionHash  // = versionHash
    let _: ReferenceWritableKeyPath<NSRelationshipDescription, Bool> = \.isOrdered  // = isOrdered
}

// MARK: NSDeleteRule

private func nsDeleteRule() {
    let _: (UInt) -> NSDeleteRule? = NSDeleteRule.init(rawValue:)  // = init(rawValue:)
    let _: NSDeleteRule = .noActionDeleteRule  // = noActionDeleteRule
    let _: NSDeleteRule = .nullifyDeleteRule  // = nullifyDeleteRule
    let _: NSDeleteRule = .cascadeDeleteRule  // = cascadeDeleteRule
    let _: NSDeleteRule = .denyDeleteRule  // = denyDeleteRule
}

// MARK: NSFetchIndexDescription

private func nsFetchIndexDescription(_ it: NSFetchIndexDescription) {
    let _: any NSCopying = it  // = NSCopying
    // = init(name:elements:)
    let _: (String, [NSFetchIndexElementDescription]?) -> NSFetchIndexDescription = NSFetchIndexDescription.init(name:elements:)
    let _: ReferenceWritableKeyPath<NSFetchIndexDescription, String> = \.name  // = name
    let _: ReferenceWritableKeyPath<NSFetchIndexDescription, [NSFetchIndexElementDescription]> = \.elements  // = elements
    let _: KeyPath<NSFetchIndexDescription, NSEntityDescription?> = \.entity  // = entity
    let _: ReferenceWritableKeyPath<NSFetchIndexDescription, NSPredicate?> = \.partialIndexPredicate  // = partialIndexPredicate
}

// MARK: NSFetchIndexElementDescription

private func nsFetchIndexElementDescription(_ it: NSFetchIndexElementDescription) {
    let _: any NSCopying = it  // = NSCopying
    let _: KeyPath<NSFetchIndexElementDescription, NSPropertyDescription?> = \.property  // = property
    let _: KeyPath<NSFetchIndexElementDescription, String?> = \.propertyName  // = propertyName
    let _: ReferenceWritableKeyPath<NSFetchIndexElementDescription, Bool> = \.isAscending  // = isAscending
    // = init(property:collationType:)
    let _: (NSPropertyDescription, NSFetchIndexElementType) -> NSFetchIndexElementDescription = NSFetchIndexElementDescription.init(
        property:collationType:)
    let _: ReferenceWritableKeyPath<NSFetchIndexElementDescription, NSFetchIndexElementType> = \.collationType  // = collationType
    let _: KeyPath<NSFetchIndexElementDescription, NSFetchIndexDescription?> = \.indexDescription  // = indexDescription
}

// MARK: NSFetchIndexElementType

private func nsFetchIndexElementType() {
    let _: (UInt) -> NSFetchIndexElementType? = NSFetchIndexElementType.init(rawValue:)  // = init(rawValue:)
    let _: NSFetchIndexElementType = .binary  // = binary
    let _: NSFetchIndexElementType = .rTree  // = rTree
}

// MARK: NSFetchedPropertyDescription

private func nsFetchedPropertyDescription() {
    let _: () -> NSFetchedPropertyDescription = NSFetchedPropertyDescription.init  // = init()
    // = fetchRequest
    let _: ReferenceWritableKeyPath<NSFetchedPropertyDescription, NSFetchRequest<any NSFetchRequestResult>?> = \.fetchRequest
}

// MARK: NSExpressionDescription

private func nsExpressionDescription() {
    let _: () -> NSExpressionDescription = NSExpressionDescription.init  // = init()
    let _: ReferenceWritableKeyPath<NSExpressionDescription, NSExpression?> = \.expression  // = expression
    let _: ReferenceWritableKeyPath<NSExpressionDescription, NSAttributeDescription.AttributeType> = \.resultType  // = resultType
    let _: ReferenceWritableKeyPath<NSExpressionDescription, NSAttributeType> = \.expressionResultType  // = expressionResultType
}
