import Foundation
import OpenCoreData

/// A model as a value whose parts keep a number through all its versions: what became of what is known without looking at names.
struct MigrationSpec {
    struct Attribute {
        let id: Int
        var name: String
        var type: NSAttributeDescription.AttributeType
        var isOptional = true
        var initial: AnyHashable?
        var renamedFrom: String?
        var isIndexed = false
    }

    struct Entity {
        let id: Int
        var name: String
        var parent: Int?
        var isAbstract = false
        var attributes: [Attribute] = []
        var renamedFrom: String?
    }

    /// One side of a relationship: what its owner calls it.
    struct End {
        var owner: Int
        var name: String
        var isToMany: Bool
        var isOrdered = false
        var renamedFrom: String?
    }

    struct Pair {
        let id: Int
        var forth: End
        /// Nil: it has no inverse, and leads to `target`.
        var back: End?
        var target: Int
    }

    var entities: [Entity] = []
    var pairs: [Pair] = []
    private(set) var count = 0

    mutating func next() -> Int {
        count += 1
        return count
    }

    func entity(_ id: Int) -> Entity? { entities.first { $0.id == id } }

    /// The entity and what it inherits from, the nearest first.
    func line(_ id: Int) -> [Entity] {
        var result: [Entity] = [], next: Int? = id
        while let entity = next.flatMap(self.entity) {
            result.append(entity)
            next = entity.parent
        }
        return result
    }

    func descendants(_ id: Int) -> [Int] { [id] + entities.filter { $0.parent == id }.flatMap { descendants($0.id) } }
    func attributes(_ id: Int) -> [Attribute] { line(id).flatMap(\.attributes) }
    func isKind(_ id: Int, of ancestor: Int) -> Bool { line(id).contains { $0.id == ancestor } }

    /// The model. Each root has a number of its own for every object, by which the test knows it: `tag`.
    func model(constrained: Bool) -> NSManagedObjectModel {
        var made: [Int: NSEntityDescription] = [:]
        for entity in entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.isAbstract = entity.isAbstract
            description.renamingIdentifier = entity.renamedFrom
            description.properties =
                (entity.parent == nil ? [NSAttributeDescription(name: "tag", type: .integer64)] : [])
                + entity.attributes.map { attribute in
                    let property = NSAttributeDescription(
                        name: attribute.name, type: attribute.type, isOptional: attribute.isOptional, defaultValue: attribute.initial?.base)
                    property.renamingIdentifier = attribute.renamedFrom
                    property.isIndexed = attribute.isIndexed
                    return property
                }
            if constrained, entity.parent == nil { description.uniquenessConstraints = [["tag"]] }
            made[entity.id] = description
        }
        for entity in entities { made[entity.id]?.subentities = entities.filter { $0.parent == entity.id }.compactMap { made[$0.id] } }
        for pair in pairs {
            guard let owner = made[pair.forth.owner], let target = made[pair.target] else { continue }
            let forth = Self.relationship(pair.forth, to: target)
            owner.properties += [forth]
            guard let end = pair.back else { continue }
            let back = Self.relationship(end, to: owner)
            target.properties += [back]
            forth.inverseRelationship = back
        }
        return NSManagedObjectModel(entities: entities.compactMap { made[$0.id] })
    }

    private static func relationship(_ end: End, to target: NSEntityDescription) -> NSRelationshipDescription {
        let made = NSRelationshipDescription(name: end.name, destination: target, toMany: end.isToMany, isOrdered: end.isToMany && end.isOrdered)
        made.renamingIdentifier = end.renamedFrom
        return made
    }
}

// MARK: Versions

extension MigrationSpec {
    private static let types: [NSAttributeDescription.AttributeType] = [
        .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal, .string, .date, .binaryData, .uuid, .uri,
    ]

    static func random(using random: inout SeededGenerator) -> MigrationSpec {
        var spec = MigrationSpec()
        for _ in 0..<Int.random(in: 2...4, using: &random) { spec.addEntity(using: &random) }
        for _ in 0..<Int.random(in: 1...4, using: &random) { spec.addPair(using: &random) }
        return spec
    }

