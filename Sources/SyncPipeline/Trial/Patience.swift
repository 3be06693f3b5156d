import Foundation
import Synchronization

/// Which servers asked to be left alone, until when, and which resources were not asked for because of it.
final class Patience: Sendable {
    private let state = Mutex((waits: [Origin: Date](), refused: Set<String>()))

    /// Takes in what a server asked for.
    func note(_ origin: Origin, until: Date) {
        state.withLock { state in state.waits[origin] = max(until, state.waits[origin] ?? until) }
    }

    /// Until when a server is left alone; nil: it may be asked.
    func until(_ origin: Origin, now: Date) -> Date? {
        state.withLock { state in state.waits[origin].flatMap { $0 > now ? $0 : nil } }
    }

    /// A resource was not asked for, or not in full.
    func refuse(_ scope: String) { state.withLock { state in _ = state.refused.insert(scope) } }

    func hasRefused(_ scope: String) -> Bool { state.withLock { state in state.refused.contains(scope) } }
}

/// How many requests were made.
final class RequestCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}
