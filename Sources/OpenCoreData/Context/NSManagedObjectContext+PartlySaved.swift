import Foundation

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
        return result
    }
}
