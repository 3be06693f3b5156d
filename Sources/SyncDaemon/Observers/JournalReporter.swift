import Foundation
import SyncPipeline
import Synchronization
import Systemd

/// Writes what happens into the journal: at most one line for a run that changed something, none for a run that changed nothing, and of
/// equal complaints the 1st, 2nd, 4th, 8th …
public final class JournalReporter: Sendable {
    private let narrator: Mutex<JournalNarrator>
    private let threshold: Mutex<JournalPriority>
    private let write: @Sendable (JournalEntry) -> Void

    /// - Parameters:
    ///   - threshold: less urgent entries are left out.
    ///   - write: takes an entry; returns quickly.
    public init(threshold: JournalPriority = .info, write: @escaping @Sendable (JournalEntry) -> Void) {
        narrator = Mutex(JournalNarrator())
        self.threshold = Mutex(threshold)
        self.write = write
    }

    /// A reload may change it.
    public func setThreshold(_ priority: JournalPriority) { threshold.withLock { $0 = priority } }

    public func observe(_ event: SyncEvent) {
        let isDetailed = threshold.withLock { $0 } >= .debug
        let entry = narrator.withLock { narrator in
            narrator.isDetailed = isDetailed
            return narrator.entry(for: event)
        }
        if let entry { send(entry) }
    }

    /// Writes an entry. Whatever of it came from outside is harmless then, and its message is one line.
    public func send(_ entry: JournalEntry) {
        guard entry.priority <= threshold.withLock({ $0 }) else { return }
        var entry = entry
        entry.message = RemoteText.line(entry.message)
        entry.fields = entry.fields.map { JournalField($0.name, RemoteText.block($0.value)) ?? $0 }
        write(entry)
    }
}