    /// The next version, with the words of each change.
    func changed(using random: inout SeededGenerator) -> (spec: MigrationSpec, words: [String]) {
        var spec = self, words: [String] = []
        // What was renamed in this version was so in no earlier one.
        for index in spec.entities.indices {
            if Bool.random(using: &random) { spec.entities[index].renamedFrom = nil }
        }
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            if let word = spec.change(Int.random(in: 0..<19, using: &random), using: &random) { words.append(word) }
        }
        return (spec, words)
    }

    private mutating func addEntity(using random: inout SeededGenerator) {
        let id = next()
        var entity = Entity(id: id, name: "E\(id)")
        if Int.random(in: 0..<3, using: &random) == 0 { entity.parent = entities.randomElement(using: &random)?.id }
        entities.append(entity)
        for _ in 0..<Int.random(in: 0...4, using: &random) { addAttribute(entities.count - 1, using: &random) }
    }

    private mutating func addAttribute(_ entity: Int, using random: inout SeededGenerator) {
        let id = next(), type = Self.types.randomElement(using: &random) ?? .string
        var attribute = Attribute(id: id, name: "a\(id)", type: type)
        if Int.random(in: 0..<3, using: &random) == 0 { attribute.initial = MigrationValues.value(type, Int.random(in: 0..<100, using: &random)) }
        attribute.isOptional = attribute.initial == nil || Bool.random(using: &random)
        attribute.isIndexed = Bool.random(using: &random)
        entities[entity].attributes.append(attribute)
    }

    private mutating func addPair(using random: inout SeededGenerator) {
        guard let owner = entities.randomElement(using: &random)?.id, let target = entities.randomElement(using: &random)?.id else { return }
        let id = next()
        var pair = Pair(
            id: id, forth: End(owner: owner, name: "r\(id)", isToMany: .random(using: &random), isOrdered: .random(using: &random)), back: nil,
            target: target)
        if Int.random(in: 0..<4, using: &random) > 0 {
            pair.back = End(owner: target, name: "i\(id)", isToMany: .random(using: &random), isOrdered: .random(using: &random))
        }
        pairs.append(pair)
    }

    /// One change of a kind; nil where there is nothing to change so.
    private mutating func change(_ kind: Int, using random: inout SeededGenerator) -> String? {
        guard let place = entities.indices.randomElement(using: &random) else { return nil }
        let attribute = entities[place].attributes.indices.randomElement(using: &random), pair = pairs.indices.randomElement(using: &random)
        switch kind {
        case 0:
            addAttribute(place, using: &random)
            return "a new attribute of \(entities[place].name)"
        case 1:
            guard let attribute else { return nil }
            return "no more \(entities[place].attributes.remove(at: attribute).name)"
        case 2:
            guard let attribute, isOld(place, attribute) else { return nil }
            let old = entities[place].attributes[attribute].name
            entities[place].attributes[attribute].name = "n\(next())"
            entities[place].attributes[attribute].renamedFrom = old
            return "\(old) renamed"
        case 3: return widen(place, attribute, using: &random)
        case 4:
            guard let attribute else { return nil }
            if entities[place].attributes[attribute].isOptional {
                guard
                    let value = entities[place].attributes[attribute].initial
                        ?? MigrationValues.value(entities[place].attributes[attribute].type, Int.random(in: 0..<100, using: &random))
                else { return nil }
                entities[place].attributes[attribute].initial = value
            }
            entities[place].attributes[attribute].isOptional.toggle()
            return "\(entities[place].attributes[attribute].name) optional or not"
        case 5:
            addEntity(using: &random)
            return "a new entity"
        case 6:
            let id = entities[place].id
            guard entities.count > 1, !entities.contains(where: { $0.parent == id }) else { return nil }
            pairs.removeAll { $0.forth.owner == id || $0.target == id }
            return "no more \(entities.remove(at: place).name)"
        case 7:
            guard entities[place].renamedFrom == nil else { return nil }
            entities[place].renamedFrom = entities[place].name
            entities[place].name = "N\(next())"
            return "\(entities[place].renamedFrom ?? "") renamed"
        case 8: return move(place, using: &random)
        case 9:
            addPair(using: &random)
            return "a new relationship"
        case 10:
            guard let pair else { return nil }
            return "no more \(pairs.remove(at: pair).forth.name)"
        case 11:
            guard let pair, pairs[pair].forth.renamedFrom == nil else { return nil }
            pairs[pair].forth.renamedFrom = pairs[pair].forth.name
            pairs[pair].forth.name = "m\(next())"
            return "\(pairs[pair].forth.renamedFrom ?? "") renamed"
        case 12:
            guard let pair, !pairs[pair].forth.isToMany else { return nil }
            pairs[pair].forth.isToMany = true
            return "\(pairs[pair].forth.name) a to-many"
        case 13:
            guard let pair, pairs[pair].back?.isToMany == false else { return nil }
            pairs[pair].back?.isToMany = true
            return "\(pairs[pair].back?.name ?? "") a to-many"
        case 14:
            guard let pair else { return nil }
            pairs[pair].forth.isOrdered.toggle()
            pairs[pair].back?.isOrdered.toggle()
            return "\(pairs[pair].forth.name) in order or not"
        case 15:
            guard let pair, pairs[pair].back == nil else { return nil }
            let name = (Bool.random(using: &random) ? "b" : "z") + "\(next())"
            pairs[pair].back = End(owner: pairs[pair].target, name: name, isToMany: true, isOrdered: .random(using: &random))
            return "an inverse \(name) of \(pairs[pair].forth.name)"
        case 16:
            guard let attribute, isOld(place, attribute) else { return nil }
            let old = entities[place].attributes[attribute].name
            entities[place].attributes[attribute].name = "n\(next())"
            entities[place].attributes[attribute].renamedFrom = old
            addAttribute(place, using: &random)
            entities[place].attributes[entities[place].attributes.count - 1].name = old
            return "\(old) renamed, and another \(old)"
        case 17:
            guard let attribute, let other = entities[place].attributes.indices.filter({ $0 != attribute }).randomElement(using: &random),
                isOld(place, attribute), isOld(place, other)
            else { return nil }
            let names = (entities[place].attributes[attribute].name, entities[place].attributes[other].name)
            (entities[place].attributes[attribute].name, entities[place].attributes[other].name) = (names.1, names.0)
            (entities[place].attributes[attribute].renamedFrom, entities[place].attributes[other].renamedFrom) = names
            return "\(names.0) and \(names.1) exchanged"
        default:
            guard let attribute, let parent = entities[place].parent, let above = entities.firstIndex(where: { $0.id == parent }) else { return nil }
            let moved = entities[place].attributes.remove(at: attribute)
            // Others that inherit it now have none.
            guard moved.isOptional || moved.initial != nil else { return nil }
            entities[above].attributes.append(moved)
            return "\(moved.name) of \(entities[place].name) up to \(entities[above].name)"
        }
    }

    /// Whether it has its name since the last version, and nobody else had it then.
    private func isOld(_ entity: Int, _ attribute: Int) -> Bool {
        let this = entities[entity].attributes[attribute]
        return this.renamedFrom == nil && !entities[entity].attributes.contains { $0.renamedFrom == this.name }
    }

    private mutating func widen(_ place: Int, _ attribute: Int?, using random: inout SeededGenerator) -> String? {
        guard let attribute else { return nil }
        let wider: [NSAttributeDescription.AttributeType: [NSAttributeDescription.AttributeType]] = [
            .integer16: [.integer32, .integer64, .double, .decimal, .string], .integer32: [.integer64, .double, .decimal, .string],
            .integer64: [.double, .decimal, .string], .boolean: [.integer16, .integer32, .double], .float: [.double], .uri: [.string],
            .uuid: [.string],
        ]
        guard let type = wider[entities[place].attributes[attribute].type]?.randomElement(using: &random) else { return nil }
        entities[place].attributes[attribute].type = type
        if entities[place].attributes[attribute].initial != nil {
            entities[place].attributes[attribute].initial = MigrationValues.value(type, Int.random(in: 0..<100, using: &random))
        }
        return "\(entities[place].attributes[attribute].name) wider"
    }

    /// An entity goes below another, or becomes a root.
    private mutating func move(_ place: Int, using random: inout SeededGenerator) -> String? {
        let id = entities[place].id
        let above = line(id).dropFirst().map(\.id), below = descendants(id)
        // Who leads to what it inherits from may lead to one of its objects.
        guard !pairs.contains(where: { pair in above.contains(pair.target) || pair.back != nil && above.contains(pair.forth.owner) }) else {
            return nil
        }
        let places = entities.map(\.id).filter { !below.contains($0) }
        entities[place].parent = Bool.random(using: &random) ? places.randomElement(using: &random) : nil
        return "\(entities[place].name) below \(entities[place].parent.flatMap(entity)?.name ?? "nothing")"
    }
}
