import Foundation
import Synchronization

/// A context as its children see it: a channel. Nothing here runs on the context's queue; the answers come from what it has published, laid over
/// what its own parent answers.
extension NSManagedObjectContext: PersistentStoreChannel {
    package func fetch(_ plan: FetchPlan) throws -> [FetchedRow] {
        let below = channel(to: "fetch")
        guard plan.includesPendingChanges else { return try below.fetch(plan) }
        let changed = changes(of: plan.members)
        if changed.isEmpty { return try below.fetch(plan) }

        // The window is cut from the merged result; below it is wide enough for every row that is dropped from it.
        var wider = plan
        wider.offset = 0
        wider.limit = plan.limit > 0 ? plan.offset + plan.limit + changed.count : 0
        wider = wider.orderable
        let found = try below.fetch(wider).filter { changed[$0.id] == nil }
        let reader = CheckedReader(self)
        var mine: [FetchedRow] = []
        for (id, change) in changed where change.kind != .deleted && plan.asks(id.storeIdentity) {
            guard let row = change.row else { continue }
            let view = RowView(id: id, row: row, reader: reader)
            if plan.predicate?.evaluate(view) ?? true { mine.append(FetchedRow(id: id, row: row)) }
        }
        let ordering = RowOrdering(plan.sort, reader: reader)
        let ordered = plan.sortsByOwnValues ? ordering.merged(found, with: mine) : ordering.sorted(found + mine)
        try reader.check()
        return plan.windowed(ordered)
    }

    package func count(_ plan: FetchPlan) throws -> Int {
        let hasChanges = plan.includesPendingChanges && !changes(of: plan.members).isEmpty
        return hasChanges ? try fetch(plan).count : try channel(to: "count").count(plan)
    }

    /// What this level says about the rows of these entities.
    private func changes(of members: [NSEntityDescription]) -> [NSManagedObjectID: PendingRow] {
        let layers = chain.withLock { [level.saving, level.pending].compactMap { $0 }.filter { $0.hasRows(of: members) } }
        var changed: [NSManagedObjectID: PendingRow] = [:]
        for layer in layers {
            for (id, change) in layer.rows(of: members) { changed[id] = change }
        }
        return changed
    }

    package func rowInMemory(_ id: NSManagedObjectID) -> RowLookup {
        switch chain.withLock({ changeInChain(of: id) }) {
        case let change? where change.kind == .deleted: .deleted
        case let change?: change.row.map { .row($0) } ?? .unknown
        case nil: source?.rowInMemory(id) ?? .unknown
        }
    }

    /// What the nearest level from here down says about a row. Within the chain's lock.
    func changeInChain(of id: NSManagedObjectID) -> PendingRow? {
        var context: NSManagedObjectContext? = self
        while let current = context {
            if let change = current.level.change(of: id) { return change }
            context = current.parent
        }
        return nil
    }

