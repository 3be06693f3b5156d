import SyncConfiguration

/// The entities that records and the objects in them become.
struct ModelDraft {
    /// One entity.
    struct Entity {
        var name: String
        let key: KeyDraft
        let keyReason: String
        /// All objects of the sample that are of it.
        var objects: [SampleObject]
        var attributes: [AttributeDraft] = []
        var relationships: [RelationshipDraft] = []
        /// Members that it does not have, with the reason in words.
        var omitted: [(names: [String], reason: String)] = []
        /// The attribute that is the name under which a record stands.
        var mapKey: String?
        /// Something leads to it.
        var isUsed = false

        /// The one member that says which object it is, of those that have one.
        fileprivate var identity: MemberName? {
            if case .members(let names) = key, names.count == 1 { names[0] } else { nil }
        }
    }

    /// What becomes of what stands at a path.
    private enum Treatment {
        /// Objects of an entity of their own.
        case objects(of: Int, isMany: Bool)
        /// An object whose members become the owner's.
        case flat
        /// A value of its own.
        case value
    }

    private struct Place: Hashable {
        let entity: Int
        let path: [MemberName]
    }

    /// That of the records first.
    private(set) var entities: [Entity]
    private var treatments: [Place: Treatment] = [:]

    private static let mostEntities = 16, mostAttributes = 200, mostMembers = 10_000
    /// How deep objects without an id are taken apart.
    private static let deepest = 3
    /// How many members an object may have to be taken apart.
    private static let widest = 40

    init(_ found: SampleRecords, name: String) {
        let (key, reason) = KeyDraft.choose(for: found, entity: name)
        entities = [Entity(name: name, key: key, keyReason: reason, objects: found.records, isUsed: true)]
        var open = [(entity: 0, objects: found.records, level: 0)]
        while !open.isEmpty {
            let next = open.removeFirst()
            examine(next.objects, of: next.entity, at: [], level: next.level, &open)
        }
        for entity in entities.indices { describe(entity) }
        if found.names != nil { nameRecords(by: found.names ?? []) }
        keepWhatIsReached()
    }

    // MARK: What stands where

    private mutating func examine(
        _ objects: [SampleObject], of entity: Int, at prefix: [MemberName], level: Int,
        _ open: inout [(entity: Int, objects: [SampleObject], level: Int)]
    ) {
        for (name, values) in Self.members(of: objects) where MemberPath.isWritable(name.text) {
            let place = Place(entity: entity, path: prefix + [name])
            let values = values.filter { !$0.isNull }
            let inner = values.compactMap(\.object), lists = values.compactMap(\.list)
            if inner.isEmpty, !lists.contains(where: { list in list.contains { $0.object != nil } }) {
                // An empty list says nothing of what it would hold.
                if values.contains(where: { $0.list?.isEmpty != true }) { treatments[place] = .value }
                continue
            }
            if inner.count == values.count {
                treat(place, inner, isMany: false, level, &open)
            } else if lists.count == values.count, lists.allSatisfy({ $0.count <= Self.mostMembers && $0.allSatisfy { $0.object != nil } }) {
                treat(place, lists.flatMap { $0.compactMap(\.object) }, isMany: true, level, &open)
            } else {
                treatments[place] = .value
            }
        }
    }

    private mutating func treat(
        _ place: Place, _ objects: [SampleObject], isMany: Bool, _ level: Int,
        _ open: inout [(entity: Int, objects: [SampleObject], level: Int)]
    ) {
        switch treatments[place] {
        case .value: return
        case .objects(of: let target, isMany: let wasMany):
            guard wasMany == isMany, let name = entities[target].identity, Self.identify(objects, by: name, as: entities[target].objects) else {
                treatments[place] = .value
                return
            }
            entities[target].objects += objects
            open.append((target, objects, level + 1))
        case .flat:
            guard !isMany else {
                treatments[place] = .value
                return
            }
            examine(objects, of: place.entity, at: place.path, level: level, &open)
        case nil:
            if let target = entity(for: objects, at: place, level: level) {
                treatments[place] = .objects(of: target, isMany: isMany)
                open.append((target, objects, level + 1))
            } else if !isMany, place.path.count < Self.deepest, Self.isRegular(objects) {
                treatments[place] = .flat
                examine(objects, of: place.entity, at: place.path, level: level, &open)
            } else {
                treatments[place] = .value
            }
        }
    }

