import Foundation
import Synchronization

/// A document that keeps an object graph: a package (a folder) with a store in it, and the contexts that work on the store.
///
/// `managedObjectContext` is a main-queue context. Its parent is a private-queue context that owns the coordinator and is the only one that
/// makes the disk turn. The document saves by itself when its changes are old or many enough (`AutosavePolicy`).
/// Opening, saving and closing may be begun on any thread.
// What changes is kept under a lock; the contexts keep to their queues.
open class UIManagedDocument: NSObject, @unchecked Sendable {
    /// Posted each time `documentState` is set, even to what it was, on the thread that sets it. The object is the document.
    public static let stateChangedNotification = Notification.Name("UIDocumentStateChangedNotification")

    /// The package.
    public let fileURL: URL
    /// What the coordinator was made with; it can't be changed any more.
    public let managedObjectModel: NSManagedObjectModel
    /// What everyone in the process reads. Main queue.
    public let managedObjectContext: NSManagedObjectContext
    /// The private context whose parent is the coordinator.
    package let root: NSManagedObjectContext
    /// Options for the store.
    open var persistentStoreOptions: [AnyHashable: Any]?
    /// The configuration of the model to use.
    open var modelConfiguration: String?
    /// When unsaved changes are saved without being asked. Another policy also judges the changes that there are. May be set on any thread.
    public var autosavePolicy: AutosavePolicy {
        get { status.withLock { $0.autosavePolicy } }
        set {
            // The timer that runs was set by the policy before; it does no harm.
            status.withLock { status in
                status.autosavePolicy = newValue
                status.isTimerArmed = false
            }
            changesCame()
        }
    }

    struct Status {
        var autosavePolicy = AutosavePolicy()
        var state: State = .closed
        /// When the oldest unsaved change was made.
        var oldestChange: TimeInterval?
        var isTimerArmed = false
        /// A save failed for the time being: only the timer tries again, not every change that comes.
        var isBackingOff = false
        var isSaving = false
        var isMarkedChanged = false
        var failures = 0
        var waiters: [Waiter] = []
        /// Who waits for the next save that begins to have ended.
        var tickets: [CheckedContinuation<Void, any Error>] = []
        var observers: [@Sendable (UIManagedDocumentEvent) -> Void] = []
        var modificationDate: Date?
    }

    struct Waiter {
        let limit: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    let status = Mutex(Status())
    let journal = Mutex(JournalState())
    let pushJournalObserver = PushJournalObserver()
    /// Set before the document is used.
    package final var clock: any DocumentClock = SystemDocumentClock()

    /// A document at `fileURL` with a model. Nothing is touched on disk until it is opened or saved.
    public init(fileURL: URL, model: NSManagedObjectModel, autosavePolicy: AutosavePolicy = AutosavePolicy()) {
        self.fileURL = fileURL
        self.managedObjectModel = model
        root = NSManagedObjectContext(.privateQueueConcurrencyType)
        root.name = "document root"
        root.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        managedObjectContext = NSManagedObjectContext(.mainQueueConcurrencyType)
        managedObjectContext.name = "document main"
        managedObjectContext.parent = root
        super.init()
        status.withLock { $0.autosavePolicy = autosavePolicy }
        for context in [root, managedObjectContext] {
            context.news.add(self, anywhere: true) { document, news in
                if news.bringsUnsavedChanges { document.changesCame() }
            }
        }
    }

    package convenience init(fileURL: URL, model: NSManagedObjectModel, autosavePolicy: AutosavePolicy, clock: any DocumentClock) {
        self.init(fileURL: fileURL, model: model, autosavePolicy: autosavePolicy)
        self.clock = clock
    }

    /// The store's file name inside `StoreContent`.
    open class var persistentStoreName: String { "persistentStore" }

    /// The store's type for a file type.
    open func persistentStoreType(forFileType fileType: String) -> String { NSSQLiteStoreType }

    /// Where the store is.
    public var storeURL: URL {
        fileURL.appendingPathComponent("StoreContent", isDirectory: true).appendingPathComponent(Self.persistentStoreName)
    }

