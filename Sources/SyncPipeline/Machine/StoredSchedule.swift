import Foundation
import OpenCoreData

/// What of a resource's schedule outlives the process, and what readers of the store cannot know otherwise. It shares the resource's row with what
/// runs conclude; each writes columns of its own.
struct StoredSchedule: Sendable, Hashable {
    let scope: ResourceScope
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
        var row = try StateRow.find(StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
        row["nextPollAt"] = AttributeValue(nextPollAt)
        row["parkedUntil"] = AttributeValue(parkedUntil)
        row["isPaused"] = .bool(isPaused)
        row["isEnabled"] = .bool(isEnabled)
        row["isRemoved"] = .bool(isRemoved)
        row["lastSuccess"] = AttributeValue(lastSuccess)
        row["staleAt"] = AttributeValue(staleAt)
        row["runsUntil"] = AttributeValue(runsUntil)
        row.write(in: worker)
    }
}

extension StoredSchedule {
    /// As it is stored.
    init(_ scope: ResourceScope, _ row: StateRow) {
        self.init(
            scope: scope, nextPollAt: row.date("nextPollAt"), parkedUntil: row.date("parkedUntil"), isPaused: row.bool("isPaused"),
            isEnabled: row.bool("isEnabled"), isRemoved: row.bool("isRemoved"), lastSuccess: row.date("lastSuccess"),
            staleAt: row.date("staleAt"), runsUntil: row.date("runsUntil"))
    }
}