    /// The entity of objects that say which ones they are, new or known; nil: they do not.
    private mutating func entity(for objects: [SampleObject], at place: Place, level: Int) -> Int? {
        guard level < Self.deepest, let identity = Self.identity(of: objects) else { return nil }
        let names = Set(objects.flatMap(\.names))
        let alike = entities.indices.filter { index in
            let known = Set(entities[index].objects.prefix(100).flatMap(\.names))
            let common = known.intersection(names).count
            return common >= 3 && common * 10 >= 7 * known.union(names).count && entities[index].identity == identity
                && Self.identify(objects, by: identity, as: entities[index].objects)
        }
        if let known = alike.first {
            entities[known].objects += objects
            return known
        }
        guard entities.count < Self.mostEntities else { return nil }
        let name = DraftNames.entity(place.path.last?.text ?? "", taken: Set(entities.map(\.name)))
        let text = DraftWriting.quoted(identity.text)
        entities.append(Entity(name: name, key: .members([identity]), keyReason: "Each of these objects has \(text).", objects: objects))
        return entities.count - 1
    }

    /// The member by which all of the objects can be told apart; nil: there is none.
    private static func identity(of objects: [SampleObject]) -> MemberName? {
        guard let first = objects.first else { return nil }
        let names = first.names.filter { IdentityNames.rank($0.text, entity: "") != nil && MemberPath.isWritable($0.text) }.sorted {
            (IdentityNames.rank($0.text, entity: "") ?? .max) < (IdentityNames.rank($1.text, entity: "") ?? .max)
        }
        return names.first { name in
            guard identify(objects, by: name, as: []) else { return false }
            // A name that could mean something else must not stand for two things.
            return IdentityNames.isCertain(name.text) || saysOneThing(objects, by: name)
        }
    }

    /// Whether all of the objects have such a member, all of one kind, as the others have.
    private static func identify(_ objects: [SampleObject], by name: MemberName, as others: [SampleObject]) -> Bool {
        let kinds = objects.map { $0[name].flatMap(KeyValue.init)?.isText }
        guard let first = kinds.first, let kind = first, kinds.allSatisfy({ $0 == kind }) else { return false }
        guard let other = others.first else { return true }
        return other[name].flatMap(KeyValue.init)?.isText == kind
    }

    private static func saysOneThing(_ objects: [SampleObject], by name: MemberName) -> Bool {
        guard let first = objects.first, first.count > 1 else { return false }
        var known: [KeyValue: SampleObject] = [:]
        return objects.allSatisfy { object in
            guard let key = object[name].flatMap(KeyValue.init) else { return false }
            guard let before = known.updateValue(object, forKey: key) else { return true }
            return zip(before.names, before.values).allSatisfy { name, value in
                guard let other = object[name] else { return false }
                return value.text == other.text && value.integer == other.integer && value.bool == other.bool
            }
        }
    }

    /// Whether objects have the same few members, and are no maps.
    private static func isRegular(_ objects: [SampleObject]) -> Bool {
        let members = Self.members(of: objects)
        guard !members.isEmpty, members.count <= widest else { return false }
        return objects.count < 2 || members.reduce(0) { $0 + $1.values.count } * 10 >= 3 * members.count * objects.count
    }

    /// The members of objects in the order in which they are met, with the values of those that have them.
    private static func members(of objects: [SampleObject]) -> [(name: MemberName, values: [SampleValue])] {
        var places: [MemberName: Int] = [:], members: [(name: MemberName, values: [SampleValue])] = []
        for object in objects {
            for (name, value) in zip(object.names, object.values) {
                if let place = places[name] {
                    members[place].values.append(value)
                } else {
                    places[name] = members.count
                    members.append((name, [value]))
                }
            }
        }
        return members
    }

    // MARK: Properties

    /// A treatment if all of the values can have it: each may have been right for the objects that were met together.
    private static func holding(_ treatment: Treatment?, _ values: [SampleValue]) -> Treatment {
        switch treatment {
        case .flat:
            return values.allSatisfy { $0.isNull || $0.object != nil } ? .flat : .value
        case .objects(of: let target, isMany: let isMany):
            let holds = values.allSatisfy { $0.isNull || (isMany ? $0.list != nil : $0.object != nil) }
            return holds ? .objects(of: target, isMany: isMany) : .value
        case .value, nil:
            return .value
        }
    }

