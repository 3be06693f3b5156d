import Foundation

/// A document as rows.
extension AtomicCoding {
    /// What a store of this identity holds. Throws 134020 for what the model does not have, for it would be gone with the next save, and 134080 for values
    /// and references that make no sense.
    func state(_ document: AtomicDocument, identity: StoreIdentity) throws -> InMemoryStore.State {
        var reading = Reading(coding: self, identity: identity)
        for object in document.objects { try reading.enter(object) }
        for object in document.objects { try reading.read(object) }
        for object in document.objects { try reading.compare(object) }
        reading.state.nextKeys[AtomicFileStore.counter] = reading.largestKey(document.largestKey) + 1
        return reading.state
    }

    private struct Reading {
        let coding: AtomicCoding
        let identity: StoreIdentity
        let entities: [String: NSEntityDescription]
        var state = InMemoryStore.State()
        private var ids: [AtomicDocument.Name: NSManagedObjectID] = [:]
        /// The members of to-manys as the to-ones of the others say.
        private var named: [RelationshipKey: Set<NSManagedObjectID>] = [:]

        init(coding: AtomicCoding, identity: StoreIdentity) {
            self.coding = coding
            self.identity = identity
            entities = Dictionary(coding.entities.map { (coding.format.entityName($0.name ?? ""), $0) }) { first, _ in first }
        }

        func largestKey(_ counted: Int64) -> Int64 {
            // A counter at its end is refused when a key is asked for.
            min(max(counted, ids.keys.lazy.map(\.key).max() ?? 0, 0), .max - 1)
        }

        mutating func enter(_ object: AtomicDocument.Object) throws {
            guard let entity = entities[object.entity] else {
                throw unknown(object, "holds an object of the entity \(object.entity), which the model or its configuration does not have")
            }
            if entity.isAbstract { throw unknown(object, "holds an object of \(object.entity), which is abstract in the model") }
            guard object.name.key > 0 else { throw damaged(object, "has an object with the key \(object.name.key)") }
            let id = NSManagedObjectID(entity: entity, key: object.name.key, store: identity, isTemporary: false)
            if ids.updateValue(id, forKey: object.name) != nil { throw damaged(object, "has two objects with the ID \(object.name)") }
        }

        mutating func read(_ object: AtomicDocument.Object) throws {
            guard let id = ids[object.name] else { return }
            let layout = id.layout, row = RowSnapshot.make(layout, version: max(object.version, 1))
            var properties: [String: NSPropertyDescription] = [:]
            for property in id.entity.leaves where !property.isTransient { properties[coding.format.propertyName(property.name)] = property }
            let names = object.attributes.map(\.name) + object.relationships.map(\.name)
            guard Set(names).count == names.count else { throw damaged(object, "has a property of \(object.entity) twice") }
            for attribute in object.attributes {
                guard let description = properties[attribute.name] as? NSAttributeDescription, let slot = layout.slot(of: description.name) else {
                    throw unknown(object, "has a value of \(object.entity).\(attribute.name), which the model does not have")
                }
                guard let value = AtomicCoding.value(attribute.value, of: description) else {
                    let reason = TransformableCoding.reason(description, named: layout.fullName(slot)).map { ": \($0)" } ?? ""
                    throw damaged(object, "has a value of \(object.entity).\(attribute.name) that is none of its type\(reason)")
                }
                row.update(slot, to: value)
            }
            for relationship in object.relationships {
                guard let description = properties[relationship.name] as? NSRelationshipDescription else {
                    throw unknown(object, "has a relationship \(object.entity).\(relationship.name), which the model does not have")
                }
                let targets = try relationship.members.map { try target($0, of: description, object) }
                if description.isToMany, Set(targets).count != targets.count {
                    throw damaged(object, "has an object twice in \(object.entity).\(relationship.name)")
                }
                if description.isToMany {
                    try take(targets, of: description, of: id)
                } else if let slot = layout.slot(of: description.name), let target = targets.first {
                    if targets.count > 1 { throw damaged(object, "has \(targets.count) objects in the to-one \(object.entity).\(relationship.name)") }
                    row.update(slot, to: .objectID(target))
                    if let inverse = description.inverseRelationship, inverse.isToMany, let number = target.layout.toManyNumber(inverse) {
                        named[RelationshipKey(owner: target, toMany: number), default: []].insert(id)
                    }
                }
            }
            state.rows[id] = row
        }

        private mutating func take(_ targets: [NSManagedObjectID], of description: NSRelationshipDescription, of id: NSManagedObjectID) throws {
            guard !targets.isEmpty, let number = id.layout.toManyNumber(description) else { return }
            let key = RelationshipKey(owner: id, toMany: number)
            if !description.isKeptInMembers { state.pairs[key] = targets }
            if description.isOrdered { state.orders[key] = targets }
        }

