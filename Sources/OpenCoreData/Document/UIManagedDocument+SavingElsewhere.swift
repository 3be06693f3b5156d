import Foundation
import Synchronization

/// "Save As".
///
/// Everything unsaved is committed where the document is: from there on nothing can be lost, whatever happens to the new place. Then a package is
/// made beside that, with copies of the stores and of additional content, and put there under its name when it is whole. All of this is the root's
/// turn: saves that are asked for meanwhile, by hand or by the clock, closing, and a second "Save As" come after it, and find the document there.
/// Saves through the coordinator by others wait; fetches don't. Workers go on pushing; they wait only while stores and journal change places, which
/// is a matter of names. What they pushed since the commit is unsaved before and after, and its entries go along into the new place's journal.
///
/// The copies have UUIDs of their own. Two files of one UUID, both of which a process may open, are two stores that are taken for one: history
/// tokens, the push journal and whoever compares IDs of two stacks go by it.
extension UIManagedDocument {
    func save(elsewhere url: URL, for operation: SaveOperation, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        guard documentState.contains(.closed) else { return saveOpen(to: url, for: operation, completion) }
        managedObjectContext.perform { [self] in
            // What is unsaved is known to the root's turn, too.
            managedObjectContext.processPendingChanges()
            root.perform { [self] in
                // Somebody may have opened it meanwhile.
                guard documentState.contains(.closed) else { return saveOpen(to: url, for: operation, completion) }
                do {
                    try create(at: url, for: operation)
                } catch {
                    return completion(.failure(error))
                }
                saveAll(completion)
            }
        }
    }

    private func saveOpen(to url: URL, for operation: SaveOperation, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let turn = beginSaving()
        managedObjectContext.perform { [self] in
            let asked = AskedContent(self, in: url)
            do {
                try managedObjectContext.save()
            } catch {
                didSave(.failure(error), turn, from: managedObjectContext)
                return completion(.failure(error))
            }
            root.perform { [self] in
                do {
                    try root.save()
                } catch {
                    didSave(.failure(error), turn, from: root)
                    return completion(.failure(error))
                }
                didSave(.success(()), turn, from: root)
                let moved = Result { () throws -> Void in try move(to: url, for: operation, asked) }
                if case .failure = moved, turn.wasMarked { markAgain() }
                completion(moved)
            }
        }
    }

