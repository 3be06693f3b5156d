import Synchronization
import Systemd

/// Keeps what was written.
final class EntryList: JournalSink {
    private let list = Mutex<[JournalEntry]>([])

    var all: [JournalEntry] { list.withLock { $0 } }
    func append(_ entry: JournalEntry) { list.withLock { $0.append(entry) } }
    func write(_ entry: JournalEntry) throws { append(entry) }
}
