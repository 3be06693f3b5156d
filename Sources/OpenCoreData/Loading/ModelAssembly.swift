import Foundation
import ModelFiles

/// Makes a model of what a file says, or says in which line the file makes no sense.
struct ModelAssembly {
    private let file: ModelFile
    private var entities: [String: NSEntityDescription] = [:]

    init(_ file: ModelFile) { self.file = file }

    /// - Parameter model: empty.
    /// - Throws: `ModelFileError` for everything for which a coordinator would refuse the model, with the line.
    consuming func fill(_ model: NSManagedObjectModel) throws(ModelFileError) {
        try makeEntities()
        try inherit()
        for entity in file.entities { try relate(entity) }
        for entity in file.entities { try addKeys(entity) }
        model.entities = file.entities.compactMap { entities[$0.name] }
        if let complaint = ModelComplaint(about: model) {
            throw fail(line(of: complaint.property, in: complaint.entity), complaint.message, "correct it in Xcode's model editor")
        }
        model.versionIdentifiers = Set([file.versionIdentifier].compactMap(\.self))
        for configuration in file.configurations {
            var members: [NSEntityDescription] = []
            for name in configuration.members { members.append(try entity(name, configuration.line, "the configuration \(configuration.name)")) }
            model.setEntities(members, forConfigurationName: configuration.name)
        }
        for request in file.fetchRequests {
            guard model.fetchRequestTemplate(forName: request.name) == nil else {
                throw fail(request.line, "two fetch requests are named \(request.name)", "rename one of them")
            }
            model.setFetchRequestTemplate(try fetchRequest(request, "the fetch request \(request.name)"), forName: request.name)
        }
    }

    /// The module that the file is a resource of: SwiftPM keeps those of a target in a folder `package_target.resources`. An underscore may belong to either.
    private var modules: [String] {
        guard let folder = file.path.split(separator: "/").last(where: { $0.hasSuffix(".resources") })?.dropLast(".resources".count) else {
            return []
        }
        return folder.indices.filter { folder[$0] == "_" }.map { String(folder[folder.index(after: $0)...]).replacing("-", with: "_") }
    }

    private mutating func makeEntities() throws(ModelFileError) {
        let attributes = try ModelAttributes(file)
        for entity in file.entities {
            guard entities[entity.name] == nil else { throw fail(entity.line, "two entities are named \(entity.name)", "rename one of them") }
            let made = NSEntityDescription()
            made.name = entity.name
            made.isAbstract = entity.isAbstract
            made.renamingIdentifier = entity.renamingIdentifier
            made.versionHashModifier = entity.versionHashModifier
            made.userInfo = entity.userInfo
            if let name = entity.className { made.takeClass(named: name, preferring: modules) }
            var properties: [NSPropertyDescription] = []
            for attribute in entity.attributes { properties.append(try attributes.attribute(attribute, of: entity.name)) }
            for relationship in entity.relationships { properties.append(self.relationship(relationship)) }
            made.properties = properties
            entities[entity.name] = made
        }
        // What they fetch may be an entity that comes later.
        for entity in file.entities {
            for property in entity.fetchedProperties {
                let made = NSFetchedPropertyDescription()
                property.property.describe(made)
                made.fetchRequest = try fetchRequest(property.request, "the fetched property \(entity.name).\(property.property.name)")
                entities[entity.name]?.properties.append(made)
            }
        }
    }

    private func inherit() throws(ModelFileError) {
        var children: [String: [NSEntityDescription]] = [:]
        for entity in file.entities {
            guard let name = entity.parent, let mine = entities[entity.name] else { continue }
            _ = try self.entity(name, entity.line, "the entity \(entity.name)")
            var ancestor: String? = name, path = [entity.name]
            while let current = ancestor {
                guard !path.contains(current) else {
                    throw fail(
                        entity.line, "\(entity.name) is its own ancestor: \((path + [current]).joined(separator: ", "))", "choose another parent")
                }
                path.append(current)
                ancestor = file.entities.first { $0.name == current }?.parent
            }
            children[name, default: []].append(mine)
        }
        for (name, children) in children { entities[name]?.subentities = children }
    }

    private func relate(_ entity: ModelFile.Entity) throws(ModelFileError) {
        guard let mine = entities[entity.name] else { return }
        for relationship in entity.relationships {
            let name = relationship.property.name, line = relationship.property.line, what = "\(entity.name).\(name)"
            guard let made = mine.declaredProperties.first(where: { $0.name == name }) as? NSRelationshipDescription else { continue }
            let destination = try self.entity(relationship.destination, line, "the relationship \(what)")
            made.destinationEntity = destination
            guard let inverseName = relationship.inverse else { continue }
            let owner = try relationship.inverseEntity.map { name throws(ModelFileError) in
                try self.entity(name, line, "the inverse of \(what)")
            }
            guard let inverse = (owner ?? destination).relationshipsByName[inverseName] else {
                let name = (owner ?? destination).name ?? relationship.destination
                throw fail(line, "the inverse of \(what), \(inverseName), is no relationship of \(name)", "choose another inverse")
            }
            made.inverseRelationship = inverse
        }
    }

