public import Foundation
import Synchronization

/// A fetch as an operation on a queue. It is asynchronous: while it waits, for the server or for its next attempt, it holds no thread.
///
/// Cancelling it at any time, even before it starts, finishes it soon with the outcome `cancelled`. A finished operation has an outcome and no
/// dependencies: a long chain of operations that refer to each other would overflow the stack when released.
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
            // The task may have finished the operation before it is stored here.
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

extension OperationQueue {
    /// Runs a fetch on this queue and gives its outcome. A cancelled task cancels it.
    func run(_ operation: FetchOperation) async -> FetchOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                operation.whenFinished { continuation.resume(returning: $0) }
                addOperation(operation)
            }
        } onCancel: {
            operation.cancel()
        }
    }
}

/// What a fetch works with: the same for all pages of a run.
public struct FetchEnvironment: Sendable {
    /// Limits, rules and credentials of the resource.
    public let settings: FetchSettings
    /// What makes the requests.
    public let transport: any HTTPTransport
    /// Time.
    public let clock: any SyncClock
    /// Chance, for jitter.
    public let random: RandomSource
    /// The limit on requests at the same time, shared by all fetches of a daemon; nil for none.
    public let slots: RequestSlots?
    /// The cookies of the run; nil for none. There are none, either, where the configuration says so.
    public let cookies: RunCookies?
    /// Where records wait until their page has arrived.
    var spool = SpoolPlace()
    /// Keeps the page's body; nil: nobody does.
    var recorder: BodyRecorder?
    /// Who hears of each exchange; nil: nobody.
    var listener: ExchangeListener?
    /// What its requests go through before they take a slot; nil: they are not counted.
    var gate: RequestGate?
    /// When its run has to end: it waits no longer than that for its own budget. Nil: as long as for a server.
    var deadline: SyncInstant?
    /// Called with what happens. Called on no particular thread.
    public let observe: @Sendable (FetchEvent) -> Void
    /// Until when the server wants to be left alone, whichever fetch it told; nil if it may be polled. Called before every attempt, once the attempt
    /// has its slot.
    public let notBefore: @Sendable () -> Date?
    /// Called when a server asks for a wait, and awaited before anybody else gets the slot: what must survive the process is stored then.
    public let willWait: @Sendable (Date) async -> Void

    /// An environment for one run.
    public init(
        settings: FetchSettings, transport: any HTTPTransport, clock: any SyncClock, random: RandomSource = .system,
        slots: RequestSlots? = nil, cookies: RunCookies? = RunCookies(), observe: @escaping @Sendable (FetchEvent) -> Void = { _ in },
        notBefore: @escaping @Sendable () -> Date? = { nil }, willWait: @escaping @Sendable (Date) async -> Void = { _ in }
    ) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        self.random = random
        self.slots = slots
        self.cookies = cookies
        self.observe = observe
        self.notBefore = notBefore
        self.willWait = willWait
    }
}

/// What happens during a fetch and is worth telling someone.
public enum FetchEvent: Sendable, Hashable {
    /// A request is wanted, as soon as there is a slot for it; the first attempt is 1.
    case attempt(Int)
    /// It goes out.
    case asking(Int)
    /// It waits for what its place allows, or for what its server asked for on the way: for so long, or where nobody knows for no longer than that.
    case waiting(Duration)
    /// An attempt failed and there will be another one after `delay`.
    case retrying(FetchError, delay: Duration)
}
