import Foundation

/// Rows as a document, and back, by the model.
struct AtomicCoding {
    let entities: [NSEntityDescription]
    let format: any AtomicFormat
    /// For sentences.
    let path: String

    /// Throws 134020 for a model that the format can't tell apart, or with values that no file holds.
    func check() throws {
        var names: [String: String] = [:]
        for entity in entities {
            let name = entity.name ?? ""
            if let other = names.updateValue(name, forKey: format.entityName(name)) { throw sameSpelling("the entities \(other) and \(name)") }
            guard format.canName(name) else {
                throw NSError.coreData(
                    .persistentStoreIncompatibleSchema,
                    "A store of type \(format.type) can't keep an entity called \"\(name)\", whose name has a space. Rename it, or use a store of type \(NSSQLiteStoreType)."
                )
            }
            var properties: [String: String] = [:]
            for property in entity.leaves
            where !property.isTransient && (property is NSAttributeDescription || property is NSRelationshipDescription) {
                if let other = properties.updateValue(property.name, forKey: format.propertyName(property.name)) {
                    throw sameSpelling("the properties \(other) and \(property.name) of \(name)")
                }
                if let attribute = property as? NSAttributeDescription, attribute.kind.column == nil || attribute.kind.column == .reference {
                    throw NSError.coreData(
                        .persistentStoreIncompatibleSchema,
                        "\(name).\(attribute.name) has the type \(attribute.kind.name), whose values no file holds. Give it another type, or make it transient."
                    )
                }
            }
        }
    }

    private func sameSpelling(_ what: String) -> NSError {
        .coreData(
            .persistentStoreIncompatibleSchema,
            "A store of type \(format.type) can't tell \(what) apart: it spells both alike. Rename one of them, or use a store of type \(NSSQLiteStoreType)."
        )
    }

    // MARK: Writing

    /// The objects of a store, sorted by entity and key. Throws 134030 for a transformable value that can't be archived.
    func objects(_ state: InMemoryStore.State) throws -> [AtomicDocument.Object] {
        let names = names(of: state.rows.keys), members = members(state)
        return try state.rows.sorted { ($0.key.entity.name ?? "", $0.key.key) < ($1.key.entity.name ?? "", $1.key.key) }.map { id, row in
            let layout = id.layout
            var object = AtomicDocument.Object(
                entity: format.entityName(id.entity.name ?? ""), name: names[id] ?? gone(id), version: row.version)
            func add(_ relationship: NSRelationshipDescription, _ targets: [NSManagedObjectID]) {
                object.relationships.append(
                    AtomicDocument.Relationship(
                        name: format.propertyName(relationship.name), minCount: relationship.minCount, maxCount: relationship.maxCount,
                        destination: format.entityName(relationship.destinationEntity?.name ?? ""),
                        members: targets.map { names[$0] ?? gone($0) }))
            }
            for slot in 0..<layout.count where !layout.isTransient[slot] {
                switch layout.slots[slot] {
                case .attribute(let attribute):
                    guard let value = try value(row[slot], of: attribute, named: layout.fullName(slot)) else { continue }
                    object.attributes.append(
                        AtomicDocument.Attribute(name: format.propertyName(attribute.name), type: Self.typeName(attribute.kind), value: value))
                case .toOne(let relationship): add(relationship, row[slot].objectID.map { [$0] } ?? [])
                }
            }
            for (number, relationship) in layout.toManys.enumerated() where !relationship.isTransient {
                add(relationship, members[RelationshipKey(owner: id, toMany: number)] ?? [])
            }
            return object
        }
    }

    /// What the file calls the objects: by key alone, as far as that names one only.
    private func names(of ids: some Collection<NSManagedObjectID>) -> [NSManagedObjectID: AtomicDocument.Name] {
        var counts: [Int64: Int] = [:]
        for id in ids { counts[id.key, default: 0] += 1 }
        return Dictionary(
            uniqueKeysWithValues: ids.map { id in
                (id, counts[id.key] == 1 ? AtomicDocument.Name(key: id.key) : gone(id))
            })
    }

    /// The object that a to-one leads to where nobody minds that it is not there.
    private func gone(_ id: NSManagedObjectID) -> AtomicDocument.Name {
        AtomicDocument.Name(key: id.key, tree: format.entityName(id.entity.rootEntity.name ?? ""))
    }

    /// The members of all to-manys.
    private func members(_ state: InMemoryStore.State) -> [RelationshipKey: [NSManagedObjectID]] {
        var result = state.pairs.mapValues { $0.filter { state.rows[$0] != nil } }
        for (id, row) in state.rows {
            for slot in row.layout.toOneSlots {
                guard let owner = row[slot].objectID, let inverse = row.layout.relationship(atSlot: slot)?.inverseRelationship, inverse.isToMany,
                    let number = owner.layout.toManyNumber(inverse)
                else { continue }
                result[RelationshipKey(owner: owner, toMany: number), default: []].append(id)
            }
        }
        for key in Array(result.keys) {
            if key.relationship.isKeptInMembers { result[key]?.sort { $0.key < $1.key } }
            if let order = state.orders[key] { result[key]?.sort(by: order) }
        }
        return result
    }

    private func value(_ value: AttributeValue, of attribute: NSAttributeDescription, named name: String) throws -> AtomicDocument.Value? {
        switch value {
        case .null, .objectID: nil
        case .int64(let integer): .text("\(integer)")
        // As in a table, a number that is none is no value.
        case .double(let double): double.isNaN ? nil : .text("\(double)")
        case .date(let seconds): seconds.isNaN ? nil : .text("\(seconds)")
        case .bool(let bool): .text(bool ? "1" : "0")
        case .string(let string): .text(string)
        case .data(let data): .data(data)
        case .uuid(let uuid): .text(uuid.uuidString)
        case .decimal(let decimal): decimal.isNaN ? nil : .text(decimal.description)
        case .object(let box):
            if attribute.kind.column == .uri, let url = box.value.base as? URL {
                .text(url.absoluteString)
            } else {
                .data(try TransformableCoding.data(box.value, of: attribute, named: name))
            }
        }
    }

    /// As Core Data's XML stores name types.
    private static func typeName(_ kind: AttributeKind) -> String {
        switch kind.name {
        case "Integer 16": return "int16"
        case "Integer 32": return "int32"
        case "Float": return "float"
        default: break
        }
        switch kind.column {
        case .integer?: return "int64"
        case .boolean?: return "bool"
        case .double?: return "double"
        case .date?: return "date"
        case .string?: return "string"
        case .uuid?: return "uuid"
        case .decimal?: return "decimal"
        case .uri?: return "uri"
        case .data?, .transformable?, .reference?, nil: return "binary"
        }
    }
}
