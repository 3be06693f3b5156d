import Foundation
import Testing

/// Runs `body` on a thread with the 512 KiB of stack that the threads of pools and operation queues have, and waits for it.
func onASmallStack<T>(_ body: @escaping () throws -> T) throws -> T {
    let outcome = Outcome<T>(), work = Work(body: body), isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
        outcome.value = Result { try work.body() }
        isDone.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    isDone.wait()
    return try #require(outcome.value).get()
}

// Written before the semaphore is signalled, and read after it.
private final class Outcome<T>: @unchecked Sendable {
    var value: Result<T, any Error>?
}

// Run on one thread, for which the caller waits.
private struct Work<T>: @unchecked Sendable {
    let body: () throws -> T
}