    private mutating func describe(_ index: Int) {
        var entity = entities[index], taken: Set<String> = []
        var unwritable: [String] = [], surplus: [String] = []
        let keyMembers: [MemberName] = if case .members(let names) = entity.key { names } else { [] }

        func add(_ objects: [SampleObject], _ prefix: [MemberName]) {
            var members = Self.members(of: objects)
            // The key comes first, and is never left out.
            if prefix.isEmpty {
                members = members.filter { keyMembers.contains($0.name) } + members.filter { !keyMembers.contains($0.name) }
            }
            for (member, values) in members {
                guard MemberPath.isWritable(member.text) else {
                    unwritable.append(member.text)
                    continue
                }
                let path = prefix + [member], texts = path.map(\.text)
                let treatment = Self.holding(treatments[Place(entity: index, path: path)], values)
                if case .flat = treatment {
                    add(values.compactMap(\.object), path)
                    continue
                }
                guard entity.attributes.count + entity.relationships.count < Self.mostAttributes, texts.joined().utf8.count <= 512 else {
                    surplus.append(member.text)
                    continue
                }
                let name = DraftNames.property(texts, entity: entity.name, taken: taken)
                taken.insert(name.lowercased())
                if case .objects(of: let target, isMany: let isMany) = treatment {
                    entity.relationships.append(RelationshipDraft(name: name, path: texts, target: target, isMany: isMany))
                    continue
                }
                let isKey = prefix.isEmpty && keyMembers.contains(member)
                let (type, format, remark) = AttributeDraft.choose(for: values.filter { !$0.isNull }, name: member.text, isKey: isKey)
                entity.attributes.append(AttributeDraft(name: name, path: texts, type: type, format: format, isKey: isKey, remark: remark))
            }
        }
        add(entity.objects, [])
        if !unwritable.isEmpty { entity.omitted.append((unwritable, "no path can lead to a name like this")) }
        if !surplus.isEmpty { entity.omitted.append((surplus, "an entity with more than \(Self.mostAttributes) attributes is more likely a map")) }
        entities[index] = entity
    }

    /// The name under which a record stands becomes an attribute: the one that says the same in each record, if there is one.
    private mutating func nameRecords(by names: [MemberName]) {
        let isNumber = names.allSatisfy { name in Int64(name.text).map { String($0) == name.text } ?? false }
        let same = entities[0].attributes.firstIndex { attribute in
            guard attribute.path.count == 1, attribute.type == "string" || attribute.type == "int64" && isNumber else { return false }
            let member = MemberName(attribute.path[0])
            return zip(names, entities[0].objects).allSatisfy { name, object in
                guard let value = object[member] else { return false }
                return (value.text ?? value.integer).map { $0.utf8.elementsEqual(name.text.utf8) } ?? false
            }
        }
        if let same {
            entities[0].attributes[same].isKey = true
            entities[0].mapKey = entities[0].attributes[same].name
            return
        }
        let entity = entities[0].name, properties = entities[0].attributes.map(\.name) + entities[0].relationships.map(\.name)
        let taken = Set(properties.map { $0.lowercased() })
        // Without a path it stands for members called alike: there may be none.
        let members = Set(properties + entities[0].objects.flatMap { $0.names.map(\.text) })
        let name =
            ["key", "map_key", "map_name"].first { name in
                !taken.contains(name) && members.isDisjoint(with: NameMatch.candidates(for: name, in: entity))
            } ?? DraftNames.property(["name_of_member"], entity: entity, taken: taken)
        entities[0].attributes.insert(AttributeDraft(name: name, path: [], type: isNumber ? "int64" : "string", isKey: true), at: 0)
        entities[0].mapKey = name
    }

    /// Entities to which nothing leads in the end are left out.
    private mutating func keepWhatIsReached() {
        var open = [0]
        while let index = open.popLast() {
            for relationship in entities[index].relationships where !entities[relationship.target].isUsed {
                entities[relationship.target].isUsed = true
                open.append(relationship.target)
            }
        }
    }
}
