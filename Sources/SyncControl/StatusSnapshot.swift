import Foundation

/// Everything the daemon says about itself at one moment: the answer to `GET /v1/status`.
public struct StatusSnapshot: Sendable, Hashable, Codable {
    public var generatedAt: Date
    public var daemon: Daemon
    public var document: Document
    /// In the order of the configuration.
    public var resources: [ResourceStatus]

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
        public var name: String
        public var version: String
        public var pid: Int32
        /// `starting`, `ready`, `reloading`, `stopping` or `stopped`.
        public var state: String
        public var startedAt: Date
        /// The number of the configuration in force; it counts from 1 at each start.
        public var configurationGeneration: Int
        public var configurationLoadedAt: Date
        /// Why the last reload was refused; `nil` if it was not.
        public var reloadError: String?
        /// The sentence the service manager shows.
        public var status: String
        /// Whether that sentence says that something is wrong; `nil` from a daemon that does not tell.
        public var degraded: Bool?
        public var watchdog: Watchdog

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
        public var path: String
        public var unsavedChanges: Int
        public var oldestUnsavedSeconds: Double?
        public var lastSaveAt: Date?
        /// Why the last save failed; `nil` if it did not.
        public var error: String?
        /// Why fetching waits; `nil` if it does not.
        public var held: String?

        public init(
            path: String, unsavedChanges: Int = 0, oldestUnsavedSeconds: Double? = nil, lastSaveAt: Date? = nil, error: String? = nil,
            held: String? = nil
        ) {
            self.path = path
            self.unsavedChanges = unsavedChanges
            self.oldestUnsavedSeconds = oldestUnsavedSeconds
            self.lastSaveAt = lastSaveAt
            self.error = error
            self.held = held
        }

        enum CodingKeys: String, CodingKey {
            case path, error, held
            case unsavedChanges = "unsaved_changes"
            case oldestUnsavedSeconds = "oldest_unsaved_s"
            case lastSaveAt = "last_save_at"
        }
    }
}
