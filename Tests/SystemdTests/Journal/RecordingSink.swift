import Dispatch
import Foundation
import Synchronization
import Systemd

/// Keeps entries; can be held shut, as a journal that does not read, and made to fail.
final class RecordingSink: JournalSink {
    private struct State {
        var entries: [JournalEntry] = []
        var fails = false
    }

    private let state = Mutex(State())
    private let gate: DispatchSemaphore?
    /// Signalled as an entry reaches the closed gate.
    let reached = DispatchSemaphore(value: 0)

    init(gate: DispatchSemaphore? = nil) {
        self.gate = gate
    }

    var entries: [JournalEntry] { state.withLock { $0.entries } }
    var messages: [String] { entries.map(\.message) }

    func fail() { state.withLock { $0.fails = true } }

    func write(_ entry: JournalEntry) throws {
        if let gate {
            reached.signal()
            gate.wait()
        }
        try state.withLock { state in
            if state.fails { throw POSIXError(.ENOBUFS) }
            state.entries.append(entry)
        }
    }
}
