import Foundation
import Synchronization

/// What a journal is about to do on the disk.
package enum PushJournalStep: Equatable, Sendable {
    /// Add so many bytes to a file of entries.
    case write(Int)
    /// Wait until the disk has a file.
    case synchronize(URL)
    /// Wait until the disk has the names in a folder.
    case synchronizeNames(URL)
    /// Wait until the disk has what the stores committed.
    case synchronizeStores
    /// Put a file aside.
    case keep(String)
}

/// Hears of each step before it; what it throws is what the step throws. For trying failures.
package final class PushJournalObserver: Sendable {
    private struct Handler: Sendable {
        let tell: @Sendable (PushJournalStep) throws -> Void
    }

    private let handler = Mutex<Handler?>(nil)

    package init() {}

    func set(_ handler: (@Sendable (PushJournalStep) throws -> Void)?) {
        self.handler.withLock { $0 = handler.map { Handler(tell: $0) } }
    }

    func tell(_ step: PushJournalStep) throws { try handler.withLock { $0 }?.tell(step) }
}
