import Foundation
import Synchronization

/// Which store an object ID belongs to: outlives the store itself, so that IDs stay comparable after it was removed.
package final class StoreIdentity: Sendable {
    /// Each keeps the one before it: whoever has just read that goes on using it.
    private final class Name: Sendable {
        let uuid: String?
        let former: Name?

        init(_ uuid: String?, former: Name? = nil) {
            self.uuid = uuid
            self.former = former
        }
    }

    private let name: Atomic<Unmanaged<Name>>
    /// What the store calls its objects, if it does not know them by their primary keys.
    package let references: ReferenceTable?
    private let owner: Mutex<WeakStore>
    /// Here, because keys in stock are given to new objects without asking the store.
    let isClosedForWriting = Atomic(false)
    /// Where this stands in the place of another one: the ID that has it leads to another object.
    let successor: NSManagedObjectID?
    private let former: StoreIdentity?
    /// Itself, or the one whose place it took.
    var real: StoreIdentity { former ?? self }

    /// The store's UUID; nil for the one that belongs to no store.
    package var uuid: String? {
        if let references { return references.storeName }
        // Kept by the names that come after it.
        return name.load(ordering: .acquiring).takeUnretainedValue().uuid
    }

    /// The place where IDs wait that were made before any store was there. One, so that it outlives every ID; the keys of such IDs are unique
    /// in the process.
    package static let unbound = StoreIdentity(nil)

    package convenience init(uuid: String) { self.init(uuid) }

    /// The identity of a store that gives references, and says its name when it has been loaded. It is the same as no other, whatever they are
    /// called: the keys of its IDs mean something only with its table.
    package convenience init(references: ReferenceTable) { self.init(nil, references: references) }

    private init(_ uuid: String?, references: ReferenceTable? = nil) {
        name = Atomic(.passRetained(Name(uuid)))
        self.references = references
        owner = Mutex(WeakStore())
        successor = nil
        former = nil
    }

    /// What an ID has in the place of its store's identity once its object turned out to be another.
    init(former: StoreIdentity, successor: NSManagedObjectID) {
        name = Atomic(.passRetained(Name(nil)))
        references = nil
        owner = Mutex(WeakStore())
        self.successor = successor
        self.former = former
    }

    deinit { name.load(ordering: .acquiring).release() }

    /// Whatever belongs here belongs to another store from now on, which has this identity.
    package func move(to uuid: String, store: AnyObject) {
        owner.withLock { owner in
            let former = name.load(ordering: .acquiring)
            name.store(.passRetained(Name(uuid, former: former.takeUnretainedValue())), ordering: .releasing)
            former.release()
            owner.store = store
        }
    }

    /// The store, while it lives and is loaded.
    package var store: AnyObject? {
        get { owner.withLock { $0.store } }
        set { owner.withLock { $0.store = newValue } }
    }

    // The reference is read and written under the lock; the store itself is safe to share.
    private struct WeakStore: @unchecked Sendable {
        weak var store: AnyObject?
    }

    package func isSame(as other: StoreIdentity) -> Bool {
        if self === other { return true }
        // Keys that are references' mean something only with their own table.
        guard references == nil && other.references == nil else { return false }
        let uuid = uuid
        return uuid != nil && uuid == other.uuid
    }
}
