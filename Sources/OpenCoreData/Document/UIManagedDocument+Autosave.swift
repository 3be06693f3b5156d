import Foundation
import Synchronization

/// When the document saves by itself, and what becomes of the changes when a save fails.
extension UIManagedDocument {
    func changesCame() {
        let rows = unsavedChangeCount, bytes = managedObjectContext.publishedLoad.bytes + root.publishedLoad.bytes
        let now = clock.now
        let verdict: AutosavePolicy.Verdict = status.withLock { status in
            guard rows > 0, !status.state.contains(.closed) else {
                status.oldestChange = nil
                return .nothing
            }
            let oldest = status.oldestChange ?? now
            status.oldestChange = oldest
            if status.isSaving || status.isBackingOff { return .nothing }
            let verdict = status.autosavePolicy.verdict(rows: rows, bytes: bytes, age: now - oldest)
            if case .saveLater = verdict {
                if status.isTimerArmed { return .nothing }
                status.isTimerArmed = true
            }
            if verdict == .saveNow { status.isSaving = true }
            return verdict
        }
        switch verdict {
        case .nothing: return
        case .saveNow: autosaveNow()
        case .saveLater(let seconds): arm(after: seconds)
        }
    }

    private func arm(after seconds: TimeInterval) {
        clock.schedule(after: seconds) { [weak self] in
            guard let self else { return }
            self.status.withLock { $0.isTimerArmed = false }
            self.changesCame()
        }
    }

    private func retry(after seconds: TimeInterval) {
        clock.schedule(after: seconds) { [weak self] in
            guard let self else { return }
            self.status.withLock { $0.isBackingOff = false }
            if self.hasUnsavedChanges { self.autosaveNow() }
        }
    }

    func autosaveNow() {
        saveAll { [self] result in
            if case .failure(let error) = result { handleError(error, userInteractionPermitted: false) }
        }
    }

    func didSave(
        _ result: Result<Void, any Error>, from context: NSManagedObjectContext, tickets: [CheckedContinuation<Void, any Error>]
    ) {
        let observers = status.withLock { status in
            status.isSaving = false
            return status.observers
        }
        switch result {
        case .success:
            status.withLock { status in
                status.failures = 0
                status.isBackingOff = false
            }
            if documentState.contains(.savingError) { setState { $0.remove(.savingError) } }
            status.withLock { $0.modificationDate = Date() }
            for observer in observers { observer(.saved) }
            for ticket in tickets { ticket.resume() }
            resumeSatisfied()
            wakeWaiters()
            changesCame()
        case .failure(let error):
            let failure = SaveFailure(error)
            for observer in observers { observer(.saveFailed(error, kind: failure)) }
            switch failure {
            case .transient:
                // Nothing is lost: the changes stay where they are, and the save is tried again, less and less often.
                let delay = status.withLock { status in
                    status.tickets.insert(contentsOf: tickets, at: 0)
                    status.failures += 1
                    status.isBackingOff = true
                    status.oldestChange = status.oldestChange ?? clock.now
                    return min(60, pow(2, Double(min(status.failures, 6))))
                }
                retry(after: delay)
            case .disk:
                for ticket in tickets { ticket.resume(throwing: error) }
            case .permanent:
                for ticket in tickets { ticket.resume(throwing: error) }
                discard(after: context)
            }
        }
    }

    /// No poison: what can never be saved must not stand in the way of everything that comes after it.
    private func discard(after context: NSManagedObjectContext) {
        if context === root {
            root.perform { [self] in
                let lost = root.unsavedChanges
                root.rollback()
                wakeWaiters()
                managedObjectContext.perform { [self] in managedObjectContext.follow(rollback: lost) }
            }
        } else {
            managedObjectContext.perform { [self] in
                managedObjectContext.rollback()
                wakeWaiters()
            }
        }
    }

    /// Tickets that were drawn while the save ran that has just taken everything.
    private func resumeSatisfied() {
        let waiting = status.withLock { status in
            defer { status.tickets = [] }
            return status.tickets
        }
        if waiting.isEmpty { return }
        if hasUnsavedChanges {
            status.withLock { $0.tickets.insert(contentsOf: waiting, at: 0) }
        } else {
            for ticket in waiting { ticket.resume() }
        }
    }

    func wakeWaiters() {
        let unsaved = unsavedChangeCount
        let ready = status.withLock { status in
            let ready = status.waiters.filter { unsaved < $0.limit }
            status.waiters.removeAll { unsaved < $0.limit }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    func setState(_ change: (inout State) -> Void) {
        status.withLock { change(&$0.state) }
        NotificationCenter.default.post(name: Self.stateChangedNotification, object: self)
    }
}
