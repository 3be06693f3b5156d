import Foundation

extension Notification.Name {
    /// Posted on the context's queue before validation, if there is anything to save. The object is the context; there is no `userInfo`.
    public static let NSManagedObjectContextWillSave = Notification.Name("NSManagedObjectContextWillSave")
    /// Posted after a save has succeeded, with the sets of objects that were inserted, updated and deleted, empty sets included.
    public static let NSManagedObjectContextDidSave = Notification.Name("NSManagedObjectContextDidSave")
    /// Posted once for everything that changed since the last one, without empty sets; after `reset()` with `NSInvalidatedAllObjectsKey` alone.
    public static let NSManagedObjectContextObjectsDidChange = Notification.Name("NSManagedObjectContextObjectsDidChange")
    /// Posted right after `NSManagedObjectContextDidSave`, with sets of object IDs. Not posted where `materializesNotificationObjects` is false.
    public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name("NSManagedObjectContextDidSaveObjectIDs")
    /// Posted after changes from elsewhere were merged, with sets of object IDs. Not posted where `materializesNotificationObjects` is false.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name("NSManagedObjectContextDidMergeChangesObjectIDs")
}

/// `userInfo` keys with sets of objects.
public let NSInsertedObjectsKey = "inserted"
/// `userInfo` key: the set of objects whose properties changed.
public let NSUpdatedObjectsKey = "updated"
/// `userInfo` key: the set of objects that were deleted.
public let NSDeletedObjectsKey = "deleted"
/// `userInfo` key of ObjectsDidChange: the set of objects that were refreshed, rolled back, or given other values by a merge.
public let NSRefreshedObjectsKey = "refreshed"
/// `userInfo` key: a set of objects to read again. Merging understands it; no context posts it.
public let NSInvalidatedObjectsKey = "invalidated"
/// `userInfo` key with an array of object IDs.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"

/// `userInfo` key: a set of the IDs of new objects.
public let NSInsertedObjectIDsKey = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
/// `userInfo` key: a set of the IDs of objects whose properties changed.
public let NSUpdatedObjectIDsKey = NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
/// `userInfo` key: a set of the IDs of objects that are gone.
public let NSDeletedObjectIDsKey = NSManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
/// `userInfo` key: a set of the IDs of objects that the merged changes called refreshed.
public let NSRefreshedObjectIDsKey = NSManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue
/// `userInfo` key: a set of the IDs of objects that the merged changes said to read again.
public let NSInvalidatedObjectIDsKey = NSManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue

/// `userInfo` key of `NSManagedObjectContextDidSave`, posted by a context that is pinned to a state of its stores: the `NSQueryGenerationToken` of the
/// state after the save.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"

extension NSManagedObjectContext {
    /// Another name of `Notification.Name.NSManagedObjectContextWillSave`.
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    /// Another name of `Notification.Name.NSManagedObjectContextDidSave`.
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    /// Another name of `Notification.Name.NSManagedObjectContextObjectsDidChange`.
    public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
    /// Another name of `Notification.Name.NSManagedObjectContextDidSaveObjectIDs`.
    public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs
    /// Another name of `Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs`.
    public static let didMergeChangesObjectIDsNotification = Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

    /// The keys of the notifications' `userInfo`.
    public enum NotificationKey: String, CaseIterable, Sendable {
        /// Apple's key for the context whose changes were merged; no notification here has it.
        case sourceContext = "sourceContext"
        /// The `NSQueryGenerationToken` of the state after the save, where the context is pinned to one: `NSManagedObjectContextQueryGenerationKey`.
        case queryGeneration = "newQueryGeneration"
        /// An array of the IDs of all objects that were invalidated: `NSInvalidatedAllObjectsKey`.
        case invalidatedAllObjects = "invalidatedAll"
        /// The set of new objects: `NSInsertedObjectsKey`.
        case insertedObjects = "inserted"
        /// The set of objects whose properties changed: `NSUpdatedObjectsKey`.
        case updatedObjects = "updated"
        /// The set of objects that are gone: `NSDeletedObjectsKey`.
        case deletedObjects = "deleted"
        /// The set of objects that were refreshed, rolled back, or given other values by a merge: `NSRefreshedObjectsKey`.
        case refreshedObjects = "refreshed"
        /// A set of objects to read again, which merging understands and no context posts: `NSInvalidatedObjectsKey`.
        case invalidatedObjects = "invalidated"
        /// The set of IDs of new objects.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The set of IDs of objects whose properties changed.
        case updatedObjectIDs = "updated_objectIDs"
        /// The set of IDs of objects that are gone.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The set of IDs of objects that the merged changes called refreshed.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The set of IDs of objects that the merged changes said to read again.
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }

    /// Tells NotificationCenter, of what those who follow there know.
    func post(_ news: ContextNews) {
        switch news {
        case .willSave: post(.NSManagedObjectContextWillSave)
        case .didChange(let changes): postObjectsDidChange(changes.events, changes.pushed)
        case .wasReset(let ids): post(.NSManagedObjectContextObjectsDidChange, [NSInvalidatedAllObjectsKey: ids])
        case .didSave(let saved): postDidSave(saved)
        case .didMerge(let changes): postDidMerge(changes)
        case .didPublish, .didReceive: break
        }
    }

    private func post(_ name: Notification.Name, _ info: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }

