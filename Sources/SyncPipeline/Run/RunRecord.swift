import Foundation
import OpenCoreData
import SyncConfiguration

/// What is recorded when a run has ended: its own row, what follows for missing rows, and how its resource stands. One worker, one save.
struct RunRecord: Sendable {
    let run: UUID
    let scope: ResourceScope
    let cause: RunCause
    let entity: EntityMapping
    let deletion: DeletionConfiguration
    let tally: RunTally
    let state: RunState
    let startedAt: Date
    let endedAt: Date
    let acceptsDeletes: Bool
    /// What decided what the run's bodies became.
    let fingerprint: String

    /// How many runs of a resource are remembered.
    private static let history: Int64 = 500
    /// The pages of how many runs are remembered that came to no end.
    private static let unfinished: Int64 = 3
    /// How many things that were set aside are kept of a resource.
    private static let quarantine = 1000

    /// A run that found everything unchanged records nothing: what it learnt is in memory, and costs one conditional request if it is lost.
    var isNeeded: Bool {
        tally.wroteAnything || state.mustWrite(tally.outcome) || RunConclusion.isDue(tally, state: state, deletion: deletion, endedAt: endedAt)
    }

    /// What was written.
    struct Outcome: Sendable {
        let verdict: Sweep.Verdict
        /// How many rows the resource vouched for before.
        let known: Int
        /// How many rows were removed for being missing.
        let deleted: Int
        /// Every row that is not there any more, by entity: those, what was purged, and what went with them by the model's rules.
        let removed: [String: Set<Int64>]
    }

    /// Whether rows may go: then what other resources vouch for must not change meanwhile.
    var mayRemove: Bool { tally.isComplete && tally.outcome == .succeeded }

    /// Writes and saves. On the context's queue.
    func write(in worker: NSManagedObjectContext) throws -> Outcome {
        let stored = try StoredKeys.entries(of: scope, in: worker)
        var tally = tally
        tally.seen.keys.formUnion(try vouched(stored))
        let members = try RunState.members(among: stored, scope: scope, entity: entity.name, in: worker)
        let absent = members.subtracting(tally.seen.keys)
        let isLive = try entity.rows(absent, in: worker).filter { $1[entity.bookkeeping.deletedAt].isNull }
        let live = members.subtracting(absent).union(isLive.keys.map(\.key))
        let others = mayRemove ? try RunState.vouched(among: absent, of: entity.name, byOthersThan: scope, in: worker) : []
        let conclusion = RunConclusion(
            tally, state: state, deletion: deletion,
            RunConclusion.Circumstances(live: live, others: others, isAccepted: acceptsDeletes, endedAt: endedAt))
        var missing = conclusion.verdict.missing
        let deleted = conclusion.isListing ? try sweep(conclusion.verdict, &missing, in: worker) : []
        try writeResource(conclusion, missing, count: tally.seen.keys.count, in: worker)
        try forgetRequests(stored, isListing: conclusion.isListing, in: worker)
        try tidyQuarantine(isListing: conclusion.isListing, in: worker)
        try writeRun(deleted: deleted.count, in: worker)
        let removed = goneRows(deleted, in: worker)
        try worker.save()
        return Outcome(verdict: conclusion.verdict, known: members.count, deleted: deleted.count, removed: removed)
    }

    private func sweep(
        _ verdict: Sweep.Verdict, _ missing: inout MissingKeys, in worker: NSManagedObjectContext
    ) throws -> Set<Int64> {
        let removal = Removal(entity: entity, action: deletion.action, now: endedAt, run: state.number)
        if state.fingerprint == nil, deletion.detect == .snapshot {
            // Tombstones of the time when nobody wrote down whose they were.
            let taken = try RunState.tombstones(of: entity.name, byOthersThan: scope, in: worker)
            for (second, keys) in try removal.tombstones(in: worker) {
                missing.tombstones[second, default: KeySet()].keys.formUnion(keys.keys.subtracting(taken))
            }
        }
        let last = MissingKeys.second(deletion.purgeCutoff(endedAt))
        for (second, keys) in missing.tombstones where second <= last {
            try removal.purge(keys.keys, madeAt: second, in: worker)
            missing.tombstones[second] = nil
        }
        guard !verdict.doomed.isEmpty else { return [] }
        let removed = try removal.remove(verdict.doomed, in: worker)
        if deletion.action == .tombstone, !removed.isEmpty {
            missing.tombstones[MissingKeys.second(endedAt), default: KeySet()].keys.formUnion(removed)
        }
        return removed
    }

    /// The rows that this conclusion removes, by entity.
    private func goneRows(_ removed: Set<Int64>, in worker: NSManagedObjectContext) -> [String: Set<Int64>] {
        worker.processPendingChanges()
        var gone: [String: Set<Int64>] = removed.isEmpty ? [:] : [entity.name: removed]
        for object in worker.deletedObjects { gone[object.entity.name ?? "", default: []].insert(object.objectID.key) }
        return gone
    }

    /// The rows that the unmodified pages do not let go of: those that their records are, and those of records that were set aside.
    private func vouched(_ stored: [StoredKeys.Entry]) throws -> Set<Int64> {
        let pages = Dictionary(grouping: stored, by: \.request)
        return try tally.unmodified.reduce(into: []) { vouched, request in
            let sets = (pages[request] ?? []).filter { $0.kind == .members || $0.kind == .listed }
            guard sets.contains(where: { $0.kind == .members }) else { throw UnreadableKeys(request: request) }
            for entry in sets {
                guard let keys = entry.keys else { throw UnreadableKeys(request: request) }
                vouched.formUnion(keys)
            }
        }
    }

