import Foundation
// Events about runs use the types of SyncReports, so its names are part of this interface.
@_exported import SyncReports

/// Everything the daemon says about itself at one moment: the answer to `GET /v1/status`.
public struct StatusSnapshot: Sendable, Hashable, Codable {
    /// The daemon's wall time when it was taken; ages count back from it.
    public var generatedAt: Date
    /// What the process says of itself.
    public var daemon: Daemon
    /// What is on disk and what is not yet.
    public var document: Document
    /// In the order of the configuration.
    public var resources: [ResourceStatus]

    /// A snapshot as it is given.
    public init(generatedAt: Date, daemon: Daemon, document: Document, resources: [ResourceStatus]) {
        self.generatedAt = generatedAt
        self.daemon = daemon
        self.document = document
        self.resources = resources
    }

    enum CodingKeys: String, CodingKey {
        case daemon, document, resources
        case generatedAt = "generated_at"
    }

    /// The process.
    public struct Daemon: Sendable, Hashable, Codable {
        /// Its name in the configuration: `[daemon] name`.
        public var name: String
        /// The daemon's build, not the tool's.
        public var version: String
        /// Its process ID.
        public var pid: Int32
        /// `starting`, `ready`, `reloading`, `stopping` or `stopped`.
        public var state: String
        /// Wall time at which the daemon started.
        public var startedAt: Date
        /// The number of the configuration in force; it counts from 1 at each start.
        public var configurationGeneration: Int
        /// Wall time since which that configuration is in force; a refused reload does not move it.
        public var configurationLoadedAt: Date
        /// Why the last reload was refused; `nil` if it was not.
        public var reloadError: String?
        /// The sentence the service manager shows.
        public var status: String
        /// Whether that sentence says that something is wrong; `nil` from a daemon that does not tell.
        public var degraded: Bool?
        /// Whether it is watched, and what its liveness checks said last.
        public var watchdog: Watchdog

        /// `reloadError` nil: the last reload was not refused; `degraded` nil: the daemon does not tell.
        public init(
            name: String, version: String, pid: Int32, state: String, startedAt: Date, configurationGeneration: Int,
            configurationLoadedAt: Date, reloadError: String? = nil, status: String, degraded: Bool? = nil, watchdog: Watchdog
        ) {
            self.degraded = degraded
            self.name = name
            self.version = version
            self.pid = pid
            self.state = state
            self.startedAt = startedAt
            self.configurationGeneration = configurationGeneration
            self.configurationLoadedAt = configurationLoadedAt
            self.reloadError = reloadError
            self.status = status
            self.watchdog = watchdog
        }

        enum CodingKeys: String, CodingKey {
            case name, version, pid, state, status, degraded, watchdog
            case startedAt = "started_at"
            case configurationGeneration = "configuration_generation"
            case configurationLoadedAt = "configuration_loaded_at"
            case reloadError = "reload_error"
        }
    }

    /// Whether the process can prove that it is alive.
    public struct Watchdog: Sendable, Hashable, Codable {
        /// Whether the service manager watches.
        public var enabled: Bool
        /// How long it waits for a sign of life, in seconds.
        public var intervalSeconds: Double?
        /// The tests that failed last; empty when all is well.
        public var failing: [String]

        /// `intervalSeconds` is nil if nobody watches.
        public init(enabled: Bool, intervalSeconds: Double? = nil, failing: [String] = []) {
            self.enabled = enabled
            self.intervalSeconds = intervalSeconds
            self.failing = failing
        }

        enum CodingKeys: String, CodingKey {
            case enabled, failing
            case intervalSeconds = "interval_s"
        }
    }

    /// The document and what of it is not on disk yet.
    public struct Document: Sendable, Hashable, Codable {
        /// The document's package; before it is open, where the configuration has it.
        public var path: String
        /// Changed objects in memory that are not on disk yet.
        public var unsavedChanges: Int
        /// Seconds since the oldest of them was made; nil if there is none.
        public var oldestUnsavedSeconds: Double?
        /// Wall time of the last save; nil if there was none since the start.
        public var lastSaveAt: Date?
        /// Why the last save failed; `nil` if it did not.
        public var error: String?
        /// Why fetching waits; `nil` if it does not.
        public var held: String?
        /// What is done to the database while it is opened, such as `Bringing the database to the changed model, 40 %`; also set while a reload
        /// saves, before it closes the database. Nil while the database is open otherwise, and between an opening that failed and the way back.
        public var opening: String?

        /// Wall time of the newest backup; nil if there is none.
        public var lastBackupAt: Date?
        /// Why the last backup could not be made; nil if it was, or none was tried since the start.
        public var backupError: String?

        /// Without optional arguments: everything is saved, nothing failed, and nothing waits.
        public init(
            path: String, unsavedChanges: Int = 0, oldestUnsavedSeconds: Double? = nil, lastSaveAt: Date? = nil, error: String? = nil,
            held: String? = nil, opening: String? = nil, lastBackupAt: Date? = nil, backupError: String? = nil
        ) {
            self.path = path
            self.unsavedChanges = unsavedChanges
            self.oldestUnsavedSeconds = oldestUnsavedSeconds
            self.lastSaveAt = lastSaveAt
            self.error = error
            self.held = held
            self.opening = opening
            self.lastBackupAt = lastBackupAt
            self.backupError = backupError
        }

        enum CodingKeys: String, CodingKey {
            case path, error, held, opening
            case unsavedChanges = "unsaved_changes"
            case oldestUnsavedSeconds = "oldest_unsaved_s"
            case lastSaveAt = "last_save_at"
            case lastBackupAt = "last_backup_at"
            case backupError = "backup_error"
        }
    }
}

/// The answer to `GET /v1/config`: the configuration the daemon runs with.
public struct RunningConfiguration: Sendable, Hashable, Codable {
    /// Counts from 1 at each start.
    public var generation: Int
    /// Wall time since which it is in force.
    public var loadedAt: Date
    /// The files it was read from, in the order they were merged.
    public var files: [String]
    /// Every setting with its origin. Secrets are references and stay references.
    public var toml: String

    /// An answer as it is given.
    public init(generation: Int, loadedAt: Date, files: [String], toml: String) {
        self.generation = generation
        self.loadedAt = loadedAt
        self.files = files
        self.toml = toml
    }

    enum CodingKeys: String, CodingKey {
        case generation, files, toml
        case loadedAt = "loaded_at"
    }
}

/// The version of this build. Daemon and tool are built together and have the same.
public enum CisternVersion {
    /// Major, minor, patch.
    public static let current = "0.1.0"
}
