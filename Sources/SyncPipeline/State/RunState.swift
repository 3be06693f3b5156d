import Foundation
import OpenCoreData

/// What a resource's earlier runs left behind.
struct RunState: Sendable {
    /// The number of the run that begins now.
    var number: Int64
    /// The rows that complete runs have vouched for, and those that pages saved since.
    var members: KeySet
    var missing: MissingKeys
    var mayDelete: Bool
    var failures: Int64
    var hadError: Bool
    var lastSuccess: Date?
    var completeAt: Date?
    var parkedUntil: Date?
    var isPaused: Bool
    var heldDeletes: Int64
    var httpStatus: Int64
    var lastError: String?

    static func load(scope: ResourceScope, document: UIManagedDocument) async throws -> RunState {
        try await document.withWorker { worker in
            let row = try StateRow.find(StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
            var members = KeySet(row.data("members") ?? Data()) ?? KeySet()
            // Pages of a run that was cut off vouch for rows too.
            let request = NSFetchRequest<NSManagedObject>(entityName: StateModel.request)
            request.predicate = NSPredicate(format: "scope == %@", "\(scope)")
            for object in try worker.fetch(request) {
                for name in ["members", "previous"] {
                    if let data = object.value(forKey: name) as? Data, let set = KeySet(data) { members.keys.formUnion(set.keys) }
                }
            }
            return RunState(
                number: row.integer("runNumber") + 1, members: members, missing: MissingKeys(row.data("missing") ?? Data()),
                mayDelete: row.bool("mayDelete"), failures: row.integer("consecutiveFailures"), hadError: row.string("lastError") != nil,
                lastSuccess: row.date("lastSuccess"), completeAt: row.date("completeAt"), parkedUntil: row.date("parkedUntil"),
                isPaused: row.bool("isPaused"), heldDeletes: row.integer("heldDeletes"), httpStatus: row.integer("httpStatus"),
                lastError: row.string("lastError"))
        }
    }

    /// Whether an outcome must be remembered although no row changed.
    func mustWrite(_ outcome: RunOutcome) -> Bool {
        switch outcome {
        case .succeeded, .cancelled: failures > 0 || hadError || completeAt == nil || mayDelete
        case .incomplete, .failed, .parked: true
        }
    }
}