    package func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot] {
        var result: [NSManagedObjectID: RowSnapshot] = [:]
        var missing: [NSManagedObjectID] = []
        for id in ids {
            switch rowInMemory(id) {
            case .row(let row): result[id] = row
            case .unknown: missing.append(id)
            case .deleted: continue
            }
        }
        if !missing.isEmpty, let source {
            result.merge(try source.rows(for: missing)) { _, new in new }
        }
        return result
    }

    package func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        let relationship = key.relationship
        var ids = try channel(to: "read a relationship").relatedIDs(key)
        let layers = chain.withLock { [level.saving, level.pending].compactMap { $0 } }
        for layer in layers where !layer.isEmpty {
            ids = layer.members(of: key, relationship: relationship, over: ids)
        }
        return ids
    }

    package func prefetch(
        _ keys: [RelationshipKey], remembering: Set<RelationshipKey>
    ) throws -> [RelationshipKey: [NSManagedObjectID]] {
        var members = try channel(to: "read relationships").prefetch(keys, remembering: remembering)
        let layers = chain.withLock { [level.saving, level.pending].compactMap { $0 } }
        for layer in layers where !layer.isEmpty { layer.apply(to: &members) }
        return members
    }

    package func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        var result: [UniqueKey: FetchedRow] = [:]
        var missing: [UniqueKey] = []
        chain.withLock {
            guard level.hasChanges else {
                missing = keys
                return
            }
            for key in keys {
                if let id = level.owner(of: key, entity: entity, constraint: constraint) {
                    result[key] = FetchedRow(id: id, row: level.change(of: id)?.row)
                } else {
                    missing.append(key)
                }
            }
        }
        guard !missing.isEmpty else { return result }
        let below = try channel(to: "look up keys").objects(of: entity, constraint: constraint, keys: missing)
        chain.withLock {
            // What changed here is in the index above, under the key it has now.
            for (key, found) in below where level.change(of: found.id) == nil { result[key] = found }
        }
        return result
    }

    package func receive(_ changes: ChangeSet, from sender: NSManagedObjectContext) throws {
        let isHere = queue.isCurrent
        if isHere {
            receiveMail()
            publish()
        }
        while let recorder = try recorderOrTakeIn(changes, from: sender) {
            if try takeIn(changes, from: sender, recordedBy: recorder) { break }
        }
        if isHere {
            receiveMail()
            postObjectsDidChange()
        } else {
            queue.async { [self] in
                // A fetch may have taken the mail meanwhile, and then nobody has heard of it yet.
                guard self.hasMail.load(ordering: .acquiring) || !self.events.pushed.isEmpty else { return }
                self.receiveMail()
                self.postObjectsDidChange()
            }
        }
        changeObserver.withLock { $0 }?()
        subscribers.announce(ChangedObjectIDs(changes), except: sender)
    }

    /// Takes a child's changes in, unless pushes are written down before: then who does that.
    private func recorderOrTakeIn(_ changes: ChangeSet, from sender: NSManagedObjectContext) throws -> (any PushRecorder)? {
        try chain.withLock {
            if level.recordsPushes, let recorder = level.pushRecorder { return recorder }
            takeIn(try admissible(changes, from: sender))
            return nil
        }
    }

    /// Within the chain's lock.
    func takeIn(_ incoming: ChangeSet) {
        level.merge(incoming)
        level.inbox.append(incoming)
        hasMail.store(true, ordering: .releasing)
    }

    /// What of a child's changes comes in: checked against what is here, with one object for each unique key. Within the chain's lock.
    func admissible(_ changes: ChangeSet, from sender: NSManagedObjectContext) throws -> ChangeSet {
        if sender.parentConflictPolicy != nil || !sender.watched.isEmpty {
            let conflicts =
                (sender.parentConflictPolicy == nil ? [] : conflicts(with: changes)) + conflictsOfWatched(by: sender, besides: changes)
            if !conflicts.isEmpty { throw StoreConflict.versions(conflicts) }
        }
        var incoming = changes
        let twins = keyTwins(of: incoming)
        if !twins.isEmpty {
            let policy = root.mergePolicy
            guard policy.mergeType != .errorMergePolicyType else { throw NSError.constraintConflict(twins, from: sender) }
            incoming = unify(twins, in: incoming, policy: policy)
            // The sender saves on its own queue, which is where this runs.
            if !sender.changeListeners.isEmpty { sender.events.reverted.formUnion(twins.flatMap { [$0.id, $0.owner] }) }
        }
        return rebase(incoming)
    }

    /// A child that read an older state of a row than the one that is current here hands over what it changed, not what it read.
    private func rebase(_ changes: ChangeSet) -> ChangeSet {
        guard changes.updatedCount > 0 || changes.deletedCount > 0 else { return changes }
        var result = changes
        changes.forEach { id, change in
            guard change.kind != .inserted, let row = change.row else { return }
            let current: RowSnapshot?
            if let known = changeInChain(of: id) {
                current = known.row
            } else if case .row(let cached)? = source?.rowInMemory(id) {
                current = cached
            } else {
                current = nil
            }
            guard let current, current !== change.base, current.layout === row.layout else { return }
            if change.kind == .deleted {
                result.set(id, PendingRow(kind: .deleted, row: row, base: current))
                return
            }
            let merged = current.copy()
            change.changed.forEach { merged.update($0, to: row[$0]) }
            result.set(id, PendingRow(kind: .updated, row: merged, changed: change.changed, base: current))
        }
        return result
    }
}

extension ChangeSet {
    /// The members of a to-many after these changes.
    func members(
        of key: RelationshipKey, relationship: NSRelationshipDescription, over before: [NSManagedObjectID]
    ) -> [NSManagedObjectID] {
        guard let destination = relationship.destinationEntity else { return before }
        var ids = orders[key] ?? before
        var present = Set(ids)
        func add(_ id: NSManagedObjectID) {
            if present.insert(id).inserted { ids.append(id) }
        }
        var gone: Set<NSManagedObjectID> = []
        if relationship.isDerivedFromInverse, let inverse = relationship.inverseRelationship {
            for member in destination.withDescendants {
                guard let changes = entities[member.number], let slot = member.layout.slot(of: inverse.name) else { continue }
                for (id, change) in changes.rows {
                    if change.kind != .deleted, change.row?[slot].objectID == key.owner { add(id) } else { gone.insert(id) }
                }
            }
        } else {
            if orders[key] == nil, let changes = pairs[key] {
                for id in changes.added.sorted(by: { $0.key < $1.key }) { add(id) }
                gone.formUnion(changes.removed)
            }
            for member in destination.withDescendants {
                for (id, change) in entities[member.number]?.rows ?? [:] where change.kind == .deleted { gone.insert(id) }
            }
        }
        return gone.isEmpty ? ids : ids.filter { !gone.contains($0) }
    }
}
