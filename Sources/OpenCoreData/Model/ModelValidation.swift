import Foundation

/// What must hold before a model can be used. Each breach stops the program with a sentence naming entity and property.
enum ModelValidation {
    static func check(_ model: NSManagedObjectModel) {
        var names: Set<String> = []
        for entity in model.entities {
            guard let name = entity.name, !name.isEmpty else { Violation.invalidModel("an entity has no name") }
            if !names.insert(name).inserted { Violation.invalidModel("two entities are named \(name)") }
            if let parent = entity.superentity, !model.entities.contains(where: { $0 === parent }) {
                Violation.invalidModel("the superentity of \(name) is not in the model")
            }
            checkProperties(of: entity, name: name, in: model)
            checkConstraints(of: entity, name: name)
        }
    }

    private static func checkProperties(of entity: NSEntityDescription, name: String, in model: NSManagedObjectModel) {
        var seen: Set<String> = []
        for property in entity.properties {
            if property.name.isEmpty { Violation.invalidModel("a property of \(name) has no name") }
            if !seen.insert(property.name).inserted { Violation.invalidModel("\(name) has two properties named \(property.name)") }
            if let attribute = property as? NSAttributeDescription {
                if attribute.attributeType == .undefinedAttributeType && !attribute.isTransient {
                    Violation.invalidModel("attribute \(name).\(attribute.name) has no type")
                }
            } else if let fetched = property as? NSFetchedPropertyDescription {
                if let complaint = fetched.complaint(in: model.entities) {
                    Violation.invalidModel("fetched property \(name).\(fetched.name) \(complaint)")
                }
            } else if let relationship = property as? NSRelationshipDescription {
                guard let destination = relationship.destinationEntity else {
                    Violation.invalidModel("relationship \(name).\(relationship.name) has no destination entity")
                }
                guard model.entities.contains(where: { $0 === destination }) else {
                    Violation.invalidModel("the destination of \(name).\(relationship.name) is not in the model")
                }
                if let inverse = relationship.inverseRelationship {
                    guard inverse.inverseRelationship === relationship else {
                        Violation.invalidModel("the inverse of \(name).\(relationship.name) names another inverse")
                    }
                    guard let owner = inverse.entity, destination.isKindOf(entity: owner) else {
                        Violation.invalidModel("the inverse of \(name).\(relationship.name) does not belong to \(destination.name ?? "?")")
                    }
                }
            }
        }
    }

    private static func checkConstraints(of entity: NSEntityDescription, name: String) {
        let attributes = entity.attributesByName, relationships = entity.relationshipsByName
        for constraint in entity.constraintNames {
            if constraint.isEmpty { Violation.invalidModel("\(name) has an empty uniqueness constraint") }
            for key in constraint {
                let isToOne = relationships[key].map { !$0.isToMany } ?? false
                let isStored = attributes[key].map { !$0.isTransient } ?? false
                if !isStored && !isToOne {
                    Violation.invalidModel("uniqueness constraint of \(name) names \"\(key)\", which is not a stored attribute or to-one")
                }
            }
        }
    }
}
