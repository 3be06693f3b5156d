import Foundation

/// What became of the entities and properties of one model in another: what a migration without code of the program's goes by.
///
/// They are recognised by their names, or by the renaming identifiers of the newer model. Throws 134190, with all that stands in the way, if what
/// is stored can't be brought from one to the other without a loss or a guess.
struct ModelChange {
    /// Those of the newer model in its order, then those that are no more.
    let entities: [EntityChange]

    /// Whether anything has another name.
    var renames: Bool {
        entities.contains { change in
            guard let source = change.source, let destination = change.destination else { return false }
            return source.name != destination.name
                || change.attributes.contains { $0.source.map { $0.name } ?? $0.destination.name != $0.destination.name }
                || change.relationships.contains { $0.source.map { $0.name } ?? $0.destination.name != $0.destination.name }
        }
    }

    /// - Parameter looksAtObjects: whoever carries it out will see whether objects have what is required now; else that alone is refused.
    init(from old: [NSEntityDescription], to new: [NSEntityDescription], looksAtObjects: Bool = false) throws {
        var finder = ChangeFinder(old, new, looksAtObjects: looksAtObjects)
        entities = finder.entities()
        if !finder.complaints.isEmpty {
            throw NSError.coreData(
                .inferredMappingModel, "How to migrate can't be inferred: \(finder.complaints.joined(separator: "; ")).",
                userInfo: ["reason": finder.complaints.joined(separator: "; ")])
        }
    }
}

/// One entity before and after: one of both is nil where it is new, or no more.
struct EntityChange {
    let source: NSEntityDescription?
    let destination: NSEntityDescription?
    /// What is stored of the entity afterwards, with what it inherits.
    var attributes: [AttributeChange] = []
    var relationships: [RelationshipChange] = []
}

/// A stored attribute, and what its values come from; nil: it is new, and has its default.
struct AttributeChange {
    let source: NSAttributeDescription?
    let destination: NSAttributeDescription
    var conversion: ColumnConversion = .none
    /// It is required, and there is nothing to give an object that has none.
    var needsValue = false
}

/// A relationship, and what its objects come from; nil: it is new, and empty.
struct RelationshipChange {
    let source: NSRelationshipDescription?
    let destination: NSRelationshipDescription
}

/// What the value of a column becomes in a column that is declared otherwise.
enum ColumnConversion {
    case none, double, decimal, text
    /// From a UUID's bytes to its digits.
    case uuidText

    /// Nil if values could be lost.
    init?(from source: AttributeKind, to destination: AttributeKind) {
        guard let old = source.column, let new = destination.column else { return nil }
        if old == new, source.name == destination.name {
            self = .none
            return
        }
        switch (old, new) {
        case (.integer, .integer):
            if let most = destination.integers, source.integers.map({ most.contains($0.lowerBound) && most.contains($0.upperBound) }) != true {
                return nil
            }
            self = .none
        case (.boolean, .integer): self = .none
        case (.double, .double):
            // A Double is not a Float.
            if source.form == .double { return nil }
            self = .none
        // As Core Data, although integers beyond 2⁵³ become the nearest that there is.
        case (.integer, .double) where destination.form == .double, (.boolean, .double) where destination.form == .double: self = .double
        case (.integer, .decimal), (.boolean, .decimal): self = .decimal
        case (.uri, .string): self = .none
        case (.integer, .string): self = .text
        case (.uuid, .string): self = .uuidText
        default: return nil
        }
    }
}

/// Finds what belongs together in two models.
private struct ChangeFinder {
    private let old: [NSEntityDescription]
    private let new: [NSEntityDescription]
    /// By entity of the newer model.
    private var sources: [ObjectIdentifier: NSEntityDescription] = [:]
    /// By entity of the older model.
    private var destinations: [ObjectIdentifier: NSEntityDescription] = [:]
    /// By entity of the newer model: what its properties were called, by what they are called.
    private var renamed: [ObjectIdentifier: [String: String]] = [:]
    private(set) var complaints: [String] = []
    private let looksAtObjects: Bool

