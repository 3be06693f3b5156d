import Dispatch
import Foundation
import Synchronization

/// Rows recently read or written, shared by all contexts of a coordinator. Bounded: rows age through two generations, and a generation that
/// grew past its share pushes out the one before it. A row in use is promoted.
package final class RowCache: Sendable {
    private struct Entry: Sendable {
        let row: RowSnapshot
        /// When it was read or written, in nanoseconds of the machine's clock.
        let time: UInt64
    }

    private struct State: Sendable {
        var young = IDTable<Entry>()
        var old = IDTable<Entry>()
        var youngCost = 0
        /// What large fetches brought and nobody has asked for by ID yet: objects made of the rows have them already, and often nobody does.
        var waiting: [Waiting] = []
        var waitingCost = 0
        /// Counts the commits that made derived values others.
        var derivedStamp = 0
        /// Deleted lately: a row of theirs that was read before the deletion must not come back after it.
        var gone: Set<NSManagedObjectID> = []
        /// Deleted before those.
        var longGone: Set<NSManagedObjectID> = []
    }

    private struct Waiting: Sendable {
        let rows: [FetchedRow]
        let time: UInt64
        let stamp: Int?
    }

    /// Bytes per generation.
    private let share: Int
    private let state = Mutex(State())
    private let changes = Atomic<UInt64>(0)

    /// Goes up whenever rows were committed or forgotten.
    var changeCount: UInt64 { changes.load(ordering: .acquiring) }
    /// Members of to-manys that were fetched ahead.
    let relations = RelationCache()

    package init(share: Int = 16 << 20) { self.share = share }

    package subscript(id: NSManagedObjectID) -> RowSnapshot? {
        state.withLock { state in
            enterWaiting(&state)
            if let entry = state.young[id] { return entry.row }
            guard let entry = state.old[id] else { return nil }
            insert(entry.row, readAt: entry.time, for: id, into: &state)
            return entry.row
        }
    }

    /// Whether any row is known to have been deleted.
    var hasGone: Bool { state.withLock { !$0.gone.isEmpty || !$0.longGone.isEmpty } }

    /// Whether a row is known to have been deleted: it was lately, or not so long ago.
    func isGone(_ id: NSManagedObjectID) -> Bool { state.withLock { $0.gone.contains(id) || $0.longGone.contains(id) } }

    /// To be read before the store is asked: a derived value changes without the version, so what was read before a commit must not be remembered
    /// after it.
    var derivedStamp: Int { state.withLock { $0.derivedStamp } }

    /// Adds rows read from a store. A newer version that is already there stays.
    ///
    /// - Parameter stamp: `derivedStamp` as it was before they were read; nil: nothing was committed since.
    package func add(_ rows: some Sequence<FetchedRow>, asOf stamp: Int? = nil) {
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            enterWaiting(&state)
            enter(rows, readAt: now, stamp, into: &state)
        }
    }

    /// The same for what a fetch found. Many rows are only laid by, to be entered when somebody asks for a row by its ID.
    func add(_ rows: [FetchedRow], asOf stamp: Int? = nil) {
        guard rows.count > 256 else { return add(rows[...], asOf: stamp) }
        let now = DispatchTime.now().uptimeNanoseconds
        // No more than the two generations would keep, of which the later rows are left.
        var first = rows.count, cost = 0
        while first > 0 {
            let withNext = cost + (rows[first - 1].row?.cost ?? 0)
            if withNext > 2 * share { break }
            cost = withNext
            first -= 1
        }
        // A slice would keep all rows of the array.
        let kept = first == 0 ? rows : Array(rows[first...])
        state.withLock { state in
            if state.waitingCost + cost > 2 * share {
                state.waiting = []
                state.waitingCost = 0
            }
            state.waiting.append(Waiting(rows: kept, time: now, stamp: stamp))
            state.waitingCost += cost
            if state.waitingCost > share { state.old = IDTable() }
        }
    }

    private func enterWaiting(_ state: inout State) {
        if state.waiting.isEmpty { return }
        let waiting = state.waiting
        state.waiting = []
        state.waitingCost = 0
        for part in waiting { enter(part.rows, readAt: part.time, part.stamp, into: &state) }
    }

    private func enter(_ rows: some Sequence<FetchedRow>, readAt time: UInt64, _ stamp: Int?, into state: inout State) {
        let isOfNow = stamp == nil || stamp == state.derivedStamp
        for fetched in rows {
            guard let row = fetched.row, !state.gone.contains(fetched.id), !state.longGone.contains(fetched.id) else { continue }
            let hasDerived = row.layout.hasDerived
            if hasDerived && !isOfNow { continue }
            if let known = (state.young[fetched.id] ?? state.old[fetched.id])?.row.version, known != .max {
                if known > row.version || known == row.version && !hasDerived { continue }
            }
            insert(row, readAt: time, for: fetched.id, into: &state)
        }
    }

    /// Adds rows that were committed, and forgets those that were deleted.
    ///
    /// - Parameter saved: the versions of the rows that the store has written, and rows of which it has computed values. A changed object may have no
    ///   changed row (its to-manys changed, or what is not stored): its row is as old as the object, and another one may be newer.
    package func commit(_ changes: ChangeSet, _ saved: SavedRows) {
        defer {
            self.changes.add(1, ordering: .releasing)
            relations.removeAll()
        }
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            enterWaiting(&state)
            // What came in blocks that nobody has looked into is read when somebody does.
            changes.forEachUnsealed { id, pending in
                if pending.kind == .deleted {
                    state.young[id] = nil
                    state.old[id] = nil
                    if state.gone.count >= 1 << 16 {
                        state.longGone = state.gone
                        state.gone = []
                    }
                    state.gone.insert(id)
                } else if let row = pending.row, saved.version(of: id, pending.kind) != nil {
                    state.gone.remove(id)
                    state.longGone.remove(id)
                    if saved.computed[id] == nil { insert(row.withoutTransients, readAt: now, for: id, into: &state) }
                }
            }
            if saved.computed.isEmpty { return }
            state.derivedStamp += 1
            for (id, computed) in saved.computed where !state.gone.contains(id) { insert(computed.row, readAt: now, for: id, into: &state) }
        }
    }

    /// Forgets rows that have other derived values after a commit.
    func removeDerived(_ ids: [NSManagedObjectID]) {
        state.withLock { $0.derivedStamp += 1 }
        remove(ids)
    }

    package func remove(_ ids: some Sequence<NSManagedObjectID>) {
        defer {
            changes.add(1, ordering: .releasing)
            relations.removeAll()
        }
        state.withLock { state in
            enterWaiting(&state)
            for id in ids {
                state.young[id] = nil
                state.old[id] = nil
            }
        }
    }

    /// Forgets a row that was read or written more than so many seconds ago.
    package func remove(_ id: NSManagedObjectID, ifOlderThan seconds: TimeInterval) {
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            enterWaiting(&state)
            guard let entry = state.young[id] ?? state.old[id], Double(now) - Double(entry.time) >= seconds * 1e9 else { return }
            state.young[id] = nil
            state.old[id] = nil
        }
    }

    package func removeAll() {
        defer {
            changes.add(1, ordering: .releasing)
            relations.removeAll()
        }
        state.withLock { state in
            let stamp = state.derivedStamp
            state = State()
            state.derivedStamp = stamp
        }
    }

    private func insert(_ row: RowSnapshot, readAt time: UInt64, for id: NSManagedObjectID, into state: inout State) {
        if state.youngCost > share {
            state.old = state.young
            state.young = IDTable()
            state.youngCost = 0
        }
        let before = state.young.updateValue(Entry(row: row, time: time), forKey: id)
        state.youngCost += row.cost - (before?.row.cost ?? 0)
    }
}

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

/// Whom unique keys led to when they were looked up. An answer is a guess: who takes it looks whether the object is there and has the key.
final class KeyLookups: Sendable {
    private struct Place: Hashable {
        let constraint: UniquenessConstraint
        let key: UniqueKey
    }

    /// How many are remembered; with one more all others are forgotten.
    private static let capacity = 4096
    private let known = Mutex<[Place: NSManagedObjectID]>([:])

    func id(_ key: UniqueKey, _ constraint: UniquenessConstraint) -> NSManagedObjectID? {
        known.withLock { $0[Place(constraint: constraint, key: key)] }
    }

    func remember(_ id: NSManagedObjectID, for key: UniqueKey, _ constraint: UniquenessConstraint) {
        known.withLock { known in
            if known.count >= Self.capacity { known = [:] }
            known[Place(constraint: constraint, key: key)] = id
        }
    }
}
