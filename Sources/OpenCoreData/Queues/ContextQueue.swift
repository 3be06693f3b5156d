import Foundation
import Synchronization

/// The queue that a context belongs to, and the proof of who is on it.
///
/// `DispatchQueue.sync` runs on the calling thread and traps when a queue is entered twice, so each thread keeps the list of the queues it
/// holds: whoever holds a queue already runs at once, also child → parent → child. Whoever would wait for a queue that is
/// held by somebody who (directly or not) waits for him is stopped with both sides named instead of hanging.
// What changes is under a lock, but for the owner, which is set before the queue is shared; the dispatch queue is safe to share.
package final class ContextQueue: @unchecked Sendable {
    package enum Kind: Sendable {
        case privateQueue
        case main
        case confinement
    }

    package let kind: Kind
    /// The context it belongs to. Set once, before the queue is used, and taken back when the context goes. To be read by who holds the
    /// queue, which he does through the context. Not weak: an object that was ever referenced weakly is retained more slowly for good.
    unowned(unsafe) var owner: AnyObject?
    private let state: Mutex<State>
    /// Blocks that run or wait to run.
    let pending = Atomic<Int>(0)
    /// What `lock()` holds, innermost last.
    let holds = Mutex<[Hold]>([])
    /// What waits for work of the main queue that goes on over several turns; nil for other queues.
    let line: QueueLine?

    /// The queue and its label, which may be renamed. A private queue is made when it is used first.
    private struct State: Sendable {
        var label: String
        var dispatch: DispatchQueue?
    }

    package var label: String { state.withLock { $0.label } }

    package init(kind: Kind, label: String) {
        self.kind = kind
        let dispatch: DispatchQueue?
        switch kind {
        case .privateQueue, .confinement: dispatch = nil
        case .main:
            MainQueueMark.set()
            dispatch = .main
        }
        line = kind == .main ? QueueLine() : nil
        state = Mutex(State(label: label, dispatch: dispatch))
    }

    /// Gives a private queue another label, for debuggers and diagnostics. What is queued already runs before what comes from now on.
    package func rename(_ label: String) {
        state.withLock { state in
            state.label = label
            guard kind == .privateQueue, let current = state.dispatch else { return }
            // A label can't be changed: a queue in use goes on behind a new one that hands everything to it.
            state.dispatch = DispatchQueue(label: label, target: current)
        }
    }

    /// The dispatch queue, for work that begins now.
    var dispatch: DispatchQueue? {
        if kind == .main { MainQueueProbe.shared.watch() }
        return state.withLock { state in
            if kind == .privateQueue, state.dispatch == nil { state.dispatch = DispatchQueue(label: state.label) }
            return state.dispatch
        }
    }

    /// Whether the current thread may use what belongs to this queue.
    package var isCurrent: Bool {
        switch kind {
        case .confinement: true
        case .privateQueue: HeldQueues.current.contains(self)
        case .main: HeldQueues.current.contains(self) || MainQueueMark.isHere
        }
    }

    /// Runs `block` in its turn.
    package func async(_ block: @escaping () -> Void) {
        if kind == .confinement { Violation.confinement("perform(_:)") }
        let work = Unchecked(value: block)
        let origin = kind == .main ? MainQueueLoad.origin() : nil
        enqueue { self.held(origin) { work.value() } }
    }

    /// Runs a block in its turn that does not count as being on the queue.
    func enqueue(_ block: @escaping @Sendable () -> Void) {
        pending.add(1, ordering: .relaxed)
        dispatch?.async {
            self.line.run {
                block()
                self.pending.subtract(1, ordering: .relaxed)
            }
        }
    }

    /// Runs `block` now if this thread holds the queue, else as soon as the queue is free, and returns when it is done.
    package func sync<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
        guard let dispatch else { Violation.confinement("performAndWait(_:)") }
        if isCurrent { return try held(nil, block) }
        pending.add(1, ordering: .relaxed)
        defer { pending.subtract(1, ordering: .relaxed) }
        // Entering another queue hides the main queue's mark, so what this thread holds is written down first.
        let mine = HeldQueues.current
        let onMain = MainQueueMark.isHere && !mine.contains(MainQueueMark.queue)
        if onMain {
            mine.push(MainQueueMark.queue)
            WaitGraph.shared.didEnter(MainQueueMark.queue)
        }
        defer {
            if onMain {
                WaitGraph.shared.didLeave(MainQueueMark.queue)
                mine.pop()
            }
        }
        let me = pthread_self(), holds = mine.all
        WaitGraph.shared.willWait(for: self)
        defer { WaitGraph.shared.didWait(me) }
        func run() -> Result<T, E> {
            let here = HeldQueues.current
            // Blocks for the main queue run on its own thread: what the waiting thread holds is lent to it until the block ends.
            let isElsewhere = here !== mine
            if isElsewhere {
                for queue in holds { here.push(queue) }
            } else {
                WaitGraph.shared.didWait(me)
            }
            defer {
                if isElsewhere {
                    for _ in holds { here.pop() }
                }
            }
            do throws(E) { return .success(try held(nil, block)) } catch { return .failure(error) }
        }
        return try line.enter(dispatch, run).get()
    }

    /// - Parameter origin: where the block was handed in, if it was elsewhere.
    func held<T, E: Error>(_ origin: CallStack?, _ block: () throws(E) -> T) throws(E) -> T {
        let list = HeldQueues.current
        let isOutermost = !list.contains(self)
        list.push(self)
        let start = isOutermost && kind == .main ? DispatchTime.now().uptimeNanoseconds : 0
        if isOutermost { WaitGraph.shared.didEnter(self) }
        defer {
            list.pop()
            if isOutermost { WaitGraph.shared.didLeave(self) }
            if start != 0 { MainQueueLoad.add(DispatchTime.now().uptimeNanoseconds - start, context: self, origin: origin) }
        }
        return try block()
    }
}