    init(_ old: [NSEntityDescription], _ new: [NSEntityDescription], looksAtObjects: Bool) {
        self.old = old
        self.new = new
        self.looksAtObjects = looksAtObjects
        let matches = Self.matches(
            old.map { Named(name: $0.name ?? "", identifier: $0.renamingIdentifier) },
            new.map { Named(name: $0.name ?? "", identifier: $0.renamingIdentifier) })
        for (place, match) in matches.enumerated() {
            guard let match else { continue }
            sources[ObjectIdentifier(new[place])] = old[match]
            destinations[ObjectIdentifier(old[match])] = new[place]
        }
        for entity in new { if let source = sources[ObjectIdentifier(entity)] { renamed[ObjectIdentifier(entity)] = Self.names(source, entity) } }
        nameInverses()
    }

    private struct Named {
        let name: String
        let identifier: String?
        var canonical: String { identifier ?? name }
    }

    /// For each of the newer ones the place of the older one that it was.
    private static func matches(_ old: [Named], _ new: [Named]) -> [Int?] {
        var result = [Int?](repeating: nil, count: new.count), taken = Set<Int>()
        func match(_ isSame: (Named, Named) -> Bool) {
            for (place, newer) in new.enumerated() where result[place] == nil {
                guard let found = old.indices.first(where: { !taken.contains($0) && isSame(old[$0], newer) }) else { continue }
                result[place] = found
                taken.insert(found)
            }
        }
        // An identifier stays in the model long after the renaming: what has the name already, and the identifier, is meant by the name.
        match { $1.identifier != nil && $0.name == $1.name && $0.identifier == $1.identifier }
        match { $1.identifier != nil && $0.name == $1.identifier }
        match { $0.name == $1.name }
        match { $0.canonical == $1.canonical }
        return result
    }

    private static func names(_ old: NSEntityDescription, _ new: NSEntityDescription) -> [String: String] {
        let before = stored(old), after = stored(new)
        let matches = matches(
            before.map { Named(name: $0.name, identifier: $0.renamingIdentifier) },
            after.map { Named(name: $0.name, identifier: $0.renamingIdentifier) })
        var result: [String: String] = [:]
        for (place, match) in matches.enumerated() { if let match { result[after[place].name] = before[match].name } }
        return result
    }

    private static func stored(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.leaves.filter(\.isStored).sorted { $0.name < $1.name }
    }

