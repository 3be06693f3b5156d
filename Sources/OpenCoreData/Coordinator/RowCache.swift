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
        var young: [NSManagedObjectID: Entry] = [:]
        var old: [NSManagedObjectID: Entry] = [:]
        var youngCost = 0
        /// Deleted lately: a row of theirs that was read before the deletion must not come back after it.
        var gone: Set<NSManagedObjectID> = []
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
            if let entry = state.young[id] { return entry.row }
            guard let entry = state.old[id] else { return nil }
            insert(entry.row, readAt: entry.time, for: id, into: &state)
            return entry.row
        }
    }

    /// Adds rows read from a store. A newer version that is already there stays.
    package func add(_ rows: some Sequence<FetchedRow>) {
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            if rows.underestimatedCount > 1024 { state.young.reserveCapacity(state.young.count + rows.underestimatedCount) }
            for fetched in rows {
                guard let row = fetched.row, !state.gone.contains(fetched.id) else { continue }
                if let known = state.young[fetched.id] ?? state.old[fetched.id], known.row.version >= row.version { continue }
                insert(row, readAt: now, for: fetched.id, into: &state)
            }
        }
    }

    /// Adds rows that were committed, and forgets those that were deleted.
    package func commit(_ changes: ChangeSet) {
        defer {
            self.changes.add(1, ordering: .releasing)
            relations.removeAll()
        }
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            changes.forEach { id, pending in
                if pending.kind == .deleted {
                    state.young[id] = nil
                    state.old[id] = nil
                    if state.gone.count >= 1 << 16 { state.gone = [] }
                    state.gone.insert(id)
                } else if let row = pending.row {
                    state.gone.remove(id)
                    insert(row.withoutTransients, readAt: now, for: id, into: &state)
                }
            }
        }
    }

    package func remove(_ ids: some Sequence<NSManagedObjectID>) {
        defer {
            changes.add(1, ordering: .releasing)
            relations.removeAll()
        }
        state.withLock { state in
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
        state.withLock { $0 = State() }
    }

    private func insert(_ row: RowSnapshot, readAt time: UInt64, for id: NSManagedObjectID, into state: inout State) {
        if state.youngCost > share {
            state.old = state.young
            state.young = [:]
            state.youngCost = 0
        }
        if state.young.updateValue(Entry(row: row, time: time), forKey: id) == nil { state.youngCost += row.cost }
    }
}
