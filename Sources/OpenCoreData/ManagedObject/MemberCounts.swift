import Foundation

/// Whether to-manys have as many members as the model asks for, of owners that need no instance for it: two children may each have left enough, and
/// together too few.
struct MemberCounts {
    /// The to-manys that changes may have made too small or too large.
    let keys: Set<RelationshipKey>

    /// - Parameter includingNewOwners: whether those of all new owners may be: members that are new, too, have not changed where somebody took them away.
    init(touchedBy layers: [ChangeSet], includingNewOwners: Bool) {
        var keys: Set<RelationshipKey> = []
        for changes in layers { Self.note(&keys, touchedBy: changes, includingNewOwners) }
        self.keys = keys
    }

    private static func note(_ keys: inout Set<RelationshipKey>, touchedBy changes: ChangeSet, _ includingNewOwners: Bool) {
        for key in changes.pairs.keys where key.relationship.hasCounts { keys.insert(key) }
        for part in changes.entities.values {
            if includingNewOwners {
                let counted = part.entity.layout.countedToManys
                if !counted.isEmpty {
                    for (id, change) in part.rows where change.kind == .inserted {
                        for number in counted { keys.insert(RelationshipKey(owner: id, toMany: number)) }
                    }
                }
            }
            let slots = part.entity.layout.countedSlots
            if slots.isEmpty { continue }
            for (_, change) in part.rows {
                for slot in slots {
                    let before = change.base?[slot].objectID, after = change.kind == .deleted ? nil : change.row?[slot].objectID
                    if before == after { continue }
                    for owner in [before, after].compactMap({ $0 }) {
                        guard let inverse = part.entity.layout.relationship(atSlot: slot)?.inverseRelationship,
                            let number = owner.layout.toManyNumber(inverse)
                        else { continue }
                        keys.insert(RelationshipKey(owner: owner, toMany: number))
                    }
                }
            }
        }
    }

    /// Throws the one error, or 1560 with several. Owners that are deleted have no members to count.
    func check(in context: NSManagedObjectContext) throws { try RowValidation.throwAny(errors(in: context)) }

    /// What is wrong, one error (1570, 1580, 1590) a to-many. Throws what keeps the members from being read.
    func errors(in context: NSManagedObjectContext) throws -> [NSError] {
        let present = keys.filter { !context.isDeleted($0.owner) }
        if present.isEmpty { return [] }
        context.publish()
        let members = try context.prefetch(Self.sorted(present), remembering: [])
        return try errors(in: context, isDeleted: context.isDeleted) { members[$0] ?? [] }
    }

    /// The same of what is saved, which need not be what the context shows: once its merge policy had its say.
    func check(
        in context: NSManagedObjectContext, isDeleted: (NSManagedObjectID) -> Bool, members: (RelationshipKey) throws -> [NSManagedObjectID]
    ) throws {
        try RowValidation.throwAny(errors(in: context, isDeleted: isDeleted, members: members))
    }

    private func errors(
        in context: NSManagedObjectContext, isDeleted: (NSManagedObjectID) -> Bool, members: (RelationshipKey) throws -> [NSManagedObjectID]
    ) throws -> [NSError] {
        var errors: [NSError] = []
        for key in Self.sorted(keys) where !isDeleted(key.owner) {
            let count = try members(key).count
            if let error = RowValidation.check(count, key.relationship, id: key.owner, object: context.registeredObject(for: key.owner)) {
                errors.append(error)
            }
        }
        return errors
    }

    private static func sorted(_ keys: Set<RelationshipKey>) -> [RelationshipKey] {
        keys.sorted { ($0.owner.layout.number, $0.owner.key, $0.toMany) < ($1.owner.layout.number, $1.owner.key, $1.toMany) }
    }
}
