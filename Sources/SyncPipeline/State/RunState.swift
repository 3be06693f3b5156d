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
    var nextPollAt: Date?
    var isPaused: Bool
    var heldDeletes: Int64
    var httpStatus: Int64
    var lastError: String?
    /// What decided what bodies became then; nil: before that was recorded.
    var fingerprint: String?

    /// - Parameter entity: what records become now. Rows of another entity are none of the resource's any more. Nil: whatever it was.
    static func load(scope: ResourceScope, document: UIManagedDocument, entity: String? = nil) async throws -> RunState {
        try await document.withWorker { worker in
            let row = try StateRow.find(StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
            func isOurs(_ fingerprint: String?) -> Bool {
                guard let entity, let stored = ModelMapping.entity(ofFingerprint: fingerprint) else { return true }
                return stored == entity
            }
            let isSame = isOurs(row.string("mapping"))
            var members = isSame ? KeySet(row.data("members") ?? Data()) ?? KeySet() : KeySet()
            // Pages of a run that was cut off vouch for rows too.
            let request = NSFetchRequest<NSManagedObject>(entityName: StateModel.request)
            request.predicate = NSPredicate(format: "scope == %@", "\(scope)")
            for object in try worker.fetch(request) where isOurs(object.value(forKey: "mapping") as? String) {
                for name in ["members", "previous"] {
                    if let data = object.value(forKey: name) as? Data, let set = KeySet(data) { members.keys.formUnion(set.keys) }
                }
            }
            return RunState(
                number: row.integer("runNumber") + 1, members: members, missing: isSame ? MissingKeys(row.data("missing") ?? Data()) : MissingKeys(),
                mayDelete: isSame && row.bool("mayDelete"), failures: row.integer("consecutiveFailures"), hadError: row.string("lastError") != nil,
                lastSuccess: row.date("lastSuccess"), completeAt: isSame ? row.date("completeAt") : nil, parkedUntil: row.date("parkedUntil"),
                nextPollAt: row.date("nextPollAt"), isPaused: row.bool("isPaused"), heldDeletes: row.integer("heldDeletes"),
                httpStatus: row.integer("httpStatus"),
                lastError: row.string("lastError"), fingerprint: row.string("mapping"))
        }
    }

    /// Those of these rows of an entity that other resources than this one vouch for. A resource that is not polled any more vouches for what it did.
    static func vouched(
        among keys: Set<Int64>, of entity: String, byOthersThan scope: ResourceScope, in worker: NSManagedObjectContext
    ) throws -> Set<Int64> {
        guard !keys.isEmpty else { return [] }
        var vouched: Set<Int64> = []
        func add(_ row: StateRow, _ names: [String]) {
            guard ModelMapping.entity(ofFingerprint: row.string("mapping")) == entity else { return }
            for name in names { vouched.formUnion(keys.intersection((KeySet(row.data(name) ?? Data()) ?? KeySet()).keys)) }
        }
        for row in try StateRow.all(StateModel.resource, in: worker)
        where row.string("source") != scope.source || row.string("resource") != scope.resource { add(row, ["members"]) }
        for row in try StateRow.all(StateModel.request, in: worker) where row.string("scope") != "\(scope)" { add(row, ["members", "previous"]) }
        return vouched
    }

    /// The tombstones of an entity that are other resources' to purge.
    static func tombstones(of entity: String, byOthersThan scope: ResourceScope, in worker: NSManagedObjectContext) throws -> Set<Int64> {
        try StateRow.all(StateModel.resource, in: worker).reduce(into: []) { keys, row in
            guard row.string("source") != scope.source || row.string("resource") != scope.resource,
                ModelMapping.entity(ofFingerprint: row.string("mapping")) == entity
            else { return }
            for batch in MissingKeys(row.data("missing") ?? Data()).tombstones.values { keys.formUnion(batch.keys) }
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
