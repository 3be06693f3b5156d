import Foundation
import Synchronization

/// A write-ahead journal of what workers push into the document's context, so that a worker's successful save survives the process, although the
/// document has not written it to its store yet.
extension UIManagedDocument {
    /// What a worker's save survives from its return on. `.off`, the default, costs nothing: a push is then in memory until the document saves.
    ///
    /// It is about saves of contexts whose parent is `managedObjectContext`. Edits made in that context itself are safe when the document
    /// has saved. While it is on, a worker's save throws 134030, and hands nothing on, if the journal can't be written. What was journaled and not
    /// committed is applied when the document is opened the next time, whatever this says then; `pushRecovery` tells what became of it.
    /// Set it before the document is opened.
    public var pushJournaling: PushJournaling {
        get { journal.withLock { $0.journaling } }
        set {
            guard documentState.contains(.closed) else { Violation.misuse("pushJournaling is set before the document is opened") }
            journal.withLock { $0.journaling = newValue }
        }
    }

    /// What was found in the push journal when the document was opened; nil if nothing was.
    public var pushRecovery: PushRecovery? { journal.withLock { $0.recovery } }

    struct JournalState: Sendable {
        var journaling = PushJournaling.off
        var recovery: PushRecovery?
        var journal: PushJournal?
    }

    /// Where the journal is: beside the store.
    package var pushJournalURL: URL { pushJournalURL(beside: storeURL) }

    func pushJournalURL(beside store: URL) -> URL { store.deletingLastPathComponent().appendingPathComponent("PushJournal", isDirectory: true) }

    /// Applies what an earlier process left, and starts a journal if one is wanted. Throws what the disk says, and 134080 if another document
    /// keeps the journal.
    func openPushJournal() throws {
        journal.withLock { $0.recovery = nil }
        // Closed with changes that came after its last save: they are still in memory, and their entries are still this document's.
        if journal.withLock({ $0.journal != nil }) { return }
        guard let coordinator = root.persistentStoreCoordinator else { return }
        let folder = pushJournalURL, wanted = pushJournaling
        let left = try !PushJournalFolder.files(in: folder).isEmpty
        let canWrite = coordinator.persistentStores.contains { !$0.isReadOnly }
        guard canWrite else {
            if left { note(PushRecovery(unreadable: "The document is open read-only: pushed saves in its journal were not applied.")) }
            return
        }
        guard left || wanted != .off else { return }
        if coordinator.persistentStores.contains(where: { $0.identity.references != nil }) {
            throw NSError.coreData(
                .persistentStoreOpen,
                "A push journal names objects by their keys in the store, which an incremental store does not have. Turn pushJournaling off.")
        }
        let place = PushJournalPlace(folder: folder, stores: coordinator.persistentStores, observer: pushJournalObserver)
        try place.make(folder)
        guard let lock = try PushJournalLock(place) else {
            if wanted == .off { return }
            throw NSError.coreData(
                .persistentStoreOpen, "Another document keeps the push journal of \(fileURL.path): close it, or open this one without a journal.")
        }
        if wanted == .synchronized {
            // What is written in the journal has to be found again: the journal in its folder, that in the package, and the package.
            for folder in [folder.deletingLastPathComponent(), fileURL, fileURL.deletingLastPathComponent()] {
                try place.synchronizeNames(in: folder)
            }
        }
        // Within the lock: whoever had it before may have committed until then.
        let mark = try coordinator.persistentStores.map { try $0.pushMark }.max() ?? 0
        let found = try PushJournalFolder(reading: folder, coordinator: coordinator, after: mark)
        let isResolved = try recover(found, in: place, coordinator)
        if isResolved && !found.files.isEmpty {
            // Whoever wrote them may have been promised that they survive a loss of power.
            try place.synchronize(coordinator.persistentStores)
            for file in found.files { try FileManager.default.removeItem(at: file) }
        }
        guard wanted != .off || !isResolved else { return }
        let made = PushJournal(
            place: place, lock: lock, coordinator: coordinator, isSynchronized: wanted == .synchronized, after: found.last,
            keeping: isResolved ? [] : found.files)
        journal.withLock { $0.journal = made }
        managedObjectContext.recordPushes(with: made, includingNewOnes: wanted != .off)
    }

