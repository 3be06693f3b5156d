import Foundation

/// Saving through all levels at once.
extension NSManagedObjectContext {
    /// Saves this context and all its parents into the store, in one transaction.
    ///
    /// Everything is validated at every level and written together. Where anything is refused, by a rule, a conflict or the store, nothing
    /// has moved at any level: what was unsaved here is still unsaved here and nowhere else. Objects and notifications are those of saving
    /// level by level. Waits for the parents' queues. Throws what `save()` throws, 134040 too: then the rest is unsaved where it was.
    public func saveToStore() throws {
        checkQueue()
        try holdingTheChain {
            var contexts: [NSManagedObjectContext] = [self]
            while let parent = contexts.last?.parent { contexts.append(parent) }
            var hasAnything = false
            for context in contexts { hasAnything = try context.prepareToSave() || hasAnything }
            guard hasAnything else { return try contexts.last?.saveMetadata() ?? () }
            try validateTogether(contexts)
            try saveTogether(contexts)
        }
    }

    /// Runs a block while this thread holds the queues of all parents.
    private func holdingTheChain(_ body: () throws -> Void) throws {
        guard let parent else { return try body() }
        try parent.performAndWait { try parent.holdingTheChain(body) }
    }

    /// Each level is in order by itself. What several of them say of one object, or of one's members, is seen from here, where all of it lies over each
    /// other; a parent would see it only when this context's changes have come in, and then something has moved.
    private func validateTogether(_ contexts: [NSManagedObjectContext]) throws {
        for _ in 0..<100 {
            let layers = chain.withLock { contexts.map(\.level.pending) }
            guard layers.count(where: { !$0.isEmpty }) > 1 else { return }
            var errors: [NSError] = [], seen: Set<NSManagedObjectID> = []
            for number in layers.indices.dropFirst().reversed() {
                for part in layers[number].entities.values where part.entity.validatesItself {
                    for (id, change) in part.rows {
                        let children = layers[..<number].compactMap { $0[id] }
                        guard let nearest = children.first, seen.insert(id).inserted, nearest.kind != .deleted, change.kind != .deleted,
                            let start = change.row
                        else { continue }
                        let combined = children.reversed().reduce(start) { row, change in
                            change.row.map { row.overlaid(with: $0, change.changed).0 } ?? row
                        }
                        do {
                            try validate(id, as: combined, isNew: change.kind == .inserted)
                        } catch {
                            try RowValidation.collect(error, into: &errors)
                        }
                    }
                }
            }
            if errors.isEmpty { try MemberCounts(touchedBy: layers, includingNewOwners: true).check(in: self) }
            try RowValidation.throwAny(errors)
            if unpublished.isEmpty { return }
            publish()
            try validateUntilStable()
        }
        throw NSError.coreData(.coreData, "Validation keeps changing objects; stopped after 100 rounds. Nothing was saved.")
    }

    /// Has an object validated as it will be when all levels are one.
    private func validate(_ id: NSManagedObjectID, as combined: RowSnapshot, isNew: Bool) throws {
        let object = materialise(FetchedRow(id: id, row: nil), asFault: true)
        if object.isFaulted { try object.realise() }
        let mine = object.realisedRow, isOwned = object.ownsRow
        object.row = combined
        object.ownsRow = false
        defer {
            if let now = object.row, now !== combined {
                // Values that validation has replaced.
                object.row = mine.overlaid(with: now, now.differences(from: combined)).0
                object.ownsRow = true
            } else {
                object.row = mine
                object.ownsRow = isOwned
            }
        }
        if isNew { try object.validateForInsert() } else { try object.validateForUpdate() }
    }

