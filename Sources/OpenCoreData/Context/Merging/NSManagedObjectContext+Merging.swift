import Foundation

/// Bringing in what was saved elsewhere.
///
/// New values come in under this context's own unsaved changes, which stay: a merge never conflicts and never fails, and leaves the
/// context as clean as it was. Values are not copied from the other context; they are read, by ID, from the parent or the coordinator.
extension NSManagedObjectContext {
    /// See `mergeChanges(fromContextDidSave:)`.
    final func merge(didSave notification: Notification) {
        checkQueue()
        let changes = ChangedObjectIDs(notification.userInfo ?? [:], coordinator: endOfChain)
        let source = notification.object as? NSManagedObjectContext
        if source === self { return }
        // Another stack on the same file: what this coordinator remembers of these rows is older.
        if source?.endOfChain !== endOfChain { forgetCachedRows(of: changes) }
        merge(changes)
    }

    /// Merges what a store was told past all contexts (a batch request, another process) into several contexts, nested ones included.
    ///
    /// The keys are those of the notifications (`NSInsertedObjectsKey` and so on, or their ID variants), the values arrays or sets of object
    /// IDs or of their URIs. Each context is merged on its own queue, parents before children; returns when all are.
    public class func mergeChanges(fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]) {
        for context in contexts.sorted(by: { $0.depth < $1.depth }) {
            context.performAndWait {
                let changes = ChangedObjectIDs(changes, coordinator: context.endOfChain)
                context.forgetCachedRows(of: changes)
                context.merge(changes)
            }
        }
    }

    /// Whether this context merges by itself what is saved into its parent or coordinator (and, where the parent is a context, also what is
    /// pushed into it and not saved yet). It does so on its own queue, shortly after. Set it after the parent or the coordinator.
    public var automaticallyMergesChangesFromParent: Bool {
        get { followsParent }
        set {
            guard newValue != followsParent else { return }
            let parent = channel(to: "follow its parent")
            followsParent = newValue
            if newValue { parent.add(self) } else { parent.remove(self) }
        }
    }

    /// How many contexts lie between this one and the coordinator.
    private var depth: Int {
        var result = 0
        var context = parent
        while let current = context {
            result += 1
            context = current.parent
        }
        return result
    }

    private func forgetCachedRows(of changes: ChangedObjectIDs) {
        guard let cache = endOfChain?.rowCache else { return }
        if changes.invalidatesAll { return cache.removeAll() }
        // What somebody calls inserted may be stored objects that were given new values.
        cache.remove(changes.inserted)
        cache.remove(changes.updated)
        cache.remove(changes.deleted)
    }

    /// Merges these changes into the objects and the unsaved rows of this context, then into the contexts that follow it.
    func merge(_ changes: ChangedObjectIDs) {
        readInbox()
        if propagatesDeletesAtEndOfEvent { propagateWhatCanBeRead() }
        publish()
        var changes = changes
        if changes.invalidatesAll { changes.updated = registry.objects.map(\.objectID) }
        movePin(past: changes.updated)
        let fresh = rowsToMerge(changes)
        for id in changes.updated { mergeUpdate(of: id, row: fresh[id]) }
        for id in changes.inserted { mergeInsertion(of: id, row: fresh[id]) }
        for id in changes.deleted { mergeDeletion(of: id) }
        // A foreign key that changed may belong to any loaded to-many; they are read again when asked for, under what is unsaved.
        forgetLoadedMembers()
        events.merged.append(changes)
        tellOfChanges()
        tell(.didMerge(changes))
    }

    /// The channel's rows of what is in use here: realised objects, and unsaved rows whose base moves.
    private func rowsToMerge(_ changes: ChangedObjectIDs) -> [NSManagedObjectID: RowSnapshot] {
        var wanted: [NSManagedObjectID] = []
        chain.withLock {
            let hasChanges = level.hasChanges
            for id in changes.updated + changes.inserted {
                let isPending = hasChanges && level.pending[id]?.base != nil
                if isPending || registry[id].map({ !$0.isFaulted && $0.state != .deleted }) == true { wanted.append(id) }
            }
        }
        if wanted.isEmpty { return [:] }
        do { return try channel(to: "merge").rows(for: wanted) } catch {
            // A merge never fails. Clean objects become faults and are read again when they are asked for; unsaved changes keep the row they
            // started from, which the save compares with the store's.
            reportUnread("the rows to merge", error)
            return [:]
        }
    }

    private func mergeUpdate(of id: NSManagedObjectID, row: RowSnapshot?) {
        let object = registry[id]
        if let pending = chain.withLock({ level.pending[id] }) {
            // The unsaved change starts from the new row now; without one (the channel has it no more) the save's conflict check decides.
            guard let row, let base = pending.base, base !== row else { return }
            let moved = pending.moved(onto: row)
            chain.withLock { level.replace(id, with: moved) }
            if let object, object.state == .updated || object.state == .deleted {
                object.take(moved)
                events.refreshed[id] = object
            }
            return
        }
        guard let object, object.state == .clean else { return }
        guard !object.isFaulted else {
            // What a fetch brought for it is older.
            object.row = nil
            return
        }
        if let row {
            if row === object.row { return }
            object.becomeClean(on: row.carryingTransients(of: object.row))
            object.ownsRow = false
        } else {
            object.turnIntoFault()
        }
        events.refreshed[id] = object
    }

    private func mergeInsertion(of id: NSManagedObjectID, row: RowSnapshot?) {
        if registry[id] != nil {
            mergeUpdate(of: id, row: row)
        } else if materializesNotificationObjects, chain.withLock({ level.change(of: id) == nil }) {
            events.inserted[id] = materialise(FetchedRow(id: id, row: nil), asFault: true)
        }
    }

    private func mergeDeletion(of id: NSManagedObjectID) {
        let pending = chain.withLock { level.pending[id] }
        if let pending {
            // Deleted here as well: done. Unsaved edits stay; what becomes of them is for the save's merge policy to say.
            guard pending.kind == .deleted else { return }
            chain.withLock { level.replace(id, with: nil) }
        }
        guard let object = registry[id], object.state == .clean || object.state == .deleted else { return }
        object.state = .deleted
        discarded.append(object)
        if pending == nil { events.deleted[id] = object }
    }
}

