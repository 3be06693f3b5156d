import OpenCoreData
import Synchronization

/// The tombstones whose objects something said to be gone, as `RunState.saidGone` reads them, kept until somebody may have written others: each page
/// that mentions a tombstone asks, and reading them is as much work as there are resources and parts.
///
/// Who writes such tombstones says so before they can be seen and when that is done. What is read in between is good for the one who reads it, and not
/// kept: it may be of before or after.
final class SaidTombstones: Sendable {
    private struct State {
        var known: [String: [Int64: KeyRuns]] = [:]
        /// How many are being written.
        var underway = 0
        /// How often others were written.
        var generation = 0
        var reads = 0
    }

    private let state = Mutex(State())

    /// How often the store was read.
    var reads: Int { state.withLock { $0.reads } }

    /// The tombstones of an entity by the second they were made in. On the context's queue; to be asked once the rows are read that are looked for.
    func said(of entity: String, in worker: NSManagedObjectContext) throws -> [Int64: KeyRuns] {
        let (known, generation) = state.withLock { state in
            let known = state.underway == 0 ? state.known[entity] : nil
            if known == nil { state.reads += 1 }
            return (known, state.generation)
        }
        if let known { return known }
        let found = try RunState.saidGone(of: entity, in: worker)
        state.withLock { state in
            if state.underway == 0, state.generation == generation { state.known[entity] = found }
        }
        return found
    }

    /// Others are being written from now on.
    func begin() { state.withLock { $0.underway += 1 } }

    /// They are there, or will not be.
    ///
    /// - Parameter isOther: whether what is said of tombstones is not what it was.
    func end(isOther: Bool) {
        state.withLock { $0.underway -= 1 }
        if isOther { forget() }
    }

    /// What was read says nothing any more.
    func forget() {
        state.withLock { state in
            state.known = [:]
            state.generation += 1
        }
    }
}
