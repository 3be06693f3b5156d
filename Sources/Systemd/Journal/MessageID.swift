/// The entries that an administrator may meet and the journal's catalogue explains (`systemd/cisternd.catalog`).
///
/// The raw value is the id128 of `MESSAGE_ID`. Ids are for ever: alerts and scripts of other people match on them.
public enum MessageID: String, Sendable, CaseIterable {
    case started = "078b0ac9408346a9a3ca5f70defb886c"
    case ready = "e53e4305486b4a27945dcd242526afc1"
    case reloaded = "36a2005c57324ea3bf4a4f7e719a79fe"
    /// The old configuration was kept.
    case reloadFailed = "753ebbd394a242c597a8747a2c29caac"
    case stopping = "1cc75df53c3548f698fe64f42963b7da"
    case runFinished = "f5412f54e1464f1ab7f2f868b8d0b310"
    case runFailed = "77284dcff37c4de796d6303e610a6b04"
    case sourceDegraded = "27d19176e22f4cd4b6dbd54f2b9f6d3e"
    case sourceRecovered = "c9e446ead90b4655bbf7caed4706dfa5"
    /// Parked until the time the server named.
    case rateLimited = "c3bf118f59bc49f8ae9576d56c0aad50"
    case authRejected = "9673601322be4f4bb5e0a60f3c1f9685"
    case deletesBlocked = "1def643ff3b741c7bd4190c5467e23ab"
    case recordsQuarantined = "40086681209f490d9336fa1b375e4d08"
    case storeCorrupt = "93a2fc96fe3244f489d8f65e9406045a"
    case diskLow = "9788d1474caf4652bde35683f875ea8f"
    case tlsFailed = "025ec1aeaf37492897b2ec1f1af113ed"
    /// By size, depth, compression ratio or type.
    case responseRefused = "51fb4e0708864ff784dfbc7f9c5c4c1b"
    /// By redirect policy, or because the address is private.
    case redirectRefused = "94774aa317244d74a483b84f7056693b"
    case watchdogMissed = "ae1899719d5d4dbc85c4adb3c30f18dd"
    /// Wall time was set.
    case clockJumped = "9d4152e1f6f141939fb4d4eb41dccfe5"
    case statusDump = "cfd233b309104597ac9cf0e0ed6e9e8d"

    /// How urgent the entry is.
    public var priority: JournalPriority {
        switch self {
        case .storeCorrupt, .diskLow, .watchdogMissed: .critical
        case .reloadFailed, .authRejected, .tlsFailed: .error
        case .runFailed, .sourceDegraded, .deletesBlocked, .recordsQuarantined, .responseRefused, .redirectRefused:
            .warning
        case .started, .ready, .reloaded, .stopping, .sourceRecovered, .rateLimited, .clockJumped:
            .notice
        case .runFinished, .statusDump: .info
        }
    }
}
