import Foundation
import Synchronization

/// Lets runs that go on at the same time take their steps one after the other, in the order that somebody else chooses: whoever comes here
/// waits until it is called, and nobody is called before all have come.
final class ArrivalGate: Sendable {
    private struct Party {
        let source: String
        let isParsing: Bool
        let go: @Sendable () -> Void
    }

    private struct State {
        var active = 0
        var parties: [Party] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// So many runs begin.
    func begin(_ count: Int) { state.withLock { $0.active += count } }

    /// A run has ended.
    func end() {
        change { $0.active -= 1 }
    }

    /// Waits for the turn.
    func fetch(_ source: String) async {
        await withCheckedContinuation { continuation in
            change { $0.parties.append(Party(source: source, isParsing: false) { continuation.resume() }) }
        }
    }

    /// Waits for the turn on a thread of its own.
    func parse(_ source: String) {
        let turn = DispatchSemaphore(value: 0)
        change { $0.parties.append(Party(source: source, isParsing: true) { turn.signal() }) }
        turn.wait()
    }

    private func change(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state in
            body(&state)
            guard state.parties.count == state.active else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until all that go on wait for their turn, and calls one of them. False: nothing goes on any more.
    ///
    /// - Parameter workers: so many parse at the same time.
    func step(workers: Int, choosing choose: (Int) -> Int, between: () async throws -> Void) async rethrows -> Bool {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.parties.count == state.active { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
        try await between()
        let party: Party? = state.withLock { state in
            let busy = state.parties.count { $0.isParsing }
            let ready = state.parties.filter { $0.isParsing || busy < workers }.sorted { $0.source < $1.source }
            guard !ready.isEmpty else { return nil }
            let chosen = ready[choose(ready.count)]
            state.parties.removeAll { $0.source == chosen.source }
            return chosen
        }
        party?.go()
        return party != nil
    }
}
