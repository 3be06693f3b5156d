import Foundation
import Synchronization

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
