/// `[store]`: how the rows are kept.
public struct StoreConfiguration: Sendable, Hashable {
    public enum Synchronous: String, Sendable, Hashable, CaseIterable {
        /// A commit survives the loss of power.
        case full
        /// The loss of power may take the last commits, but never damages the file.
        case normal
    }

    public enum IntegrityCheck: String, Sendable, Hashable, CaseIterable {
        case off
        /// The structure of the file, at the first start after an end that was not clean. Values are compared by `cisternctl verify`.
        case afterUncleanEnd = "after-unclean-end"
        /// The same at every start.
        case quickOnStart = "quick-on-start"
    }

    public var synchronous = Synchronous.full
    /// The size of the write-ahead log that triggers a checkpoint.
    public var checkpointWAL = ByteCount.mebibytes(64)
    public var busyTimeout = TimeSpan.seconds(5)
    public var integrityCheck = IntegrityCheck.afterUncleanEnd
    /// Below this much free disk, fetching pauses.
    public var minFreeDisk = ByteCount.mebibytes(256)
    /// Whether the log files stay when the store closes, so that readers of the group can open it while the daemon is stopped.
    public var persistWAL = true
    /// The group that may read the database; empty for none.
    public var readGroup = "cistern"

    /// The built-in values.
    public init() {}
}