    private func relationship(_ relationship: ModelFile.Relationship) -> NSRelationshipDescription {
        let made = NSRelationshipDescription()
        relationship.property.describe(made)
        // The editor leaves the least count out where the relationship is required.
        made.minCount = relationship.isToMany && !relationship.property.isOptional ? max(1, relationship.minCount) : relationship.minCount
        made.maxCount = relationship.maxCount
        made.isOrdered = relationship.isOrdered
        made.deleteRule =
            switch relationship.deletionRule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
        return made
    }

    /// Constraints and indexes, which may name what an entity inherits.
    private func addKeys(_ entity: ModelFile.Entity) throws(ModelFileError) {
        guard let mine = entities[entity.name] else { return }
        mine.uniquenessConstraints = entity.constraints
        let properties = mine.propertiesByName
        for index in entity.indexes {
            var elements: [NSFetchIndexElementDescription] = []
            let what = "the index \(index.name) of \(entity.name)"
            for element in index.elements {
                let property: NSPropertyDescription
                if element.isExpression {
                    property = try computed(element.property, index.line, what)
                } else if let found = properties[element.property] ?? mine.element(at: element.property) {
                    property = found
                } else {
                    throw fail(index.line, "\(what) names \(element.property), which it does not have", "remove it")
                }
                let made = NSFetchIndexElementDescription(property: property, collationType: element.isRTree ? .rTree : .binary)
                made.isAscending = element.isAscending
                elements.append(made)
            }
            let made = NSFetchIndexDescription(name: index.name, elements: elements)
            if let format = index.predicate, !format.isEmpty { made.partialIndexPredicate = try predicate(format, index.line, what) }
            mine.indexes.append(made)
        }
    }

    private func fetchRequest(
        _ request: ModelFile.FetchRequest, _ what: String
    ) throws(ModelFileError) -> NSFetchRequest<any NSFetchRequestResult> {
        let made = NSFetchRequest<any NSFetchRequestResult>()
        made.entity = try entity(request.entity, request.line, what)
        if let format = request.predicate, !format.isEmpty { made.predicate = try predicate(format, request.line, what) }
        made.resultType = NSFetchRequestResultType(rawValue: UInt(request.resultType))
        made.fetchLimit = request.limit
        made.fetchBatchSize = request.batchSize
        made.includesSubentities = request.includesSubentities
        made.includesPropertyValues = request.includesPropertyValues
        made.includesPendingChanges = request.includesPendingChanges
        made.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        made.returnsDistinctResults = request.returnsDistinctResults
        return made
    }

    private func predicate(_ format: String, _ line: Int, _ what: String) throws(ModelFileError) -> NSPredicate {
        do throws(PredicateFormatError) { return try NSPredicate.parse(format) } catch {
            throw fail(line, "\(what) has no predicate: \(error)", nil)
        }
    }

    private func computed(_ format: String, _ line: Int, _ what: String) throws(ModelFileError) -> NSExpressionDescription {
        let made = NSExpressionDescription()
        made.name = format
        do throws(PredicateFormatError) { made.expression = try NSExpression.parse(format) } catch {
            throw fail(line, "\(what) is over no expression: \(error)", nil)
        }
        return made
    }

    // MARK: Places

    private func entity(_ name: String, _ line: Int, _ what: String) throws(ModelFileError) -> NSEntityDescription {
        guard let entity = entities[name] else {
            throw fail(
                line, "\(what) names the entity \(name), which the model does not have",
                "choose one of \(entities.keys.sorted().joined(separator: ", "))")
        }
        return entity
    }

    private func line(of property: String?, in entity: String?) -> Int? {
        guard let entity = file.entities.first(where: { $0.name == entity }) else { return nil }
        let properties = entity.attributes.map(\.property) + entity.relationships.map(\.property) + entity.fetchedProperties.map(\.property)
        return properties.last { $0.name == property }?.line ?? entity.line
    }

    private func fail(_ line: Int?, _ message: String, _ suggestion: String?) -> ModelFileError {
        ModelFileError(path: file.path, line: line, message, suggestion: suggestion)
    }
}

extension ModelFile.Property {
    /// Gives a description what all properties have.
    func describe(_ made: NSPropertyDescription) {
        made.name = name
        made.isOptional = isOptional
        made.isTransient = isTransient
        made.isIndexed = isIndexed
        made.renamingIdentifier = renamingIdentifier
        made.versionHashModifier = versionHashModifier
        made.userInfo = userInfo
    }
}
