import SyncPipeline
import Synchronization

/// Hands each event of the pipeline to everyone who wants to know. Listeners are called one after the other on the thread that sends, with
/// no lock held; they return quickly and do not call back.
final class EventHub: Sendable {
    struct Token: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct State {
        var next = 0
        var listeners: [(token: Token, listener: @Sendable (SyncEvent) -> Void)] = []
    }

    private let state = Mutex(State())

    func listen(_ listener: @escaping @Sendable (SyncEvent) -> Void) -> Token {
        state.withLock { state in
            state.next += 1
            let token = Token(number: state.next)
            state.listeners.append((token, listener))
            return token
        }
    }

    func remove(_ token: Token) {
        state.withLock { $0.listeners.removeAll { $0.token == token } }
    }

    func send(_ event: SyncEvent) {
        for (_, listener) in state.withLock({ $0.listeners }) { listener(event) }
    }
}
