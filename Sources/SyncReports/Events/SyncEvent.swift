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
    /// Records were set aside, each with a reason.
    case quarantined(scope: ResourceScope, run: UUID, page: Int, count: Int, first: String)
    /// A complete run would have removed more than the guards allow: nothing was removed.
    case deletesHeld(scope: ResourceScope, run: UUID, count: Int, known: Int, guardName: String)
    /// The server refused the credentials.
    case authenticationRejected(scope: ResourceScope, url: String, status: Int)
    /// A body, a redirect or an address was refused before it could do harm.
    case refused(scope: ResourceScope, url: String, reason: String, isAddress: Bool)
    /// A resource became older than its `max_age` or has deletions held back, or is current again.
    case freshnessChanged(scope: ResourceScope, isDegraded: Bool, since: Date?, heldDeletes: Int)
    /// When each resource is due next.
    case scheduled(next: ResourceScope?, at: Date?)
    /// Rows that a resource lists were not as they had been written: another program, or the disk, changed them. They are read anew.
    case rowsChangedElsewhere(scope: ResourceScope, count: Int)
    /// A save of the document failed.
    case saveFailed(reason: String, cause: SaveFailureCause)
    /// A save of the document succeeded after failures.
    case saveRecovered
    /// Fetching waits: the root context has this many unsaved rows, or the disk is low.
    case held(HoldCause)
    case resumed
}
