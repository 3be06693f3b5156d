import Foundation
import JSONReader
package import OpenCoreData
package import SyncConfiguration

/// How records become rows of one entity: compiled once for each configuration.
// Immutable once `connect` has run, before the mapping is handed out.
final class EntityMapping: @unchecked Sendable {
    struct AttributeField: Sendable {
        let field: Int
        let slot: Int
        let conversion: ValueConversion
        let isRequired: Bool
        /// What stands for a missing value.
        let fallback: AttributeValue
        /// Which cells are the attribute's value as they are.
        let form: Form
        /// Whether it is of the key: then nothing stands for a missing value.
        let isKey: Bool

        enum Form: Sendable {
            case string, integer, double, bool, date
            /// All of them are converted.
            case other
        }

        func value(_ cell: JSONCell, of record: JSONRecord) throws(ConversionProblem) -> AttributeValue {
            // A double stands for many texts; every other cell holds all of its own.
            guard case .double = cell else { return try conversion.value(cell) }
            return try conversion.value(cell, token: record.rawValue(of: field))
        }
    }

    struct RelationshipField: Sendable {
        let field: Int
        let place: PropertyPlace
        let destination: String
        let match: RelationshipConfiguration.Match
        let path: String
        /// The slot of the other side's to-one, by which a to-many of that side's rows is kept.
        let inverseSlot: Int?
        let isOrdered: Bool
        /// Whether the other side is one object, too: then a row is changed from there as well.
        let isOneToOne: Bool
        /// Whether an object inside a record is one row and nothing else: nothing is read of its own relationships.
        let isLeaf: Bool
        /// Whether the other side's records say who is related, too.
        let isReadFromBothSides: Bool
        /// What the members of a record are to those that were there.
        let mode: RelationshipConfiguration.Mode
        /// Where a record says that it names only some of the members; nil: nowhere.
        let partial: DeletionSign?

        /// Whether a record adds members and takes none away.
        func addsOnly(_ record: JSONRecord) -> Bool { mode != .replace || partial?.isMet(by: record) == true }

        /// Whether the record may hold the objects themselves, and not just name them.
        var mayHold: Bool { match == .auto || match == .embedded }

        /// Where a to-one lives.
        var slot: Int? {
            guard case .slot(let slot) = place else { return nil }
            return slot
        }
    }

    let name: String
    let entity: NSEntityDescription
    let layout: EntityLayout
    /// What to read of a record.
    let plan: JSONFieldPlan
    let attributes: [AttributeField]
    private(set) var relationships: [RelationshipField] = []
    /// What the key is of a value that names an object; nil: one value is not all of it, or nothing names one.
    let onlyKey: ValueConversion?
    /// The key, in the order of the constraint: a slot, and the record's field; nil where it is set and not read.
    let keyParts: [(slot: Int, field: AttributeField?)]
    /// Where the key is that is made of all that a record says.
    let contentSlot: Int?
    /// Where it stands how new a record is; nil: the record that comes last counts.
    let versionSlot: Int?
    let bookkeeping: Bookkeeping
    /// What a new record's row is, slot by slot.
    private(set) var steps: [Step] = []
    /// The to-manys, by index into the relationships.
    private(set) var lists: [Int] = []
    /// The slots that a new record says something about.
    private(set) var said = SlotSet()
    /// What of a record says that its object is gone; nil: nothing does.
    private(set) var deletionSign: DeletionSign?
    let configuration: EntityConfiguration
    private let deletion: DeletionConfiguration?
    private let areTexts: Bool
    /// What becomes of records that do not match.
    let schema: SchemaConfiguration
    /// The members of its records that nobody need be told of, although nothing is made of them here.
    let keysOfOthers: Set<String>

    /// The slots of the bookkeeping attributes.
    struct Bookkeeping: Sendable {
        let hash: Int
        let firstSeen: Int
        let lastChanged: Int
        let run: Int
        let deletedAt: Int
        let stub: Int
        /// What is written with any object that is more than a name.
        let existence: SlotSet
    }

