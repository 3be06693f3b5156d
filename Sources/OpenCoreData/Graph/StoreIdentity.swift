import Foundation
import Synchronization

/// Which store an object ID belongs to: outlives the store itself, so that IDs stay comparable after it was removed.
package final class StoreIdentity: Sendable {
    /// The store's UUID; nil for the one that belongs to no store.
    package let uuid: String?
    private let owner: Mutex<WeakStore>

    /// The place where IDs wait that were made before any store was there. One, so that it outlives every ID; the keys of such IDs are unique
    /// in the process.
    package static let unbound = StoreIdentity(nil)

    package convenience init(uuid: String) { self.init(uuid) }

    private init(_ uuid: String?) {
        self.uuid = uuid
        owner = Mutex(WeakStore())
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
        self === other || (uuid != nil && uuid == other.uuid)
    }
}
