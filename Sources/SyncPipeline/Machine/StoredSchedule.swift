import Foundation
import OpenCoreData

/// What of a resource's schedule outlives the process. It shares the resource's row with what runs conclude; each writes columns of its own.
struct StoredSchedule: Sendable, Hashable {
    let scope: ResourceScope
    /// A restart polls no sooner.
    var nextPollAt: Date?
    /// What the server asked for; nil once that has passed.
    var parkedUntil: Date?
    var isPaused: Bool

    func write(in worker: NSManagedObjectContext) throws {
        var row = try StateRow.find(StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
        row["nextPollAt"] = AttributeValue(nextPollAt)
        row["parkedUntil"] = AttributeValue(parkedUntil)
        row["isPaused"] = .bool(isPaused)
        row.write(in: worker)
    }
}
