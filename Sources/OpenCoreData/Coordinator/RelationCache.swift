import Synchronization

/// Members of to-manys that were fetched ahead, for owners that no object stands for yet. Any commit empties the cache, because a foreign key
/// in it may belong to any to-many; a refresh forgets those of the object.
final class RelationCache: Sendable {
    private struct State: Sendable {
        var members: [RelationshipKey: [NSManagedObjectID]] = [:]
        var cost = 0
        /// Counts how often it was emptied.
        var stamp = 0
    }

    /// How many members and keys are kept at most.
    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 1 << 20) { self.capacity = capacity }

    /// To be read before the store is asked: an answer from before a commit must not be remembered after it.
    var stamp: Int { state.withLock { $0.stamp } }

    func remember(_ members: [RelationshipKey: [NSManagedObjectID]], stamp: Int) {
        guard !members.isEmpty else { return }
        state.withLock { state in
            guard state.stamp == stamp else { return }
            for (key, ids) in members {
                if state.cost > capacity {
                    state.members = [:]
                    state.cost = 0
                }
                state.members[key] = ids
                state.cost += ids.count + 1
            }
        }
    }

    subscript(key: RelationshipKey) -> [NSManagedObjectID]? {
        state.withLock { $0.members.isEmpty ? nil : $0.members[key] }
    }

    /// The to-manys of one object.
    func remove(_ owner: NSManagedObjectID) {
        state.withLock { state in
            if state.members.isEmpty { return }
            for number in owner.layout.toManys.indices {
                guard let ids = state.members.removeValue(forKey: RelationshipKey(owner: owner, toMany: number)) else { continue }
                state.cost -= ids.count + 1
            }
        }
    }

    func removeAll() {
        state.withLock { state in
            state.stamp += 1
            if !state.members.isEmpty { state.members = [:] }
            state.cost = 0
        }
    }
}
