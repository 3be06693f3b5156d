import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization
import Systemd

/// What the daemon needs of the pipeline. `SyncPipeline` is it; tests put a recorder in its place.
public protocol SyncPipelining: Sendable {
    /// Arms the schedule.
    func start() async throws
    /// Takes no more work; finishes the open pages within `grace`, or rolls them back. Called a second time, with a shorter time, it cuts
    /// the first call short.
    func stop(grace: Duration) async
    /// Returns, after a stop, when no run is open any more: one that the stop has given up on may still be.
    func ended() async
    /// Puts a new configuration into force. Running pages are not dropped.
    func reload(_ configuration: CisternConfiguration) async throws
    /// Polls now, within the limits. With `wait`, returns after the save that holds the last page; else at once and with nothing.
    func sync(_ scope: String?, cause: RunCause, full: Bool, wait: Bool) async throws -> [RunReport]
    /// Maps archived bodies once more, and asks no server. With `wait`, returns after the save that holds the last page; else at once and with nothing. Throws
    /// `SyncError.unknownScope` and `SyncError.notKept`.
    func replay(_ scope: String?, wait: Bool) async throws -> [RunReport]
    /// Keeps resources from being polled until `resume`, across restarts; nil means all. Throws `SyncError.unknownScope`, and what the store says.
    func pause(_ scope: String?) async throws
    /// Ends a pause and a wait that a server asked for, and polls; nil means all. Throws `SyncError.unknownScope`, and what the store says.
    func resume(_ scope: String?) async throws
    /// Lets the held deletions of a resource through, once.
    func acceptDeletes(_ scope: String) async throws
    /// Forgets parts of what is remembered of a source or a resource. Throws `SyncError.unknownScope`, `SyncError.stopping`, and what the store says.
    func reset(_ scope: String, _ parts: Set<ResetPart>) async throws
    /// The state of every resource of the configuration, in its order.
    func resources() async -> [ResourceStatus]
    /// The newest records that were set aside, after `skip` newer ones; with `id`, those whose id begins so.
    func quarantine(id: String?, limit: Int, skip: Int) async throws -> [QuarantineEntry]
    /// After a stop: the polls that somebody had asked for without waiting for them, and that the stop left undone.
    var unserved: [UnservedPoll] { get }
    /// Whether things move; answers at once.
    var liveness: PipelineLiveness { get }
}

extension SyncPipeline: SyncPipelining {
    /// Those of `status()`, by name.
    public func resources() async -> [ResourceStatus] { await status().resources }
}

/// Hands each event of the pipeline to everyone who wants to know. Listeners are called one after the other on the thread that sends, with
/// no lock held; they return quickly and do not call back.
final class EventHub: Sendable {
    struct Token: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct State {
        var next = 0
        var listeners: [(token: Token, listener: @Sendable (SyncEvent) -> Void)] = []
    }

    private let state = Mutex(State())

    func listen(_ listener: @escaping @Sendable (SyncEvent) -> Void) -> Token {
        state.withLock { state in
            state.next += 1
            let token = Token(number: state.next)
            state.listeners.append((token, listener))
            return token
        }
    }

    func remove(_ token: Token) {
        state.withLock { $0.listeners.removeAll { $0.token == token } }
    }

    func send(_ event: SyncEvent) {
        for (_, listener) in state.withLock({ $0.listeners }) { listener(event) }
    }
}

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