    /// `.closed` until the document has been opened. May be read on any thread.
    public var documentState: State { status.withLock { $0.state } }

    /// Opens the store. Override to add stores of your own.
    open func configurePersistentStoreCoordinator(
        for storeURL: URL, ofType fileType: String, modelConfiguration: String?, storeOptions: [AnyHashable: Any]?
    ) throws {
        try root.persistentStoreCoordinator?.addPersistentStore(
            ofType: persistentStoreType(forFileType: fileType), configurationName: modelConfiguration, at: storeURL, options: storeOptions)
    }

    /// Called with every error that has no caller to be thrown to: a failed autosave above all.
    open func handleError(_ error: any Error, userInteractionPermitted: Bool) {
        setState { $0.insert(.savingError) }
    }

    /// For a subclass to call when it has done with an error that it was handed. Does nothing by itself.
    open func finishedHandlingError(_ error: any Error, recovered: Bool) {}
    /// For a subclass that asks its user about errors: called by nobody here, where there are no users to ask.
    open func userInteractionNoLongerPermitted(forError error: any Error) {}
    /// Called on the main queue before objects are taken away to show what is stored (`revert(toContentsOf:completionHandler:)`). Does nothing by itself.
    open func disableEditing() {}
    /// Called on the main queue when objects can be edited again. Does nothing by itself.
    open func enableEditing() {}

    /// How far opening or saving is: nil, because neither says so.
    open var progress: Progress? { nil }
    /// What the document is called: the package's name without its extension.
    open var localizedName: String { fileURL.deletingPathExtension().lastPathComponent }
    /// The extension of the package, which stands for its type here; nil if it has none.
    open var fileType: String? { fileURL.pathExtension.isEmpty ? nil : fileURL.pathExtension }
    /// When the store was written last, by this document or before it was opened; nil until there is one. May be used on any thread.
    open var fileModificationDate: Date? {
        get { status.withLock { $0.modificationDate } }
        set { status.withLock { $0.modificationDate = newValue } }
    }

    // MARK: Opening and closing

    /// Opens the document, making package and store if `creating`. Blocks while the store opens. Throws what the store says.
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

    /// Saves what is unsaved and closes the store. The handler is called on the main queue.
    public func close(completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        saveAll { [self] result in
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
        try await save()
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

    // MARK: Saving

    /// Saves to the document's own place: `.forCreating` makes package and store. The handler is called on the main queue.
    public func save(to url: URL, for operation: SaveOperation, completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        guard url.standardizedFileURL == fileURL.standardizedFileURL else {
            Violation.misuse("a document is saved to its own fileURL; saving to another place comes with migration")
        }
        let finish: @Sendable (Result<Void, any Error>) -> Void = { [self] result in
            if case .failure(let error) = result { handleError(error, userInteractionPermitted: false) }
            let success = (try? result.get()) != nil
            DispatchQueue.main.async { completionHandler?(success) }
        }
        if operation == .forCreating {
            root.perform { [self] in
                do {
                    try openStore(creating: true)
                    saveAll(finish)
                } catch {
                    finish(.failure(error))
                }
            }
        } else {
            saveAll(finish)
        }
    }

    /// Pushes the main context into the root and writes the root. Returns when everything that was unsaved at the call is committed.
    public func save() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            saveAll { continuation.resume(with: $0) }
        }
    }

