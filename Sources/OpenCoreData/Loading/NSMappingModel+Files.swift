import Foundation
import ModelFiles

/// Mappings that Xcode's mapping editor wrote.
extension NSMappingModel {
    /// The mappings in a folder `….xcmappingmodel`; nil if they can't be read, for which `init(readingContentsOf:)` gives the reason.
    public convenience init?(contentsOf url: URL?) {
        guard let url else { return nil }
        try? self.init(readingContentsOf: url)
    }

    /// The mappings in a folder `….xcmappingmodel`, in their order, for a `NSMigrationManager` between the models that they were made for: the version hashes
    /// of entities are not in them. A property of which the editor shows no expression of one's own is taken from the property of its name.
    ///
    /// - Throws: `ModelFileError`, which names file and line.
    public convenience init(readingContentsOf url: URL) throws(ModelFileError) {
        self.init()
        try fill(MappingFile(url.path))
    }

    func fill(_ file: MappingFile) throws(ModelFileError) {
        for mapping in file.entityMappings {
            let made = NSEntityMapping()
            made.name = mapping.name
            made.sourceEntityName = mapping.source
            made.destinationEntityName = mapping.destination
            made.entityMigrationPolicyClassName = mapping.policyClass
            made.mappingType =
                switch (mapping.source, mapping.destination) {
                case (nil, _): .addEntityMappingType
                case (_, nil): .removeEntityMappingType
                default: mapping.policyClass == nil ? .transformEntityMappingType : .customEntityMappingType
                }
            var attributes: [NSPropertyMapping] = [], relationships: [NSPropertyMapping] = []
            for property in mapping.attributes { attributes.append(try Self.attribute(property, file)) }
            for property in mapping.relationships { relationships.append(try Self.relationship(property, file)) }
            made.attributeMappings = attributes
            made.relationshipMappings = relationships
            entityMappings.append(made)
        }
    }

    private static func attribute(_ property: MappingFile.PropertyMapping, _ file: MappingFile) throws(ModelFileError) -> NSPropertyMapping {
        if let made = try own(property, file) { return made }
        let made = NSPropertyMapping(property.name, from: property.name)
        made.isAutomatic = true
        return made
    }

    /// The objects of the source's relationship, or those that a path leads to, as what they have become.
    private static func relationship(_ property: MappingFile.PropertyMapping, _ file: MappingFile) throws(ModelFileError) -> NSPropertyMapping {
        if let made = try own(property, file) { return made }
        guard let path = property.sourcePath else {
            let made = NSPropertyMapping(property.name, from: property.name)
            made.isAutomatic = true
            return made
        }
        let made = NSPropertyMapping()
        made.name = property.name
        do throws(PredicateFormatError) {
            let source = try NSExpression.parse(path)
            made.valueExpression =
                if let mapping = property.sourceMapping {
                    try NSExpression.parse(
                        "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", %@, %@)", arguments: [mapping, source])
                } else {
                    source
                }
        } catch {
            throw ModelFileError(path: file.path, line: property.line, "the relationship \(property.name) has no path: \(error)")
        }
        return made
    }

    /// With an expression of the developer's own.
    private static func own(_ property: MappingFile.PropertyMapping, _ file: MappingFile) throws(ModelFileError) -> NSPropertyMapping? {
        guard let data = property.expression else { return nil }
        let made = NSPropertyMapping()
        made.name = property.name
        do {
            made.valueExpression = try ArchivedExpression.read(data)
        } catch {
            throw ModelFileError(path: file.path, line: property.line, "the expression of \(property.name) can't be read: \(error)")
        }
        return made
    }
}
