import Foundation
import Synchronization

/// Opening and closing.
extension UIManagedDocument {
    /// Opens the document, making package and store if `creating`. Blocks while the store opens. Throws what the store says, and what
    /// `readAdditionalContent(from:)` throws.
    package func openStore(creating: Bool) throws {
        guard documentState.contains(.closed) else { return }
        let folder = storeURL.deletingLastPathComponent()
        if persistentStoreType(forFileType: "") == NSInMemoryStoreType {
            // There is nothing to make, and nothing to find.
        } else if creating {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } else if !FileManager.default.fileExists(atPath: storeURL.path) {
            throw NSError.coreData(.persistentStoreOpen, "There is no document at \(fileURL.path): \(storeURL.path) is missing.")
        }
        try configurePersistentStoreCoordinator(
            for: storeURL, ofType: "", modelConfiguration: modelConfiguration, storeOptions: persistentStoreOptions)
        do {
            try readContent()
            try openPushJournal()
        } catch {
            try? removeStores()
            throw error
        }
        noteModificationDate()
        setState { $0 = .normal }
        changesCame()
        reportPushRecovery()
    }

    func noteModificationDate() {
        let attributes = try? FileManager.default.attributesOfItem(atPath: storeURL.path)
        fileModificationDate = attributes?[.modificationDate] as? Date ?? fileModificationDate
    }

    /// Opens the document. The handler is called on the main queue.
    public func open(completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        root.perform { [self] in
            let success: Bool
            do {
                try openStore(creating: false)
                success = true
            } catch {
                handleError(error, userInteractionPermitted: false)
                success = false
            }
            DispatchQueue.main.async { completionHandler?(success) }
        }
    }

    /// Saves what is unsaved and closes the store. The handler is called on the main queue. Where nothing has changed, additional content is not written
    /// again; one that can't be written keeps the document open, until `updateChangeCount(.cleared)` gives it up.
    public func close(completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        saveAll(asksForContent: false) { [self] result in
            var success = true
            do {
                try result.get()
                try closeStore()
            } catch {
                handleError(error, userInteractionPermitted: false)
                success = false
            }
            let closed = success
            DispatchQueue.main.async { completionHandler?(closed) }
        }
    }

    /// Saves what is unsaved and closes the store. Throws what the save says; the store is left open then, and nothing is lost.
    public func close() async throws {
        try await save(asksForContent: false)
        // It may wait for the disk, and so not on a thread that tasks share.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            root.perform { [self] in continuation.resume(with: Result { try closeStore() }) }
        }
    }

    private func closeStore() throws {
        try removeStores()
        closePushJournal()
        setState { $0 = .closed }
    }

    private func removeStores() throws {
        for store in root.persistentStoreCoordinator?.persistentStores ?? [] {
            try root.persistentStoreCoordinator?.remove(store)
        }
    }
}
