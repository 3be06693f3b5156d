import Foundation

/// Copies of entities that lead to each other as the originals do.
struct EntityCopies {
    /// In the order of the originals.
    private(set) var all: [NSEntityDescription] = []
    private var byOriginal: [ObjectIdentifier: NSEntityDescription] = [:]
    private var byName: [String: NSEntityDescription] = [:]

    /// - Parameter originals: several of one name are taken once. Traps if their hashes differ.
    init(of originals: [NSEntityDescription]) {
        var taken: [NSEntityDescription] = []
        var first: [String: NSEntityDescription] = [:]
        for original in originals {
            if let name = original.name, let known = first[name] {
                guard known === original || known.versionHash == original.versionHash else {
                    Violation.invalidModel("the models to merge have two different entities named \(name)")
                }
                byOriginal[ObjectIdentifier(original)] = byName[name]
                continue
            }
            let copy = original.unrelatedCopy()
            if let name = original.name {
                first[name] = original
                byName[name] = copy
            }
            byOriginal[ObjectIdentifier(original)] = copy
            taken.append(original)
            all.append(copy)
        }
        for (original, copy) in zip(taken, all) { relate(copy, as: original) }
    }

    /// The copy of an entity, or of another one of its name.
    subscript(original: NSEntityDescription) -> NSEntityDescription? {
        byOriginal[ObjectIdentifier(original)] ?? original.name.flatMap { byName[$0] }
    }

    private func relate(_ copy: NSEntityDescription, as original: NSEntityDescription) {
        copy.subentities = original.subentities.compactMap { self[$0] }
        let names = Dictionary(copy.declaredProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for case let relationship as NSRelationshipDescription in original.declaredProperties {
            guard let mine = names[relationship.name] as? NSRelationshipDescription else { continue }
            mine.destinationEntity = relationship.destinationEntity.map { self[$0] ?? $0 }
            guard let inverse = relationship.inverseRelationship, let owner = inverse.entity.flatMap({ self[$0] }) else { continue }
            mine.inverseRelationship = owner.declaredProperties.first { $0.name == inverse.name } as? NSRelationshipDescription
        }
        copy.indexes = original.indexes.map { index in
            let made = NSFetchIndexDescription(name: index.name, elements: index.elements.compactMap { element in copied(element, in: copy) })
            made.partialIndexPredicate = index.partialIndexPredicate
            return made
        }
        copy.uniquenessConstraints = original.uniquenessConstraints.map { constraint in
            constraint.map { ($0 as? NSPropertyDescription)?.nameInEntity ?? $0 }
        }
    }

    /// An element whose property the copy declares or inherits.
    private func copied(_ element: NSFetchIndexElementDescription, in entity: NSEntityDescription) -> NSFetchIndexElementDescription? {
        if let computed = element.property as? NSExpressionDescription { return element.copy(over: computed.duplicate()) }
        if let part = element.property as? NSAttributeDescription, part.composite != nil { return entity.element(at: part.path).map(element.copy) }
        guard let property = element.property, let owner = property.entity.flatMap({ self[$0] }),
            let mine = owner.declaredProperties.first(where: { $0.name == property.name })
        else { return nil }
        return element.copy(over: mine)
    }
}

extension NSEntityDescription {
    /// A copy that belongs to no model and leads to no other entity, but for the destinations of its relationships.
    fileprivate func unrelatedCopy() -> NSEntityDescription {
        let copy = NSEntityDescription()
        copy.name = name
        copy.managedObjectClassName = managedObjectClassName
        copy.explicitClass = explicitClass
        copy.mayLackItsClass = mayLackItsClass
        copy.isAbstract = isAbstract
        copy.userInfo = userInfo
        copy.renamingIdentifier = renamingIdentifier
        copy.versionHashModifier = versionHashModifier
        copy.properties = declaredProperties.map { $0.duplicate() }
        return copy
    }
}
