import Foundation
import Synchronization

/// When the document saves by itself, and what becomes of the changes when a save fails.
extension UIManagedDocument {
    func changesCame() {
        let count = unsavedChangeCount, bytes = managedObjectContext.publishedLoad.bytes + root.publishedLoad.bytes
        let now = clock.now
        let verdict: AutosavePolicy.Verdict = status.withLock { status in
            guard count > 0 || status.isMarkedChanged, !status.state.contains(.closed) else {
                status.oldestChange = nil
                return .nothing
            }
            let oldest = status.oldestChange ?? now
            status.oldestChange = oldest
            if status.isSaving || status.isBackingOff { return .nothing }
            // A mark counts as one change; that of content that could not be written waits for a timer of its own.
            let rows = status.isMarkedChanged && !status.isContentRetryArmed ? max(count, 1) : count
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

    /// - Parameter content: what became of additional content, where the objects are saved.
    func didSave(
        _ result: Result<Void, any Error>, _ turn: SaveTurn, content: Result<Void, any Error> = .success(()), from context: NSManagedObjectContext
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
            if case .failure(let error) = content {
                contentIsUnsaved()
                for observer in observers { observer(.saveFailed(error, kind: .transient)) }
            } else {
                status.withLock { status in
                    status.contentFailures = 0
                    status.isContentRetryArmed = false
                }
                if documentState.contains(.savingError) { setState { $0.remove(.savingError) } }
                for observer in observers { observer(.saved) }
            }
            status.withLock { $0.modificationDate = Date() }
            for ticket in turn.tickets { ticket.resume() }
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
                    status.tickets.insert(contentsOf: turn.tickets, at: 0)
                    status.failures += 1
                    status.isBackingOff = true
                    status.oldestChange = status.oldestChange ?? clock.now
                    return min(60, pow(2, Double(min(status.failures, 6))))
                }
                retry(after: delay)
            case .disk:
                for ticket in turn.tickets { ticket.resume(throwing: error) }
            case .permanent:
                for ticket in turn.tickets { ticket.resume(throwing: error) }
                discard(after: context)
            }
            // A disk that fails is left alone: nothing is tried again at once.
            if turn.wasMarked { markAgain(triesAgain: failure != .disk) }
        }
    }

    /// What a save that has failed was to write beside the objects is still to be written.
    func markAgain(triesAgain: Bool = true) {
        status.withLock { $0.isMarkedChanged = true }
        if triesAgain { changesCame() }
    }

    /// The objects are saved and go on being saved by the policy; what stands beside them is tried again, less and less often.
    private func contentIsUnsaved() {
        let delay: TimeInterval? = status.withLock { status in
            status.isMarkedChanged = true
            if status.isContentRetryArmed { return nil }
            status.isContentRetryArmed = true
            status.contentFailures += 1
            return min(60, pow(2, Double(min(status.contentFailures, 6))))
        }
        guard let delay else { return }
        clock.schedule(after: delay) { [weak self] in
            guard let self else { return }
            self.status.withLock { $0.isContentRetryArmed = false }
            if self.hasUnsavedChanges, !self.documentState.contains(.closed) { self.autosaveNow() }
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
        managedObjectContext.publishIfHere()
        // A mark is about what stands beside the objects.
        if managedObjectContext.hasPublishedChanges || root.hasPublishedChanges {
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

    /// Waits while more than `limit` changed objects are not on disk: how a writer that is faster than the disk is made to wait.
    package func waitUntilUnsaved(isBelow limit: Int) async {
        if unsavedChangeCount < limit { return }
        await withCheckedContinuation { continuation in
            status.withLock { $0.waiters.append(Waiter(limit: limit, continuation: continuation)) }
            wakeWaiters()
        }
    }

    /// Tells `observer` of every save. For the daemon's status and journal.
    package func observe(_ observer: @escaping @Sendable (UIManagedDocumentEvent) -> Void) {
        status.withLock { $0.observers.append(observer) }
    }

    func setState(_ change: (inout State) -> Void) {
        status.withLock { change(&$0.state) }
        NotificationCenter.default.post(name: Self.stateChangedNotification, object: self)
    }
}
