/// Objects that turned out to be others, as this context's instances follow it.
extension NSManagedObjectContext {
    /// Brings the instances of objects that turned out to be others to it: an instance becomes that of the other object, with what is unsaved of both; where
    /// the other has an instance here already that one stays, and this one leaves the context: whoever goes on with it goes on with the one that stays.
    func followReplacements() {
        let count = chain.replacementCount
        if count == knownReplacements { return }
        knownReplacements = count
        letGoOfPushedObjects()
        bringWhatMoved()
        // What was not published yet is said of the others, too.
        publish()
        let moved = chain.withLock {
            level.follow()
            return level.takeMoved()
        }
        if !moved.isEmpty { layOverCurrent(Array(moved)) }
        undoRecorder?.forget()
        for object in registry.objects {
            if object.objectID.successor != nil { turn(object) } else { nameOthers(in: object) }
        }
        for id in moved {
            if let object = registry[id], let change = chain.withLock({ level.change(of: id) }) { apply(change, to: object) }
        }
        for (id, row) in watched where id.successor != nil {
            watched[id] = nil
            watched[id.current] = row
        }
        forgetLoadedMembers()
    }

    /// Hears of objects that turned out to be others, before what is known of members is looked at and changed.
    ///
    /// - Returns: whether there were any since the last time.
    @discardableResult
    func hearOfReplacements() -> Bool {
        if chain.replacementCount == knownReplacements { return false }
        readInbox()
        return true
    }

    /// What the level says of an object by now, because it was said of one that turned out to be it, comes under the edits of the instance that nobody has
    /// been told of: these would take its place when they are published.
    private func bringWhatMoved() {
        for object in unpublished where object.state == .updated {
            let change = chain.withLock { level.hasMoved(object.objectID) ? level.change(of: object.objectID) : nil }
            guard let change, change.kind == .updated, let theirs = change.row, let mine = object.row else { continue }
            var slots = change.changed
            object.changed.forEach { slots.remove($0) }
            if !object.ownsRow {
                object.row = mine.copy()
                object.ownsRow = true
            }
            slots.forEach { object.row?.update($0, to: theirs[$0]) }
        }
    }

    /// What is unsaved of these objects is laid over the values that they have in the channel; a deletion starts from these. Without them it would
    /// count as that of an object which never went anywhere.
    private func layOverCurrent(_ ids: [NSManagedObjectID]) {
        let current: [NSManagedObjectID: RowSnapshot]
        do { current = try channel(to: "read what objects turned out to be").rows(for: ids) } catch {
            // The save lays what was changed over the values that are there then.
            return reportUnread("what objects turned out to be", error)
        }
        chain.withLock {
            for id in ids {
                guard let row = current[id], let pending = level.pending[id] else { continue }
                if pending.kind == .deleted, pending.base == nil { level.replace(id, with: PendingRow(kind: .deleted, row: row, base: row)) }
                guard pending.kind == .updated, let mine = pending.row else { continue }
                let (merged, changed) = row.overlaid(with: mine, pending.changed)
                level.replace(id, with: PendingRow(kind: .updated, row: merged, changed: changed, base: row))
            }
        }
    }

    private func turn(_ object: NSManagedObject) {
        let former = object.objectID, id = former.current
        events.forget(former)
        events.reverted.formUnion([former, id])
        registry.remove(former)
        let change = chain.withLock { level.change(of: id) }
        if let other = registry[id] {
            undelivered.removeAll { $0 === object }
            discarded.removeAll { $0 === object }
            object.isFaulted = false
            object.detach()
            object.other = other
            if let change {
                other.take(change)
                registry.retain(other)
                // Those that are related to it have not been looked at.
                if other.state == .deleted { undelivered.append(other) }
            } else if other.state == .clean && !other.isFaulted {
                other.turnIntoFault()
            }
            events.refreshed[id] = other
            return
        }
        object.objectID = id
        if let change {
            object.take(change)
            registry.retain(object)
            if object.state == .deleted { undelivered.append(object) }
        } else {
            object.state = .clean
            object.turnIntoFault()
            registry.add(object)
        }
        events.refreshed[id] = object
    }

    /// References to objects that turned out to be others name the others.
    func nameOthers(in object: NSManagedObject) {
        let row = object.row?.replacing { $0.successor }, base = object.base?.replacing { $0.successor }
        if object.isBasedOnRow {
            if let row { object.becomeClean(on: row) }
        } else {
            if let row { object.row = row }
            if let base { object.base = base }
        }
        if row != nil { object.ownsRow = false }
    }
}

extension ContextEvents {
    /// Forgets what happened to an object that is none any more.
    fileprivate mutating func forget(_ id: NSManagedObjectID) {
        inserted[id] = nil
        updated[id] = nil
        deleted[id] = nil
        refreshed[id] = nil
    }
}