    /// After a merge: sets of IDs, by what was said to have happened to the objects.
    private func postDidMerge(_ changes: ChangedObjectIDs) {
        guard materializesNotificationObjects else { return }
        typealias Key = NotificationKey
        var info: [AnyHashable: Any] = [:]
        let refreshed = Set(changes.refreshed), invalidated = Set(changes.invalidated)
        func add(_ ids: Set<NSManagedObjectID>, _ key: Key) { if !ids.isEmpty { info[key.rawValue] = ids } }
        add(Set(changes.inserted), .insertedObjectIDs)
        if changes.invalidatesAll {
            info[Key.invalidatedAllObjects.rawValue] = changes.updated
        } else {
            add(Set(changes.updated).subtracting(refreshed).subtracting(invalidated), .updatedObjectIDs)
        }
        add(Set(changes.deleted), .deletedObjectIDs)
        add(refreshed, .refreshedObjectIDs)
        add(invalidated, .invalidatedObjectIDs)
        post(.NSManagedObjectContextDidMergeChangesObjectIDs, info)
    }

    /// - Parameter pushed: objects of the first pushes, all that there are.
    private func postObjectsDidChange(_ events: ContextEvents, _ pushed: PushedObjects?) {
        if events.hasNoObjects { return }
        var inserted = pushed?.inserted ?? [], updated = pushed?.updated ?? [], deleted = Set(events.deleted.values)
        inserted.formUnion(events.inserted.values)
        updated.formUnion(events.updated.values)
        let refreshed = Set(events.refreshed.values)
        var made: [NSManagedObject] = []
        // Objects that only the notification needs go in the order in which they came, which is that of memory, and not in that of its sets.
        defer { withExtendedLifetime(made) {} }
        if materializesNotificationObjects {
            for (number, changes) in events.pushed.enumerated() {
                if number >= pushed?.pushCount ?? 0 {
                    made += add(changes.ids(.inserted), to: &inserted)
                    made += add(changes.ids(.updated), to: &updated)
                }
                deleted.formUnion(changes.ids(.deleted).compactMap { registry[$0] })
            }
            inserted.subtract(deleted)
            updated.subtract(inserted)
            updated.subtract(deleted)
        }
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = inserted }
        if !updated.isEmpty { info[NSUpdatedObjectsKey] = updated }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = deleted }
        if !refreshed.isEmpty { info[NSRefreshedObjectsKey] = refreshed }
        post(.NSManagedObjectContextObjectsDidChange, info)
    }

    /// Adds the objects with these IDs.
    ///
    /// - Returns: those that were made.
    private func add(_ ids: [NSManagedObjectID], to objects: inout Set<NSManagedObject>) -> [NSManagedObject] {
        if ids.isEmpty { return [] }
        objects.reserveCapacity(objects.count + ids.count)
        let (all, made) = makeObjects(ids)
        for object in all { objects.insert(object) }
        return made
    }

    /// The objects with these IDs, made where there are none yet. Many at a time, for a big push is many.
    func makeObjects(_ ids: [NSManagedObjectID]) -> (all: [NSManagedObject], made: [NSManagedObject]) {
        let layers = chain.withLock { level.hasChanges ? [level.pending, level.saving].compactMap { $0 } : [] }
        var made: [NSManagedObject] = [], known: [NSManagedObject] = []
        var maker = ObjectMaker(self)
        let hasObjects = !registry.isEmpty
        for id in ids {
            if hasObjects, let object = registry[id] {
                known.append(object)
                continue
            }
            let object = maker.make(id)
            for layer in layers {
                guard let change = layer[id] else { continue }
                object.take(change)
                break
            }
            made.append(object)
        }
        registry.reserve(made.count)
        registry.add(&made)
        return (known + made, made)
    }

    private func postDidSave(_ saved: SavedObjects) {
        let changes = saved.changes
        let all = saved.all
        var sets = (inserted: all?.inserted ?? Set(saved.inserted), updated: all?.updated ?? Set(saved.updated), deleted: Set(saved.deleted))
        var made: [NSManagedObject] = []
        defer { withExtendedLifetime(made) {} }
        if materializesNotificationObjects {
            // Those that a child pushed and that have no instance here yet.
            if sets.inserted.count < changes.insertedCount { made += add(changes.ids(.inserted), to: &sets.inserted) }
            if sets.updated.count < changes.updatedCount { made += add(changes.ids(.updated), to: &sets.updated) }
        }
        var info: [AnyHashable: Any] = [
            NSInsertedObjectsKey: sets.inserted, NSUpdatedObjectsKey: sets.updated, NSDeletedObjectsKey: sets.deleted,
            ChangeSet.notificationKey: changes,
        ]
        if !changes.computed.isEmpty { info[NSRefreshedObjectsKey] = Set(changes.computed.compactMap { registry[$0] }) }
        if let token = queryGenerationToken { info[NSManagedObjectContextQueryGenerationKey] = token }
        post(.NSManagedObjectContextDidSave, info)
        guard materializesNotificationObjects else { return }
        typealias Key = NotificationKey
        var ids: [AnyHashable: Any] = [
            Key.insertedObjectIDs.rawValue: all?.insertedIDs ?? Set(changes.ids(.inserted)),
            Key.updatedObjectIDs.rawValue: all?.updatedIDs ?? Set(changes.ids(.updated)),
            Key.deletedObjectIDs.rawValue: Set(changes.ids(.deleted)),
        ]
        if !changes.computed.isEmpty { ids[Key.refreshedObjectIDs.rawValue] = changes.computed }
        post(.NSManagedObjectContextDidSaveObjectIDs, ids)
    }
}

extension ChangeSet {
    /// Under this key a didSave notification carries what was saved, for merging it elsewhere without touching its objects.
    static let notificationKey = "org.cistern.changes"
}
