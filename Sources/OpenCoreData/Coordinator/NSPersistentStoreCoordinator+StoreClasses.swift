import Foundation
import Synchronization

/// Stores of one's own.
extension NSPersistentStoreCoordinator {
    // A class never changes and may be used anywhere.
    private struct StoreClass: @unchecked Sendable {
        let type: NSIncrementalStore.Type
    }

    private static let storeClasses = Mutex<[String: StoreClass]>([:])
    private static let builtInTypes: [String: AnyClass] = [NSSQLiteStoreType: SQLiteStore.self, NSInMemoryStoreType: InMemoryStore.self]

    /// Makes a subclass of `NSIncrementalStore` the class of stores of a type, in the whole process; nil takes it back. Traps for another class, and
    /// for the types that the library itself knows.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        if builtInTypes[storeType] != nil { Violation.misuse("the store type \(storeType) is the library's own; give yours another name") }
        guard let storeClass else { return storeClasses.withLock { $0[storeType] = nil } }
        guard let type = storeClass as? NSIncrementalStore.Type else {
            Violation.misuse("\(storeClass) can't be the class of the store type \(storeType): it is no subclass of NSIncrementalStore")
        }
        let registered = StoreClass(type: type)
        storeClasses.withLock { $0[storeType] = registered }
    }

    /// As above, with the Swift spelling of store types.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
    }

    /// The store types that can be added, the library's own and the registered ones; each value holds the class, as a pointer.
    public class var registeredStoreTypes: [String: NSValue] {
        let own = storeClasses.withLock { $0 }.mapValues { $0.type as AnyClass }
        return builtInTypes.merging(own) { built, _ in built }.mapValues { type in
            var pointer = unsafeBitCast(type, to: UnsafeRawPointer.self)
            return NSValue(bytes: &pointer, objCType: "#")
        }
    }

    class func incrementalStoreClass(forType type: String) -> NSIncrementalStore.Type? { storeClasses.withLock { $0[type] }?.type }

    /// The ID that a URI names in an incremental store.
    func incrementalObjectID(_ url: URL, _ store: NSPersistentStore) -> NSManagedObjectID? {
        // The text as it stands: a path without its escapes does not tell "a%2Fb" from "a/b", and one without its last slash is another reference.
        guard let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath, let references = store.identity.references
        else { return nil }
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, let name = String(parts[1]).removingPercentEncoding,
            let entity = managedObjectModel.entitiesByName[name], store.keeps(entity), parts[2].hasPrefix("p"),
            let told = ReferenceText.parse(String(parts[2].dropFirst()))
        else { return nil }
        let known = references.key(of: told.reference, entity) ?? told.alternative.flatMap { references.key(of: $0, entity) }
        let key = known ?? references.bind(told.reference, entity)
        return NSManagedObjectID(entity: entity, key: key, store: store.identity, isTemporary: false)
    }

    /// Gives new objects whose IDs are to become permanent the identities that they have in their stores.
    func obtainReferences(for rows: [(id: NSManagedObjectID, row: RowSnapshot?)]) throws {
        for store in persistentStores where store.identity.references != nil {
            let mine = rows.filter { $0.id.storeIdentity === store.identity }
            if !mine.isEmpty { try store.obtainReferences(for: mine) }
        }
    }
}

extension NSPersistentStore {
    /// Whether a URI with this host names an object of this store.
    func isNamed(_ host: String) -> Bool {
        identifier == host || (identity.references != nil && identifier == host.removingPercentEncoding)
    }
}
