import Synchronization

/// Which objects of incremental stores one context has, and has told those stores of. As long as the process has no such store, all of this is one
/// look at a flag.
final class RegistrationLog: Sendable {
    private let told = Mutex<Set<NSManagedObjectID>>([])
    /// Of a context that nobody is told about: one that a store is handed itself.
    private let isSilent = Atomic(false)

    @inline(__always)
    static var isNeeded: Bool { NSIncrementalStore.isUsed.load(ordering: .relaxed) }

    func silence() { isSilent.store(true, ordering: .relaxed) }

    /// The context has objects with these IDs. New ones that no store knows yet don't count.
    func register(_ ids: some Sequence<NSManagedObjectID>) {
        if isSilent.load(ordering: .relaxed) { return }
        for id in ids {
            let identity = id.storeIdentity
            guard identity.references?.state(of: id.key) != nil, told.withLock({ $0.insert(id).inserted }) else { continue }
            (identity.store as? NSIncrementalStore)?.note(.registered(id))
        }
    }

    func unregister(_ id: NSManagedObjectID) {
        guard let known = told.withLock({ $0.remove(id) }) else { return }
        (known.storeIdentity.store as? NSIncrementalStore)?.note(.unregistered(known))
    }

    func unregisterAll() {
        let ids = told.withLock { told in
            defer { told = [] }
            return told
        }
        for id in ids { (id.storeIdentity.store as? NSIncrementalStore)?.note(.unregistered(id)) }
    }
}
