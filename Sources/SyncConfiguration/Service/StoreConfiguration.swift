/// `[store]`: how the rows are kept.
public struct StoreConfiguration: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case sqlite
    }

    public enum Synchronous: String, Sendable, Hashable, CaseIterable {
        /// A commit survives the loss of power.
        case full
        /// The loss of power may take the last commits, but never damages the file.
        case normal
    }

    public enum IntegrityCheck: String, Sendable, Hashable, CaseIterable {
        case off
        case quickOnStart = "quick-on-start"
    }

    public enum JournalMode: String, Sendable, Hashable, CaseIterable {
        case wal
    }

    public enum SchemaChange: String, Sendable, Hashable, CaseIterable {
        case migrateLight = "migrate-light"
    }

    public var kind = Kind.sqlite
    public var synchronous = Synchronous.full
    /// In force; not to be set in this version.
    public private(set) var journalMode = JournalMode.wal
    /// The size of the write-ahead log that triggers a checkpoint.
    public var checkpointWAL = ByteCount.mebibytes(64)
    public var busyTimeout = TimeSpan.seconds(5)
    public var integrityCheck = IntegrityCheck.quickOnStart
    /// Below this much free disk, fetching pauses.
    public var minFreeDisk = ByteCount.mebibytes(256)
    /// In force; not to be set in this version.
    public private(set) var onSchemaChange = SchemaChange.migrateLight
    /// Whether the log files stay when the store closes, so that readers of the group can open it while the daemon is stopped.
    public var persistWAL = true
    /// The group that may read the database; empty for none.
    public var readGroup = "cistern"

    /// The built-in values.
    public init() {}
}
