// Paths stand in the configuration as they are evaluated: their names are a part of this interface.
@_exported import JSONPaths

/// The whole configuration: read, checked and resolved. A reload makes a new one; nothing in it ever changes.
public struct CisternConfiguration: Sendable, Hashable {
    /// `[daemon]`: the process as a whole, and how it starts and stops.
    public var daemon = DaemonConfiguration()
    /// `[document]`: where the data lives, and when it is saved; a change of `path` needs a restart.
    public var document = DocumentConfiguration()
    /// `[store]`; for a change the document is closed and opened again.
    public var store = StoreConfiguration()
    /// `[log]`; a reload applies it at once.
    public var log = LogConfiguration()
    /// `[control]`; every change needs a restart.
    public var control = ControlConfiguration()
    /// In the order of the files. May be empty: a daemon without sources stays up and says so.
    public var sources: [SourceConfiguration] = []
    /// `[model]` and every `[entity.NAME]`: what the records become.
    public var model = ModelConfiguration()

    /// The built-in values: no sources, no entities.
    public init() {}

    /// The source of this name.
    public func source(named name: String) -> SourceConfiguration? {
        sources.first { $0.name == name }
    }

    /// The resource a scope such as `github/repos` names.
    public func resource(scope: String) -> ResourceConfiguration? {
        for source in sources {
            if let resource = source.resources.first(where: { $0.scope == scope }) { return resource }
        }
        return nil
    }
}

/// `[daemon]`: the process as a whole.
public struct DaemonConfiguration: Sendable, Hashable {
    /// The first poll after a start.
    public enum Start: String, Sendable, Hashable, CaseIterable {
        /// Resources that are due are spread over ``DaemonConfiguration/staggerWindow``.
        case stagger
        /// Resources that are due are polled at once.
        case now
        /// Nothing is polled before its next regular time.
        case wait
    }

    /// The name in the status line, in journal fields and in the `User-Agent`.
    public var name = "cisternd"
    /// A mail address or URL added to the `User-Agent`; empty for none.
    public var contact = ""
    /// `daemon.start`, default `stagger`.
    public var start = Start.stagger
    /// `daemon.stagger_window`, default 30 s, at most 24 h: with `start = "stagger"` each first poll falls at random into this span.
    public var staggerWindow = TimeSpan.seconds(30)
    /// Whether a restart never polls sooner than the stored next time.
    public var restartGuard = true
    /// How long an open page may take to finish after a request to stop.
    public var shutdownGrace = TimeSpan.seconds(20)
    /// `daemon.max_parallel_requests`: requests under way at once, over all sources. 1 to 1024, default 8.
    public var maxParallelRequests = 8
    /// `daemon.max_parallel_parses`: pages parsed at once. 1 to 256, default 2.
    public var maxParallelParses = 2

    /// The built-in values.
    public init() {}
}

/// `[store]`: how the rows are kept.
public struct StoreConfiguration: Sendable, Hashable {
    /// How much of what was committed a power loss may take.
    public enum Synchronous: String, Sendable, Hashable, CaseIterable {
        /// A commit survives a power loss.
        case full
        /// A power loss may take the last commits, but never damages the file.
        case normal
    }

    /// When SQLite's `quick_check` reads the whole file at a start.
    public enum IntegrityCheck: String, Sendable, Hashable, CaseIterable {
        /// The file is never checked at a start.
        case off
        /// The structure of the file, at the first start after an end that was not clean. Values are compared by `cisternctl verify`.
        case afterUncleanEnd = "after-unclean-end"
        /// The same at every start.
        case quickOnStart = "quick-on-start"
    }

    /// What happens at a start when the model of the configuration is not the one that the store was written with.
    public enum SchemaChangeRule: String, Sendable, Hashable, CaseIterable {
        /// The store is brought to the model. What would lose values needs a word in the configuration: `renamed_from` or `drop`.
        case migrateLight = "migrate-light"
        /// The daemon does not start.
        case refuse
    }

