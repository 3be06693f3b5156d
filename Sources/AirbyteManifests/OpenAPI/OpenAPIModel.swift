import JSONPaths
import SyncConfiguration

/// Makes entities of the schemas of a description: those of records, and of objects inside of them that can be told apart.
final class OpenAPIModel {
    /// So many entities and properties are drafted; what goes beyond is left out.
    static let mostEntities = 300
    static let mostProperties = 400
    /// So deep objects that cannot be told apart are taken apart into attributes.
    private static let deepest = 2

    private let schemas: OpenAPISchema
    private(set) var entities: [String: OpenAPIEntity] = [:]
    /// The names of entities, in the order in which they were made.
    private(set) var order: [String] = []
    private var ofComponent: [String: String] = [:]

    init(_ document: OpenAPIDocument) {
        schemas = OpenAPISchema(document: document)
    }

    /// The entity of the records of a list, made if there is none.
    ///
    /// - Parameter wanted: what they are called where their schema has no name.
    func entity(of items: ManifestValue, named wanted: String) throws(Unsayable) -> String {
        guard let shape = try schemas.shape(of: items) else { throw Unsayable("it is not said what its records are like") }
        return try entity(of: shape, named: wanted)
    }

    private func entity(of shape: OpenAPISchema.Shape, named wanted: String) throws(Unsayable) -> String {
        if let component = shape.component, let known = ofComponent[component] { return known }
        guard order.count < Self.mostEntities else { throw Unsayable("it would be more than \(Self.mostEntities) entities") }
        let taken = Set(order.map { $0.uppercased() })
        // Tables are called as the entities are, with a Z in front.
        let name = Names.free(Names.entity(shape.component ?? wanted)) { name in
            let upper = name.uppercased()
            return !taken.contains(upper) && !taken.contains("Z\(upper)") && !(upper.hasPrefix("Z") && taken.contains(String(upper.dropFirst())))
        }
        // Before anything is read of it: it may lead back to itself.
        order.append(name)
        if let component = shape.component { ofComponent[component] = name }
        var entity = OpenAPIEntity(name: name)
        entities[name] = entity
        let identity = try OpenAPIEntity.identity(of: shape, entity: name, in: schemas)
        try read(shape, into: &entity, prefix: [], trail: shape.component.map { [$0] } ?? [])
        if let identity, let attribute = entity.attribute(at: [identity.name]) {
            entity.key = [attribute.name]
            entity.keyReason = identity.reason
        } else {
            entity.keyReason = "Nothing in the document tells records apart: a record is what it says, and one that changes is another row."
        }
        entities[name] = entity
        return name
    }

    private func read(
        _ shape: OpenAPISchema.Shape, into entity: inout OpenAPIEntity, prefix: [String], trail: [String]
    ) throws(Unsayable) {
        for property in shape.properties {
            guard entity.attributes.count + entity.relationships.count < Self.mostProperties else {
                entity.leftOut.append("what is beyond \(Self.mostProperties) properties")
                return
            }
            let path = prefix + [property.name]
            do throws(Unsayable) {
                try read(property, at: path, isRequired: prefix.isEmpty && shape.required.contains(property.name), into: &entity, trail: trail)
            } catch {
                entity.leftOut.append("\(path.joined(separator: ".")): \(error.reason)")
            }
        }
    }

    private func read(
        _ property: OpenAPISchema.Shape.Property, at path: [String], isRequired: Bool, into entity: inout OpenAPIEntity, trail: [String]
    ) throws(Unsayable) {
        let schema = property.schema
        // What is only sent is in no answer.
        if try schemas.document.resolved(schema).value.mapping?["writeOnly"]?.isTruthy == true { return }
        guard Self.isWritable(property.name) else { throw Unsayable("its name cannot stand in a path") }
        func add(_ type: String) throws(Unsayable) {
            let mayBeNull = try schemas.mayBeNull(schema)
            entity.attributes.append(
                .init(
                    name: entity.free(path.joined(separator: "_")), path: path, type: type,
                    isRequired: isRequired && !mayBeNull && type != "json"))
        }
        switch try schemas.kind(of: schema) {
        case .scalar(let type): try add(type)
        case .any: try add("json")
        case .list(let items):
            guard let shape = try schemas.shape(of: items), let target = try target(of: shape) else { return try add("json") }
            relate(&entity, path, target, isMany: true)
        case .object(let shape):
            if let target = try target(of: shape) { return relate(&entity, path, target, isMany: false) }
            let isCircle = shape.component.map { trail.contains($0) } ?? false
            guard path.count <= Self.deepest, !isCircle else { return try add("json") }
            try read(shape, into: &entity, prefix: path, trail: trail + (shape.component.map { [$0] } ?? []))
        }
    }

