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

    /// The package. `save(to:for:completionHandler:)` may take the document elsewhere; may be read on any thread.
    public var fileURL: URL { place.withLock { $0 } }
    let place: Mutex<URL>
    /// What `init(fileURL:model:autosavePolicy:)` was given, or what was found among the program's resources when it was first asked for.
    private let ownModel: Mutex<NSManagedObjectModel?>
    /// What everyone in the process reads. Main queue.
    public let managedObjectContext = NSManagedObjectContext(.mainQueueConcurrencyType)
    /// The private context whose parent is the coordinator.
    package let root = NSManagedObjectContext(.privateQueueConcurrencyType)
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
        /// How often in a row additional content could not be written, and whether a timer runs after which it is tried again.
        var contentFailures = 0
        var isContentRetryArmed = false
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
        place = Mutex(fileURL)
        ownModel = Mutex(model)
        super.init()
        status.withLock { $0.autosavePolicy = autosavePolicy }
        connect()
    }

    /// A document at `fileURL` with the model that the class overrides `managedObjectModel` with, or else the one that the models among the program's
    /// resources make. Stops the program, with a sentence, if there is none or they can't be one. Nothing is touched on disk until it is opened or
    /// saved.
    public init(fileURL: URL) {
        place = Mutex(fileURL)
        ownModel = Mutex(nil)
        super.init()
        connect()
    }

    /// What subclasses override is asked from here on, which is after all properties of all classes have their first values.
    private func connect() {
        root.name = "document root"
        root.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
        managedObjectContext.name = "document main"
        managedObjectContext.parent = root
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

    /// The model: what the document was made with, or what the models among the program's resources make. A subclass may override it; it is then
    /// asked once while the document is made, after the subclass has set its own properties, and what it says is what the coordinator has from then
    /// on, whatever model was given. The coordinator freezes it: it can't be changed any more.
    open var managedObjectModel: NSManagedObjectModel {
        ownModel.withLock { model in
            if let model { return model }
            guard let found = NSManagedObjectModel.mergedModel(from: nil), !found.entities.isEmpty else {
                Violation.misuse("there is no model among the program's resources for the document \(fileURL.path): use init(fileURL:model:)")
            }
            model = found
            return found
        }
    }

    /// The store's file name inside `StoreContent`.
    open class var persistentStoreName: String { "persistentStore" }

    /// The store's type for a file type.
    open func persistentStoreType(forFileType fileType: String) -> String { NSSQLiteStoreType }

    /// Where the store is.
    public var storeURL: URL { storeURL(in: fileURL) }

    func storeURL(in package: URL) -> URL {
        package.appendingPathComponent("StoreContent", isDirectory: true).appendingPathComponent(Self.persistentStoreName)
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
    /// Called on the main queue before objects are taken away to show what is stored (`revert(toContentsOf:completionHandler:)`). Does nothing by
    /// itself.
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

    // MARK: Additional content

    /// Called when the document is opened, or reverted, if there is additional content in its package: a folder beside `StoreContent`, with
    /// whatever a subclass keeps there. Does nothing by itself. What it throws is what opening throws, and the document is not opened.
    ///
    /// It runs on a queue of the document's own: the main context and the objects in it must not be used here.
    ///
    /// - Parameter absoluteURL: the folder, `AdditionalContent` in the package.
    open func readAdditionalContent(from absoluteURL: URL) throws {}

    /// Called on the main queue each time the document is saved: what is to be written beside the store, as a value that may be read on another
    /// queue. `NSNull()`, which is what this returns by itself, says that there is nothing to write; what was written before then stays. What it
    /// throws fails the save once everything else is saved.
    ///
    /// A change of it that is no change of an object is announced with `updateChangeCount(_:)`; then the document saves by itself, as for objects.
    ///
    /// - Parameter absoluteURL: where the content will be when it is saved.
    open func additionalContent(for absoluteURL: URL) throws -> Any { NSNull() }

    /// Called with what `additionalContent(for:)` returned, to write all of it. Does nothing by itself. If it throws, the content that was written
    /// before stays as it is, the save fails once everything else is saved, and it is tried again later.
    ///
    /// It runs on a queue of the document's own: the main context and the objects in it must not be used here.
    ///
    /// - Parameters:
    ///   - content: what `additionalContent(for:)` returned; never `NSNull`.
    ///   - absoluteURL: an empty folder to write into. It takes the place of the one that was written before when this returns.
    ///   - absoluteOriginalContentsURL: that one, which may be copied from and must not be changed; nil if there is none. When the document is saved
    ///     to another place it is that of the old place.
    open func writeAdditionalContent(_ content: Any, to absoluteURL: URL, originalContentsURL absoluteOriginalContentsURL: URL?) throws {}

    // MARK: Changes

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

    /// Marks the document as changed or as clean. What is marked is saved by itself, as changes of objects are.
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
        saveHere(completionHandler)
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
