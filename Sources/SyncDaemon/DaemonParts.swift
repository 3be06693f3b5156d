import SyncConfiguration
import SyncPipeline

/// Where the document and the pipeline come from. `ManagedParts` makes the real ones; tests put others in their place.
public protocol DaemonParts: Sendable {
    /// Opens the document and makes the pipeline, which is not started. May take as long as the store takes to open; called on a thread that
    /// may block.
    /// - Parameters:
    ///   - observer: gets every event of the pipeline.
    ///   - onSaved: called after each save that is on disk.
    /// - Throws: `StartFailure`
    func assemble(
        _ configuration: CisternConfiguration, observer: @escaping @Sendable (SyncEvent) -> Void, onSaved: @escaping @Sendable () -> Void
    ) throws -> DaemonEngine
}
