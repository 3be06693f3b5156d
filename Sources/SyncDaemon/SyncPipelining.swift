import SyncConfiguration
import SyncControl
import SyncPipeline

/// What the daemon needs of the pipeline. `SyncPipeline` is it; tests put a recorder in its place.
public protocol SyncPipelining: Sendable {
    /// Arms the schedule.
    func start() async throws
    /// Takes no more work; finishes the open pages within `grace`, or rolls them back. Called a second time, with a shorter time, it cuts
    /// the first call short.
    func stop(grace: Duration) async
    /// Puts a new configuration into force. Running pages are not dropped.
    func reload(_ configuration: CisternConfiguration) async throws
    /// Polls now, within the limits. With `wait`, returns after the save that holds the last page; else at once and with nothing.
    func sync(_ scope: String?, cause: RunCause, full: Bool, wait: Bool) async throws -> [RunReport]
    func pause(_ scope: String?) async throws
    func resume(_ scope: String?) async throws
    /// Lets the held deletions of a resource through, once.
    func acceptDeletes(_ scope: String) async throws
    /// The state of every resource of the configuration, in its order.
    func resources() async -> [ResourceStatus]
    /// The newest records that were set aside, after `skip` newer ones; with `id`, those whose id begins so.
    func quarantine(id: String?, limit: Int, skip: Int) async throws -> [QuarantineEntry]
    /// Whether things move; answers at once.
    var liveness: PipelineLiveness { get }
}
