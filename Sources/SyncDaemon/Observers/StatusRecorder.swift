import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization

/// Keeps what the events say about the present, and puts it into the one sentence that `systemctl status` shows.
public final class StatusRecorder: Sendable {
    private let board: Mutex<StatusBoard>
    private let now: @Sendable () -> Date

    public init(configuration: CisternConfiguration, now: @escaping @Sendable () -> Date = { Date() }) {
        board = Mutex(StatusBoard(configuration: configuration))
        self.now = now
    }

    /// Takes in what happened.
    public func record(_ event: SyncEvent) {
        let now = now()
        board.withLock { $0.record(event, at: now) }
    }

    /// A new configuration is in force.
    public func reload(_ configuration: CisternConfiguration) {
        board.withLock { $0.reload(configuration) }
    }

    /// What was known before the first event: from the pipeline's stored state.
    public func seed(_ resources: [ResourceStatus]) {
        let now = now()
        board.withLock { $0.seed(resources, at: now) }
    }

    /// A save of the document is on disk.
    public func saved() {
        let now = now()
        board.withLock { $0.lastSave = now }
    }

    func setStopping() { board.withLock { $0.isStopping = true } }

    /// The sentence for `STATUS=`.
    public var text: String {
        let now = now()
        return RemoteText.line(board.withLock { $0.text(at: now) })
    }

    /// Whether that sentence says that something is wrong.
    var isDegraded: Bool {
        let now = now()
        return board.withLock { $0.trouble(at: now) != nil }
    }

    /// The sentence that goes with READY.
    public var readyText: String {
        let now = now()
        return RemoteText.line(board.withLock { $0.readyText(at: now) })
    }

    /// What the document's part of a snapshot says about saving.
    public var document: (lastSave: Date?, error: String?, held: String?) {
        board.withLock { ($0.lastSave, $0.saveError.map { RemoteText.line($0) }, $0.held.map { RemoteText.line("\($0)") }) }
    }
}
