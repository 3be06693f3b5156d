import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Runs `body` on a context's queue after `push` has run on this thread: what `push` brings in waits, unread, for the context's next turn.
func afterPushing<T>(
    into context: NSManagedObjectContext, _ push: () throws -> Void, _ body: @escaping () throws -> T
) throws -> T {
    let isBusy = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    let outcome = Outcome<T>()
    context.enqueue {
        isBusy.signal()
        goOn.wait()
        outcome.value = Result { try body() }
        isDone.signal()
    }
    isBusy.wait()
    let pushed = Result { try push() }
    goOn.signal()
    isDone.wait()
    try pushed.get()
    return try #require(outcome.value).get()
}

/// Runs `body` on a thread of its own, and waits for it.
func elsewhere(_ body: () throws -> Void) throws {
    let isDone = DispatchSemaphore(value: 0)
    let outcome = Outcome<Void>()
    withoutActuallyEscaping(body) { body in
        let work = Outcome<() throws -> Void>()
        work.value = .success(body)
        Thread.detachNewThread {
            outcome.value = Result { try work.value?.get()() }
            work.value = nil
            isDone.signal()
        }
        isDone.wait()
    }
    try #require(outcome.value).get()
}

// Written before the semaphore is signalled, and read after it.
private final class Outcome<T>: @unchecked Sendable {
    var value: Result<T, any Error>?
}
