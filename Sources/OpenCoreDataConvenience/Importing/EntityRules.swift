import CoreData
import Foundation

/// What an entity's user info says about records, in MagicalRecord's words: `mappedKeyName`, `relatedByAttribute`, `dateFormat`,
/// `useDefaultValueWhenNotPresent`.
final class EntityRules {
    private static let mappedKey = "mappedKeyName"
    private static let relatedKey = "relatedByAttribute"
    private static let defaultKey = "useDefaultValueWhenNotPresent"

    /// How one attribute is filled.
    struct Attribute {
        let attribute: NSAttributeDescription
        let paths: [[String]]
        let takesDefault: Bool
        let conversion: AttributeConversion
    }

    /// How one relationship is filled.
    struct Relationship {
        let relationship: NSRelationshipDescription
        let destination: NSEntityDescription
        let paths: [[String]]
        /// By what the related objects are recognised, if this relationship says so.
        let key: String?
    }

    let entity: NSEntityDescription
    let name: String
    /// In the order of their names; without those that a store computes.
    let attributes: [Attribute]
    let relationships: [Relationship]
    /// The class, if it has a say.
    let importable: (any Importable.Type)?
    private let key: String?

    init(_ entity: NSEntityDescription, module: String?) {
        self.entity = entity
        name = entity.name ?? "?"
        importable = entity.objectClass(module: module) as? any Importable.Type
        attributes = entity.attributesByName.values.filter { !($0 is NSDerivedAttributeDescription) }.sorted { $0.name < $1.name }.map {
            Attribute(
                attribute: $0, paths: Self.paths($0), takesDefault: Self.isTrue($0.userInfo?[Self.defaultKey]), conversion: AttributeConversion($0))
        }
        relationships = entity.relationshipsByName.values.sorted { $0.name < $1.name }.compactMap { relationship in
            relationship.destinationEntity.map {
                Relationship(
                    relationship: relationship, destination: $0, paths: Self.paths(relationship),
                    key: relationship.userInfo?[Self.relatedKey] as? String)
            }
        }
        key = Self.key(of: entity)
    }

    /// By what objects are recognised: what the relationship that leads here says, or else the entity. Nil: every record is a new object.
    ///
    /// - Throws: `RecordError` if it is no attribute of the entity.
    func key(_ said: String?) throws(RecordError) -> Attribute? {
        guard let wanted = said ?? key else { return nil }
        if let found = attributes.first(where: { $0.attribute.name == wanted }), !found.attribute.isTransient,
            !(found.attribute is NSCompositeAttributeDescription)
        {
            return found
        }
        throw RecordError(
            entity: name, property: wanted, problem: "\(Self.relatedKey) names it, but it is no stored attribute of the entity",
            remedy: "use one of \(attributes.map(\.attribute.name).joined(separator: ", ")), or take it out of the model's user info")
    }

    /// The words of the user info, of this entity or the nearest ancestor; a unique key of one attribute; the name that MagicalRecord expects
    /// (`personID` of `Person`); `id`, `remoteID`.
    private static func key(of entity: NSEntityDescription) -> String? {
        let lineage = sequence(first: entity, next: \.superentity)
        if let said = lineage.compactMap({ $0.userInfo?[relatedKey] as? String }).first { return said }
        for constraint in lineage.flatMap(\.uniquenessConstraints) where constraint.count == 1 {
            if let name = constraint[0] as? String ?? (constraint[0] as? NSAttributeDescription)?.name,
                let attribute = entity.attributesByName[name], !(attribute is NSCompositeAttributeDescription)
            {
                return name
            }
        }
        let expected = lineage.compactMap(\.name).map { $0.prefix(1).lowercased() + $0.dropFirst() + "ID" }
        return (expected + ["id", "remoteID"]).first { entity.attributesByName[$0]?.isTransient == false }
    }

    /// The paths into a record, of which the first that exists counts.
    private static func paths(_ property: NSPropertyDescription) -> [[String]] {
        let words = [mappedKey] + (0...9).map { "\(mappedKey).\($0)" }
        let said = words.compactMap { property.userInfo?[$0] as? String }.filter { !$0.isEmpty }
        return (said.isEmpty ? [property.name] : said).map { $0.split(separator: ".").map(String.init) }
    }

    private static func isTrue(_ value: Any?) -> Bool {
        if let text = value as? String { return ["true", "yes", "1"].contains(text.lowercased()) }
        return value as? Bool == true
    }
}
