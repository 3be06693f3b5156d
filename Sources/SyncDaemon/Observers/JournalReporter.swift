import Foundation
import OpenCoreData
import SyncPipeline
import Synchronization
import Systemd

/// Writes what happens into the journal: at most one line for a run that changed something, none for a run that changed nothing, and of
/// equal complaints the 1st, 2nd, 4th, 8th …
public final class JournalReporter: Sendable {
    private let formatter: Mutex<JournalFormatter>
    private let threshold: Mutex<JournalPriority>
    private let write: @Sendable (JournalEntry) -> Void

    /// - Parameters:
    ///   - threshold: less urgent entries are left out.
    ///   - write: takes an entry; returns quickly.
    public init(threshold: JournalPriority = .info, write: @escaping @Sendable (JournalEntry) -> Void) {
        formatter = Mutex(JournalFormatter())
        self.threshold = Mutex(threshold)
        self.write = write
    }

    /// A reload may change it.
    public func setThreshold(_ priority: JournalPriority) { threshold.withLock { $0 = priority } }

    /// Writes the entry that the event is worth, if any. Details of single pages and attempts only if the threshold is `debug`.
    public func observe(_ event: SyncEvent) {
        let isDetailed = threshold.withLock { $0 } >= .debug
        let entry = formatter.withLock { formatter in
            formatter.isDetailed = isDetailed
            return formatter.entry(for: event)
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

/// Tells the service manager how things are after each event that changes the sentence: `Notify` has it made and sends it, at most once a second.
public final class NotifyReporter: Sendable {
    private let notify: Notify
    private let recorder: StatusRecorder

    /// - Parameter recorder: whose sentence is sent. It has to hear the events too.
    public init(notify: Notify, recorder: StatusRecorder) {
        self.notify = notify
        self.recorder = recorder
    }

    /// To be called after the recorder has recorded the event.
    public func observe(_ event: SyncEvent) {
        guard notify.isActive, Self.isNews(event) else { return }
        // With many resources there is news all the time, and the sentence goes through all of them.
        notify.status { [recorder] in recorder.text }
    }

    static func isNews(_ event: SyncEvent) -> Bool {
        switch event {
        case .quarantined, .deletesHeld, .retrying, .authenticationRejected, .tokenFetched, .refused: false
        default: true
        }
    }
}

/// Reports in the journal what the object graph noticed by itself: it is not a failure.
enum DiagnosticFormatter {
    static func entry(for diagnostic: ContextDiagnostic) -> JournalEntry {
        var fields = [("CISTERN_DIAGNOSTIC", diagnostic.kind.rawValue)]
        if let subject = diagnostic.subject { fields.append(("CISTERN_CONTEXT", subject)) }
        if !diagnostic.stack.isEmpty { fields.append(("CISTERN_STACK", diagnostic.stack.joined(separator: "\n"))) }
        var message = diagnostic.message
        if let place = diagnostic.stack.first { message += " It came from \(place)." }
        return JournalEntry(message, priority: .warning, fields: JournalFormatter.make(fields))
    }
}
