import Dispatch
import Foundation
import Glibc
import Synchronization

/// Writes entries on a queue of its own, so that a journal that does not read never delays the daemon.
///
/// The queue holds a bounded number of entries. What does not fit is counted, and one entry reports it once there is room.
public final class Journal: Sendable {
    private struct State {
        var waiting = 0
        var dropped = 0
    }

    private let sink: any JournalSink
    private let fallback: (any JournalSink)?
    private let capacity: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "cistern.journal")

    /// - Parameters:
    ///   - fallback: gets what the sink could not write.
    ///   - capacity: how many entries may wait.
    public init(sink: any JournalSink, fallback: (any JournalSink)? = nil, capacity: Int = 4_096) {
        precondition(capacity > 0, "a journal queue has room for at least one entry")
        self.sink = sink
        self.fallback = fallback
        self.capacity = capacity
    }

    /// The journal of this process.
    ///
    /// - Parameters:
    ///   - identifier: `SYSLOG_IDENTIFIER`, the name before the colon in `journalctl`.
    ///   - descriptor: standard error.
    public convenience init(
        target: JournalTarget = .auto, format: JournalFormat = .text, identifier: String, capacity: Int = 4_096,
        descriptor: Int32 = STDERR_FILENO, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let lines = StandardErrorSink(descriptor: descriptor, format: format, identifier: identifier)
        if target.isNative(descriptor: descriptor, environment: environment) {
            self.init(sink: NativeJournalSink(identifier: identifier), fallback: lines, capacity: capacity)
        } else {
            self.init(sink: lines, capacity: capacity)
        }
    }

    /// Puts the entry into the queue, or counts it as lost if the queue is full. Returns at once.
    public func send(_ entry: JournalEntry) {
        let hasRoom = state.withLock { state in
            guard state.waiting < capacity else {
                state.dropped += 1
                return false
            }
            state.waiting += 1
            return true
        }
        if hasRoom { queue.async { self.writeNext(entry) } }
    }

    /// Waits until what was sent so far is written. Returns false if that took longer than `limit`.
    @discardableResult
    public func flush(within limit: Duration) -> Bool {
        dispatchPrecondition(condition: .notOnQueue(queue))
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        return done.wait(timeout: .now() + limit.dispatchInterval) == .success
    }

    private func writeNext(_ entry: JournalEntry) {
        write(entry)
        let lost = state.withLock { state in
            state.waiting -= 1
            // Reported in one entry when the queue has emptied, or each time another queue's worth is lost.
            guard state.dropped > 0, state.waiting == 0 || state.dropped >= capacity else { return 0 }
            defer { state.dropped = 0 }
            return state.dropped
        }
        guard lost > 0 else { return }
        let entries = lost == 1 ? "1 journal entry was" : "\(lost) journal entries were"
        write(
            JournalEntry(
                "\(entries) lost: they came faster than the journal took them", priority: .warning,
                fields: [JournalField.adapting("CISTERN_LOST_ENTRIES", String(lost))]))
    }

    private func write(_ entry: JournalEntry) {
        do {
            try sink.write(entry)
        } catch {
            // If this fails too, there is nowhere left to report it.
            try? fallback?.write(entry)
        }
    }
}

/// How entries look on standard error.
public enum JournalFormat: String, Sendable, CaseIterable {
    /// The message alone. Each line begins with `<priority>`, as the manager understands it, unless a person at a terminal reads it.
    case text
    /// One object a line with every field, named and shaped as by `journalctl -o json`.
    case json
}

/// Where entries go.
public enum JournalTarget: String, Sendable, CaseIterable {
    /// To the journal if standard error is connected to it, else to standard error.
    case auto
    /// Natively to the journal, wherever standard error leads.
    case journal
    /// To standard error, in the form of ``JournalFormat``.
    case stderr

    /// Whether `descriptor` is the stream to the journal that `$JOURNAL_STREAM` (`device:inode`) describes.
    public static func isJournalStream(
        _ descriptor: Int32 = STDERR_FILENO,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        let parts = (environment["JOURNAL_STREAM"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]) else { return false }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return false }
        return UInt64(information.st_dev) == device && UInt64(information.st_ino) == inode
    }

    /// Whether entries go to the journal natively.
    func isNative(descriptor: Int32, environment: [String: String]) -> Bool {
        switch self {
        case .auto: Self.isJournalStream(descriptor, environment: environment)
        case .journal: true
        case .stderr: false
        }
    }
}