    /// Where one side of a relationship is known, so is the other.
    private mutating func nameInverses() {
        for entity in new {
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                guard let source = source(of: relationship, in: entity), let inverse = relationship.inverseRelationship,
                    let before = source.inverseRelationship, let owner = inverse.entity
                else { continue }
                for other in owner.withDescendants where sources[ObjectIdentifier(other)] != nil {
                    let names = renamed[ObjectIdentifier(other)] ?? [:]
                    if names[inverse.name] == nil, !names.values.contains(before.name) {
                        renamed[ObjectIdentifier(other)]?[inverse.name] = before.name
                    }
                }
            }
        }
    }

    private func source(of property: NSPropertyDescription, in entity: NSEntityDescription) -> NSPropertyDescription? {
        renamed[ObjectIdentifier(entity)]?[property.name].flatMap { sources[ObjectIdentifier(entity)]?.leavesByName[$0] }
    }

    private func source(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> NSRelationshipDescription? {
        source(of: relationship as NSPropertyDescription, in: entity) as? NSRelationshipDescription
    }

    // MARK: Changes

    mutating func entities() -> [EntityChange] {
        let kept = new.map { entity in
            var change = EntityChange(source: sources[ObjectIdentifier(entity)], destination: entity)
            for property in Self.stored(entity) {
                let before = source(of: property, in: entity)
                if let attribute = property as? NSAttributeDescription {
                    change.attributes.append(self.attribute(attribute, from: before, in: entity, isNew: change.source == nil))
                } else if let relationship = property as? NSRelationshipDescription {
                    change.relationships.append(self.relationship(relationship, from: before, in: entity))
                }
            }
            return change
        }
        let gone = old.filter { destinations[ObjectIdentifier($0)] == nil }
        return kept + gone.map { EntityChange(source: $0, destination: nil) }
    }

    /// For sentences. What is inherited is said of the entity that declares it, if that was there as well.
    private func place(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String {
        let declarer = property.entity.flatMap { sources[ObjectIdentifier($0)] == nil ? nil : $0 } ?? entity
        return "\(declarer.name ?? "?").\(property.name)"
    }

    /// Once, however many entities inherit it.
    private mutating func complain(_ sentence: String) {
        if !complaints.contains(sentence) { complaints.append(sentence) }
    }

    private mutating func attribute(
        _ attribute: NSAttributeDescription, from before: NSPropertyDescription?, in entity: NSEntityDescription, isNew: Bool
    ) -> AttributeChange {
        let name = place(of: attribute, in: entity)
        var change = AttributeChange(source: before as? NSAttributeDescription, destination: attribute)
        if attribute.isRequired, attribute.defaultValue == nil, !isNew, change.source?.isOptional ?? true {
            change.needsValue = true
            if !looksAtObjects { complain("\(name) is required and has no default value for objects that have none") }
        }
        guard let before else { return change }
        guard let source = change.source else {
            complain("\(name) was a relationship")
            return change
        }
        if source.valueTransformerName != attribute.valueTransformerName,
            !Self.archives(source.valueTransformerName) || !Self.archives(attribute.valueTransformerName)
        {
            complain("\(name) has another transformer")
        } else if let conversion = ColumnConversion(from: source.kind, to: attribute.kind) {
            change.conversion = conversion
        } else {
            complain(
                "\(name) was \(before.name == attribute.name ? "" : "\(before.name), ")\(source.kind.name), which not always is \(attribute.kind.name)"
            )
        }
        return change
    }

    /// Whether what is stored is a keyed archive, as without any transformer. What a secure one does not take stays in the store, and can't be read.
    private static func archives(_ transformer: String?) -> Bool {
        let names: [NSValueTransformerName] = [
            .keyedUnarchiveFromDataTransformerName, .unarchiveFromDataTransformerName, .secureUnarchiveFromDataTransformerName,
        ]
        return transformer.map { names.contains(NSValueTransformerName($0)) } ?? true
    }

    private mutating func relationship(
        _ relationship: NSRelationshipDescription, from before: NSPropertyDescription?, in entity: NSEntityDescription
    ) -> RelationshipChange {
        let name = place(of: relationship, in: entity)
        guard let before else { return RelationshipChange(source: nil, destination: relationship) }
        guard let source = before as? NSRelationshipDescription else {
            complain("\(name) was an attribute")
            return RelationshipChange(source: nil, destination: relationship)
        }
        if source.isToMany && !relationship.isToMany { complain("\(name) was a to-many and is a to-one, which has no place for the others") }
        let leftOut = (source.destinationEntity?.withDescendants ?? []).compactMap { destinations[ObjectIdentifier($0)] }.filter { target in
            relationship.destinationEntity.map { !target.isKindOf(entity: $0) } ?? false
        }
        if let first = leftOut.first {
            complain("\(name) leads to \(relationship.destinationEntity?.name ?? "?"), which the \(first.name ?? "?") that it led to is not")
        }
        checkInverse(of: relationship, from: source, name)
        return RelationshipChange(source: source, destination: relationship)
    }

    /// Which member belongs to whom must stand in one place, before and after.
    private mutating func checkInverse(of relationship: NSRelationshipDescription, from source: NSRelationshipDescription, _ name: String) {
        guard let inverse = relationship.inverseRelationship, let owner = relationship.destinationEntity, sources[ObjectIdentifier(owner)] != nil
        else {
            return
        }
        let was = self.source(of: inverse, in: owner)
        if let was, was !== source.inverseRelationship {
            complain("\(name) and its inverse \(inverse.name) come from relationships that were not each other's inverse")
        } else if was == nil, relationship.isKeptInMembers || !relationship.isToMany && !inverse.isToMany {
            complain("\(name) has an inverse, \(inverse.name), that is a to-one: a member may have had several owners")
        }
    }
}