    /// Returns whether the files are not needed any more.
    private func recover(_ found: PushJournalFolder, in place: PushJournalPlace, _ coordinator: NSPersistentStoreCoordinator) throws -> Bool {
        var replay = try PushReplay(found, coordinator: coordinator), keeping = PushKeptAside(place)
        var problems = found.problems.map(\.sentence)
        var aside = try found.files.filter { file in found.problems.contains { $0.url == file } }.map { try keeping.keep($0) }
        var isCommitted = true, attempts = 0, written = ChangeSet()
        while true {
            attempts += 1
            // Before the commit: afterwards nothing may stand only here. That it can't be written says nothing of the store.
            try keeping.keep(replay.refused, after: found.entries.first?.number ?? 0)
            if replay.changes.isEmpty { break }
            do {
                written = try write(replay.changes, coordinator)
            } catch StoreConflict.constraints(let conflicts) {
                try replay.leaveOut(asksPolicy ? conflicts.filter { replay.changes[$0.owner]?.kind == .inserted } : conflicts)
                continue
            } catch StoreConflict.versions where attempts < 20 {
                // Another writer was there between reading and writing.
                replay = try PushReplay(found, coordinator: coordinator)
                continue
            } catch {
                let partly = error as? PartlySaved
                // What is committed of it is not to be written again.
                if partly != nil { replay = try PushReplay(found, coordinator: coordinator) }
                switch SaveFailure(partly?.error ?? error) {
                case .disk: throw error
                case .transient:
                    // Full or busy: it waits in the root like any other unsaved change, and in the journal.
                    isCommitted = false
                    let sender = root.performAndWait { root.sender }
                    do { _ = try root.receive(replay.changes, from: sender) } catch let refused as TwinsRefused {
                        throw NSError.constraintConflict(refused.twins, from: root)
                    }
                case .permanent:
                    aside += try found.files.map { try keeping.keep($0) }
                    if let list = keeping.list { aside.append(list.url) }
                    note(
                        PushRecovery(
                            pushes: replay.pushes, objects: 0, isCommitted: false,
                            problems: problems + ["The store refused them: \(error.localizedDescription)"], miscounted: [], keptAside: aside))
                    return true
                }
            }
            break
        }
        if let list = keeping.list { aside.append(list.url) }
        problems += replay.refused.map { "\($0.id) was not brought back whole: \($0.reason)." }
        guard replay.pushes > 0 || !problems.isEmpty else { return true }
        note(
            PushRecovery(
                pushes: replay.pushes, objects: replay.changes.rowCount, isCommitted: isCommitted, problems: problems,
                miscounted: miscounted(written), keptAside: aside))
        return isCommitted
    }

    /// Members are counted when the document's context saves, which the earlier process did not come to. Refused now, all of it would be lost.
    private func miscounted(_ changes: ChangeSet) -> [String] {
        do {
            let counts = MemberCounts(touchedBy: [changes], includingNewOwners: true)
            return try root.performAndWait { try counts.errors(in: root).map(\.localizedDescription) }
        } catch {
            return ["Whether to-manys have the right number of members could not be read: \(error.localizedDescription)"]
        }
    }

    /// Whether conflicts with the store are settled as in any save of the root's.
    private var asksPolicy: Bool { root.mergePolicy.mergeType != .errorMergePolicyType }

    /// One transaction. A merge policy of the root's is asked where the store has other rows or keys. Under the error policy that is left to the
    /// caller, and so are two new rows with one key under any: a policy would drop one of them in silence.
    ///
    /// - Returns: what was written, after the policy had its say.
    private func write(_ changes: ChangeSet, _ coordinator: NSPersistentStoreCoordinator) throws -> ChangeSet {
        do {
            try coordinator.receive(changes, from: root.performAndWait { root.sender })
            return changes
        } catch let conflict as StoreConflict {
            // References are settled by delete rules, whatever the policy.
            if case .references = conflict {} else if !asksPolicy { throw conflict }
            if case .constraints(let found) = conflict, found.contains(where: { changes[$0.owner]?.kind == .inserted }) { throw conflict }
        }
        return try root.performAndWait {
            var outcome = NSManagedObjectContext.SaveOutcome(changes: changes)
            _ = try root.settlingConflicts(&outcome) { try coordinator.receive($0.changes, from: root.sender) }
            return outcome.changes
        }
    }

    private func note(_ recovery: PushRecovery) { journal.withLock { $0.recovery = recovery } }

    /// What could not be brought back has no caller to be told.
    func reportPushRecovery() {
        guard let recovery = pushRecovery else { return }
        if !recovery.miscounted.isEmpty {
            handleError(
                NSError.coreData(
                    .managedObjectValidation,
                    "Pushed saves of an earlier run were brought back whole, but not all as the model wants them. "
                        + recovery.miscounted.joined(separator: " "),
                    userInfo: [NSFilePathErrorKey: pushJournalURL.path]),
                userInteractionPermitted: false)
        }
        if !recovery.problems.isEmpty {
            handleError(
                NSError.coreData(
                    .persistentStoreIncompleteSave,
                    "Not all pushed saves of an earlier run could be brought back. " + recovery.problems.joined(separator: " ")
                        + (recovery.keptAside.isEmpty ? "" : " They are kept in \(PushJournalFolder.keptAside(pushJournalURL).path)."),
                    userInfo: [NSFilePathErrorKey: pushJournalURL.path]),
                userInteractionPermitted: false)
        }
    }

    /// For tests: `observer` is called before each step; what it throws, the step throws. It may be set before the document is opened.
    package func observePushJournal(_ observer: (@Sendable (PushJournalStep) throws -> Void)?) { pushJournalObserver.set(observer) }

    /// How many bytes the journal's files have, after what was thrown away until now is written down; nil if none is kept.
    package var pushJournalSize: Int? {
        let current = journal.withLock { $0.journal }
        current?.flush()
        return current?.size
    }

    /// Ends the journal where nothing is unsaved. Otherwise it is kept, and goes on: what is in memory can still be saved.
    func closePushJournal() {
        guard let current = journal.withLock({ $0.journal }) else { return }
        // A push that is being written now is either in it before the question, or asks again where to be written.
        current.inTurn {
            guard unsavedChangeCount == 0 else { return }
            managedObjectContext.recordPushes(with: nil)
            current.end()
            journal.withLock { $0.journal = nil }
        }
    }
}

extension PushRecovery {
    fileprivate init(unreadable sentence: String) {
        self.init(pushes: 0, objects: 0, isCommitted: false, problems: [sentence], miscounted: [], keptAside: [])
    }
}
