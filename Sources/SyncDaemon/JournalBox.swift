import Synchronization
import Systemd

/// The journal in use. A reload may change its target.
final class JournalBox: Sendable {
    private let box: Mutex<Journal>

    init(_ journal: Journal) {
        box = Mutex(journal)
    }

    var current: Journal { box.withLock { $0 } }

    /// What was sent to the old one is written first.
    func replace(with journal: Journal) {
        let old = box.withLock { box in
            defer { box = journal }
            return box
        }
        old.flush(within: .seconds(1))
    }
}
