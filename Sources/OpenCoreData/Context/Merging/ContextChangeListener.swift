import Foundation
import Synchronization

/// What changed in a context since it last told, by ID: nothing is made into objects for it.
///
/// The kinds are hints. Who listens looks at what the rows are now, so an ID too many costs a look and does no harm.
package struct ContextChangeIDs {
    package var inserted: Set<NSManagedObjectID> = []
    package var updated: Set<NSManagedObjectID> = []
    package var deleted: Set<NSManagedObjectID> = []
    /// Values were dropped, reloaded or settled otherwise.
    package var refreshed: Set<NSManagedObjectID> = []

    package init(refreshed: Set<NSManagedObjectID> = []) { self.refreshed = refreshed }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }
    /// Every ID, whatever happened to it.
    var all: Set<NSManagedObjectID> { inserted.union(updated).union(deleted).union(refreshed) }

    mutating func formUnion(_ other: ContextChangeIDs) {
        inserted.formUnion(other.inserted)
        updated.formUnion(other.updated)
        deleted.formUnion(other.deleted)
        refreshed.formUnion(other.refreshed)
    }
}

extension ContextChangeIDs {
    /// What these events are about: the context's own objects, what children pushed, and what was taken back.
    init(_ events: ContextEvents) {
        inserted = Set(events.inserted.keys)
        updated = Set(events.updated.keys)
        deleted = Set(events.deleted.keys)
        refreshed = Set(events.refreshed.keys).union(events.reverted)
        for changes in events.pushed {
            inserted.formUnion(changes.ids(.inserted))
            updated.formUnion(changes.ids(.updated))
            deleted.formUnion(changes.ids(.deleted))
            updated.formUnion(changes.relationshipOwners)
        }
        for changes in events.merged {
            inserted.formUnion(changes.inserted)
            updated.formUnion(changes.updated)
            deleted.formUnion(changes.deleted)
        }
    }
}

extension ChangeSet {
    /// The objects whose to-manys changed without their rows.
    var relationshipOwners: Set<NSManagedObjectID> { Set(pairs.keys.map(\.owner)).union(orders.keys.map(\.owner)) }

    /// Every object that is named as changed.
    var allIDs: Set<NSManagedObjectID> {
        var ids = relationshipOwners
        forEach { id, _ in ids.insert(id) }
        return ids
    }
}

/// Somebody inside of the library who follows a context's changes by ID. Called on the context's queue, where it posts ObjectsDidChange.
protocol ContextChangeListener: AnyObject {
    func contextDidChange(_ ids: ContextChangeIDs)
    /// Everything was forgotten.
    func contextWasReset()
}

/// The listeners of one context, which it does not keep alive.
struct ContextChangeListeners {
    private struct Reference {
        weak var listener: (any ContextChangeListener)?
    }

    private var references: [Reference] = []

    var isEmpty: Bool { references.isEmpty }

    /// Those that are still there.
    mutating func living() -> [any ContextChangeListener] {
        references.removeAll { $0.listener == nil }
        return references.compactMap(\.listener)
    }

    mutating func add(_ listener: any ContextChangeListener) {
        remove(listener)
        references.append(Reference(listener: listener))
    }

    mutating func remove(_ listener: any ContextChangeListener) {
        references.removeAll { $0.listener == nil || $0.listener === listener }
    }
}

extension NSManagedObjectContext {
    /// Tells the listeners. What was told is published first: they read rows, not objects.
    package func tellListeners(_ ids: @autoclosure () -> ContextChangeIDs) {
        guard !changeListeners.isEmpty else { return }
        let ids = ids()
        if ids.isEmpty { return }
        publish()
        for listener in changeListeners.living() { listener.contextDidChange(ids) }
    }

    /// Whether this context or a parent has unsaved changes to objects of these entities; nil: of any.
    func chainHasChanges(of entities: [NSEntityDescription]?) -> Bool {
        chain.withLock {
            var context: NSManagedObjectContext? = self
            while let current = context {
                for layer in [current.level.pending, current.level.saving].compactMap({ $0 }) where !layer.isEmpty {
                    guard let entities else { return true }
                    if layer.hasRows(of: entities) || !layer.pairs.isEmpty || !layer.orders.isEmpty { return true }
                }
                context = current.parent
            }
            return false
        }
    }
}

/// What children pushed, brought to this context's own objects: on its queue, at the next turn.
extension NSManagedObjectContext {
    func readInbox() {
        followReplacements()
        guard hasUnreadInbox.exchange(false, ordering: .acquiringAndReleasing) else { return }
        let pushes = chain.withLock {
            let pushes = level.inbox
            level.inbox = []
            return pushes
        }
        if !pushes.isEmpty {
            hasPushedChanges = true
            hasUncheckedPushes = true
        }
        for changes in pushes {
            if !registry.isEmpty { apply(changes) }
            events.pushed.append(changes)
        }
    }

    private func apply(_ changes: ChangeSet) {
        if changes.rowCount < registry.capacityInUse {
            changes.forEach { id, change in
                if let object = registry[id] { apply(change, to: object) }
            }
        } else {
            for object in registry.objects {
                if let change = changes[object.objectID] { apply(change, to: object) }
            }
        }
        // A foreign key that was pushed may belong to any loaded to-many; they are read again when asked for.
        forgetLoadedMembers()
    }

    /// Loaded to-manys are read again when asked for.
    func forgetLoadedMembers() {
        guard hasLoadedMembers else { return }
        for object in registry.objects where !object.members.isEmpty { object.members = [:] }
        hasLoadedMembers = false
    }

    func apply(_ change: PendingRow, to object: NSManagedObject) {
        registry.retain(object)
        if change.kind == .deleted {
            object.state = .deleted
            if chain.withLock({ level.change(of: object.objectID) == nil }) { discarded.append(object) }
            return
        }
        if object.isPublished {
            guard let current = chain.withLock({ level.change(of: object.objectID) }) else { return }
            object.take(current)
            return
        }
        // Unpublished edits of its own: property by property, the later writer wins.
        guard let row = change.row, let mine = object.row else { return }
        if !object.ownsRow {
            object.row = mine.copy()
            object.ownsRow = true
        }
        change.changed.forEach { slot in
            object.row?.update(slot, to: row[slot])
            object.changed.insert(slot)
        }
    }
}