extension NSManagedObjectContext: ChannelFollower {
    package func hear(of changes: ChangedObjectIDs) {
        queue.async { [weak self] in self?.merge(changes) }
    }
}

extension PendingRow {
    /// The same change, started from another row.
    func moved(onto row: RowSnapshot) -> PendingRow {
        guard kind == .updated, let mine = self.row, mine.layout === row.layout else {
            return PendingRow(kind: kind, row: self.row, changed: changed, base: row)
        }
        let merged = row.copy()
        changed.forEach { merged.update($0, to: mine[$0]) }
        for slot in 0..<merged.count where merged.layout.isTransient[slot] { merged.update(slot, to: mine[slot]) }
        return PendingRow(kind: .updated, row: merged, changed: changed, base: row)
    }
}

extension RowSnapshot {
    /// This row, with the transient values of an older state of it, which no store knows.
    func carryingTransients(of older: RowSnapshot?) -> RowSnapshot {
        guard layout.hasTransients, let older, older.layout === layout else { return self }
        let result = copy()
        for slot in 0..<count where layout.isTransient[slot] { result.update(slot, to: older[slot]) }
        return result
    }
}

extension ChangedObjectIDs {
    /// Reads what a notification or a dictionary of IDs says. Values may be objects, object IDs or their URIs, in sets or arrays; what names no
    /// object of this coordinator's stores is left out.
    init(_ userInfo: [AnyHashable: Any], coordinator: NSPersistentStoreCoordinator?) {
        if let changes = userInfo[ChangeSet.notificationKey] as? ChangeSet {
            self.init(changes)
            return
        }
        typealias Key = NSManagedObjectContext.NotificationKey
        func ids(_ keys: [Key]) -> [NSManagedObjectID] {
            for key in keys {
                switch userInfo[key.rawValue] {
                case nil: continue
                case let objects as Set<NSManagedObject>: return objects.map(\.objectID)
                case let known as Set<NSManagedObjectID>: return Array(known)
                case let known as [NSManagedObjectID]: return known
                case let objects as [NSManagedObject]: return objects.map(\.objectID)
                case let urls as [URL]: return urls.compactMap { coordinator?.managedObjectID(forURIRepresentation: $0) }
                case let urls as Set<URL>: return urls.compactMap { coordinator?.managedObjectID(forURIRepresentation: $0) }
                case let mixed as [Any]:
                    return mixed.compactMap { element in
                        switch element {
                        case let id as NSManagedObjectID: id
                        case let object as NSManagedObject: object.objectID
                        case let url as URL: coordinator?.managedObjectID(forURIRepresentation: url)
                        default: nil
                        }
                    }
                default:
                    Violation.misuse(
                        "the value for \"\(key.rawValue)\" in a change notification is not a set or an array of objects, object IDs or URIs")
                }
            }
            return []
        }
        self.init()
        inserted = ids([.insertedObjectIDs, .insertedObjects])
        updated = ids([.updatedObjectIDs, .updatedObjects])
        refreshed = ids([.refreshedObjectIDs, .refreshedObjects])
        invalidated = ids([.invalidatedObjectIDs, .invalidatedObjects])
        updated += refreshed + invalidated
        deleted = ids([.deletedObjectIDs, .deletedObjects])
        invalidatesAll = userInfo[Key.invalidatedAllObjects.rawValue] != nil
    }
}
