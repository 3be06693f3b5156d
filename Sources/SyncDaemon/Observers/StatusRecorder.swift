import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization

/// Keeps what the events say about the present, and puts it into the one sentence that `systemctl status` shows.
public final class StatusRecorder: Sendable {
    private let summary: Mutex<StatusSummary>
    private let now: @Sendable () -> Date

    /// Knows nothing of how the resources stand until ``seed(_:)`` or an event. `now` gives wall time.
    public init(configuration: CisternConfiguration, now: @escaping @Sendable () -> Date = { Date() }) {
        summary = Mutex(StatusSummary(configuration: configuration))
        self.now = now
    }

    /// Takes in what happened.
    public func record(_ event: SyncEvent) {
        let now = now()
        summary.withLock { $0.record(event, at: now) }
    }

    /// A new configuration is in force.
    public func reload(_ configuration: CisternConfiguration) {
        summary.withLock { $0.reload(configuration) }
    }

    /// What was known before the first event: from the pipeline's stored state.
    public func seed(_ resources: [ResourceStatus]) {
        let now = now()
        summary.withLock { $0.seed(resources, at: now) }
    }

    /// A save of the document is on disk.
    public func saved() {
        let now = now()
        summary.withLock { $0.lastSave = now }
    }

    /// When the newest backup was made that an earlier process has left.
    func seedBackup(_ time: Date?) { summary.withLock { $0.lastBackup = time } }

    /// What the document's part of a snapshot says about backups.
    var backup: (last: Date?, error: String?) { summary.withLock { ($0.lastBackup, $0.backupError.map { RemoteText.line($0) }) } }

    /// The database is being opened, with these words for what is done to it; nil: it is open, or will not be.
    func opening(_ words: String?) { summary.withLock { $0.opening = words } }

    func setStopping() { summary.withLock { $0.isStopping = true } }

    /// The sentence for `STATUS=`.
    public var text: String {
        let now = now()
        return RemoteText.line(summary.withLock { $0.text(at: now) })
    }

    /// Whether that sentence says that something is wrong.
    var isDegraded: Bool {
        let now = now()
        return summary.withLock { $0.trouble(at: now) != nil }
    }

    /// The sentence that goes with READY.
    public var readyText: String {
        let now = now()
        return RemoteText.line(summary.withLock { $0.readyText(at: now) })
    }

    /// What the document's part of a snapshot says about saving, and about opening.
    public var document: (lastSave: Date?, error: String?, held: String?, opening: String?) {
        summary.withLock { ($0.lastSave, $0.saveError.map { RemoteText.line($0) }, $0.held.map { RemoteText.line("\($0)") }, $0.opening) }
    }
}

/// The status as entries of the journal: one for the process, one for each resource.
enum StatusDump {
    struct Line: Sendable, Equatable {
        var text: String
        var fields: [(String, String)]

        static func == (left: Line, right: Line) -> Bool {
            left.text == right.text && left.fields.elementsEqual(right.fields, by: ==)
        }
    }

    static func lines(_ snapshot: StatusSnapshot) -> [Line] {
        [process(snapshot)] + snapshot.resources.map { resource($0, at: snapshot.generatedAt) }
    }

    private static func process(_ snapshot: StatusSnapshot) -> Line {
        let document = snapshot.document
        var text = "\(snapshot.daemon.status); configuration \(snapshot.daemon.configurationGeneration), "
        text += "\(document.unsavedChanges) unsaved changes in \(document.path)"
        if let oldest = document.oldestUnsavedSeconds { text += ", the oldest for \(RelativeTime.text(oldest))" }
        if let error = document.error { text += "; the last save failed: \(error)" }
        if !snapshot.daemon.watchdog.failing.isEmpty { text += "; failing checks: \(snapshot.daemon.watchdog.failing.joined(separator: "; "))" }
        return Line(
            text: text,
            fields: [
                ("CISTERN_VERSION", snapshot.daemon.version), ("CISTERN_CONFIG_GENERATION", "\(snapshot.daemon.configurationGeneration)"),
                ("CISTERN_UNSAVED", "\(document.unsavedChanges)"),
            ])
    }

    private static func resource(_ resource: ResourceStatus, at now: Date) -> Line {
        var text = "\(resource.scope): \(resource.health.rawValue)"
        if let age = resource.ageSeconds { text += ", last success \(RelativeTime.text(age)) ago" }
        if let next = resource.nextPollAt { text += ", next poll in \(RelativeTime.text(next.timeIntervalSince(now)))" }
        if let interval = resource.intervalSeconds { text += ", every \(RelativeTime.text(interval))" }
        if let objects = resource.objects { text += ", \(objects) objects" }
        if resource.heldDeletes > 0 { text += ", \(resource.heldDeletes) deletions held back" }
        if let error = resource.error { text += "; \(error)" }
        var fields = [("CISTERN_SOURCE", resource.scope.source), ("CISTERN_RESOURCE", resource.scope.resource)]
        fields.append(("CISTERN_STATE", resource.health.rawValue))
        if let status = resource.httpStatus { fields.append(("CISTERN_HTTP_STATUS", "\(status)")) }
        return Line(text: text, fields: fields)
    }
}
