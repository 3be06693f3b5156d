import Foundation
import OpenCoreData

/// What of a resource's schedule outlives the process, and what readers of the store cannot know otherwise. It shares the resource's row with what
/// runs conclude; each writes columns of its own.
struct StoredSchedule: Sendable, Hashable {
    let scope: ResourceScope
    /// When it was polled last: `min_interval` counts from then, whatever process that was.
    var startedAt: Date?
    /// A restart polls no sooner.
    var nextPollAt: Date?
    /// What the server asked for; nil once that has passed.
    var parkedUntil: Date?
    var isPaused = false
    var isEnabled = true
    /// The configuration does not have it any more.
    var isRemoved = false
    /// When everything was last seen, changed or not.
    var lastSuccess: Date?
    /// From when on that is too old.
    var staleAt: Date?
    /// A run that takes its time is under way, and over by then.
    var runsUntil: Date?

    func write(in worker: NSManagedObjectContext) throws {
        var row = try ResourceTable.row(of: scope, in: worker)
        row.schedule = self
        row.write(in: worker)
    }

    /// How long it may wait to be stored where the store has `before`; nil: not at all. That everything was seen once more is no less true a little
    /// later, as long as nobody reads by then that it is out of date.
    func wait(after before: StoredSchedule, at now: Date) -> Duration? {
        guard lastSuccess != nil, lastSuccess != before.lastSuccess else { return nil }
        var same = self
        (same.startedAt, same.nextPollAt, same.lastSuccess, same.staleAt) = (before.startedAt, before.nextPollAt, before.lastSuccess, before.staleAt)
        guard same == before else { return nil }
        return before.staleAt.map { now.duration(to: $0) } ?? .seconds(86_400)
    }
}
