import Foundation
import Synchronization
import Testing

@testable import OpenCoreData

/// Work on a context's queue that goes on over several turns of the main queue.
@Suite struct QueueLineTests {
    private let queue = ContextQueue(kind: .main, label: "line")

    // C5
    @Test func worksInTurnsAndBlocksComeOneAfterTheOtherInTheirOrder() {
        let order = Mutex<[String]>([]), isDone = DispatchSemaphore(value: 0)
        @Sendable func work(_ name: String, turns: Int) -> @Sendable () -> Bool {
            let left = Mutex(turns)
            return {
                order.withLock { $0.append(name) }
                return left.withLock { left in
                    left -= 1
                    return left > 0
                }
            }
        }
        let handIn = { @Sendable [queue] in
            // The first has the queue when the others come.
            for (name, turns) in [("b", 1), ("c", 4), ("d", 1), ("e", 3), ("f", 1)] { queue.inTurns(work(name, turns: turns)) }
            queue.async {
                order.withLock { $0.append("g") }
                isDone.signal()
            }
        }
        let first = work("a", turns: 3), isHandedIn = Mutex(false)
        queue.inTurns {
            if !isHandedIn.withLock({ isHandedIn in
                defer { isHandedIn = true }
                return isHandedIn
            }) {
                handIn()
            }
            return first()
        }
        isDone.wait()
        #expect(order.withLock { $0.joined() } == "aaabccccdeeefg")
        DispatchQueue.main.sync {}
        #expect(queue.pending.load(ordering: .relaxed) == 0)
    }

    // C5
    @Test func workAsideHoldsNobodyUp() {
        let order = Mutex<[String]>([]), isDone = DispatchSemaphore(value: 0), left = Mutex(3)
        let queue = self.queue
        let handIn = { @Sendable in
            queue.aside {
                order.withLock { $0.append("a") }
                return left.withLock { left in
                    left -= 1
                    if left == 0 { isDone.signal() }
                    return left > 0
                }
            }
            queue.async { order.withLock { $0.append("b") } }
        }
        DispatchQueue.main.async(execute: handIn)
        isDone.wait()
        #expect(order.withLock { $0.joined() } == "abaa")
    }
}
