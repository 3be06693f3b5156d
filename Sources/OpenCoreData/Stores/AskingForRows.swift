import Foundation
import Synchronization

/// Whether a program's code is being asked for the rows of a batch insert. It must not write to the store meanwhile: it would wait for itself, or what it
/// writes would be written over.
package final class AskingForRows: Sendable {
    private let queue = Mutex<ContextQueue?>(nil)

    /// Runs code of the program's that hands out rows, while the coordinator's queue is held.
    func asking<T>(on queue: ContextQueue, _ body: () throws -> T) rethrows -> T {
        self.queue.withLock { $0 = queue }
        defer { self.queue.withLock { $0 = nil } }
        return try body()
    }

    /// Throws 134030 within such code: where the coordinator's queue is held by this thread, or lent to it, as to the main thread by whoever waits for it.
    /// Other threads wait for the queue.
    func check(_ store: NSPersistentStore) throws {
        guard queue.withLock({ $0 })?.isCurrent == true else { return }
        throw NSError.coreData(
            .persistentStoreSave,
            "A batch insert into \(store.url?.path ?? "the store in memory") is asking for its rows: its handler can't write to the store meanwhile. Save before "
                + "the request, or after it.")
    }
}