    /// What a page vouches for is damaged or gone, and nothing may be concluded without it.
    struct UnreadableKeys: Error {
        let request: String
    }

    private func writeResource(
        _ conclusion: RunConclusion, _ missing: MissingKeys, count: Int, in worker: NSManagedObjectContext
    ) throws {
        var row = try StateRow.find(StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
        let verdict = conclusion.verdict
        try StoredKeys.set(conclusion.members.data, .members, of: scope, in: worker)
        try StoredKeys.set(missing.data, .missing, of: scope, in: worker)
        row["listing"] = conclusion.isSettled ? .data(tally.listing) : .null
        row["mapping"] = .string(fingerprint)
        if conclusion.isListing {
            row["heldDeletes"] = .int64(Int64(verdict.held))
            if verdict.guardName == nil { row["mayDelete"] = .bool(false) }
            row["completeAt"] = AttributeValue(endedAt)
            row["completeRun"] = .int64(state.number)
            row["rows"] = .int64(Int64(count))
        }
        row["runNumber"] = .int64(state.number)
        row["pages"] = .int64(Int64(tally.pages))
        row["httpStatus"] = AttributeValue(tally.status)
        row["lastError"] = AttributeValue(tally.outcome == .succeeded ? nil : tally.error.map { RemoteText.line($0) })
        let failed = tally.outcome == .failed || tally.outcome == .parked
        row["consecutiveFailures"] = .int64(failed ? row.integer("consecutiveFailures") + 1 : 0)
        row.write(in: worker)
    }

    /// Forgets pages that the listing does not have any more, and what the others vouched for before it. Of a listing that never comes to its end,
    /// those of the last runs are kept, in case they are asked for again; the resource itself vouches for the rows of the others.
    private func forgetRequests(_ stored: [StoredKeys.Entry], isListing: Bool, in worker: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: StateModel.request)
        request.predicate = NSPredicate(format: "scope == %@", "\(scope)")
        var forgotten: Set<String> = []
        for object in try worker.fetch(request) {
            guard let key = object.value(forKey: "request") as? String, !tally.requestKeys.contains(key) else { continue }
            let run = (object.value(forKey: "run") as? NSNumber)?.int64Value ?? 0
            guard isListing || (run > state.completeRun && run <= state.number - Self.unfinished) else { continue }
            forgotten.insert(key)
            worker.delete(object)
        }
        for entry in stored where !entry.request.isEmpty {
            if forgotten.contains(entry.request) || (isListing && entry.kind == .previous) { entry.delete(in: worker) }
        }
    }

    /// Lets go of what was set aside and became good, or is not listed any more, and of the oldest of what is too much. A page that is as it was is
    /// as bad as it was.
    private func tidyQuarantine(isListing: Bool, in worker: NSManagedObjectContext) throws {
        guard tally.wroteAnything else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: StateModel.quarantine)
        request.predicate = NSPredicate(format: "source == %@ AND resource == %@", scope.source, scope.resource)
        request.sortDescriptors = [NSSortDescriptor(key: "seenAt", ascending: false), NSSortDescriptor(key: "record", ascending: true)]
        var kept = 0
        for object in try worker.fetch(request) {
            let page = (object.value(forKey: "page") as? NSNumber)?.intValue ?? 0
            let run = (object.value(forKey: "run") as? NSNumber)?.int64Value ?? 0
            let isGone = run < state.number && (tally.readPages.contains(page) || (isListing && page > tally.pages))
            if !isGone { kept += 1 }
            if isGone || kept > Self.quarantine { worker.delete(object) }
        }
    }

    private func writeRun(deleted: Int, in worker: NSManagedObjectContext) throws {
        var row = try StateRow.find(
            StateModel.run, key: [.string(scope.source), .string(scope.resource), .int64(state.number)], in: worker)
        row["uuid"] = .uuid(run)
        row["cause"] = .string(cause.rawValue)
        row["startedAt"] = AttributeValue(startedAt)
        row["endedAt"] = AttributeValue(endedAt)
        row["outcome"] = .string(tally.outcome.rawValue)
        row["isComplete"] = .bool(tally.isComplete)
        row["pages"] = AttributeValue(tally.pages)
        row["bytes"] = AttributeValue(tally.bytes)
        row["inserted"] = AttributeValue(tally.counts.inserted)
        row["updated"] = AttributeValue(tally.counts.updated)
        row["unchanged"] = AttributeValue(tally.counts.unchanged)
        row["deleted"] = AttributeValue(deleted)
        row["quarantined"] = AttributeValue(tally.counts.quarantined)
        row["httpStatus"] = AttributeValue(tally.status)
        row["error"] = AttributeValue(tally.error.map { RemoteText.line($0) })
        row.write(in: worker)
        let old = NSFetchRequest<NSManagedObject>(entityName: StateModel.run)
        old.predicate = NSPredicate(
            format: "source == %@ AND resource == %@ AND number <= %lld", scope.source, scope.resource, state.number - Self.history)
        for object in try worker.fetch(old) { worker.delete(object) }
    }
}
