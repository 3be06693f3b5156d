import Logging

/// One entry of the journal.
public struct JournalEntry: Sendable, Equatable {
    /// Where in the source an entry comes from.
    public struct Location: Sendable, Equatable {
        /// `CODE_FILE`: module and file, `SyncDaemon/SyncDaemon.swift`.
        public let file: String
        /// `CODE_LINE`, from 1.
        public let line: UInt
        /// `CODE_FUNC`
        public let function: String

        /// Without arguments, the place of the call.
        public init(file: String = #fileID, line: UInt = #line, function: String = #function) {
            self.file = file
            self.line = line
            self.function = function
        }
    }

    /// `MESSAGE`: what `journalctl` shows.
    public var message: String
    /// `PRIORITY`, also for entries of the catalogue: it need not be that of ``messageID``.
    public var priority: JournalPriority
    /// The catalogue explains entries that have one.
    public var messageID: MessageID?
    /// In addition to those that the properties stand for. A name may occur more than once.
    public var fields: [JournalField]
    /// `CODE_FILE`, `CODE_LINE` and `CODE_FUNC`; nil leaves all three out.
    public var location: Location?

    /// An entry with a priority of its own. Fields named like a property (`MESSAGE`, `PRIORITY` …) are passed over when it is written.
    public init(
        _ message: String, priority: JournalPriority, messageID: MessageID? = nil, fields: [JournalField] = [],
        location: Location? = nil
    ) {
        self.message = message
        self.priority = priority
        self.messageID = messageID
        self.fields = fields
        self.location = location
    }

    /// An entry of the catalogue, with its priority.
    public init(_ messageID: MessageID, _ message: String, fields: [JournalField] = [], location: Location? = nil) {
        self.init(message, priority: messageID.priority, messageID: messageID, fields: fields, location: location)
    }

    /// Names that the properties of an entry speak for.
    static let ownNames: Set<String> = [
        "MESSAGE", "PRIORITY", "MESSAGE_ID", "SYSLOG_IDENTIFIER", "CODE_FILE", "CODE_LINE", "CODE_FUNC",
    ]

    /// The entry as the journal gets it: its own fields first, then the additional ones.
    func allFields(identifier: String) -> [JournalField] {
        var all: [(String, String)] = [
            ("MESSAGE", message), ("PRIORITY", String(priority.rawValue)), ("SYSLOG_IDENTIFIER", identifier),
        ]
        if let messageID { all.append(("MESSAGE_ID", messageID.rawValue)) }
        if let location {
            all += [("CODE_FILE", location.file), ("CODE_LINE", String(location.line)), ("CODE_FUNC", location.function)]
        }
        return all.compactMap { JournalField($0.0, $0.1) } + fields.filter { !Self.ownNames.contains($0.name) }
    }
}

/// One `NAME=value` of a journal entry. The value may hold anything, line breaks too.
public struct JournalField: Sendable, Hashable {
    /// The longest name that the journal takes, in bytes.
    public static let longestName = 64

    /// Always valid: see ``isValid(_:)``.
    public let name: String
    /// Written as it is, whatever its length.
    public let value: String

    /// nil if the journal would refuse the name: it consists of `A`–`Z`, `0`–`9` and `_`, has at most 64 characters and begins
    /// with a letter (names that begin with `_` are the journal's own).
    public init?(_ name: String, _ value: String) {
        guard Self.isValid(name) else { return nil }
        self.name = name
        self.value = value
    }

    private init(trusted name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the journal takes the name from a client: `A`–`Z`, `0`–`9` and `_`, a letter first, at most ``longestName`` bytes.
    public static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first), name.utf8.count <= longestName else { return false }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// A field under a name of any shape: a valid one stays as it is. Others are put into upper case, every foreign character
    /// becomes `_`, and `CISTERN_` goes before unless it is there (`request id` → `CISTERN_REQUEST_ID`).
    public static func adapting(_ key: String, _ value: String) -> JournalField {
        if isValid(key) { return JournalField(trusted: key, value: value) }
        let bytes = key.uppercased().utf8.map { isLetter($0) || isDigit($0) ? $0 : UInt8(ascii: "_") }
        let name = String(decoding: bytes, as: UTF8.self)
        let own = name.hasPrefix("CISTERN_") ? name : "CISTERN_" + name
        return JournalField(trusted: String(own.prefix(longestName)), value: value)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}

/// Syslog's levels as the journal stores them; a smaller number is more urgent.
public enum JournalPriority: Int, Sendable, CaseIterable, Comparable {
    /// 0 (`emergency`) to 7 (`debug`), as in syslog.
    case emergency = 0, alert, critical, error, warning, notice, info, debug

    /// By number: the more urgent one is the smaller.
    public static func < (one: JournalPriority, other: JournalPriority) -> Bool { one.rawValue < other.rawValue }

    /// The priority for a level of swift-log: syslog knows no `trace`, which becomes `debug`.
    public init(_ level: Logger.Level) {
        switch level {
        case .critical: self = .critical
        case .error: self = .error
        case .warning: self = .warning
        case .notice: self = .notice
        case .info: self = .info
        case .debug, .trace: self = .debug
        }
    }

