import Foundation

/// What makes no sense in a model: the first that there is.
struct ModelComplaint: Error {
    /// The entity that has it, and the property of it that is meant.
    let entity: String?
    let property: String?
    /// A sentence that names both.
    let message: String

    private init(_ entity: String?, property: String? = nil, _ message: String) {
        self.entity = entity
        self.property = property
        self.message = message
    }

    /// Nil if the model can be used.
    init?(about model: NSManagedObjectModel) {
        do throws(ModelComplaint) {
            try Self.check(model)
            return nil
        } catch {
            self = error
        }
    }

    private static func check(_ model: NSManagedObjectModel) throws(ModelComplaint) {
        var names: Set<String> = []
        for entity in model.entities {
            guard let name = entity.name, !name.isEmpty else { throw ModelComplaint(nil, "an entity has no name") }
            if !names.insert(name).inserted { throw ModelComplaint(name, "two entities are named \(name)") }
            if let parent = entity.superentity, !model.entities.contains(where: { $0 === parent }) {
                throw ModelComplaint(name, "the superentity of \(name) is not in the model")
            }
            var seen: Set<String> = []
            for case let composite as NSCompositeAttributeDescription in entity.properties {
                if let complaint = composite.complaintAboutElements() {
                    throw ModelComplaint(name, property: composite.name, "composite attribute \(name).\(composite.name) \(complaint)")
                }
                guard seen.insert(composite.name).inserted else {
                    throw ModelComplaint(name, property: composite.name, "\(name) has two properties named \(composite.name)")
                }
            }
            for property in entity.leaves {
                if property.name.isEmpty { throw ModelComplaint(name, "a property of \(name) has no name") }
                guard seen.insert(property.name).inserted else {
                    throw ModelComplaint(name, property: property.name, "\(name) has two properties named \(property.name)")
                }
                if let message = message(about: property, of: name, in: model) { throw ModelComplaint(name, property: property.name, message) }
            }
            try checkConstraints(of: entity, name: name)
        }
    }

    private static func message(about property: NSPropertyDescription, of name: String, in model: NSManagedObjectModel) -> String? {
        switch property {
        case let attribute as NSAttributeDescription:
            guard attribute.attributeType == .undefinedAttributeType, !attribute.isTransient else { return nil }
            return "attribute \(name).\(attribute.name) has no type"
        case let relationship as NSRelationshipDescription:
            let what = "\(name).\(relationship.name)"
            guard let destination = relationship.destinationEntity else { return "relationship \(what) has no destination entity" }
            guard model.entities.contains(where: { $0 === destination }) else { return "the destination of \(what) is not in the model" }
            guard let inverse = relationship.inverseRelationship else { return nil }
            guard inverse.inverseRelationship === relationship else { return "the inverse of \(what) names another inverse" }
            guard let owner = inverse.entity, destination.isKindOf(entity: owner) else {
                return "the inverse of \(what) does not belong to \(destination.name ?? "?")"
            }
            return nil
        default:
            return property.complaint(in: model.entities).map { "fetched property \(name).\(property.name) \($0)" }
        }
    }

    private static func checkConstraints(of entity: NSEntityDescription, name: String) throws(ModelComplaint) {
        let leaves = entity.leavesByName, relationships = entity.relationshipsByName
        for constraint in entity.constraintNames {
            if constraint.isEmpty { throw ModelComplaint(name, "\(name) has an empty uniqueness constraint") }
            for key in constraint {
                let isToOne = relationships[key].map { !$0.isToMany } ?? false
                let isStored = leaves[key].map { $0 is NSAttributeDescription && !$0.isTransient } ?? false
                guard isStored || isToOne else {
                    throw ModelComplaint(name, "uniqueness constraint of \(name) names \"\(key)\", which is not a stored attribute or to-one")
                }
            }
        }
    }
}
