import Foundation
import Synchronization

/// The thread that runs a program's code to get the rows of a batch insert. It must not write to the store meanwhile: it would wait for itself, or what
/// it writes would be written over.
package final class AskingThread: Sendable {
    /// 0: none.
    private let thread = Atomic<UInt64>(0)

    /// Runs code of the program's that hands out a row.
    func asking<T>(_ body: () throws -> T) rethrows -> T {
        thread.store(UInt64(pthread_self()), ordering: .relaxed)
        defer { thread.store(0, ordering: .relaxed) }
        return try body()
    }

    /// Throws 134030 on a thread that is within such code.
    func check(_ store: NSPersistentStore) throws {
        guard thread.load(ordering: .relaxed) == UInt64(pthread_self()) else { return }
        throw NSError.coreData(
            .persistentStoreSave,
            "A batch insert into \(store.url?.path ?? "the store in memory") is asking for its rows: its handler can't write to the store meanwhile. Save before "
                + "the request, or after it.")
    }
}
