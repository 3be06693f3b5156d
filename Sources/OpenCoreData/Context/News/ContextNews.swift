import Foundation

/// What a context tells of itself, in the order in which it happens. Whoever follows it hears all of it and picks.
///
/// It is told on the context's queue, but for what comes from any thread: `didPublish` and `didReceive`.
package enum ContextNews {
    /// There is something to save, and it has not been validated yet.
    case willSave
    /// What changed since this was told last.
    case didChange(ObjectChanges)
    /// Everything was forgotten: the objects with these IDs, and all changes.
    case wasReset([NSManagedObjectID])
    /// What was handed on by a save that succeeded.
    case didSave(SavedObjects)
    /// What others changed is in this context's objects and unsaved rows now.
    case didMerge(ChangedObjectIDs)
    /// Changes made here are to be seen by children, as rows, and are unsaved.
    case didPublish
    /// A child's changes came in and are unsaved.
    case didReceive(ChangeSet)

    /// What may be other rows than before, by ID; nil: nothing, or everything.
    var changedIDs: ContextChangeIDs? {
        switch self {
        case .didChange(let changes): changes.ids
        case .didSave(let saved): ContextChangeIDs(refreshed: saved.settled)
        case .willSave, .wasReset, .didMerge, .didPublish, .didReceive: nil
        }
    }

    /// Whether there may be more to save than before.
    var bringsUnsavedChanges: Bool {
        switch self {
        case .didPublish, .didReceive: true
        case .willSave, .didChange, .wasReset, .didSave, .didMerge: false
        }
    }

    /// What has other values here than before, for a child that follows its parent.
    fileprivate var forFollowers: ChangedObjectIDs? {
        switch self {
        case .didSave(let saved): ChangedObjectIDs(saved.changes)
        case .didMerge(let changes): changes
        case .didReceive(let changes): ChangedObjectIDs(changes)
        case .willSave, .didChange, .wasReset, .didPublish: nil
        }
    }
}

/// What happened to a context's objects.
// Used on the context's queue only.
package final class ObjectChanges {
    let events: ContextEvents
    /// Objects of what was pushed that are there already. They may be gone when the news is told.
    let pushed: PushedObjects?
    /// The same by ID. Made once, for those who ask.
    private(set) lazy var ids = ContextChangeIDs(events, pushed)

    init(_ events: ContextEvents, pushed: PushedObjects? = nil) {
        self.events = events
        self.pushed = pushed
    }
}

/// What a save handed on, and the objects of it that the context has.
package struct SavedObjects {
    let changes: ChangeSet
    let inserted: [NSManagedObject]
    let updated: [NSManagedObject]
    let deleted: [NSManagedObject]
    /// Objects whose values are others than those that were handed on.
    let settled: Set<NSManagedObjectID>
    /// All objects that were handed on, where they are known.
    let all: PushedObjects?

    /// - Parameter computed: what has values that a store computed, and no object that shows them.
    init(
        _ outcome: NSManagedObjectContext.SaveOutcome, inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject],
        computed: Set<NSManagedObjectID>, all: PushedObjects?
    ) {
        changes = outcome.changes
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.all = all
        settled = outcome.settled.union(computed)
    }
}

/// What changed in a context since it last told, by ID: nothing is made into objects for it.
///
/// The kinds are hints. Who listens looks at what the rows are now, so an ID too many costs a look and does no harm.
package struct ContextChangeIDs {
    package var inserted: Set<NSManagedObjectID> = []
    package var updated: Set<NSManagedObjectID> = []
    package var deleted: Set<NSManagedObjectID> = []
    /// Values were dropped, reloaded or settled otherwise.
    package var refreshed: Set<NSManagedObjectID> = []

    package init(refreshed: Set<NSManagedObjectID> = []) { self.refreshed = refreshed }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }
    /// Every ID, whatever happened to it.
    var all: Set<NSManagedObjectID> { inserted.union(updated).union(deleted).union(refreshed) }

    mutating func formUnion(_ other: ContextChangeIDs) {
        inserted.formUnion(other.inserted)
        updated.formUnion(other.updated)
        deleted.formUnion(other.deleted)
        refreshed.formUnion(other.refreshed)
    }
}

extension ContextChangeIDs {
    /// What these events are about: the context's own objects, what children pushed, and what was taken back.
    fileprivate init(_ events: ContextEvents, _ pushed: PushedObjects?) {
        inserted = pushed?.insertedIDs ?? []
        updated = pushed?.updatedIDs ?? []
        inserted.formUnion(events.inserted.keys)
        updated.formUnion(events.updated.keys)
        deleted = Set(events.deleted.keys)
        refreshed = Set(events.refreshed.keys).union(events.reverted)
        for changes in events.dropped { refreshed.formUnion(changes.allIDs) }
        for (number, changes) in events.pushed.enumerated() {
            if number >= pushed?.pushCount ?? 0 {
                inserted.formUnion(changes.ids(.inserted))
                updated.formUnion(changes.ids(.updated))
            }
            deleted.formUnion(changes.ids(.deleted))
            updated.formUnion(changes.relationshipOwners)
        }
        for changes in events.merged {
            inserted.formUnion(changes.inserted)
            updated.formUnion(changes.updated)
            deleted.formUnion(changes.deleted)
        }
    }
}

extension ChangeSet {
    /// Every object that is named as changed.
    var allIDs: Set<NSManagedObjectID> {
        var ids = relationshipOwners
        forEach { id, _ in ids.insert(id) }
        return ids
    }
}

extension NSManagedObjectContext {
    /// Tells once of everything that changed since the last time; nothing if nothing did.
    func tellOfChanges() {
        guard !events.isEmpty else { return }
        readDeletionsOfUntoldObjects()
        let events = self.events
        self.events = ContextEvents()
        for object in events.updated.values { object.noteEventEnd() }
        for object in events.inserted.values { object.noteEventEnd() }
        // Where somebody has to know before all of them are made, the rest is made at once.
        let pushed = pushedObjects.flatMap { $0.areTold ? nil : $0 }
        pushed?.areTold = true
        tell(.didChange(ObjectChanges(events, pushed: pushed?.isComplete == true ? pushed : nil)))
        if objectsOfAllChanges == nil { letGoOfPushedObjects() }
    }

    /// Tells NotificationCenter, and then whoever follows. On the context's queue.
    // The context does not follow itself: an object that is referenced weakly is retained the long way.
    func tell(_ news: ContextNews) {
        post(news)
        self.news.tell(news)
    }

    package func add(_ follower: any ChannelFollower) {
        news.add(follower as AnyObject, anywhere: true) { [weak follower] _, news in news.forFollowers.map { follower?.hear(of: $0) } }
    }

    package func remove(_ follower: any ChannelFollower) { news.remove(follower) }
}