        private func target(
            _ name: AtomicDocument.Name, of description: NSRelationshipDescription, _ object: AtomicDocument.Object
        ) throws -> NSManagedObjectID {
            guard let id = ids[name] else {
                if !description.isToMany, description.inverseRelationship?.deleteRule == .noActionDeleteRule,
                    let entity = description.destinationEntity
                {
                    return NSManagedObjectID(entity: entity, key: name.key, store: identity, isTemporary: false)
                }
                throw damaged(object, "refers in \(object.entity).\(description.name) to \(name), which is not there")
            }
            guard let destination = description.destinationEntity, id.entity.isKindOf(entity: destination) else {
                throw damaged(object, "refers in \(object.entity).\(description.name) to \(name), an object of \(id.entity.name ?? "?")")
            }
            return id
        }

        /// Both sides of a relationship say the same: what only one of them says would be lost.
        func compare(_ object: AtomicDocument.Object) throws {
            guard let id = ids[object.name] else { return }
            var told: [String: Set<NSManagedObjectID>] = [:]
            for relationship in object.relationships { told[relationship.name] = Set(relationship.members.compactMap { ids[$0] }) }
            for slot in id.layout.partnerSlots where !id.layout.isTransient[slot] {
                guard let description = id.layout.relationship(atSlot: slot), let partner = state.rows[id]?[slot].objectID,
                    let inverse = description.inverseRelationship, !inverse.isTransient, let back = partner.layout.slot(of: inverse.name),
                    // Nobody may mind that it is not there.
                    let other = state.rows[partner]
                else { continue }
                if other[back].objectID != id { throw differs(object, description) }
            }
            for (number, description) in id.layout.toManys.enumerated() where !description.isTransient {
                let key = RelationshipKey(owner: id, toMany: number), mine = told[coding.format.propertyName(description.name)] ?? []
                if description.isKeptInMembers {
                    if mine != named[key] ?? [] { throw differs(object, description) }
                } else if let inverse = description.inverseRelationship, inverse.isToMany, !inverse.isTransient {
                    for member in mine {
                        guard let back = member.layout.toManyNumber(inverse),
                            state.pairs[RelationshipKey(owner: member, toMany: back)]?.contains(id) == true
                        else { throw differs(object, description) }
                    }
                }
            }
        }

        // MARK: Errors

        private func differs(_ object: AtomicDocument.Object, _ relationship: NSRelationshipDescription) -> NSError {
            damaged(
                object,
                "says of \(object.entity).\(relationship.name) of \(object.name) something else than the \(relationship.inverseRelationship?.name ?? "?") of "
                    + "those it leads to")
        }

        private func place(_ object: AtomicDocument.Object) -> String { "\(coding.path)\(object.line.map { ", line \($0)" } ?? "")" }

        private func unknown(_ object: AtomicDocument.Object, _ what: String) -> NSError {
            .coreData(
                .persistentStoreIncompatibleSchema,
                "\(place(object)): \(what), and it would be lost with the next save. Open the store with the model it was made with. Nothing was changed."
            )
        }

        private func damaged(_ object: AtomicDocument.Object, _ what: String) -> NSError {
            .coreData(
                .persistentStoreOpen, "\(place(object)): \(what). Mend the file, restore it from a copy, or move it away. Nothing was changed.")
        }
    }

    /// Nil for one that is none of the attribute's type.
    private static func value(_ value: AtomicDocument.Value, of attribute: NSAttributeDescription) -> AttributeValue? {
        switch (attribute.kind.column, value) {
        case (.string?, .text(let text)): return .string(text)
        case (.data?, .data(let data)): return .data(data)
        case (.transformable?, .data(let data)): return TransformableCoding.value(data, of: attribute).map { .object(ObjectBox($0)) }
        case (let column?, .text(let text)):
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            switch column {
            case .integer: return Int64(text).map { .int64($0) }
            case .boolean: return ["1", "0"].contains(text) ? .bool(text == "1") : nil
            case .double: return Double(text).map { .double($0) }
            case .date: return Double(text).map { .date($0) }
            case .uuid: return UUID(uuidString: text).map { .uuid($0) }
            case .decimal:
                // Foundation reads as far as it understands.
                guard !text.isEmpty, text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
                return Decimal(string: text).map { .decimal($0) }
            case .uri: return URL(string: text).map { .object(ObjectBox($0)) }
            case .string, .data, .transformable, .reference: return nil
            }
        default: return nil
        }
    }
}

extension AtomicDocument.Name: CustomStringConvertible {
    /// As an XML store spells it: `z102`, or `z102.CITY`.
    var description: String { "z\(key)\(tree.map { ".\($0)" } ?? "")" }

    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.first == "z", let key = Int64(first.dropFirst()), key > 0 else { return nil }
        self.init(key: key, tree: parts.count > 1 ? String(parts[1]) : nil)
    }
}
