import OpenCoreData
import SyncConfiguration

/// What the records of a batch say of to-manys.
extension RecordMapper {
    /// A to-many whose other side is a to-one is written there: the members' rows name the owner.
    func joinMembers() throws {
        for (step, owner) in order.enumerated() where !owner.members.isEmpty && !isUnchanged(owner) {
            try checkCancellation(step)
            for (index, members) in owner.members {
                guard let slot = owner.mapping.relationships[index].inverseSlot, let id = owner.id else { continue }
                for member in members {
                    if member.targets.updateValue(owner, forKey: slot) == nil { member.joined.insert(slot) }
                    if member.stored?[slot].objectID != id { owner.hasOtherMembers = true }
                }
                if owner.stored == nil { continue }
                guard case .toMany(let number) = owner.mapping.relationships[index].place else { continue }
                let wanted = Set(members.compactMap(\.id))
                let before = try context.members(of: RelationshipKey(owner: id, toMany: number))
                let dropped = owner.keepsOthers(index) ? [] : before.filter { !wanted.contains($0) }
                if !dropped.isEmpty { owner.hasOtherMembers = true }
                for (id, row) in try context.currentRows(dropped) { drop(id, row, from: slot) }
            }
        }
    }

    /// Removes a member from a list that it is no longer in, unless this batch has something else to say about it.
    private func drop(_ id: NSManagedObjectID, _ row: RowSnapshot, from slot: Int) {
        if let key = id.layout.constraints[0].key(of: row), let draft = drafts[Draft.Name(entity: id.entity.number, key: key)] {
            if draft.targets[slot] == nil {
                draft.targets[slot] = .some(nil)
                draft.joined.insert(slot)
            }
            return
        }
        // One that an earlier batch of the page has made is nowhere else yet.
        if !context.hasInserted(id) { dropped.append(id) }
        let copy = row.copy()
        copy.update(slot, to: .null)
        context.updateRow(id, to: copy, changed: SlotSet([slot]), base: row)
    }

    /// To-manys that are kept as pairs.
    func writePairs() throws {
        for (step, owner) in order.enumerated() where !owner.members.isEmpty && !isUnchanged(owner) {
            try checkCancellation(step)
            for (index, members) in owner.members {
                let field = owner.mapping.relationships[index]
                guard field.inverseSlot == nil || field.isOrdered, case .toMany(let number) = field.place, let id = owner.id else { continue }
                let key = RelationshipKey(owner: id, toMany: number)
                let before = owner.stored == nil ? [] : try context.members(of: key)
                var listed: Set<NSManagedObjectID> = []
                let said = members.compactMap(\.id), others = owner.keepsOthers(index) ? before : []
                let named = field.mode == .append ? others + said : said + others
                let ids = named.filter { listed.insert($0).inserted }
                if field.isOrdered ? ids != before : listed != Set(before) { owner.hasOtherMembers = true }
                context.setMembers(of: key, from: before, to: ids)
            }
        }
    }
}
