/// What is done to the database while it is opened.
public enum OpeningStep: Sendable, Hashable {
    /// It is opened: what comes before and after everything else.
    case opening(bytes: Int64)
    /// SQLite looks for damage in it.
    case checking(bytes: Int64)
    /// It is copied before a change that loses something: the share that is done, 0 to 1.
    case copying(Double)
    /// The copy is written to the disk.
    case finishingCopy(bytes: Int64)
    /// It is brought to the changed model: the share that is done, 0 to 1.
    case migrating(Double, bytes: Int64)
    /// The change is written to the disk; nothing can end it any more.
    case committing(bytes: Int64)

    /// How much SQLite may have to go through before it tells anything again; nil for what tells how far it is. In a migration, too: a table is dropped, and an
    /// index sorted, in one instruction.
    var silentBytes: Int64? {
        switch self {
        case .opening(let bytes), .checking(let bytes), .finishingCopy(let bytes), .migrating(_, let bytes), .committing(let bytes): bytes
        case .copying: nil
        }
    }

    /// What `STATUS=` says.
    var words: String {
        switch self {
        case .opening: "Opening the database"
        case .checking: "Checking the database"
        case .copying(let share): "Copying the database before the change, \(Int(share * 100)) %"
        case .finishingCopy: "Writing the copy of the database to the disk"
        case .migrating(let share, _): "Bringing the database to the changed model, \(Int(share * 100)) %"
        case .committing: "Writing the changed database to the disk, which cannot be stopped"
        }
    }
}

/// How long the service manager is asked for patience, and its watchdog kept quiet, while the database is opened. A value without a clock.
///
/// What tells how far it is speaks for itself: the watchdog sees it move. What SQLite does in one call does not, and a slow disk may take long for it; so it
/// counts as moving for as long as so many bytes may take, and no longer: then it hangs.
struct OpeningPatience: Sendable {
    /// For whatever size.
    static let least = Duration.seconds(600)
    /// What the slowest disk reads and writes in a second.
    static let slowest: Int64 = 1 << 20

    private var last: Duration
    private var limit = least
    private var isSilent = true

    init(now: Duration) {
        last = now
    }

    /// What has been told just now.
    mutating func hear(_ step: OpeningStep, now: Duration) {
        last = now
        isSilent = step.silentBytes != nil
        limit = Self.least + .seconds((step.silentBytes ?? 0) / Self.slowest)
    }

    /// Whether the manager is asked for more time.
    func lasts(now: Duration) -> Bool { now - last < limit }

    /// Whether that is a sign of life, although nothing was told.
    func moves(now: Duration) -> Bool { isSilent && lasts(now: now) }
}
