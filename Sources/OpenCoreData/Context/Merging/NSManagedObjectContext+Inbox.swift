import Foundation
import Synchronization

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
            changes.forEachUnsealed { id, change in
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
