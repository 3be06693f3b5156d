import Foundation
import Synchronization

/// A context as its children see it: a channel. Nothing here runs on the context's queue; the answers come from what it has published, laid over
/// what its own parent answers.
extension NSManagedObjectContext: PersistentStoreChannel {
    package func fetch(_ plan: FetchPlan) throws -> [FetchedRow] {
        let channel = self.channel(to: "fetch")
        guard plan.includesPendingChanges else { return try channel.fetch(plan) }
        let changed = changes(of: plan.members)
        if changed.isEmpty { return try channel.fetch(plan) }

        // The window is cut from the merged result; the channel's is wide enough for every row that is dropped from it.
        var wider = plan
        wider.offset = 0
        wider.limit = plan.limit > 0 ? plan.offset + plan.limit + changed.count : 0
        wider = wider.orderable
        let found = try channel.fetch(wider).filter { changed[$0.id] == nil }
        let reader = CheckedReader(self)
        var mine: [FetchedRow] = []
        for (id, change) in changed where change.kind != .deleted && plan.asks(id.storeIdentity) {
            guard let row = change.row else { continue }
            let view = RowView(id: id, row: row, reader: reader)
            if try plan.predicate?.selects(view) ?? true { mine.append(FetchedRow(id: id, row: row)) }
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

    /// What the nearest level from here toward the store says about a row. Within the chain's lock.
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
            case .deleted: break
            }
        }
        if !missing.isEmpty, let source {
            result.merge(try source.rows(for: missing)) { _, new in new }
        }
        return result
    }

    package func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID] {
        let channel = self.channel(to: "read a relationship")
        var (ids, layers) = try overlaid { try channel.relatedIDs(key) }
        for layer in layers { ids = layer.members(of: key, over: ids) }
        return ids
    }

    package func prefetch(
        _ keys: [RelationshipKey], remembering: Set<RelationshipKey>
    ) throws -> [RelationshipKey: [NSManagedObjectID]] {
        let channel = self.channel(to: "read relationships")
        var (members, layers) = try overlaid { try channel.prefetch(keys, remembering: remembering) }
        for layer in layers { layer.apply(to: &members) }
        return members
    }

    /// What the channel answers, and what this level lays over it.
    private func overlaid<T>(_ body: () throws -> T) throws -> (T, [ChangeSet]) {
        try asking(body) { ($0, [level.saving, level.pending].compactMap { $0 }.filter { !$0.isEmpty }) }
    }

    /// Asks the channel, and asks it again where a save has handed changes of this level to it meanwhile: they would be in neither, not in the answer
    /// because it is from before, and not here any more.
    ///
    /// - Parameter lay: lays this level over the answer, within the chain's lock.
    private func asking<T, Answer>(_ body: () throws -> T, _ lay: (T) -> Answer) throws -> Answer {
        var answer: Answer?
        while true {
            let saves = chain.withLock { level.saveCount }
            let found = try body()
            chain.withLock { if level.saveCount == saves { answer = lay(found) } }
            if let answer { return answer }
        }
    }

    package func objects(of entity: NSEntityDescription, constraint: Int, keys: [UniqueKey]) throws -> [UniqueKey: FetchedRow] {
        let source = channel(to: "look up keys")
        return try asking { () throws -> (here: [UniqueKey: FetchedRow], fromChannel: [UniqueKey: FetchedRow]) in
            var here: [UniqueKey: FetchedRow] = [:]
            var missing: [UniqueKey] = []
            chain.withLock {
                guard level.hasChanges else {
                    missing = keys
                    return
                }
                for key in keys {
                    if let id = level.owner(of: key, entity.layout.constraints[constraint]) {
                        here[key] = FetchedRow(id: id, row: level.change(of: id)?.row)
                    } else {
                        missing.append(key)
                    }
                }
            }
            return (here, missing.isEmpty ? [:] : try source.objects(of: entity, constraint: constraint, keys: missing))
        } _: { found in
            var result = found.here
            for (key, found) in found.fromChannel {
                guard let change = level.change(of: found.id) else {
                    result[key] = found
                    continue
                }
                // What had changed here before is in the index already, under the key it has now; what was pushed since has its key still, or not.
                if change.kind != .deleted, let row = change.row, row.layout.constraints[constraint].key(of: row) == key {
                    result[key] = FetchedRow(id: found.id, row: row)
                }
            }
            return result
        }
    }

    package func receive(_ changes: ChangeSet, from sender: SaveSender) throws -> ReceivedChanges {
        let isHere = queue.isCurrent
        if isHere {
            readInbox()
            publish()
        }
        var outcome: ReceivedChanges?
        while outcome == nil {
            outcome = try readingNeededRows { read in
                let (recorder, admitted) = try recorderOrTakeIn(changes, from: sender, read)
                return try recorder.map { try takeIn(changes, from: sender, recordedBy: $0, read) } ?? admitted
            }
        }
        let received = outcome ?? ReceivedChanges()
        // Before this context's objects hear of it, which may happen at once.
        news.tell(.didReceive(received.changes ?? changes), anywhere: true, except: sender.follower)
        if isHere {
            readInbox()
            tellOfChanges()
        } else {
            hearOfPushes()
        }
        return received
    }

    /// Takes a child's changes in, unless pushes are written down before: then who does that.
    private func recorderOrTakeIn(
        _ changes: ChangeSet, from sender: SaveSender, _ read: RowsRead
    ) throws -> ((any PushRecorder)?, ReceivedChanges?) {
        try chain.withLock {
            if level.recordsPushes, let recorder = level.pushRecorder { return (recorder, nil) }
            let admission = try admissible(changes, from: sender, read)
            takeIn(admission, from: sender)
            return (nil, admission.received)
        }
    }

    /// Within the chain's lock.
    func takeIn(_ admission: Admission, from sender: SaveSender) {
        level.note(from: sender.level)
        if parent == nil, !admission.identities.isEmpty { level.pushRecorder?.turned(turn(by: admission)) }
        level.merge(admission.changes)
        if admission.changes.deletedCount > 0 && level.deletionStamp == nil { level.deletionStamp = chain.stamp(with: rowCache) &- level.changeCount }
        chain.replace(admission.identities)
        level.inbox.append(admission.changes)
        hasUnreadInbox.store(true, ordering: .releasing)
    }
}
