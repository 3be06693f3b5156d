import Foundation
import Synchronization

/// Throwing changes away, and forgetting values.
extension NSManagedObjectContext {
    /// See `rollback()`.
    final func dropChanges() {
        checkQueue()
        readInbox()
        undoRecorder?.forget()
        undelivered = []
        propagationStamp = nil
        watched = [:]
        unpublished = []
        dropDiscarded()
        let lost = chain.withLock {
            let lost = level.pending
            level.discard()
            return lost
        }
        reservedKeys?.releaseClaims()
        for object in registry.objects {
            object.members = [:]
            guard object.isUnsaved else { continue }
            if object.state == .inserted || (object.base == nil && !object.isFaulted) {
                registry.remove(object.objectID)
                object.detach()
                continue
            }
            object.row = object.base
            object.becomeClean()
            object.noteEventEnd()
            object.callAwake(.rollback)
            events.refreshed[object.objectID] = object
            registry.release(object.objectID)
        }
        events.inserted = [:]
        events.updated = [:]
        events.deleted = [:]
        events.pushed = []
        letGoOfPushedObjects()
        events.reverted = []
        events.dropped = lost.isEmpty ? [] : [lost]
        tellOfChanges()
    }

    /// What is unsaved here, pushed changes included.
    var unsavedChanges: ChangeSet {
        publish()
        return chain.withLock { level.pending }
    }

    /// The parent threw these changes away after this context had pushed them: objects that were inserted by them are gone, the others show what
    /// the parent has now.
    func follow(rollback lost: ChangeSet) {
        readInbox()
        undoRecorder?.forget()
        chain.withLock { level.forgetPushes(of: lost.ids(.inserted)) }
        lost.forEach { id, change in
            let object = registry[id]
            if change.kind == .inserted {
                unpublished.removeAll { $0 === object }
                chain.withLock {
                    level.replace(id, with: nil)
                    level.forgetRelationships(of: id)
                }
                events.deleted[id] = object
                registry.remove(id)
                object?.detach()
            } else if let object, object.state == .clean {
                object.turnIntoFault()
                events.refreshed[id] = object
            } else if let object, object.state == .updated {
                reload(object)
                events.refreshed[id] = object
            }
        }
        for object in registry.objects { object.members = [:] }
        if !lost.isEmpty { events.dropped.append(lost) }
        tellOfChanges()
    }

    /// See `reset()`.
    final func forgetAll() {
        checkQueue()
        let objects = registry.objects
        undoRecorder?.forget()
        undelivered = []
        watched = [:]
        unpublished = []
        discarded = []
        reservedKeys = nil
        movePin(past: [])
        chain.withLock {
            level.discard()
            hasUnreadInbox.store(false, ordering: .releasing)
        }
        registry.removeAll()
        events = ContextEvents()
        letGoOfPushedObjects()
        for object in objects { object.leaveBehind() }
        tell(.wasReset(objects.map(\.objectID)))
    }

