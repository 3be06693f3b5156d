extension DaemonConfiguration: ConfigurationTable {
    /// What SIGUSR1 does.
    private enum PollSignal: String, CaseIterable {
        /// Every resource that may be polled becomes due; all limits still hold.
        case dueNow = "due-now"
    }

    /// What SIGUSR2 does.
    private enum DumpSignal: String, CaseIterable {
        /// The whole status is written to the journal.
        case dumpStatus = "dump-status"
    }

    static var keys: [Key<Self>] {
        [
            Key("name", .name, \.name),
            Key("contact", .text("a mail address or URL", isEmptyAllowed: true, maxLength: 256), \.contact),
            Key("start", .choice(Start.self), \.start),
            Key("stagger_window", .timeSpan(.zero ... .hours(24)), \.staggerWindow),
            Key("restart_guard", .bool, \.restartGuard),
            Key("on_sigusr1", .choice(PollSignal.self), always: .dueNow),
            Key("on_sigusr2", .choice(DumpSignal.self), always: .dumpStatus),
            Key("shutdown_grace", .timeSpan(.zero ... .minutes(10)), \.shutdownGrace),
            Key("max_parallel_requests", .integer(1...1024), \.maxParallelRequests),
            Key("max_parallel_parses", .integer(1...256), \.maxParallelParses),
            Key("max_parallel_writes", .integer(1...1), always: 1),
        ]
    }
}

extension DocumentConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("path", .path, \.path),
            Key("autosave_interval", .timeSpan(.milliseconds(100) ... .hours(1)), \.autosaveInterval),
            Key("autosave_changes", .integer(1...10_000_000), \.autosaveChanges),
            Key("autosave_bytes", .byteCount(.kibibytes(64) ... .gibibytes(4)), \.autosaveBytes),
        ]
    }
}

extension StoreConfiguration: ConfigurationTable {
    private enum Kind: String, CaseIterable {
        case sqlite
    }

    static var keys: [Key<Self>] {
        [
            Key("kind", .choice(Kind.self, later: ["postgresql"]), always: .sqlite),
            Key("synchronous", .choice(Synchronous.self), \.synchronous),
            .inForce("journal_mode", "wal"),
            Key("checkpoint_wal", .byteCount(.mebibytes(1) ... .gibibytes(64)), \.checkpointWAL),
            Key("busy_timeout", .timeSpan(.zero ... .minutes(10)), \.busyTimeout),
            Key("integrity_check", .choice(IntegrityCheck.self, later: ["full-weekly"]), \.integrityCheck),
            Key("min_free_disk", .byteCount(.zero ... .gibibytes(1 << 20)), \.minFreeDisk),
            Key("on_schema_change", .choice(SchemaChangeRule.self), \.onSchemaChange),
            Key("persist_wal", .bool, \.persistWAL),
            Key("read_group", .text("the name of a group", isEmptyAllowed: true, maxLength: 64), \.readGroup),
        ] + Key.structural("backup") + Key.later("history", "postgresql")
    }
}

extension BackupConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("every", Codec<TimeSpan>.timeSpan(.minutes(1) ... .days(366)).optional(), \.every),
            Key("keep", .integer(1...1000), \.keep),
            Key("dir", .path, \.directory),
        ]
    }
}

extension LogConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("target", .choice(Target.self), \.target),
            Key("level", .choice(Level.self), \.level),
            Key("format", .choice(Format.self), \.format),
            Key("trace_http", .choice(HTTPTrace.self, later: ["bodies"]), \.traceHTTP),
            Key("trace_http_max", .byteCount(.kibibytes(64) ... .gibibytes(16)), \.traceHTTPMax),
        ]
    }
}

extension ControlConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            Key("socket", .path, \.socket),
            Key("steer_group", .text("the name of a group", isEmptyAllowed: true, maxLength: 64), \.steerGroup),
        ]
    }
}

/// The top of a file.
struct TopTable: ConfigurationTable {
    static var keys: [Key<Self>] {
        [Key("version", .version, always: 1)]
            + Key.structural("daemon", "document", "store", "log", "control", "defaults", "source", "model", "entity")
            + Key.later("metrics")
    }
}

/// `[defaults]`, which has nothing but tables.
struct DefaultsTable: ConfigurationTable {
    static var keys: [Key<Self>] {
        Key.structural("schedule", "http", "tls", "retry", "rate", "breaker", "limits", "parse", "schema", "deletion")
    }
}

extension Codec where Value == Int {
    /// The number of the format.
    static var version: Codec {
        Codec(expected: "1", wrong: ["\"1\"", "0", "2", "1.0"]) { node in
            guard case .integer(let number) = node.value else { return mismatch(node, "the integer 1") }
            if number == 1 { return .value(1) }
            if number > 1 { return .wrong("format \(number) is newer than this program, which reads format 1", "install a newer version") }
            return .wrong("there is no format \(number)", "write version = 1")
        } toml: {
            "\($0)"
        }
    }
}
