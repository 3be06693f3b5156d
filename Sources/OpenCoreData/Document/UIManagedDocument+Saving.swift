import Foundation
import Synchronization

/// Saving to the document's own place.
extension UIManagedDocument {
    /// Saves. `.forCreating` makes package and store; at the document's own place it opens what is there already. The handler is called on the main
    /// queue; what stood against it went to `handleError(_:userInteractionPermitted:)`.
    ///
    /// With another `url` the document goes on there ("Save As"): everything in its contexts is saved, to the old place too, and package, stores and
    /// additional content are made at the new one as they are then. Contexts, objects and object IDs stay valid, `fileURL` follows, and the old
    /// package is not touched any more. `.forCreating` refuses a place where something is; `.forOverwriting` takes the place of the document that
    /// is there, which nobody must have open. If anything fails, the document is open at the old place, with everything in it, and the other place
    /// is as it was.
    ///
    /// Stores in the package get a UUID of their own there, as with `migratePersistentStore`: the URIs of the IDs name it, and history begins anew.
    /// Stores elsewhere stay where they are. Pushed saves that a journal keeps go along. A document that is closed can be created elsewhere, with
    /// `.forCreating`.
    public func save(to url: URL, for operation: SaveOperation, completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        let finish = finishing(completionHandler)
        if !isHere(url) { return save(elsewhere: url, for: operation, finish) }
        guard operation == .forCreating else { return saveAll(finish) }
        root.perform { [self] in
            do {
                try openStore(creating: true)
                saveAll(finish)
            } catch {
                finish(.failure(error))
            }
        }
    }

    /// Saves wherever the document is by then.
    func saveHere(_ completionHandler: (@Sendable (Bool) -> Void)?) { saveAll(finishing(completionHandler)) }

    private func finishing(_ completionHandler: (@Sendable (Bool) -> Void)?) -> @Sendable (Result<Void, any Error>) -> Void {
        { [self] result in
            if case .failure(let error) = result { handleError(error, userInteractionPermitted: false) }
            let success = (try? result.get()) != nil
            DispatchQueue.main.async { completionHandler?(success) }
        }
    }

    /// Whether a URL leads to the document's own package.
    func isHere(_ url: URL) -> Bool {
        let own = fileURL
        guard url.isFileURL else { return false }
        if url.standardizedFileURL.path == own.standardizedFileURL.path { return true }
        return FilePlace(url.path).map { $0 == FilePlace(own.path) } ?? false
    }

    /// Pushes the main context into the root and writes the root. Returns when everything that was unsaved at the call is committed.
    public func save() async throws { try await save(asksForContent: true) }

    func save(asksForContent: Bool) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            saveAll(asksForContent: asksForContent) { continuation.resume(with: $0) }
        }
    }

    /// A save that has begun: what it answers for.
    struct SaveTurn: Sendable {
        /// Who waits for it.
        let tickets: [CheckedContinuation<Void, any Error>]
        /// Whether `updateChangeCount(_:)` had marked the document.
        let wasMarked: Bool
    }

    func beginSaving() -> SaveTurn {
        status.withLock { status in
            let turn = SaveTurn(tickets: status.tickets, wasMarked: status.isMarkedChanged)
            status.isSaving = true
            status.oldestChange = nil
            status.isMarkedChanged = false
            status.tickets = []
            return turn
        }
    }

    /// On the main queue the main context hands its changes to the root; on the root's own queue they are written. The main queue does no I/O.
    ///
    /// Additional content is written before the store commits and put in its place right after, so that both are of one moment as nearly as two
    /// files can be: where the store refuses, the old content stays beside the old rows. The store does not wait for content that can't be written.
    ///
    /// - Parameter asksForContent: whether a subclass is asked what to write beside the store, though nothing changed.
    func saveAll(asksForContent: Bool = true, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let turn = beginSaving()
        managedObjectContext.perform { [self] in
            let isAsked = asksForContent || turn.wasMarked || managedObjectContext.hasChanges || root.hasPublishedChanges
            let asked = isAsked ? AskedContent(self, in: fileURL) : .nothing
            do {
                try managedObjectContext.save()
            } catch {
                didSave(.failure(error), turn, from: managedObjectContext)
                return completion(.failure(error))
            }
            root.perform { [self] in
                let draft = Result { try writeDraft(asked) }
                do {
                    try root.save()
                } catch {
                    (try? draft.get())?.discard()
                    didSave(.failure(error), turn, from: root)
                    return completion(.failure(error))
                }
                let written = Result { () throws -> Void in _ = try draft.get()?.put() }
                didSave(.success(()), turn, content: written, from: root)
                completion(written)
            }
        }
    }

    /// Returns when a save that begins after the call has committed: then everything that was pushed before is on disk. Throws what a save
    /// that can't be tried again says; saves that can are waited for. Returns at once if nothing is unsaved.
    package func committed() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            guard hasUnsavedChanges, !documentState.contains(.closed) else { return continuation.resume() }
            status.withLock { $0.tickets.append(continuation) }
            changesCame()
            // A save may have taken everything between the question and the ticket.
            if !hasUnsavedChanges || unsavedChangeCount == 0 { autosaveNow() }
        }
    }
}