    /// Opens a closed document at a place where nothing is. If it throws, nothing is there, and the document is where it was.
    private func create(at url: URL, for operation: SaveOperation) throws {
        let before = fileURL
        guard operation == .forCreating else {
            throw NSError.coreData(
                .persistentStoreOperation, "The document \(before.path) is closed and not saved to \(url.path): open it, or save with .forCreating.")
        }
        // They are of objects that the stores there have, and no new store does.
        guard journal.withLock({ $0.journal == nil }), !hasChangesOfStores else {
            throw NSError.coreData(
                .persistentStoreOperation,
                "The document \(before.path) was closed with changes that are not saved: open it where it is before it is saved to "
                    + "\(url.path).")
        }
        try NewPackage.check(url, replacing: false, insteadOf: before)
        var isMade = false
        if persistentStoreType(forFileType: "") != NSInMemoryStoreType {
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            isMade = (try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)) != nil
        }
        place.withLock { $0 = url }
        do {
            try openStore(creating: true)
        } catch {
            place.withLock { $0 = before }
            // An empty folder was there, or none.
            try? FileManager.default.removeItem(at: isMade ? url : storeURL(in: url).deletingLastPathComponent())
            throw error
        }
    }

    /// Whether an object is unsaved that a store has, or has given its key.
    private var hasChangesOfStores: Bool {
        [managedObjectContext, root].contains { context in
            context.chain.withLock {
                var isFound = false
                for layer in [context.level.saving, context.level.pending].compactMap({ $0 }) {
                    isFound = isFound || !layer.blocks.isEmpty
                    layer.forEachUnsealed { id, _ in isFound = isFound || id.storeIdentity.uuid != nil }
                }
                return isFound
            }
        }
    }

    /// Takes the document to another place, when nothing is unsaved but what came just now. In the root's turn.
    private func move(to url: URL, for operation: SaveOperation, _ asked: AskedContent) throws {
        guard let coordinator = root.persistentStoreCoordinator, !documentState.contains(.closed) else {
            throw NSError.coreData(
                .persistentStoreOperation, "The document \(fileURL.path) was closed before it was saved to \(url.path). Open it and save again.")
        }
        if isHere(url) {
            // An earlier save has brought it there.
            _ = try writeDraft(asked)?.put()
            return
        }
        let package = try NewPackage(url, replacing: operation == .forOverwriting, insteadOf: fileURL)
        do {
            try putContent(asked, into: package)
            try moveStores(of: coordinator, to: package)
        } catch {
            package.discard()
            throw error
        }
        package.finish()
        noteModificationDate()
    }

    private func putContent(_ asked: AskedContent, into package: NewPackage) throws {
        let folder = Self.contentURL(in: package.temporary)
        if let content = try asked.content() { return try write(content, into: folder) }
        // There is nothing to write: what was written before is what there is.
        let old = Self.contentURL(in: fileURL)
        AdditionalContentDraft.recover(old)
        guard FilePlace(old.path) != nil else { return }
        try FileManager.default.copyItem(at: old, to: folder)
        try AdditionalContentDraft.synchronize(folder)
    }

    /// If it throws, nothing has moved.
    private func moveStores(of coordinator: NSPersistentStoreCoordinator, to package: NewPackage) throws {
        var moves: [StoreMove] = [], renamed: [(store: NSPersistentStore, url: URL)] = []
        for store in coordinator.persistentStores {
            guard let path = pathInPackage(of: store) else { continue }
            let url = store.url == storeURL ? storeURL(in: package.url) : package.url.appendingPathComponent(path)
            if store.identity.references == nil, let destination = StoreTypes[store.type]?.destination, destination.file == nil {
                renamed.append((store, url))
            } else {
                let temporary = package.temporary.appendingPathComponent(path)
                moves.append(try StoreMove(store, model: coordinator.managedObjectModel, temporary: temporary, url: url))
            }
        }
        // Before anything is read: an observer may have something to save yet.
        for move in moves { NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: move.old) }
        try coordinator.queue.sync { () throws -> Void in
            for move in moves { try move.copy() }
            try inTurnOfPushes { current in
                let carried = try current.map { try carry($0, to: package, moves, coordinator) }
                do {
                    try package.put()
                    try change(moves, in: coordinator, package)
                } catch {
                    current?.goOn()
                    throw error
                }
                for (store, url) in renamed { _ = coordinator.setURL(url, for: store) }
                place.withLock { $0 = package.url }
                if let current, let carried { goOn(with: carried, after: current, coordinator) }
            }
            coordinator.rowCache.removeAll()
            for move in moves { move.letGo(in: coordinator) }
        }
        for move in moves {
            guard let new = move.new else { continue }
            NotificationCenter.default.post(
                name: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator,
                userInfo: [NSUUIDChangedPersistentStoresKey: [move.old, new]])
        }
    }

    /// The path of a store from the package on; nil for one that is elsewhere.
    private func pathInPackage(of store: NSPersistentStore) -> String? {
        guard let url = store.url, url.isFileURL else { return nil }
        let package = fileURL.standardizedFileURL.path + "/", path = url.standardizedFileURL.path
        return path.hasPrefix(package) ? String(path.dropFirst(package.count)) : nil
    }

    /// Opens the copies and lets them take the places. If it throws, the old stores have them, and the new package is not in its place.
    private func change(_ moves: [StoreMove], in coordinator: NSPersistentStoreCoordinator, _ package: NewPackage) throws {
        do {
            for move in moves { try move.open() }
            // Objects are inserted meanwhile: their keys must not be handed out again by the new stores.
            try coordinator.keys.pausing { () throws -> Void in
                for move in moves { try move.raiseKeys() }
                for move in moves { move.takePlace(in: coordinator) }
            }
        } catch {
            for move in moves { move.cancel() }
            package.takeBack()
            throw error
        }
    }

    // MARK: The push journal

    /// What a journal goes on with at another place.
    private struct CarriedJournal {
        let lock: PushJournalLock
        let entries: PushJournal.Carried
    }

    /// No push is written down meanwhile.
    private func inTurnOfPushes(_ body: (PushJournal?) throws -> Void) throws {
        guard let current = journal.withLock({ $0.journal }) else { return try body(nil) }
        try current.inTurn { try body(current) }
    }

    /// Takes what is unsaved of the journal along. The journal rests afterwards, until `goOn()` or `goOn(with:after:_:)`.
    private func carry(
        _ current: PushJournal, to package: NewPackage, _ moves: [StoreMove], _ coordinator: NSPersistentStoreCoordinator
    ) throws -> CarriedJournal {
        let folder = pushJournalURL(beside: storeURL(in: package.temporary))
        let place = PushJournalPlace(folder: folder, stores: coordinator.persistentStores, observer: pushJournalObserver)
        try place.make(folder)
        guard let lock = try PushJournalLock(place) else {
            throw NSError.coreData(.persistentStoreSave, "Somebody else has the journal in \(folder.path), which was made just now. Save again.")
        }
        var uuids: [String: String] = [:]
        for move in moves { uuids[move.old.identifier ?? ""] = move.uuid }
        return CarriedJournal(lock: lock, entries: try current.carry(to: place, renaming: uuids))
    }

    private func goOn(with carried: CarriedJournal, after former: PushJournal, _ coordinator: NSPersistentStoreCoordinator) {
        let folder = pushJournalURL
        let place = PushJournalPlace(folder: folder, stores: coordinator.persistentStores, observer: pushJournalObserver)
        let made = PushJournal(
            place: place, lock: carried.lock, coordinator: coordinator, isSynchronized: former.isSynchronized, after: carried.entries.last,
            keeping: carried.entries.names.map { folder.appendingPathComponent($0) })
        journal.withLock { $0.journal = made }
        managedObjectContext.recordPushes(with: made, includingNewOnes: pushJournaling != .off)
        former.end(handingNotesTo: made)
    }
}
