import SyncControl

/// What stands behind the routes of the control socket. Every failure is a `ControlError`.
public protocol ControlBackend: Sendable {
    func version() -> ControlVersion
    func status() async -> StatusSnapshot
    func configuration() -> RunningConfiguration
    func quarantine(id: String?, limit: Int, skip: Int) async throws(ControlError) -> [QuarantineEntry]
    /// With `wait`, returns when the new configuration is in force.
    func reload(wait: Bool) async throws(ControlError) -> ControlResponse
    func pause(_ scope: String?) async throws(ControlError) -> ControlResponse
    func resume(_ scope: String?) async throws(ControlError) -> ControlResponse
    func acceptDeletes(_ scope: String) async throws(ControlError) -> ControlResponse
    /// Polls now and returns at once.
    func sync(_ scope: String?, full: Bool) async throws(ControlError) -> ControlResponse
    /// Polls now. The sequence ends after the line `finished` or `failed`.
    func syncProgress(_ scope: String?, full: Bool) async throws(ControlError) -> AsyncStream<SyncProgress>
}