    /// Whether a path can name a member.
    private static func isWritable(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 200, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else { return false }
        let path = JSONPath(keys: [name])
        return (try? JSONPath(parsing: path.description)) == path
    }

    private func relate(_ entity: inout OpenAPIEntity, _ path: [String], _ target: String, isMany: Bool) {
        let what = isMany ? "A list of objects" : "An object"
        let reason = target == entity.name ? "\(what) of the same kind." : "\(what) of the schema of \(target)."
        entity.relationships.append(
            .init(
                name: entity.free(path.joined(separator: "_")), path: path, target: target, isMany: isMany, match: "embedded", reason: reason))
    }

    /// The entity of an object inside of another; nil: its schema has no name, or nothing by which such objects are told apart.
    private func target(of shape: OpenAPISchema.Shape) throws(Unsayable) -> String? {
        guard let component = shape.component else { return nil }
        if let known = ofComponent[component] {
            // One that is being read has its key by its name.
            return try OpenAPIEntity.identity(of: shape, entity: known, in: schemas) == nil ? nil : known
        }
        guard order.count < Self.mostEntities, try OpenAPIEntity.identity(of: shape, entity: Names.entity(component), in: schemas) != nil else {
            return nil
        }
        return try entity(of: shape, named: component)
    }

    // MARK: What follows from all of them

    /// Adds a to-one for each attribute that is called as the key of another entity: `owner_id`, where there is an `Owner`.
    ///
    /// - Parameter listed: the entities of the records that resources list: others are known by nothing but what names them.
    func relateByKeys(among listed: Set<String>) {
        for name in order {
            guard var entity = entities[name] else { continue }
            for attribute in entity.attributes where attribute.path.count == 1 && !entity.key.contains(attribute.name) {
                guard let stem = Self.stem(attribute.path[0]), !entity.has(stem) else { continue }
                let plain = Self.plain(stem)
                guard let target = order.first(where: { listed.contains($0) && Self.plain($0) == plain }).flatMap({ entities[$0] }),
                    target.key.count == 1,
                    target.attribute(named: target.key[0])?.type == attribute.type
                else { continue }
                entity.relationships.append(
                    .init(
                        name: entity.free(stem), path: attribute.path, target: target.name, isMany: false, match: "key",
                        reason: "A guess: \"\(attribute.path[0])\" is called as the key of \(target.name)."))
            }
            entities[name] = entity
        }
    }

    func change(_ name: String, _ change: (inout OpenAPIEntity) -> Void) {
        guard var entity = entities[name] else { return }
        change(&entity)
        entities[name] = entity
    }

    /// An entity and those that it leads to, in the order in which they were made.
    func closure(of names: Set<String>) -> [OpenAPIEntity] {
        var found = names, open = Array(names)
        while let next = open.popLast() {
            for relationship in entities[next]?.relationships ?? [] where found.insert(relationship.target).inserted {
                open.append(relationship.target)
            }
        }
        return order.filter { found.contains($0) }.compactMap { entities[$0] }
    }

    /// `owner` for `owner_id` and `ownerId`.
    static func stem(_ name: String) -> String? {
        for ending in ["_id", "Id", "ID", "_uuid"] where name.hasSuffix(ending) && name.count > ending.count {
            return String(name.dropLast(ending.count))
        }
        return nil
    }

    static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
}