    /// Without merging, turns the object into a fault and drops its changes; with merging, reloads the values under them. Where the store
    /// can't be read, merging leaves the object as it is (and says so: `ContextDiagnostic.Kind.storeReadFailed`).
    public func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
        checkQueue()
        readInbox()
        let object = object.standing
        object.fetched = [:]
        endOfChain?.rowCache.relations.remove(object.objectID)
        if object.state == .inserted { return }
        askAgain(object)
        if !mergeChanges {
            let partners = object.changedPartners
            forgetChanges(of: object)
            object.turnIntoFault()
            object.leave(partners)
            propagateAgain(to: object)
        } else {
            reload(object)
            object.callAwake(.refresh)
        }
        events.refreshed[object.objectID] = object
    }

    /// What the object refers to again may be deleted here: the delete rule is applied to it once more.
    private func propagateAgain(to object: NSManagedObject) {
        guard chain.withLock({ level.pending.deletedCount > 0 }) else { return }
        let row: RowSnapshot?
        do { row = try self.row(for: object.objectID) } catch {
            return reportUnread("what \(object.objectID) refers to, to which delete rules are applied at the save", error)
        }
        guard let row else { return }
        for slot in row.layout.toOneSlots {
            guard let target = row[slot].objectID, chain.withLock({ level.pending[target]?.kind == .deleted }) else { continue }
            undelivered.append(self.object(with: target))
        }
    }

    /// Clean objects become faults, changed ones keep their changes.
    public func refreshAllObjects() {
        checkQueue()
        readInbox()
        endOfChain?.rowCache.relations.removeAll()
        for object in registry.objects {
            askAgain(object)
            if object.isUnsaved {
                reload(object)
                object.callAwake(.refresh)
            } else {
                object.turnIntoFault()
            }
            events.refreshed[object.objectID] = object
        }
        refreshRowsWithoutObjects()
        processPendingChanges()
    }

    /// What was not there when it was asked for, and so counts as deleted without having been deleted here, may be there again: whoever deleted it may
    /// have taken that back.
    private func askAgain(_ object: NSManagedObject) {
        guard object.state == .deleted, object.base == nil, object.isPublished, !discarded.contains(where: { $0 === object }) else { return }
        if chain.withLock({ level.change(of: object.objectID) != nil }) { return }
        object.state = .clean
        object.turnIntoFault()
    }

    /// Changes that a child pushed and that have no object here are moved onto the current values, too.
    private func refreshRowsWithoutObjects() {
        let ids = chain.withLock { level.pending.ids(.updated) }.filter { registry[$0] == nil }
        if ids.isEmpty { return }
        let current: [NSManagedObjectID: RowSnapshot]
        do { current = try channel(to: "refresh").rows(for: ids) } catch { return reportUnread("the rows to refresh", error) }
        chain.withLock {
            for id in ids {
                guard let row = current[id], let pending = level.pending[id], pending.base !== row else { continue }
                level.replace(id, with: pending.moved(onto: row))
            }
        }
    }

    private func forgetChanges(of object: NSManagedObject) {
        unpublished.removeAll { $0 === object }
        object.isPublished = true
        chain.withLock {
            level.forgetPushes(of: [object.objectID])
            level.replace(object.objectID, with: nil)
            level.withdrawRelationships(of: object.objectID)
        }
        forgetLoadedMembers()
        object.state = .clean
        events.updated[object.objectID] = nil
        object.noteEventEnd()
        registry.release(object.objectID)
    }

    /// A row that is older than `stalenessInterval` is forgotten by the cache, so that it is read again.
    func forgetStaleRow(of id: NSManagedObjectID) {
        // Those of a state do not age, and are in a cache of its own.
        if stalenessInterval >= 0 { endOfChain?.rowCache.remove(id, ifOlderThan: stalenessInterval) }
    }

    /// Brings in the channel's current values, under the object's own changes.
    func reload(_ object: NSManagedObject) {
        object.fetched = [:]
        forgetStaleRow(of: object.objectID)
        do {
            guard let current = try channel(to: "refresh").rows(for: [object.objectID])[object.objectID] else { return }
            bring(current, under: object)
        } catch {
            reportUnread("\(object.objectID), which keeps the values it had", error)
        }
    }

    /// Lays the object's own changes over the channel's values.
    func bring(_ current: RowSnapshot, under object: NSManagedObject) {
        object.members = [:]
        guard object.state == .updated, let mine = object.row else {
            if !object.isFaulted && object.state == .clean {
                object.becomeClean(on: current)
                object.ownsRow = false
            }
            return
        }
        let merged = current.copy()
        object.changed.forEach { merged.update($0, to: mine[$0]) }
        for slot in 0..<merged.count where merged.layout.isTransient[slot] { merged.update(slot, to: mine[slot]) }
        object.row = merged
        object.ownsRow = true
        object.base = current
        if object.isPublished {
            object.isPublished = false
            unpublished.append(object)
        }
        chain.withLock { level.replace(object.objectID, with: nil) }
    }
}
