public import Foundation

/// What the pipeline tells the world: one value for everything that happens. Observers turn it into status, journal entries and notifications;
/// the pipeline itself neither logs nor notifies.
public enum SyncEvent: Sendable, Hashable {
    /// A run of a resource begins.
    case runStarted(RunStart)
    /// A page was fetched, parsed and saved into the main context.
    case pageSaved(PageReport)
    /// The server said that a page has not changed; nothing was parsed.
    case pageNotModified(scope: ResourceScope, run: UUID, page: Int)
    /// An attempt failed and will be made again.
    case retrying(scope: ResourceScope, run: UUID, page: Int, attempt: Int, delay: Duration, reason: String)
    /// A run ended, whatever way. A successful run is reported only after the save that holds its last page has committed.
    case runFinished(RunReport)
    /// The server asked to wait longer than a run may take: the resource is parked.
    case parked(scope: ResourceScope, until: Date)
    /// A server failed, or answered with what does not change by asking again: it is asked again then at the soonest. `scope`: whose run found it.
    case breakerOpened(scope: ResourceScope, cause: BreakerCause, until: Date)
    /// Records were set aside, each with a reason.
    case quarantined(scope: ResourceScope, run: UUID, page: Int, count: Int, first: String)
    /// A complete run would have removed more than the guards allow: nothing was removed.
    case deletesHeld(scope: ResourceScope, run: UUID, count: Int, known: Int, guardName: String)
    /// The server refused the credentials.
    case authenticationRejected(scope: ResourceScope, url: String, status: Int)
    /// A token was fetched that requests will identify themselves with. `isRotated`: the service gave a new refresh token as well, which is stored.
    case tokenFetched(scope: ResourceScope, expiresAt: Date?, isRotated: Bool)
    /// A refresh token that took the place of another could not be stored before the end: it is lost, and the one before may be good for nothing.
    case refreshTokenUnsaved(reason: String)
    /// A body, a redirect or an address was refused before it could do harm.
    case refused(scope: ResourceScope, url: String, reason: String, isAddress: Bool)
    /// A resource became older than its `max_age` or has deletions held back, or is current again.
    case freshnessChanged(scope: ResourceScope, isDegraded: Bool, since: Date?, heldDeletes: Int)
    /// When each resource is due next.
    case scheduled(next: ResourceScope?, at: Date?)
    /// Rows that a resource lists were not as they had been written: another program, or the disk, changed them. They are read anew.
    case rowsChangedElsewhere(scope: ResourceScope, count: Int)
    /// A server did not take where a run began to ask: the run asks for everything.
    case cursorRejected(scope: ResourceScope, run: UUID, cursor: String, status: Int)
    /// A server sent what is much older than what it was asked for: it does not seem to know the parameter.
    case sinceIgnored(scope: ResourceScope, run: UUID, since: String, oldest: String)
    /// No record of a page says how new it is, so that runs cannot come further.
    case cursorMissing(scope: ResourceScope, run: UUID, page: Int, field: String)
    /// A condition of the configuration (`ignore_if`) took a page for one without records. `message`: what the page said of it; may be empty.
    case pageIgnored(scope: ResourceScope, run: UUID, page: Int, status: Int, message: String)
    /// Values of an attribute were taken for none, since they were of another type (`schema.type_mismatch`): so many of this page, the first one of the run
    /// with such values. `attribute`: `Entity.attribute`. `first`: what the first of them was.
    case valuesNulled(scope: ResourceScope, run: UUID, page: Int, attribute: String, count: Int, first: String)
    /// Records say what nothing is made of (`schema.unknown_fields`): `Entity.member`, in the order of the page; ten of a run at most.
    case fieldsUnknown(scope: ResourceScope, run: UUID, page: Int, names: [String])
    /// A listing ended without the token that the next run would go on from, which asks for everything then. `reason`: what is wrong with it.
    case tokenMissing(scope: ResourceScope, run: UUID, reason: String)
    /// The certificate that the client would show and its key do not belong together: the pair before is shown for as long as that is so. `reason`: which
    /// does not fit.
    case identityMismatch(scope: ResourceScope, run: UUID, reason: String)
    /// Bodies of a resource are not kept, or kept no longer, although its configuration says so: a replay lacks them. What was fetched is saved all the same.
    case archiveFailed(scope: ResourceScope, reason: String)
    /// A save of the document failed.
    case saveFailed(reason: String, cause: SaveFailureCause)
    /// A save of the document succeeded after failures.
    case saveRecovered
    /// Fetching waits: the root context has this many unsaved rows, or the disk is low.
    case held(HoldCause)
    /// Fetching goes on after a ``held(_:)``.
    case resumed
    /// A backup of the document is complete and on the disk; `removed` older ones went for it.
    case backupMade(name: String, bytes: Int64, removed: Int)
    /// A backup could not be made, or an old one not removed. The document is none the worse for it.
    case backupFailed(reason: String)
}

