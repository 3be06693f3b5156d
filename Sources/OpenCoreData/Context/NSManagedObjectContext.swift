import Foundation
import Synchronization

/// A scratch pad of objects: what is changed in it stays in it until `save()` hands the changes on, to the parent context or to the store.
///
/// It belongs to a queue. `perform` and `performAndWait` run blocks there; everything else must be called from such a block (or, for a main-queue
/// context, from the main queue). Debug builds stop at once where that is not so.
/// Give it a parent or a coordinator before use: without one, reading from it and saving it trap.
// The object's own state is used on its queue only, which debug builds check; what other threads read lies in `level`, under the chain's lock.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    /// Which queue a context belongs to, in the Swift spelling.
    public typealias ConcurrencyType = NSManagedObjectContextConcurrencyType

    /// Whether `perform(schedule:_:)` may run a block at once.
    public enum ScheduledTaskType: Sendable {
        /// At once if the caller is on the context's queue already.
        case immediate
        /// Always at the end of the queue.
        case enqueued
    }

    /// Which queue the context belongs to: a private one, the main queue, or none that is checked (confinement).
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let queue: ContextQueue
    private(set) var chain: ContextChain
    /// Children share the chain they found here, so it does not change any more.
    let hasChildren = Atomic(false)
    let level: ContextLevel
    /// Who follows what happens here.
    package let news = Subscribers<ContextNews>()
    /// Set when a child has pushed something that this context's objects have not seen.
    let hasUnreadInbox = Atomic(false)
    /// How many of the chain's replacements this context's objects have followed.
    var knownReplacements = 0

    /// IDs of objects that contexts of the chain are about to insert. The root's counts.
    let keyReservations = KeyReservations()

    // MARK: State used on the queue only
    var registry = ObjectRegistry()
    /// The object that exists and whose instance is being made, on its way through the initialisers of its class.
    var objectToMake: NSManagedObjectID?
    /// Objects with changes that have not been published yet.
    var unpublished: [NSManagedObject] = []
    var events = ContextEvents()
    /// Those of a large push, until it is told and saved.
    var pushedObjects: PushedObjects?
    /// How many objects are made for a notification, or freed after it, in one turn of the main queue: some milliseconds' work.
    package var objectsInATurn = 4096
    private var isTurnScheduled = false
    private var storedName: String?
    private var upstream: (any PersistentStoreChannel)?
    private var knownRowCache: RowCache?
    private var knownEntity: (type: NSManagedObject.Type, entity: NSEntityDescription)?
    /// Deletions whose rules have not been applied yet.
    var undelivered: [NSManagedObject] = []
    /// What others had changed when the rules of the unsaved deletions were applied first; nil: there are none.
    var propagationStamp: UInt64?
    /// Deleted objects of which nothing is left to save: they leave at the next save.
    var discarded: [NSManagedObject] = []

    /// What `detectConflicts(for:)` was asked to check, with the rows that were read.
    var watched: [NSManagedObjectID: RowSnapshot] = [:]
    /// Objects that show what a merge policy decided in the save that is going on.
    var decided: [NSManagedObjectID] = []
    /// What to do where a parent context has other values than those a change of this context started from. Nil, as at first: the later
    /// writer wins, property by property, without asking.
    open var parentConflictPolicy: NSMergePolicy?
    /// Children have pushed changes that have not been saved yet: objects of them may have changes without being retained.
    var hasPushedChanges = false
    /// Children's changes have come in that validation has not seen.
    var hasUncheckedPushes = false
    /// Counts what this context has published, so that validation can tell whether it changed anything.
    var publicationCount = 0
    /// Whether any object has loaded members of a to-many.
    var hasLoadedMembers = false
    /// Whether this context merges by itself what its parent takes in.
    var followsParent = false
    /// Rows were changed without instances here, and nobody has checked them yet.
    var hasImportedRows = false
    /// What this context has reserved in the root's table.
    var reservedKeys: ReservedKeys?
    /// Notes what events do while there is an undo manager.
    var undoRecorder: UndoRecorder?

    /// Free for the user.
    public let userInfo = NSMutableDictionary()
    /// Goes into persistent history.
    open var transactionAuthor: String?
    /// What to do where a store refuses a save because somebody else was there first. Used by contexts whose parent is a coordinator; on one
    /// whose parent is a context it has no effect, which is said once (`ContextDiagnostic.Kind.mergePolicyWithoutEffect`):
    /// `parentConflictPolicy` is what decides there.
    open var mergePolicy: NSMergePolicy = .error {
        didSet { noteMergePolicy() }
    }
    /// Whether it was said that the merge policy has no effect here.
    let hasToldOfMergePolicy = Atomic(false)
    /// Cascaded deletions happen at the end of the event (true), or at save (false).
    open var propagatesDeletesAtEndOfEvent = true
    /// A fault whose row is gone counts as deleted (true) instead of stopping the program. A row that could not be read is not gone: see
    /// `NSManagedObject.value(forKey:)`.
    open var shouldDeleteInaccessibleFaults = true
    /// How old a row in the cache may be, in seconds, when a fault is fired or an object refreshed. Negative (the default, −1): any age;
    /// 0: the row is always read again.
    open var stalenessInterval: TimeInterval = -1
    /// Whether notifications carry everything that they are about. False, for a context whose notifications nobody needs whole, spares work that
    /// grows with a save: WillSave, DidSave and ObjectsDidChange are posted, but with the objects that this context has, and none is made for
    /// what a child pushed. DidSaveObjectIDs and DidMergeChangesObjectIDs are not posted, and insertions that are merged go untold.
    public var materializesNotificationObjects = true

    /// Makes a context without a parent or a coordinator: set one before use. A private queue is made when a block first needs it.
    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.concurrencyType = concurrencyType
        let (kind, label): (ContextQueue.Kind, String) =
            switch concurrencyType {
            case .confinementConcurrencyType: (.confinement, "NSManagedObjectContext confinement")
            case .privateQueueConcurrencyType: (.privateQueue, "NSManagedObjectContext privateQueue")
            case .mainQueueConcurrencyType: (.main, "NSManagedObjectContext main")
            }
        chain = ContextChain()
        level = ContextLevel(chain: chain)
        queue = ContextQueue(kind: kind, label: label)
        super.init()
        queue.owner = self
        chain.withLock { chain.add(level) }
    }

    /// The same without an argument label.
    public convenience init(_ concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.init(concurrencyType: concurrencyType)
    }

    /// A context of confinement type.
    @available(*, deprecated, message: "Use init(concurrencyType:) with a private or the main queue")
    public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

    /// Takes changes back, one group for each event. Nil, the default: nothing is recorded, at no cost. Changes that a child pushed are
    /// not recorded.
    open var undoManager: UndoManager? {
        get { undoRecorder?.manager }
        set { setUndoManager(newValue) }
    }

    /// Whether the context keeps every object it has met (true), or only those with unsaved changes (false, the default).
    open var retainsRegisteredObjects: Bool {
        get { registry.retainsAll }
        set { registry.retainAll(newValue) }
    }

    /// Called where a fault's row is gone. True: the object counts as deleted and its values are nil; false: the program stops.
    ///
    /// - Parameter property: what was asked for; nil if that was no single property.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }

    deinit {
        queue.owner = nil
        for object in registry.objects { object.detach() }
        if RegistrationLog.isNeeded { registry.log.unregisterAll() }
    }

    /// A name for diagnostics. It labels the context's private queue.
    open var name: String? {
        get { storedName }
        set {
            storedName = newValue
            queue.rename(newValue.map { "NSManagedObjectContext \($0)" } ?? "NSManagedObjectContext \(queue.kind)")
        }
    }

    // MARK: Parent and coordinator

    /// The context that this one reads from and saves to. Set once, before use; a context has either a parent or a coordinator.
    open var parent: NSManagedObjectContext? {
        get { upstream as? NSManagedObjectContext }
        set {
            guard let newValue else { return }
            if newValue.concurrencyType == .confinementConcurrencyType { Violation.confinement("parent") }
            if upstream != nil { Violation.misuse("a context's parent or coordinator is set once, before it is used") }
            if hasChildren.load(ordering: .relaxed) { Violation.misuse("a context gets its parent before it becomes a parent itself") }
            newValue.hasChildren.store(true, ordering: .relaxed)
            upstream = newValue
            level.chain = newValue.chain
            chain = newValue.chain
            noteMergePolicy()
            newValue.publishIfHere()
        }
    }

    /// The coordinator, own or the chain's.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { endOfChain }
        set {
            guard let newValue else { return }
            if upstream != nil { Violation.misuse("a context's parent or coordinator is set once, before it is used") }
            upstream = newValue
        }
    }

    /// The coordinator that the last parent, or this context, reads from; nil while none is set.
    public var endOfChain: NSPersistentStoreCoordinator? { upstream?.endOfChain }

    /// The rows that the chain's coordinator keeps. Remembered, because each fault that fires asks; so for use on the queue only.
    var rowCache: RowCache? {
        if let knownRowCache { return knownRowCache }
        knownRowCache = endOfChain?.rowCache
        return knownRowCache
    }

    /// The parent or the coordinator; while this context is pinned to a state of the stores, what answers from it.
    func channel(to purpose: String) -> any PersistentStoreChannel {
        guard let upstream else { Violation.noParent(diagnosticName, doing: purpose) }
        if chain.hasBeenPinned, let pin = chain.pin, parent == nil { return pin }
        return upstream
    }

    var diagnosticName: String { storedName.map { "context \"\($0)\"" } ?? "a \(queue.kind) context" }

    /// The context whose parent is the coordinator.
    var root: NSManagedObjectContext {
        var candidate = self
        while let parent = candidate.parent { candidate = parent }
        return candidate
    }

    func entity(named name: String) -> NSEntityDescription {
        guard let model = endOfChain?.managedObjectModel else { Violation.noParent(diagnosticName, doing: "insert \(name)") }
        guard let entity = model.entitiesByName[name] else { Violation.unknownEntity(name, known: Array(model.entitiesByName.keys)) }
        return entity
    }

    func entity(for type: NSManagedObject.Type) -> NSEntityDescription {
        if let knownEntity, knownEntity.type == type { return knownEntity.entity }
        guard let model = endOfChain?.managedObjectModel else { Violation.noParent(diagnosticName, doing: "insert \(type)") }
        let entity = model.entity(for: type, doing: "init(context:)")
        knownEntity = (type, entity)
        return entity
    }

    package func makeID(for entity: NSEntityDescription) -> NSManagedObjectID {
        guard let coordinator = endOfChain else { Violation.noParent(diagnosticName, doing: "insert \(entity.name ?? "?")") }
        return coordinator.makeID(for: entity)
    }

    // MARK: What subclasses may override

    /// Runs a block on the context's queue, after what is queued there already, and returns at once. Pending changes are processed at
    /// its end.
    open func perform(_ block: @escaping () -> Void) { performLater(block) }

    /// Whether anything is unsaved, made here or pushed by a child.
    open var hasChanges: Bool { hasUnsavedChanges }

    /// Adds a new object. Done by its initialiser; needed for objects made in no context. Traps for an object of another context.
    open func insert(_ object: NSManagedObject) { takeIn(object) }

    /// Marks an object for deletion. Rules of its relationships are applied at the end of the event.
    open func delete(_ object: NSManagedObject) { prepareAndDelete(object) }

    /// Applies delete rules, publishes, and posts one ObjectsDidChange for everything since the last one.
    open func processPendingChanges() { endEvent() }

    /// Executes a request that is more than a fetch. In any context, children included. Throws 134091 for a request it does not know.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult { try answer(request) }

    /// Hands every unsaved change to the parent, or writes it if the parent is the coordinator. Without changes nothing happens, but that a
    /// context whose parent is the coordinator writes metadata of stores that was set since (`NSPersistentStoreCoordinator.setMetadata(_:for:)`);
    /// that is no change of any object, so it makes `hasChanges` no different and posts nothing.
    ///
    /// The order: `willSave()` of the objects, the willSave notification, validation, the hand-over (with conflict detection and merge policy where
    /// a store is met), `didSave()` of the objects, the didSave notification. Throws validation errors (1550–1690), 133020 and 133021 for
    /// conflicts, and what the store says; then nothing has changed, here or in the parent. Throws 134040 if one of several stores could not
    /// commit when another had: what is committed is saved, the rest unsaved as before, and the next save writes it.
    open func save() throws { try saveLevel() }

    /// Merges what another context saved: its `didSaveObjectsNotification`, its `didSaveObjectIDsNotification`, or one made from history.
    ///
    /// Objects that are registered here and in use are refreshed, inserted ones become known as faults, deleted ones are deleted here. Call
    /// it on this context's queue; the notification may come from any thread.
    open func mergeChanges(fromContextDidSave notification: Notification) { merge(didSave: notification) }

    /// Discards inserts and deletes and restores updated values. Nothing is fetched, and no other context is touched.
    open func rollback() { dropChanges() }

    /// Forgets all objects and all changes.
    open func reset() { forgetAll() }

    // MARK: Confinement

    func checkQueue() {
        if ConcurrencyDebug.isOn && !queue.isCurrent { Violation.wrongQueue(diagnosticName) }
    }

    /// Schedules `processPendingChanges()` at the end of this turn of the main queue, for changes made outside of `perform`.
    func scheduleTurn() {
        guard concurrencyType == .mainQueueConcurrencyType, !isTurnScheduled else { return }
        isTurnScheduled = true
        inTurn { [self] in isTurnScheduled = false }
    }
}

/// Kinds of contexts, with Apple's raw values.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No queue: the program keeps the context to one thread itself. It cannot be a parent, and asynchronous fetches trap.
    case confinementConcurrencyType = 0
    /// A serial queue of the context's own, made when a block first needs it.
    case privateQueueConcurrencyType = 1
    /// The main queue. Changes made there outside of `perform` are processed at the end of its turn.
    case mainQueueConcurrencyType = 2

    /// The same in fewer words.
    public static let privateQueue = privateQueueConcurrencyType
    /// The same in fewer words.
    public static let mainQueue = mainQueueConcurrencyType
}