    /// The level of swift-log that arrives in the journal with this priority.
    public var level: Logger.Level {
        switch self {
        case .emergency, .alert, .critical: .critical
        case .error: .error
        case .warning: .warning
        case .notice: .notice
        case .info: .info
        case .debug: .debug
        }
    }
}

/// The entries that an administrator may meet and the journal's catalogue explains (`systemd/cisternd.catalog`).
///
/// The raw value is the id128 of `MESSAGE_ID`. Ids never change: other people's alerts and scripts match on them.
public enum MessageID: String, Sendable, CaseIterable {
    /// The daemon has read its configuration; the store is not open yet.
    case started = "078b0ac9408346a9a3ca5f70defb886c"
    /// The store is open, the schedule set, and the control socket listens. Once per process.
    case ready = "e53e4305486b4a27945dcd242526afc1"
    /// A new configuration is in force; also if nothing in it changed.
    case reloaded = "36a2005c57324ea3bf4a4f7e719a79fe"
    /// The old configuration was kept.
    case reloadFailed = "753ebbd394a242c597a8747a2c29caac"
    /// The daemon takes no more work: it was asked to stop, or cannot trust its store.
    case stopping = "1cc75df53c3548f698fe64f42963b7da"
    /// The store was brought to a changed model, and what that meant for what is in it.
    case schemaMigrated = "2e713e9106db4b26aedd593d0d05a28c"
    /// A run succeeded and changed something; runs without changes get no such entry.
    case runFinished = "f5412f54e1464f1ab7f2f868b8d0b310"
    /// A run failed, or saw only a part of the listing.
    case runFailed = "77284dcff37c4de796d6303e610a6b04"
    /// A resource is older than its `max_age`, or has deletions held back.
    case sourceDegraded = "27d19176e22f4cd4b6dbd54f2b9f6d3e"
    /// A resource is current again, or succeeds after failed runs.
    case sourceRecovered = "c9e446ead90b4655bbf7caed4706dfa5"
    /// Parked until the time the server named.
    case rateLimited = "c3bf118f59bc49f8ae9576d56c0aad50"
    /// A server failed run after run, or an answer does not change by asking again: it is left alone for a while.
    case breakerOpened = "786afb513ee540598f19dcbd346ca068"
    /// The server refused the credentials.
    case authRejected = "9673601322be4f4bb5e0a60f3c1f9685"
    /// A complete run would have removed more rows than the guards allow: none was.
    case deletesBlocked = "1def643ff3b741c7bd4190c5467e23ab"
    /// Records of a page were set aside, with the reason of the first.
    case recordsQuarantined = "40086681209f490d9336fa1b375e4d08"
    /// The store cannot be trusted any more; the daemon ends.
    case storeCorrupt = "93a2fc96fe3244f489d8f65e9406045a"
    /// Free disk is less than `store.min_free_disk`, so fetching waits; or a save found the disk full.
    case diskLow = "9788d1474caf4652bde35683f875ea8f"
    /// A body could not be archived, or was dropped from the archive: a replay lacks it.
    case archiveFailed = "2e8e79add29f42f89a2c041b08e575d0"
    /// A run failed because the certificate was not trusted or TLS could not be agreed on.
    case tlsFailed = "025ec1aeaf37492897b2ec1f1af113ed"
    /// By size, depth, compression ratio or type.
    case responseRefused = "51fb4e0708864ff784dfbc7f9c5c4c1b"
    /// By redirect policy, or because the address is private.
    case redirectRefused = "94774aa317244d74a483b84f7056693b"
    /// A liveness check failed, so the watchdog got no ping.
    case watchdogMissed = "ae1899719d5d4dbc85c4adb3c30f18dd"
    /// Wall time was set.
    case clockJumped = "9d4152e1f6f141939fb4d4eb41dccfe5"
    /// A backup of the document is complete and on the disk.
    case backupMade = "bea68586a46c4929904d0a073a675ed6"
    /// A backup could not be made, or an old one not be removed; it is tried again.
    case backupFailed = "5bdb2ed7ed084ec680226f0a4af83fa8"
    /// A line of the status, as `SIGUSR2` asks for.
    case statusDump = "cfd233b309104597ac9cf0e0ed6e9e8d"

    /// How urgent the entry is.
    public var priority: JournalPriority {
        switch self {
        case .storeCorrupt, .diskLow, .watchdogMissed: .critical
        case .reloadFailed, .authRejected, .tlsFailed, .backupFailed: .error
        case .runFailed, .sourceDegraded, .breakerOpened, .deletesBlocked, .recordsQuarantined, .responseRefused, .redirectRefused, .archiveFailed:
            .warning
        case .started, .ready, .reloaded, .stopping, .schemaMigrated, .sourceRecovered, .rateLimited, .clockJumped,
            .backupMade:
            .notice
        case .runFinished, .statusDump: .info
        }
    }
}
