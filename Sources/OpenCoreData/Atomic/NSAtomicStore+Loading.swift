import Foundation

/// The nodes that a subclass has loaded, as rows.
extension NSAtomicStore {
    /// Throws 134080 for values that are not of their attribute's type, relationships that lead to no node, and two sides that contradict each other.
    func takeNodes() throws {
        var contents = StoreContents(), made: [NSManagedObjectID: RowSnapshot] = [:]
        let ids = nodes.keys.sorted { $0.key < $1.key }
        for id in ids {
            let layout = id.layout, row = RowSnapshot.make(layout, version: 1)
            for slot in 0..<layout.count where !layout.isTransient[slot] {
                guard case .attribute(let attribute) = layout.slots[slot] else { continue }
                let told = nodes[id]?.value(forKey: attribute.name)
                guard let value = AttributeValue.coded(told, as: attribute.kind) else {
                    throw senseless("gave \(told ?? "nil") as \(attribute.name) of \(id), which is not of its type")
                }
                row.update(slot, to: value)
            }
            made[id] = row
        }
        for id in ids {
            for slot in id.layout.toOneSlots where !id.layout.isTransient[slot] {
                guard let relationship = id.layout.relationship(atSlot: slot) else { continue }
                let targets = try targets(of: relationship, id)
                if targets.count > 1 { throw senseless("gave \(targets.count) nodes for the to-one \(relationship.name) of \(id)") }
                if let target = targets.first { try link(id, slot, to: target, made) }
            }
        }
        for id in ids {
            for (number, relationship) in id.layout.toManys.enumerated() where !relationship.isTransient {
                let members = try targets(of: relationship, id), key = RelationshipKey(owner: id, toMany: number)
                if members.isEmpty { continue }
                if relationship.isOrdered { contents.orders[key] = members }
                guard let inverse = relationship.inverseRelationship else {
                    contents.pairs[key] = members
                    continue
                }
                for member in members {
                    if inverse.isToMany {
                        Self.add(member, to: key, &contents)
                        if let back = member.layout.toManyNumber(inverse) {
                            Self.add(id, to: RelationshipKey(owner: member, toMany: back), &contents)
                        }
                    } else if let slot = member.layout.slot(of: inverse.name) {
                        try link(member, slot, to: id, made)
                    }
                }
            }
        }
        // Of one-to-ones one side may have said nothing.
        for id in ids {
            for slot in id.layout.partnerSlots {
                guard let partner = made[id]?[slot].objectID, let inverse = id.layout.relationship(atSlot: slot)?.inverseRelationship,
                    let back = partner.layout.slot(of: inverse.name)
                else { continue }
                try link(partner, back, to: id, made)
            }
        }
        contents.rows = made.map { FetchedRow(id: $0.key, row: $0.value) }
        rows.fill(contents)
    }

    private static func add(_ member: NSManagedObjectID, to key: RelationshipKey, _ contents: inout StoreContents) {
        if contents.pairs[key]?.contains(member) != true { contents.pairs[key, default: []].append(member) }
    }

    private func link(_ id: NSManagedObjectID, _ slot: Int, to target: NSManagedObjectID, _ made: [NSManagedObjectID: RowSnapshot]) throws {
        let known = made[id]?[slot].objectID
        if let known, known != target {
            throw senseless("says that \(id.layout.fullName(slot)) of \(id) is \(known), and elsewhere that it is \(target)")
        }
        if known == nil { made[id]?.update(slot, to: .objectID(target)) }
    }

    /// The nodes that stand for a relationship.
    private func targets(of relationship: NSRelationshipDescription, _ id: NSManagedObjectID) throws -> [NSManagedObjectID] {
        let told = nodes[id]?.value(forKey: relationship.name)
        let elements: [Any]
        switch told {
        case nil, is NSNull: return []
        case let node as NSAtomicStoreCacheNode: elements = [node]
        case let target as NSManagedObjectID: elements = [target]
        case let set as Set<NSAtomicStoreCacheNode>: elements = set.sorted { $0.objectID.key < $1.objectID.key }
        case let list as [Any]: elements = list
        case let ordered as NSOrderedSet: elements = ordered.map { $0 }
        case let set as NSSet: elements = set.map { $0 }
        default: elements = [told as Any]
        }
        return try elements.map { element in
            guard let target = (element as? NSAtomicStoreCacheNode)?.objectID ?? element as? NSManagedObjectID else {
                throw senseless("gave \(element) in \(relationship.name) of \(id), which is no node")
            }
            guard nodes[target] != nil else { throw senseless("gave \(target) in \(relationship.name) of \(id), which was not added") }
            if let destination = relationship.destinationEntity, !target.entity.isKindOf(entity: destination) {
                throw senseless("gave \(target) in \(relationship.name) of \(id), which is no \(destination.name ?? "?")")
            }
            return target
        }
    }

    private func senseless(_ what: String) -> NSError {
        .coreData(
            .persistentStoreOpen,
            "The store of type \(type) at \(url?.absoluteString ?? "?") can't be opened: load() of \(Swift.type(of: self)) \(what).")
    }
}