/// The queues that one thread holds, innermost last.
final class HeldQueues {
    private var queues: [ContextQueue] = []

    func contains(_ queue: ContextQueue) -> Bool {
        queues.contains { $0 === queue || ($0.kind == .main && queue.kind == .main) }
    }

    func push(_ queue: ContextQueue) { queues.append(queue) }
    func pop() { queues.removeLast() }
    var all: [ContextQueue] { queues }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            if let pointer { Unmanaged<HeldQueues>.fromOpaque(pointer).release() }
        }
        return key
    }()

    /// This thread's list.
    static var current: HeldQueues {
        if let pointer = pthread_getspecific(key) { return Unmanaged<HeldQueues>.fromOpaque(pointer).takeUnretainedValue() }
        let made = HeldQueues()
        pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
        return made
    }
}

/// How a thread knows that it runs on the main queue: by a mark on the queue, or by being the main thread, which serves the main queue and
/// nothing else.
enum MainQueueMark {
    private static let key = DispatchSpecificKey<Bool>()
    private static let marked: Void = DispatchQueue.main.setSpecific(key: key, value: true)
    /// Stands for the main queue in the list of held queues.
    static let queue = ContextQueue(kind: .main, label: "main")

    static func set() { _ = marked }

    static var isHere: Bool {
        _ = marked
        return DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread
    }
}

/// Whether use of a context outside of its queue, and circles of waits, stop the program.
package enum ConcurrencyDebug {
    #if DEBUG
        private static let fallback = true
    #else
        private static let fallback = false
    #endif

    /// On in debug builds, and where the environment says `OPENCOREDATA_CONCURRENCY_DEBUG=1` (Apple's switch is a launch argument).
    package static let isOn: Bool = {
        switch ProcessInfo.processInfo.environment["OPENCOREDATA_CONCURRENCY_DEBUG"] {
        case "1": true
        case "0": false
        default: fallback
        }
    }()
}

/// Holding a queue across function calls: a block on the queue waits until the holder lets go.
extension ContextQueue {
    /// Waits for the queue and holds it for this thread. A queue of confinement type has nothing to hold.
    package func hold() {
        if kind == .confinement { return }
        isCurrent ? enterAgain() : enter()
    }

    /// Holds the queue if nobody else uses it or waits for it.
    package func tryHold() -> Bool {
        if kind == .confinement { return true }
        if isCurrent {
            enterAgain()
            return true
        }
        guard pending.compareExchange(expected: 0, desired: 1, ordering: .acquiringAndReleasing).exchanged else { return false }
        enter()
        pending.subtract(1, ordering: .relaxed)
        return true
    }

    /// Lets go. On the thread that holds.
    package func release() {
        if kind == .confinement { return }
        guard let hold = holds.withLock({ $0.popLast() }) else { Violation.misuse("unlock() without lock() on \(label)") }
        HeldQueues.current.pop()
        guard let leave = hold.leave else { return }
        WaitGraph.shared.didLeave(self)
        leave.signal()
    }

    private func enterAgain() {
        holds.withLock { $0.append(Hold(leave: nil)) }
        HeldQueues.current.push(self)
    }

    private func enter() {
        let entered = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0)
        WaitGraph.shared.willWait(for: self)
        enqueue {
            entered.signal()
            leave.wait()
        }
        entered.wait()
        WaitGraph.shared.didWait(pthread_self())
        HeldQueues.current.push(self)
        WaitGraph.shared.didEnter(self)
        holds.withLock { $0.append(Hold(leave: leave)) }
    }
}

/// One `lock()`.
struct Hold: Sendable {
    /// Ends the block that keeps the queue; nil where the thread held it already.
    let leave: DispatchSemaphore?
}
