import SyncReports
import Synchronization

/// Where sets of keys that vouch for rows are being written, or were since somebody read them: whoever remembers what he read has to read no more than that
/// again. It is told before a write begins and after it has been saved, or given up.
final class VouchingJournal: Sendable {
    /// What is written at once.
    struct Place: Hashable, Sendable {
        let scope: ResourceScope
        /// The page; nil: everything that is stored of the resource, of all its parts where it is none itself.
        var page: String?
    }

    private struct State {
        /// The writes that have not ended, and how often each has begun.
        var underway: [Place: Int] = [:]
        /// Those that have ended, in order, as far as somebody has not heard of them.
        var ended: [Place] = []
        /// How many ended before those.
        var forgotten = 0
        /// What each reader has heard of; nil: he has missed some.
        var readers: [Int: Int?] = [:]
        var nextReader = 0

        var time: Int { forgotten + ended.count }

        /// Forgets what everybody has heard of.
        mutating func tidy() {
            let heard = readers.values.compactMap(\.self).min() ?? time
            // Not one by one: what is left is moved each time.
            guard heard - forgotten > ended.count / 2 else { return }
            ended.removeFirst(heard - forgotten)
            forgotten = heard
        }
    }

    /// How many writes are remembered for a reader who does not ask.
    private let most: Int
    private let state = Mutex(State())

    init(most: Int = 100_000) { self.most = most }

    /// A write begins.
    func begin(_ place: Place) { state.withLock { $0.underway[place, default: 0] += 1 } }

    /// A write has ended: what it wrote is saved, or never will be.
    func end(_ place: Place) {
        state.withLock { state in
            let others = (state.underway[place] ?? 1) - 1
            state.underway[place] = others > 0 ? others : nil
            if state.readers.isEmpty { return }
            state.ended.append(place)
            guard state.ended.count > most else { return }
            for reader in state.readers.keys { state.readers[reader] = .some(nil) }
            state.tidy()
        }
    }

    /// Somebody is about to read everything for the first time.
    ///
    /// - Returns: who he is.
    func open() -> Int {
        state.withLock { state in
            state.nextReader += 1
            state.readers[state.nextReader] = state.time
            return state.nextReader
        }
    }

    func close(_ reader: Int) {
        state.withLock { state in
            state.readers[reader] = nil
            state.tidy()
        }
    }

    /// Where something may have been written since the reader asked last. He asks before he reads: what is written meanwhile he hears of the next time.
    ///
    /// - Returns: nil: they are too many, and everything has to be read again.
    func changes(for reader: Int) -> Set<Place>? {
        state.withLock { state in
            guard let known = state.readers[reader] else { return nil }
            state.readers[reader] = state.time
            defer { state.tidy() }
            guard let known else { return nil }
            return Set(state.ended[(known - state.forgotten)...]).union(state.underway.keys)
        }
    }
}