    /// - Parameters:
    ///   - nameOfRecord: the attribute that is a record's name, and that records do not say.
    ///   - deletion: what the records of a resource may say of deletions; nil: nothing.
    ///   - areTexts: whether all values of its records are texts.
    ///   - schema: what becomes of records that do not match.
    ///   - keysOfOthers: members of its records that are read for something else.
    init(
        _ configuration: EntityConfiguration, entity: NSEntityDescription, nameOfRecord: String? = nil, deletion: DeletionConfiguration? = nil,
        areTexts: Bool = false, schema: SchemaConfiguration = SchemaConfiguration(), keysOfOthers: Set<String> = []
    ) {
        self.schema = schema
        let unread = configuration.attributes.filter { !$0.isRead }.map(\.name) + configuration.relationships.filter { !$0.isRead }.map(\.name)
        self.keysOfOthers =
            schema.unknownFields == .ignore
            ? [] : keysOfOthers.union(unread.flatMap { NameMatch.candidates(for: $0, in: configuration) })
        self.configuration = configuration
        self.deletion = deletion
        self.areTexts = areTexts
        self.name = configuration.name
        self.entity = entity
        let layout = entity.layout
        self.layout = layout
        plan = JSONFieldPlan()
        var attributes: [AttributeField] = []
        for (index, attribute) in configuration.attributes.filter(\.isRead).enumerated() {
            guard let slot = layout.slot(of: attribute.name) else { continue }
            let paths = Self.paths(attribute.paths, attribute.name, entity: configuration)
            let conversion = ValueConversion(
                attribute: attribute, path: paths.first?.description ?? "$", isExact: schema.coercion == .none)
            attributes.append(
                AttributeField(
                    field: index, slot: slot, conversion: conversion, isRequired: !attribute.isOptional, fallback: layout.defaults[slot],
                    form: conversion.isPlain && !conversion.isExact ? AttributeField.Form(attribute.type) : .other,
                    isKey: layout.constraints[0].slots.contains(slot)))
        }
        self.attributes = attributes
        keyParts = layout.constraints[0].slots.map { slot in (slot, attributes.first { $0.slot == slot }) }
        let onlyKey = configuration.key.count == 1 ? configuration.attribute(named: configuration.key[0]) : nil
        if let onlyKey, onlyKey.name == nameOfRecord {
            self.onlyKey = ValueConversion(attribute: onlyKey, path: "$")
        } else {
            self.onlyKey = keyParts.count == 1 ? keyParts[0].field?.conversion : nil
        }
        contentSlot = configuration.derivedKey == .content ? keyParts.first?.slot : nil
        versionSlot = configuration.versionField.flatMap { layout.slot(of: $0) }
        func slot(_ item: ModelBuilder.Bookkeeping) -> Int { layout.slot(of: item.rawValue) ?? 0 }
        let bookkeeping = Bookkeeping(
            hash: slot(.hash), firstSeen: slot(.firstSeen), lastChanged: slot(.lastChanged), run: slot(.run),
            deletedAt: slot(.deletedAt), stub: slot(.stub),
            existence: SlotSet([slot(.lastChanged), slot(.run), slot(.stub), slot(.deletedAt)]))
        self.bookkeeping = bookkeeping
    }

    /// Where records say what they are told apart by: of each part of the key its alternatives.
    var keyPaths: [[JSONPath]] {
        let fields = plan.fields
        return keyParts.compactMap { part in part.field.map { fields[$0.field].paths } }
    }

