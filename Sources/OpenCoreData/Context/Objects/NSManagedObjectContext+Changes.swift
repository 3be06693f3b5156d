import Foundation
import Synchronization

/// What happened since the last ObjectsDidChange.
struct ContextEvents {
    var inserted = IDTable<NSManagedObject>()
    var updated = IDTable<NSManagedObject>()
    var deleted = IDTable<NSManagedObject>()
    var refreshed = IDTable<NSManagedObject>()
    /// Pushed by children; objects are made of them only when the notification is.
    var pushed: [ChangeSet] = []
    /// Merged from elsewhere: what was done with it is in the sets above, for the objects that are in use.
    var merged: [ChangedObjectIDs] = []
    /// Rows that are not any more what was told of them: who follows by ID hears of them, the notification does not.
    var reverted: Set<NSManagedObjectID> = []
    /// Changes that were dropped, for the same. As they are: their IDs are put together where somebody asks.
    var dropped: [ChangeSet] = []

    var isEmpty: Bool { hasNoObjects && reverted.isEmpty && dropped.isEmpty && merged.isEmpty }
    /// Whether there is nothing for the notification.
    var hasNoObjects: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && pushed.isEmpty }
}

/// Making, changing and deleting objects, and what is unsaved.
extension NSManagedObjectContext {
    /// See `hasChanges`.
    final var hasUnsavedChanges: Bool {
        if unpublished.contains(where: { $0.isUnsaved }) || !undelivered.isEmpty { return true }
        return chain.withLock { level.hasChanges }
    }

    /// Whether anything is unsaved, asked from any thread: what has been published.
    package var hasPublishedChanges: Bool { chain.withLock { level.hasChanges } }

    /// Whether this context or a parent has unsaved changes to objects of these entities; nil: of any.
    func chainHasChanges(of entities: [NSEntityDescription]?) -> Bool {
        chain.withLock {
            var context: NSManagedObjectContext? = self
            while let current = context {
                for layer in [current.level.pending, current.level.saving].compactMap({ $0 }) where !layer.isEmpty {
                    guard let entities else { return true }
                    if layer.hasRows(of: entities) || !layer.pairs.isEmpty || !layer.orders.isEmpty { return true }
                }
                context = current.parent
            }
            return false
        }
    }

    /// How many rows are unsaved and roughly how many bytes they take; from any thread.
    package var publishedLoad: (rows: Int, bytes: Int) {
        chain.withLock {
            // Relationships may have changed without any row.
            func rows(_ changes: ChangeSet) -> Int { max(changes.rowCount, changes.isEmpty ? 0 : 1) }
            return (rows(level.pending) + (level.saving.map(rows) ?? 0), level.pending.cost + (level.saving?.cost ?? 0))
        }
    }

    /// The unsaved new objects, those that children pushed included; an object is made for each that has none here.
    public var insertedObjects: Set<NSManagedObject> { objects(pending: .inserted) }
    /// The objects that exist in the store or the parent and have unsaved changes, those that children pushed included.
    public var updatedObjects: Set<NSManagedObject> { objects(pending: .updated) }
    /// The objects that the next save deletes, as far as delete rules were applied; those that children deleted included.
    public var deletedObjects: Set<NSManagedObject> { objects(pending: .deleted) }
    /// Every object that exists in this context now, faults included.
    public var registeredObjects: Set<NSManagedObject> {
        checkQueue()
        return Set(registry.objects)
    }

    private func objects(pending kind: ChangeKind) -> Set<NSManagedObject> {
        checkQueue()
        readInbox()
        publish()
        let ids = chain.withLock { level.pending.ids(kind) }
        return Set(ids.map { object(with: $0) })
    }

    /// See `insert(_:)`.
    final func takeIn(_ object: NSManagedObject) {
        checkQueue()
        if object.fillsRows { Violation.misuse("an object that fills the rows of a batch insert is inserted into a context; make one of your own") }
        if let owner = object.context, owner !== self {
            return CoreDataMisuse.insertedElsewhere("\(object.objectID)", owner.diagnosticName).survive()
        }
        if object.context === self && object.state != .detached { return }
        // An object made in no context keeps the identity it was made with: others made there may name it already.
        if object.context == nil, let store = endOfChain?.store(for: object.entity) { object.objectID.bind(to: store.identity) }
        object.context = self
        undoRecorder?.willChange(object)
        object.state = .inserted
        registry.retain(object)
        object.isPublished = false
        unpublished.append(object)
        events.inserted[object.objectID] = object
        object.awakeFromInsert()
        noteActivity()
    }

    /// Says to which of several stores a new object goes when it is saved; without it, to the first that keeps its entity. Its relationships stay as they
    /// are.
    ///
    /// A misuse (see `CoreDataMisuse`), after which the object goes where it went: a store of another coordinator, or one whose configuration lacks the
    /// entity; a store that is only read; an object that is saved or has a permanent ID, and one that was inserted before the store was added.
    /// A store of one's own takes only objects that were inserted before there was any store.
    public func assign(_ object: Any, to store: NSPersistentStore) {
        checkQueue()
        guard let object = (object as? NSManagedObject)?.standing, object.context === self else {
            return CoreDataMisuse.otherContext("\((object as? NSManagedObject).map { "\($0.objectID)" } ?? "\(object)")").survive()
        }
        guard object.isInserted, let coordinator = endOfChain else {
            return CoreDataMisuse(.other, "\(object.objectID) can't be assigned to a store: it is not new here.").survive()
        }
        if let why = coordinator.assign(object.objectID, to: store) {
            CoreDataMisuse(.other, "\(object.objectID) can't be assigned to a store: \(why).").survive()
        }
    }