    /// On the main queue the main context hands its changes to the root; on the root's own queue they are written. The main queue does no I/O.
    func saveAll(_ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let tickets = status.withLock { status in
            status.isSaving = true
            status.oldestChange = nil
            status.isMarkedChanged = false
            defer { status.tickets = [] }
            return status.tickets
        }
        let finish: @Sendable (Result<Void, any Error>, NSManagedObjectContext) -> Void = { [self] result, context in
            didSave(result, from: context, tickets: tickets)
            completion(result)
        }
        managedObjectContext.perform { [self] in
            do {
                try managedObjectContext.save()
            } catch {
                return finish(.failure(error), managedObjectContext)
            }
            root.perform { [self] in finish(Result { try root.save() }, root) }
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

    /// Whether anything is unsaved, anywhere in the stack.
    open var hasUnsavedChanges: Bool {
        managedObjectContext.publishIfHere()
        return status.withLock { $0.isMarkedChanged } || managedObjectContext.hasPublishedChanges || root.hasPublishedChanges
    }

    /// How many changed objects are not on disk yet.
    public var unsavedChangeCount: Int { managedObjectContext.publishedLoad.rows + root.publishedLoad.rows }

    /// How old the oldest unsaved change is, in seconds; nil if nothing is unsaved.
    public var oldestUnsavedChange: TimeInterval? {
        status.withLock { status in status.oldestChange.map { clock.now - $0 } }
    }

    /// Marks the document as changed or as clean.
    open func updateChangeCount(_ change: ChangeKind) {
        status.withLock { $0.isMarkedChanged = change != .cleared }
        if change != .cleared { changesCame() }
    }

    /// Saves if anything is unsaved. Errors go to `handleError`.
    open func autosave(completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        guard hasUnsavedChanges else {
            completionHandler?(true)
            return
        }
        save(to: fileURL, for: .forOverwriting, completionHandler: completionHandler)
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
}

extension UIManagedDocument {
    /// The states a document can be in, with Apple's raw values.
    public struct State: OptionSet, Hashable, Sendable {
        /// The states as bits; 0 is normal.
        public let rawValue: UInt
        /// Accepts any bits; unknown ones are kept.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// Open, and nothing is wrong.
        public static let normal: State = []
        /// The store is not open: not opened yet, failed to open, or closed. Nothing is autosaved.
        public static let closed = State(rawValue: 1)
        /// Never set here: a document has one version.
        public static let inConflict = State(rawValue: 2)
        /// An error went to `handleError(_:userInteractionPermitted:)`, of opening and closing too. Removed by the next save that succeeds.
        public static let savingError = State(rawValue: 4)
        /// Never set here: objects can be edited during a save.
        public static let editingDisabled = State(rawValue: 8)
        /// Never set here: opening and saving report no progress.
        public static let progressAvailable = State(rawValue: 16)
    }

    /// What a save is for.
    public enum SaveOperation: Int, Sendable {
        /// The first save: makes package and store, then writes what is unsaved.
        case forCreating = 0
        /// A later save: writes what is unsaved to the store that is open.
        case forOverwriting = 1
    }

    /// What a change does to the document.
    public enum ChangeKind: Int, Sendable {
        /// A change was made: marks the document as changed.
        case done = 0
        /// A change was taken back: marks the document as changed, as `done` does.
        case undone = 1
        /// A change was made again: marks the document as changed, as `done` does.
        case redone = 2
        /// Takes the mark away; changes that the contexts hold still count as unsaved.
        case cleared = 3
    }
}

extension UIManagedDocument {
    /// The undo manager of the main context; the root has none. Nil, the default: nothing is recorded. What is done and undone marks the
    /// document as changed like any other change of its context. Set it on the main queue.
    public var undoManager: UndoManager? {
        get { managedObjectContext.undoManager }
        set { managedObjectContext.undoManager = newValue }
    }
}

extension UIManagedDocument {
    /// Drops everything that is unsaved, in the whole stack, and shows what is stored. The handler is called on the main queue. Contexts that are
    /// children of the document's are theirs who made them: they keep what they have.
    public func revert(toContentsOf url: URL, completionHandler: (@Sendable (Bool) -> Void)? = nil) {
        guard url.standardizedFileURL == fileURL.standardizedFileURL else {
            Violation.misuse("a document is reverted to the contents of its own fileURL")
        }
        managedObjectContext.perform { [self] in
            disableEditing()
            managedObjectContext.reset()
            root.perform { [self] in
                root.reset()
                managedObjectContext.perform { [self] in
                    updateChangeCount(.cleared)
                    enableEditing()
                    completionHandler?(true)
                }
            }
        }
    }
}