/// Why a server is left alone without having asked for it.
public enum BreakerCause: Sendable, Hashable {
    /// So many runs in a row found that it fails: no resource asks it. `server`: what people call it.
    case failures(count: Int, server: String)
    /// This status does not change by asking again: the resource is not asked by its schedule. Whoever asks for it is served.
    case permanent(status: Int)
}

/// A run that begins.
public struct RunStart: Sendable, Hashable {
    /// The same in every event of the run and in its ``RunReport``.
    public let run: UUID
    /// The resource that is polled.
    public let scope: ResourceScope
    /// What set it off.
    public let cause: RunCause
    /// Wall time, before the first request.
    public let startedAt: Date

    /// What is known of a run before its first request.
    public init(run: UUID, scope: ResourceScope, cause: RunCause, startedAt: Date) {
        self.run = run
        self.scope = scope
        self.cause = cause
        self.startedAt = startedAt
    }
}

/// A page that was fetched, parsed and saved into the main context.
public struct PageReport: Sendable, Hashable {
    /// The resource the page belongs to.
    public let scope: ResourceScope
    /// The run that fetched it: ``RunStart/run``.
    public let run: UUID
    /// 1-based.
    public let page: Int
    /// How it was asked for: `GET` or `POST`.
    public let method: String
    /// The address that answered, after redirects, with secrets masked.
    public let url: String
    /// The status of the response, a success: 206 if only a part came.
    public let status: Int
    /// Bytes of the body on the wire, before decompression.
    public let bytes: Int
    /// What became of this page's records.
    public let counts: RecordCounts
    /// How long fetching took, failed attempts and waits included; parsing and saving are not in it.
    public let duration: Duration

    /// A page as it was read. `page` counts from 1.
    public init(
        scope: ResourceScope, run: UUID, page: Int, method: String = "GET", url: String, status: Int, bytes: Int, counts: RecordCounts,
        duration: Duration
    ) {
        self.scope = scope
        self.run = run
        self.page = page
        self.method = method
        self.url = url
        self.status = status
        self.bytes = bytes
        self.counts = counts
        self.duration = duration
    }
}

/// Why fetching waits.
public enum HoldCause: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The disk is behind: so many changed objects wait for it.
    case unsavedChanges(Int)
    /// So many bytes are free, and that is less than `store.min_free_disk`.
    case lowDisk(free: Int, minimum: String)

    /// One sentence without a full stop; free space is in whole MiB, rounded down.
    public var description: String {
        switch self {
        case .unsavedChanges(let count): "\(count) changed objects are waiting for the disk"
        case .lowDisk(let free, let minimum): "only \(free >> 20) MiB are free, less than store.min_free_disk = \(minimum)"
        }
    }

    /// Whether somebody has to make room: what waits behind other work goes on by itself.
    public var isLowDisk: Bool {
        if case .lowDisk = self { true } else { false }
    }
}

/// Why a save of the document failed, and what follows for the changes it was to write.
public enum SaveFailureCause: String, Sendable, Hashable, Codable {
    /// No room is left. The changes are kept, and the save is tried again.
    case full
    /// Busy, locked, or short of memory. The changes are kept, and the save is tried again.
    case passing
    /// The store refused the changes themselves: they were rolled back.
    case refused
    /// The disk reported an error, or the file is not where it was: nothing that is written may be trusted any more.
    case disk
}