    /// Completes the plan: relationships name the plans of other entities, and of this one.
    func connect(_ all: [String: EntityMapping]) {
        var fields: [JSONField] = configuration.attributes.filter(\.isRead).map { attribute in
            let isRaw = attribute.type == .json
            return JSONField(
                attribute.name, paths: Self.paths(attribute.paths, attribute.name, entity: configuration),
                capture: isRaw ? .raw : .value)
        }
        for relationship in configuration.relationships where relationship.isRead {
            guard let destination = all[relationship.destination], let place = layout.place(of: relationship.name) else { continue }
            let paths = Self.paths(relationship.paths, relationship.name, entity: configuration)
            let others = destination.configuration.relationships.filter(\.isRead)
            let inverse = entity.relationshipsByName[relationship.name]?.inverseRelationship
            var inverseSlot: Int?, isOrdered = false, isOneToOne = false
            if case .toMany(let number) = place {
                let description = layout.toManys[number]
                isOrdered = description.isOrdered
                if let inverse = description.inverseRelationship, !inverse.isToMany {
                    inverseSlot = destination.layout.slot(of: inverse.name)
                }
            } else {
                isOneToOne = inverse?.isToMany == false
            }
            relationships.append(
                RelationshipField(
                    field: fields.count, place: place, destination: relationship.destination, match: relationship.match,
                    path: paths.first?.description ?? "$", inverseSlot: inverseSlot, isOrdered: isOrdered,
                    isOneToOne: isOneToOne, isLeaf: others.isEmpty,
                    isReadFromBothSides: inverse.map { inverse in others.contains { $0.name == inverse.name } } ?? false,
                    mode: relationship.mode, partial: relationship.partialPath.map { _ in DeletionSign(field: fields.count + 1, areTexts: areTexts) })
            )
            fields.append(JSONField(relationship.name, paths: paths, capture: .record(destination.plan)))
            if let path = relationship.partialPath { fields.append(JSONField("\(relationship.name) is partial", path: path)) }
        }
        if let deletion, deletion.isSaid {
            deletionSign = DeletionSign(field: deletion.condition == nil ? nil : fields.count, test: deletion.test, areTexts: areTexts)
            if let condition = deletion.condition { fields.append(JSONField("deletion", path: condition.path)) }
        }
        plan.define(fields, collectsUnknownKeys: collectsUnknownKeys(besides: fields))
        compile()
    }

    /// Works out what rows of new records are.
    private func compile() {
        said = SlotSet(attributes.map(\.slot) + relationships.compactMap(\.slot))
        said.formUnion(bookkeeping.existence)
        said.insert(bookkeeping.hash)
        lists = relationships.indices.filter { relationships[$0].slot == nil }
        steps = (0..<layout.count).map { slot in
            if let index = attributes.firstIndex(where: { $0.slot == slot }) {
                return .value(Cell(index: index, field: attributes[index].field, form: attributes[index].form))
            }
            if let index = relationships.firstIndex(where: { $0.slot == slot }) { return .target(index) }
            return switch slot {
            case contentSlot: .content
            case bookkeeping.firstSeen, bookkeeping.lastChanged: .now
            case bookkeeping.run: .run
            case bookkeeping.hash: .hash
            case bookkeeping.stub: .no
            default: .fixed(layout.defaults[slot])
            }
        }
    }

    private static func paths(_ paths: [JSONPath], _ property: String, entity: EntityConfiguration) -> [JSONPath] {
        paths.isEmpty ? NameMatch.candidates(for: property, in: entity).map { JSONPath(keys: [$0]) } : paths
    }
}

extension EntityMapping.AttributeField.Form {
    init(_ type: AttributeType) {
        self =
            switch type {
            case .string: .string
            case .int16, .int32, .int64: .integer
            case .double: .double
            case .bool: .bool
            case .date: .date
            case .decimal, .uuid, .uri, .data, .json: .other
            }
    }
}

