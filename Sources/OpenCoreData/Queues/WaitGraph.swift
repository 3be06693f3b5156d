import Foundation
import Synchronization

/// Who holds which queue and who waits for which: stops a circle of waits at once, with both sides named. On in debug builds and where
/// `ConcurrencyDebug` is on.
final class WaitGraph: Sendable {
    static let shared = WaitGraph()

    private struct Wait: Sendable {
        let queue: ObjectIdentifier
        let label: String
        /// Where the waiting thread is. Nil if nobody held the queue then.
        let place: CallStack?
    }

    private struct State: Sendable {
        var holder: [ObjectIdentifier: pthread_t] = [:]
        var waits: [pthread_t: Wait] = [:]
        var labels: [pthread_t: [String]] = [:]

        /// The waits that lead from a thread back to itself, in words, each with its place. Nil if they lead nowhere.
        func circle(of thread: pthread_t) -> [(label: String, place: CallStack?)]? {
            var path: [(label: String, place: CallStack?)] = []
            var next: pthread_t? = thread
            while let current = next, let wait = waits[current], path.count <= waits.count {
                path.append(("\(labels[current]?.joined(separator: " → ") ?? "a thread") waits for \(wait.label)", wait.place))
                next = holder[wait.queue]
                if next == thread { return path }
            }
            return nil
        }
    }

    private let state = Mutex(State())

    private func identity(_ queue: ContextQueue) -> ObjectIdentifier {
        ObjectIdentifier(queue.kind == .main ? MainQueueMark.queue : queue)
    }

    func willWait(for queue: ContextQueue) {
        guard ConcurrencyDebug.isOn else { return }
        let me = pthread_self(), wanted = identity(queue)
        // Only who will really wait may become a part of a circle, and has to say where he is. The main thread may be busy without a context.
        let place = queue.kind == .main || state.withLock({ $0.holder[wanted] != nil }) ? CallStack.here() : nil
        let circle = state.withLock { state in
            state.waits[me] = Wait(queue: wanted, label: queue.label, place: place)
            return state.circle(of: me)
        }
        if let circle {
            Violation.deadlock(circle.map(\.label).joined(separator: "; "), sides: circle.map { ($0.label, $0.place?.frames ?? []) })
        }
    }

    func didWait(_ thread: pthread_t) {
        guard ConcurrencyDebug.isOn else { return }
        _ = state.withLock { $0.waits.removeValue(forKey: thread) }
    }

    func didEnter(_ queue: ContextQueue) {
        guard ConcurrencyDebug.isOn else { return }
        let me = pthread_self(), entered = identity(queue)
        state.withLock { state in
            state.holder[entered] = me
            state.labels[me, default: []].append(queue.label)
        }
    }

    func didLeave(_ queue: ContextQueue) {
        guard ConcurrencyDebug.isOn else { return }
        let me = pthread_self(), left = identity(queue)
        state.withLock { state in
            if state.holder[left] == me { state.holder[left] = nil }
            state.labels[me]?.removeLast()
            if state.labels[me]?.isEmpty == true { state.labels[me] = nil }
        }
    }
}