    /// See `delete(_:)`.
    final func prepareAndDelete(_ object: NSManagedObject) {
        checkQueue()
        let object = object.standing
        if object.context !== self { return CoreDataMisuse.otherContext("\(object.objectID)").survive() }
        object.prepareForDeletion()
        markDeleted(object)
        undelivered.append(object)
        noteActivity()
    }

    func markDeleted(_ object: NSManagedObject) {
        // Its relationships must be known for the delete rules, its version for the conflict check.
        if object.isFaulted { object.fire() }
        guard object.state != .deleted else { return }
        undoRecorder?.willDelete(object)
        let wasInserted = object.state == .inserted
        object.state = .deleted
        registry.retain(object)
        if object.isPublished {
            object.isPublished = false
            unpublished.append(object)
        }
        if wasInserted && events.inserted.removeValue(forKey: object.objectID) != nil { return }
        events.updated[object.objectID] = nil
        events.deleted[object.objectID] = object
    }

    /// Before an object's value changes.
    func willChange(_ object: NSManagedObject) {
        undoRecorder?.willChange(object)
        object.noteEventStart()
        if object.state == .clean {
            object.state = .updated
            if object.base == nil { object.base = object.row }
        }
        unpublish(object)
    }

    /// What was published of an object is no longer what it is.
    func unpublish(_ object: NSManagedObject) {
        guard object.isPublished else { return }
        object.isPublished = false
        registry.retain(object)
        unpublished.append(object)
    }

    /// After an object's value changed.
    func didChange(_ object: NSManagedObject) {
        // A new object that was announced in an earlier event is updated in this one, like any other.
        let isLive = object.state == .updated || object.state == .inserted
        if isLive && events.inserted[object.objectID] == nil { events.updated[object.objectID] = object }
        noteActivity()
    }

    func noteActivity() {
        if concurrencyType == .mainQueueConcurrencyType { scheduleTurn() }
    }

    /// Pairs are added or removed, and nothing else.
    func record(_ key: RelationshipKey, _ change: (inout PairChanges) -> Void) {
        undoRecorder?.willRecord(key, in: self, change)
        chain.withLock { level.pending.pairs.change(key, change) }
    }

    /// What is pending of pairs becomes something else.
    func replace(_ key: RelationshipKey, _ change: (inout PairChanges) -> Void) {
        undoRecorder?.willRecord(key, in: self, change)
        chain.withLock {
            var changes = level.pending.pairs[key] ?? PairChanges()
            change(&changes)
            level.pending.pairs[key] = changes.isEmpty ? nil : changes
        }
    }

    func recordOrder(_ key: RelationshipKey, _ ids: [NSManagedObjectID]) {
        undoRecorder?.willRecordOrder(key, in: self)
        chain.withLock { level.pending.orders[key] = ids }
    }

    /// An order that was set here does not name the object any more; where none was set, none is.
    func recordLoss(of id: NSManagedObjectID, fromOrder key: RelationshipKey) {
        undoRecorder?.willRecordOrder(key, in: self, isLosing: true)
        chain.withLock { level.pending.orders[key]?.removeAll { $0 == id } }
    }

    /// Makes the direct changes of this context's objects visible to its children, as rows.
    ///
    /// - Parameter replaced: objects whose rows take the place of what was pending for them, instead of being composed with it.
    func publish(inPlaceOfPending replaced: [NSManagedObject] = []) {
        guard !unpublished.isEmpty else { return }
        // What a child pushed in the meantime comes first: a row published over it would take its values back.
        repeat { readInbox() } while !publishIfInboxIsEmpty(replaced)
        news.tell(.didPublish, anywhere: true)
    }

    private func publishIfInboxIsEmpty(_ replaced: [NSManagedObject]) -> Bool {
        chain.withLock {
            guard level.inbox.isEmpty else { return false }
            for object in replaced where object.state == .inserted || level.pending[object.objectID]?.kind != .inserted {
                level.replace(object.objectID, with: nil)
            }
            publicationCount += 1
            for object in unpublished {
                object.isPublished = true
                publish(object)
            }
            unpublished = []
            return true
        }
    }

    private func publish(_ object: NSManagedObject) {
        object.ownsRow = false
        if chain.hasReplacements { nameOthers(in: object) }
        let id = object.objectID
        switch object.state {
        case .inserted:
            var changed = object.changed
            if let known = level.pending[id], known.kind == .inserted { changed.formUnion(known.changed) }
            level.replace(id, with: PendingRow(kind: .inserted, row: object.row, changed: changed))
        case .updated:
            // A row that a child pushed and that is unsaved here stays what it was: its base is the one it started from.
            let known = level.pending[id]
            var changed = object.changed
            if let known { changed.formUnion(known.changed) }
            if known?.kind == .inserted {
                level.replace(id, with: PendingRow(kind: .inserted, row: object.row, changed: changed))
            } else {
                level.replace(id, with: PendingRow(kind: .updated, row: object.row, changed: changed, base: known?.base ?? object.base))
            }
        case .deleted:
            if object.base == nil && object.row != nil && level.saving?[id] == nil && level.pending[id]?.kind != .updated {
                // It was inserted here and never went anywhere: nothing is left of it.
                level.replace(id, with: nil)
                discarded.append(object)
                return
            }
            level.replace(id, with: PendingRow(kind: .deleted, row: object.row, base: level.pending[id]?.base ?? object.base))
        case .clean, .detached:
            level.replace(id, with: nil)
        }
    }

    /// See `processPendingChanges()`.
    final func endEvent() {
        checkQueue()
        // What comes while a large push is told of is told after it.
        if hasUntoldObjects { followReplacements() } else { readInbox() }
        if propagatesDeletesAtEndOfEvent { propagateWhatCanBeRead() }
        publish()
        registerEventForUndo()
        tellOfChanges()
    }
}