/// The mappings of all entities of a configuration.
package struct ModelMapping: Sendable {
    let entities: [String: EntityMapping]
    /// The entities whose records need not be read where they are the same as before: nobody but they says who belongs to whom.
    ///
    /// Such a record may name and list other objects, and hold some that nobody else says anything of.
    let comparable: Set<String>
    /// The entities of the objects that an entity's records may hold, and of those that these hold.
    let held: [String: Set<String>]
    /// The lists of other objects that the pages of the resource mention that it is adapted to.
    private(set) var mentions: [MentionedList] = []
    /// Changes when anything does that decides what a record becomes.
    private let fingerprint: String
    /// Goes into every record's hash, so that a record mapped in another way never counts as unchanged.
    private(set) var salt: UInt64

    /// Changes when the same configuration turns a record into something else than an earlier version did.
    private static let revision = "\nnumbers by their digits"

    /// - Parameter migrations: how often the store was brought to another model: what is new in it stands in no row, whatever an earlier reading said.
    package init(_ configuration: ModelConfiguration, model: NSManagedObjectModel, migrations: Int = 0) {
        model.freeze()
        var entities: [String: EntityMapping] = [:]
        for entity in configuration.entities {
            guard let description = model.entitiesByName[entity.name] else { continue }
            entities[entity.name] = EntityMapping(entity, entity: description)
        }
        for mapping in entities.values { mapping.connect(entities) }
        self.entities = entities
        held = entities.mapValues { Self.held(by: $0, among: entities) }
        comparable = Self.comparable(among: entities, held: held)
        let text =
            configuration.entities.sorted { $0.name < $1.name }.map { String(describing: $0) }.joined(separator: "\n") + Self.revision
            + (migrations == 0 ? "" : "\nmigration \(migrations)")
        let digest = BodyDigest(of: text)
        fingerprint = digest.description
        salt = digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private init(_ entities: [String: EntityMapping], like other: ModelMapping) {
        for mapping in entities.values { mapping.connect(entities) }
        self.entities = entities
        held = entities.mapValues { Self.held(by: $0, among: entities) }
        comparable = Self.comparable(among: entities, held: held)
        fingerprint = other.fingerprint
        salt = other.salt
    }

    /// As the pages of a resource are read: its records say nothing of properties that are set, or that are their names, and may say that their objects
    /// are gone; what does not match becomes what the resource says; and pages may mention others.
    func reading(_ resource: ResourceConfiguration) -> ModelMapping {
        var mapping = records(of: resource)
        mapping.mentions = resource.also.compactMap { mention in
            entities[mention.entity].map { MentionedList(mention, of: $0, in: resource, among: mapping.entities) }
        }
        return mapping
    }

    private func records(of resource: ResourceConfiguration) -> ModelMapping {
        let entity = resource.entity, deletion = resource.deletion.isSaid ? resource.deletion : nil
        let names = Set(resource.assigned.map(\.name) + (resource.mapKey.map { [$0] } ?? []))
        let schema = resource.schema
        guard let found = entities[entity] else { return self }
        let saysPartsInText = found.saysParts(inTextsOf: resource)
        guard !names.isEmpty || deletion != nil || schema.rules != nil || saysPartsInText else { return self }
        let configuration = found.configuration.without(names)
        let adapted = entities.mapValues { other in
            other.name == entity
                ? EntityMapping(
                    configuration, entity: other.entity, nameOfRecord: resource.mapKey, deletion: deletion, areTexts: resource.format.holdsTexts,
                    schema: schema, keysOfOthers: resource.keysOfOthers)
                : EntityMapping(other.configuration, entity: other.entity, schema: schema)
        }
        var mapping = ModelMapping(adapted, like: self)
        mapping.salt ^= schema.salt ^ (saysPartsInText ? 0x7465_7874 : 0)
        return mapping
    }

    /// Changes when anything does that decides what a body of this resource becomes: what was read otherwise is read again. It begins with the name
    /// of the entity, since the rows that a page vouches for are known by primary key, which each entity counts for itself.
    ///
    /// - Parameter constants: what is set of its objects.
    func fingerprint(of resource: ResourceConfiguration, constants: RecordConstants = RecordConstants()) -> String {
        let limits = resource.limits
        var parts: [Any?] = [
            fingerprint, resource.records, resource.pagination, resource.parse, resource.http.headers, resource.headers,
            limits.maxRecordsPerPage, limits.maxDepth, limits.maxString, limits.maxKey, limits.maxNumberDigits, limits.maxMembers,
        ]
        // What a resource does not have does not count: what is stored of it is as good as it was before there was such a thing.
        if !resource.assigned.isEmpty { parts += [resource.assigned, constants.description] as [Any?] }
        if resource.isGraphQL { parts.append("GraphQL") }
        if !resource.conditions.isEmpty { parts.append(resource.conditions) }
        if !resource.filter.isEmpty { parts.append(resource.filter) }
        if let name = resource.mapKey { parts += ["map_key", name] as [Any?] }
        if entities[resource.entity]?.saysParts(inTextsOf: resource) == true { parts.append("partial_if in texts") }
        if resource.format != .json || resource.unpacking != nil { parts += [resource.format, resource.unpacking] as [Any?] }
        if let columns = resource.columns { parts += ["columns", columns] as [Any?] }
        if resource.deletion.isSaid { parts += ["deletion", resource.deletion.condition] as [Any?] }
        if !resource.also.isEmpty { parts += ["also", resource.also] as [Any?] }
        if let rules = resource.schema.rules { parts.append(rules) }
        if let incremental = resource.incremental {
            parts += [incremental.kind, incremental.field, incremental.start, resource.url, resource.parameters, resource.body] as [Any?]
        }
        let text = parts.map { $0.map { String(describing: $0) } ?? "" }.joined(separator: "\n")
        return "\(resource.entity) \(BodyDigest(of: text))"
    }

    private static func comparable(among entities: [String: EntityMapping], held: [String: Set<String>]) -> Set<String> {
        var result = Set(entities.keys)
        for (name, entity) in entities {
            for field in entity.relationships where field.inverseSlot != nil || field.isOneToOne || field.slot == nil && field.isReadFromBothSides {
                result.remove(name)
                result.remove(field.destination)
            }
        }
        // An object inside a record says what its own record would: nothing of others, and nothing of records that are left out.
        return result.filter { name in held[name].map { !$0.contains(name) && $0.isSubset(of: result) } ?? true }
    }

    private static func held(by entity: EntityMapping, among entities: [String: EntityMapping]) -> Set<String> {
        var found: Set<String> = [], open = [entity]
        while let next = open.popLast() {
            for field in next.relationships where field.mayHold && found.insert(field.destination).inserted {
                entities[field.destination].map { open.append($0) }
            }
        }
        return found
    }

    /// The entities whose records name objects of one of these, or hold others that do.
    func entities(naming names: some Collection<String>) -> [String] {
        let naming = Set(entities.values.filter { $0.relationships.contains { names.contains($0.destination) } }.map(\.name))
        return entities.keys.filter { naming.contains($0) || held[$0]?.isDisjoint(with: naming) == false }
    }

    /// Whether records of an entity have to be compared with the rows before anything becomes of them: they have versions, or objects that they hold do.
    func comparesVersions(of name: String) -> Bool {
        entities[name]?.versionSlot != nil || held[name]?.contains { entities[$0]?.versionSlot != nil } == true
    }

    /// The entity that a fingerprint is of; nil where it was written by a version that did not say.
    static func entity(ofFingerprint fingerprint: String?) -> String? {
        guard let words = fingerprint?.split(separator: " "), words.count == 2 else { return nil }
        return String(words[0])
    }

    /// The fingerprint under the entity's new name; nil where it has none.
    static func renamed(_ fingerprint: String?, _ names: [String: String]) -> String? {
        guard let fingerprint, let entity = entity(ofFingerprint: fingerprint), let name = names[entity] else { return nil }
        return name + fingerprint.dropFirst(entity.count)
    }
}