    /// `store.synchronous`, default `full`.
    public var synchronous = Synchronous.full
    /// The size of the write-ahead log that triggers a checkpoint.
    public var checkpointWAL = ByteCount.mebibytes(64)
    /// `store.busy_timeout`: how long to wait for another process's lock. Default 5 s, at most 10 min; zero does not wait.
    public var busyTimeout = TimeSpan.seconds(5)
    /// `store.integrity_check`, default `after-unclean-end`.
    public var integrityCheck = IntegrityCheck.afterUncleanEnd
    /// `store.on_schema_change`, default `migrate-light`.
    public var onSchemaChange = SchemaChangeRule.migrateLight
    /// With less free disk space than this, fetching waits.
    public var minFreeDisk = ByteCount.mebibytes(256)
    /// Whether the log files stay when the store closes, so that readers of the group can open it while the daemon is stopped.
    public var persistWAL = true
    /// The group that may read the database; empty for none.
    public var readGroup = "cistern"
    /// `[store.backup]`; a reload applies it at once.
    public var backup = BackupConfiguration()

    /// The built-in values.
    public init() {}
}

/// `[store.backup]`: the copies that the daemon makes of the document while it works.
public struct BackupConfiguration: Sendable, Hashable {
    /// `store.backup.every`: how old the newest one may get before the daemon makes another by itself; 1 min to 366 days. Nil, the default: it makes none
    /// by itself.
    public var every: TimeSpan?
    /// `store.backup.keep`: how many remain once another one is complete, those included that somebody asked for. 1 to 1000, default 7.
    public var keep = 7
    /// `store.backup.dir`: the folder that they are in. In a configuration that was read, `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY` are already filled in.
    public var directory = "$STATE_DIRECTORY/backup"

    /// The built-in values.
    public init() {}
}

/// `[document]`: the package the data lives in, and when it saves itself. Whichever of the three limits is reached first triggers a save.
public struct DocumentConfiguration: Sendable, Hashable {
    /// The document package. In a configuration that was read, `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY` are already filled in.
    public var path = "$STATE_DIRECTORY"
    /// The age of the oldest unsaved change.
    public var autosaveInterval = TimeSpan.seconds(15)
    /// The number of changed objects.
    public var autosaveChanges = 5000
    /// The size of the rows waiting.
    public var autosaveBytes = ByteCount.mebibytes(16)

    /// The built-in values.
    public init() {}
}

/// `[log]`: where messages go.
public struct LogConfiguration: Sendable, Hashable {
    /// Where lines are written.
    public enum Target: String, Sendable, Hashable, CaseIterable {
        /// The journal when standard error is connected to it, standard error otherwise.
        case auto
        /// Natively to the journal, with fields, wherever standard error leads.
        case journal
        /// To standard error, in ``LogConfiguration/format``.
        case stderr
    }

    /// From the least to the most severe; a level lets itself and all more severe ones through.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// `log.level` by name; `trace` counts as `debug`.
        case trace, debug, info, notice, warning, error, critical
    }

    /// The format of lines on standard error.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// The message alone.
        case text
        /// One object a line, with every field.
        case json
    }

    /// What is written of each request and its answer.
    public enum HTTPTrace: String, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case off
        /// Address, status, sizes, times, and headers as far as they are harmless.
        case headers
    }

    /// `log.target`, default `auto`.
    public var target = Target.auto
    /// `log.level`: less severe messages are dropped; `trace` counts as `debug`. Default `info`.
    public var level = Level.info
    /// `log.format`, default `text`; without effect on the journal, which gets fields.
    public var format = Format.text
    /// `log.trace_http`, default `off`: what is written of exchanges with servers, into files below the state directory.
    public var traceHTTP = HTTPTrace.off
    /// `log.trace_http_max`: the most that these files take, 64 KiB to 16 GiB. Default 16 MiB; the oldest lines go.
    public var traceHTTPMax = ByteCount.mebibytes(16)

    /// The built-in values.
    public init() {}
}

/// `[control]`: the socket `cisternctl` talks to.
public struct ControlConfiguration: Sendable, Hashable {
    /// The path of the socket. In a configuration that was read, `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY` are already filled in.
    public var socket = "$RUNTIME_DIRECTORY/control.sock"
    /// `steer_group`: the group whose members may steer; anyone who may connect may look. Empty: only root and the user the daemon runs as may steer.
    public var steerGroup = ""

    /// The built-in values.
    public init() {}
}
