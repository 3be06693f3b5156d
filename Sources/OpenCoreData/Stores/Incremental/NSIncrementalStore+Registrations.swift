import Synchronization

/// Telling a store which of its objects contexts have.
extension NSIncrementalStore {
    enum Registration: Sendable {
        case registered(NSManagedObjectID)
        case unregistered(NSManagedObjectID)
    }

    /// Notes that a context has or lost an object; may be called from anywhere, also while an object is being freed. The store is told in its turn,
    /// before it is asked anything that is asked later.
    func note(_ registration: Registration) {
        let isFirst = registrations.withLock { noted in
            noted.append(registration)
            return noted.count == 1
        }
        guard isFirst else { return }
        order.async { [weak self] in self?.tellRegistrations() }
    }

    /// In `order`.
    private func tellRegistrations() {
        let noted = registrations.withLock { noted in
            defer { noted = [] }
            return noted
        }
        // One call for as many as come after each other.
        var registered: [NSManagedObjectID] = [], unregistered: [NSManagedObjectID] = []
        func tell() {
            if !registered.isEmpty { managedObjectContextDidRegisterObjects(with: registered) }
            if !unregistered.isEmpty { managedObjectContextDidUnregisterObjects(with: unregistered) }
            registered = []
            unregistered = []
        }
        for registration in noted {
            switch registration {
            case .registered(let id):
                if !unregistered.isEmpty { tell() }
                registered.append(id)
            case .unregistered(let id):
                if !registered.isEmpty { tell() }
                unregistered.append(id)
            }
        }
        tell()
    }
}
