public import Foundation
import Synchronization

/// A fetch as an operation on a queue. It is asynchronous: while it waits, for the server or for its next attempt, it holds no thread.
///
/// Cancelling it at any time, also before it starts, finishes it soon with the outcome `cancelled`. A finished operation has an outcome
/// and no dependencies: a long chain of operations that hold each other would overflow the stack when it is released.
// Unchecked because `Operation` is; everything that changes here is behind the mutex.
public final class FetchOperation: Operation, @unchecked Sendable {
    private struct Listener: Sendable {
        let tell: @Sendable (FetchOutcome) -> Void
    }

    private enum Phase {
        case waiting
        case executing(Task<Void, Never>?)
        case finished(FetchOutcome)
    }

    private let fetch: PageFetch
    private let phase = Mutex(Phase.waiting)
    private let listener = Mutex<Listener?>(nil)

    /// An operation that does `fetch`.
    public init(_ fetch: PageFetch) {
        self.fetch = fetch
    }

    /// What is fetched.
    public var request: PageRequest { fetch.request }

    /// What became of it; nil until the operation is finished.
    public var outcome: FetchOutcome? {
        phase.withLock { if case .finished(let outcome) = $0 { outcome } else { nil } }
    }

    /// Has `body` called with the outcome, as soon as there is one. Set before the operation is queued.
    func whenFinished(_ body: @escaping @Sendable (FetchOutcome) -> Void) {
        listener.withLock { $0 = Listener(tell: body) }
    }

    /// True: it runs on past `start()`.
    public override var isAsynchronous: Bool { true }

    /// Whether it has begun and not finished.
    public override var isExecuting: Bool {
        phase.withLock { if case .executing = $0 { true } else { false } }
    }

    /// Whether it has an outcome.
    public override var isFinished: Bool {
        phase.withLock { if case .finished = $0 { true } else { false } }
    }

    /// Begins. Called by the queue.
    public override func start() {
        if isCancelled { return finish(.cancelled) }
        willChangeValue(forKey: "isExecuting")
        let begins = phase.withLock { phase in
            guard case .waiting = phase else { return false }
            phase = .executing(nil)
            return true
        }
        didChangeValue(forKey: "isExecuting")
        guard begins else { return }
        // On the queue's own thread until it waits for the first time.
        let task = Task.immediate { [fetch] in
            let outcome = await fetch.run()
            self.finish(outcome)
        }
        phase.withLock { phase in
            // The task may have finished the operation before it is put down here.
            if case .executing = phase { phase = .executing(task) }
        }
        if isCancelled { task.cancel() }
    }

    /// Ends the fetch as soon as possible.
    public override func cancel() {
        super.cancel()
        let task: Task<Void, Never>? = phase.withLock { phase in
            guard case .executing(let task) = phase else { return nil }
            return task
        }
        task?.cancel()
    }

    private func finish(_ outcome: FetchOutcome) {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        phase.withLock { $0 = .finished(outcome) }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
        for dependency in dependencies { removeDependency(dependency) }
        let listener = listener.withLock { $0.take() }
        listener?.tell(outcome)
    }
}
