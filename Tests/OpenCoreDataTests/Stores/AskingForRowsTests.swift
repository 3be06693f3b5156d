import Foundation
import Synchronization
import Testing

@testable import OpenCoreData

/// Who may write to a store while a batch insert asks for its rows.
@Suite struct AskingForRowsTests {
    // B1
    @Test func whoHoldsTheQueueIsRefusedOnWhateverThreadAndOthersAreNot() throws {
        let asking = AskingForRows(), store = InMemoryStore(entities: []), queue = ContextQueue(kind: .privateQueue, label: "coordinator")
        /// Whether a thread of its own is refused.
        func isRefusedElsewhere(holding held: ContextQueue?) -> Bool {
            let isRefused = Mutex(false), isDone = DispatchSemaphore(value: 0)
            Thread {
                // As whoever waits for a block on the main queue lends what it holds to the main thread.
                if let held { HeldQueues.current.push(held) }
                do { try asking.check(store) } catch { isRefused.withLock { $0 = (error as NSError).code == 134_030 } }
                if held != nil { HeldQueues.current.pop() }
                isDone.signal()
            }.start()
            isDone.wait()
            return isRefused.withLock { $0 }
        }
        try queue.sync { () throws in
            try asking.check(store)
            asking.asking(on: queue) {
                #expect(throws: NSError.self) { try asking.check(store) }
                #expect(isRefusedElsewhere(holding: queue))
                #expect(!isRefusedElsewhere(holding: nil))
            }
            try asking.check(store)
        }
    }
}
