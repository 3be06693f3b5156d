import Foundation

/// Option of a store: whether every change to it is told by `.NSPersistentStoreRemoteChange`. `Bool`, default false.
///
/// Set it in every process that uses the file: then each is told at once when another has committed. Of changes by programs that do not, like
/// SQLite's own shell, one is told within seconds. What another process commits without changing an object, like opening the file or taking
/// primary keys out of circulation, is told as well.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// `userInfo` key of `.NSPersistentStoreRemoteChange`: where the store is, a `URL`. Its UUID stands under `NSStoreUUIDKey`.
public let NSPersistentStoreURLKey = "storeURL"

/// `userInfo` key of `.NSPersistentStoreRemoteChange`: how far the store's history goes, an `NSPersistentHistoryToken`. Not there if it keeps none.
public let NSPersistentHistoryTokenKey = "historyToken"

extension Notification.Name {
    /// A store was changed: by a save through this coordinator, through another one, or by another process. The object is the coordinator.
    ///
    /// Posted where the store was added with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: after a save through this coordinator on the
    /// thread of that save; after others' commits on a queue of the library's, one notification for those that came together.
    ///
    /// The context that saves is on its queue meanwhile: an observer uses `perform(_:)` and does not wait for a context that may wait for that one.
    public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStoreCoordinator {
    /// From now on changes that others make to the store are told.
    func followOthers(_ store: NSPersistentStore) {
        guard store.postsRemoteChanges else { return }
        (store as? any SharedStore)?.followOthers { [weak self, weak store] in
            if let self, let store { self.postRemoteChange(of: store) }
        }
    }

    /// Finds out whether others have written to the file of a store since this was asked last: then what is remembered of rows is forgotten, and `handler` is called on a queue of the store's. Returns at once: the answer comes when the store is not being saved to.
    package func askForOthers(_ handler: @escaping @Sendable () -> Void) {
        for store in persistentStores {
            (store as? any SharedStore)?.askForOthers { [weak self] in
                self?.rowCache.removeAll()
                handler()
            }
        }
    }

    /// Of the rows with primary keys in these runs those that are not as a store wrote them (`SQLiteRowSumsOption`): they are taken as they are now, but for
    /// an attribute that becomes null, and are summed anew. Whoever has read one before meets a conflict when he saves it.
    ///
    /// - Returns: their keys. None where the store keeps no sums.
    package func adoptRows(_ runs: [ClosedRange<Int64>], of entity: NSEntityDescription, emptying attribute: String) throws -> Set<Int64> {
        guard let store = store(for: entity) as? any SummingStore else { return [] }
        let found = try store.adoptRows(runs, of: entity, emptying: attribute)
        if found.keys.isEmpty { return [] }
        rowCache.removeDerived(found.computed)
        rowCache.remove(found.keys.map { NSManagedObjectID(entity: entity, key: $0, store: store.identity, isTemporary: false) })
        return found.keys
    }

    /// Tells that a store was changed, if that is wanted of it. Called without a lock and off the coordinator's queue; after an own save the queue of
    /// the context that saves is held.
    func postRemoteChange(of store: NSPersistentStore) {
        guard store.postsRemoteChanges else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier ?? "", NSPersistentStoreURLKey: url(for: store)]
        if let token = historyToken(of: [store]) { info[NSPersistentHistoryTokenKey] = token }
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
    }
}

extension NSPersistentStore {
    /// Whether changes to it are told.
    var postsRemoteChanges: Bool {
        let value = options?[NSPersistentStoreRemoteChangeNotificationPostOptionKey]
        return (value as? Bool) ?? (value as? NSNumber)?.boolValue ?? false
    }
}