    private func saveTogether(_ contexts: [NSManagedObjectContext]) throws {
        let root = contexts[contexts.count - 1]
        let own = try Self.beginSaving(contexts)
        let watches = contexts.map(\.watched)
        func takeBack(_ error: any Error) {
            for (context, watched) in zip(contexts, watches) { context.watched = watched }
            for (context, changes) in zip(contexts, own) { context.takeBack(changes, after: error) }
        }
        var carried = own[0]
        var through: [ChangeSet] = [carried]
        var identities: [NSManagedObjectID: NSManagedObjectID] = [:], became = identities
        let saved: SaveOutcome
        do {
            for (index, context) in contexts.enumerated().dropFirst() {
                let child = contexts[index - 1]
                var handed = SaveOutcome(changes: carried)
                carried = try child.settlingConflicts(&handed) { handed in
                    let changes = handed.changes
                    try child.readWatched(besides: changes)
                    return try context.readingNeededRows { read in
                        try chain.withLock {
                            context.level.note(from: child.level.number)
                            let level = ContextLevel(chain: ContextChain.scratch)
                            level.pending = own[index]
                            let admission = try context.admissible(changes, from: child.sender, read)
                            level.merge(admission.changes)
                            identities = admission.identities
                            return level.pending
                        }
                    }
                }
                for (id, other) in identities { became[id] = other }
                through.append(carried)
            }
            if carried.isEmpty {
                try root.saveMetadata()
                saved = SaveOutcome(changes: carried)
            } else {
                saved = try root.handOver(carried, turning: became)
            }
        } catch {
            takeBack(error)
            guard let partly = error as? PartlySaved else { throw error }
            let saved = partly.outcome(of: carried)
            for (context, handed) in zip(contexts, through) {
                context.finishPart(context === root ? saved : saved.seen(from: handed.filter(partly.settles)))
            }
            throw partly.error
        }
        let spent = chain.withLock {
            let spent = contexts.map { $0.level.didSave() }
            // Those nearer to the store first: an object may have become one that became another.
            root.didSave(turning: saved.identities, of: carried)
            root.didSave(turning: became, of: carried)
            return spent
        }
        withExtendedLifetime(spent) {}
        for (index, context) in contexts.enumerated() {
            context.undoRecorder?.didSave()
            context.decided = []
            // The root has done so itself. Where nothing was handed on, nothing was checked.
            if context !== root && !through[index].isEmpty { context.watched = [:] }
            if index > 0 {
                // As after a child's save: its objects are told here before they are saved.
                context.hasPushedChanges = true
                context.discardWhatCameToNothing(of: through[index - 1], in: through[index])
                context.events.pushed.append(through[index - 1])
                context.tellOfChanges()
            }
            context.finish(index == contexts.count - 1 ? saved : saved.seen(from: through[index]))
        }
    }
}

extension NSManagedObjectContext {
    /// What was new here and is deleted by the changes that came in is in none that go on: nothing is left of it.
    private func discardWhatCameToNothing(of changes: ChangeSet, in rest: ChangeSet) {
        guard changes.deletedCount > 0 else { return }
        for id in changes.ids(.deleted) where rest[id] == nil {
            guard let object = registry[id] else { continue }
            object.state = .deleted
            discarded.append(object)
        }
    }
}

extension NSManagedObjectContext.SaveOutcome {
    /// What this outcome, the root's, means for a context that handed on `changes`.
    func seen(from changes: ChangeSet) -> Self {
        var result = Self(changes: ChangeSet())
        result.isSettled = isSettled
        changes.forEach { id, change in
            if let final = self.changes[id] {
                result.changes.set(id, PendingRow(kind: change.kind, row: final.row, changed: change.changed, base: final.base))
            } else if change.kind == .deleted {
                result.changes.set(id, change)
            } else {
                result.refreshed.append(id)
            }
        }
        result.changes.pairs = changes.pairs
        result.changes.orders = changes.orders
        result.settled = settled
        result.computed = computed
        // What others in the chain had changed is nothing that this context handed on.
        self.changes.forEach { id, final in
            guard id.layout.hasDerived, changes[id] == nil, final.kind != .deleted, let row = final.row else { return }
            result.computed[id] = ComputedRow(row: row, slots: id.layout.derivedSlots)
        }
        result.recomputed = recomputed
        result.changes = result.changes.naming(result.computed)
        return result
    }
}

/// Where a store committed its part of a save and another then could not: what is committed is saved, the rest is unsaved as before.
extension NSManagedObjectContext {
    /// Takes back a save that failed: all of `changes` is unsaved again, but for what is settled in its store.
    func takeBack(_ changes: ChangeSet, after error: any Error) {
        let partly = error as? PartlySaved
        chain.withLock {
            // Merge policies may have settled a part of it already.
            level.saving = partly.map { partly in changes.filter { !partly.settles($0) } } ?? changes
            level.didNotSave()
        }
        forgetDecisions()
        if let partly { watched = watched.filter { !partly.settles($0.key) } }
    }

    /// Objects and observers are told of the part that is saved, as they are of a save.
    func finishPart(_ outcome: SaveOutcome) {
        undoRecorder?.didSave()
        if parent == nil { movePinAfterSave(outcome.changes) }
        finish(outcome)
        // Of the rest there may still be rows without an object.
        hasPushedChanges = true
    }
}

extension PartlySaved {
    /// What it means for `changes`, which were to be saved.
    func outcome(of changes: ChangeSet) -> NSManagedObjectContext.SaveOutcome {
        var result = NSManagedObjectContext.SaveOutcome(changes: committed)
        changes.forEach { id, change in
            guard settles(id) else { return }
            guard let saved = committed[id] else { return result.refreshed.append(id) }
            if saved.row !== change.row { result.settled.insert(id) }
        }
        result.take(computed)
        return result
    }
}
