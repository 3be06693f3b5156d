import Foundation
import OpenCoreData
import SyncConfiguration
import SyncReports

/// What is recorded when a run has ended: its own row, the consequences for missing rows, and the state of its resource. One worker, one save.
struct RunRecord: Sendable {
    let run: UUID
    let scope: ResourceScope
    let cause: RunCause
    let mapping: ModelMapping
    let entity: EntityMapping
    let deletion: DeletionConfiguration
    let tally: RunTally
    let state: RunState
    let startedAt: Date
    let endedAt: Date
    let acceptsDeletes: Bool
    /// What decided what the run's bodies became.
    let fingerprint: String
    /// It is a part of a run, which has a row of its own.
    let isPart: Bool
    /// Runs may ask for what has changed.
    let isIncremental: Bool
    /// What speaks against believing that a part is gone.
    var objection: String?
    /// Knows what others vouch for; nil: the store is asked.
    var vouching: VouchingMemory?

    /// How many things that were set aside are kept of a resource.
    private static let quarantine = 1000

    /// A run that found everything unchanged records nothing: what it learnt is in memory, and losing it costs one conditional request. One that had to
    /// ask for everything says that it did, so that the next one need not.
    var isNeeded: Bool {
        tally.wroteAnything || movesCursor || isIncremental && !tally.isIncrement && !tally.isGone || state.mustWrite(tally.outcome)
            || state.hasGone || lacksPages || tally.isListing && tally.hasUnsettled
            || RunConclusion.isDue(tally, state: state, deletion: deletion, endedAt: endedAt)
    }

    /// The listing is not the one that it was, although no page of it has changed: others are no longer part of it.
    private var lacksPages: Bool { tally.isListing && state.listing.map { $0 != tally.listing } == true }

    /// What was written.
    struct Outcome: Sendable {
        let verdict: Sweep.Verdict
        /// How many deletions are held back from now on.
        let heldDeletes: Int
        /// How many rows the resource vouched for before.
        let known: Int
        /// How many rows were removed for being missing.
        let deleted: Int
        /// Every row that no longer exists, by entity: those, what was purged, and what went with them by the model's rules.
        let removed: [String: Set<Int64>]
        /// The entities of rows that were deleted, and not only buried.
        let erased: Set<String>
        /// The pages that are no longer remembered.
        let forgotten: Set<String>
        /// What is said of tombstones is not what it was.
        let saysOther: Bool
    }

    /// Whether rows may go: then what other resources vouch for must not change meanwhile.
    var mayRemove: Bool { tally.isListing || mayPurge || entity.deletionSign != nil }

    /// Whether tombstones that are old enough go, although nothing is missing for certain.
    private var mayPurge: Bool {
        tally.isIncrement && tally.isCaughtUp && state.missing.hasTombstones(until: deletion.purgeCutoff(endedAt))
    }

    /// How far runs have come from now on, as it is stored.
    private var cursor: String? {
        // Records that became something else, and were not all read, are read once more.
        if state.fingerprint != fingerprint, !tally.isListing { return nil }
        return if case .set(let cursor) = tally.cursor { cursor?.text } else { state.cursor }
    }

    private var movesCursor: Bool { if case .set(let cursor) = tally.cursor { cursor?.text != state.cursor } else { false } }

    /// Writes and saves. On the context's queue.
    /// - Parameter willSave: called in between.
    func write(in worker: NSManagedObjectContext, willSave: () -> Void = {}) throws -> Outcome {
        let stored = try StoredKeys.entries(of: scope, in: worker)
        let saidBefore = stored.first { $0.kind == .missing }.map { MissingKeys($0.data).said } ?? [:]
        let said = saidToBeGone(stored)
        var tally = tally
        tally.see(try vouched(stored))
        tally.lose(said)
        let seen = tally.seen
        // What it had parts for it lists itself now: what they vouched for is its own to judge.
        let former = try isPart ? [] : ResourceTable.parts(of: scope, in: worker)
        var collected = KeyCollector(), inherited: [MissingKeys] = []
        collected.add(try RunState.members(among: stored, scope: scope, entity: entity.name, in: worker))
        for part in former {
            let theirs = try StoredKeys.entries(of: part.scope, in: worker)
            collected.add(try RunState.members(among: theirs, scope: part.scope, entity: entity.name, in: worker))
            if tally.isListing { inherited += try forget(part, theirs, in: worker) }
        }
        let known = collected.keys, members = known.subtracting(said)
        // What has not changed is not listed by a run that asks for what has.
        let absent = tally.isIncrement ? [] : members.subtracting(seen)
        let isLive = try entity.rows(absent, in: worker).filter { $1[entity.bookkeeping.deletedAt].isNull }
        let live = members.subtracting(absent).union(KeyRuns(isLive.keys.lazy.map(\.key)))
        let others = tally.isListing ? try vouchedByOthers(absent, in: worker) : []
        let isSwept = tally.isListing && (deletion.detect == .snapshot || tally.isGone)
        let conclusion = RunConclusion(
            tally, state: state, deletion: deletion,
            RunConclusion.Circumstances(
                live: live, others: others, denials: isSwept ? try denials(isLive, in: worker) : [:], objection: objection,
                isAccepted: acceptsDeletes, endedAt: endedAt))
        let (gone, held, buriedBefore) = try judge(said, in: worker)
        let verdict = conclusion.verdict.joined(by: gone)
        var missing = verdict.missing
        for theirs in inherited { missing.inheritTombstones(of: theirs) }
        for (second, keys) in buriedBefore { missing.say(keys, madeAt: second) }
        let removes = conclusion.isListing || mayPurge || !gone.doomed.isEmpty
        let (deleted, buried) = removes ? try sweep(verdict, said: tally.isGone ? verdict.doomed : gone.doomed, &missing, in: worker) : ([], [:])
        GoneRows.keep(held, of: entity.name, among: stored, in: worker)
        let heldDeletes = self.heldDeletes(conclusion, verdict, gone)
        let remaining = conclusion.members.union(held), count = tally.isIncrement || tally.isGone ? remaining.count : seen.count
        try writeResource(conclusion, verdict, missing, members: remaining, count: count, heldDeletes: heldDeletes, in: worker)
        let forgotten = try forgetRequests(stored, isListing: conclusion.isListing, gone: said.subtracting(held), in: worker)
        try tidyQuarantine(isListing: conclusion.isListing, in: worker)
        if !isPart { try writeRun(deleted: deleted.count, in: worker) }
        let removed = goneRows(buried, in: worker)
        try forgetCursors(besides: removed, in: worker)
        let erased = Set(worker.deletedObjects.compactMap { $0.entity.name }.filter { mapping.entities[$0] != nil })
        try forgetPages(naming: erased, in: worker)
        willSave()
        try worker.save()
        return Outcome(
            verdict: verdict, heldDeletes: heldDeletes, known: known.count, deleted: deleted.count, removed: removed, erased: erased,
            forgotten: forgotten, saysOther: missing.said != saidBefore || !former.isEmpty)
    }

    /// The rows of which records have said that they are gone. A list of what is gone that was read to the end is all there is to be said: what an
    /// earlier one had, and nobody has removed yet, it takes back. Not where runs ask for what has changed: what is asked for everything may go back
    /// only so far, and what is older is gone all the same.
    private func saidToBeGone(_ stored: [StoredKeys.Entry]) -> KeyRuns {
        guard entity.deletionSign != nil else { return [] }
        let said = GoneRows.load(of: entity.name, among: stored)
        guard deletion.detect == .records, !isIncremental, tally.isListing, !tally.isGone, !said.isEmpty else { return said }
        return GoneRows.said(byPages: tally.requestKeys, among: stored).map { said.intersection($0) } ?? said
    }

    /// What becomes of the rows whose records say that they are gone, those of them that stay for now, and those that are tombstones already, by the
    /// time they were made.
    private func judge(
        _ said: KeyRuns, in worker: NSManagedObjectContext
    ) throws -> (verdict: Sweep.Verdict, held: KeyRuns, buried: [Int64: KeyRuns]) {
        if said.isEmpty { return (Sweep.Verdict(), [], [:]) }
        let rows = try entity.rows(said, in: worker)
        var live = rows.filter { $1[entity.bookkeeping.deletedAt].isNull }
        let buried = rows.reduce(into: [Int64: KeyCollector]()) { buried, row in
            guard let time = Date(row.value[entity.bookkeeping.deletedAt]) else { return }
            buried[MissingKeys.second(time), default: KeyCollector()].add(row.key.key)
        }
        if deletion.detect != .records {
            // As with what a listing lacks: a row belongs to every resource that lists it. A list of what is gone speaks for all of them.
            let others = try vouchedByOthers(KeyRuns(live.keys.lazy.map(\.key)), in: worker)
            live = live.filter { !others.contains($0.key.key) }
        }
        let gone = KeyRuns(live.keys.lazy.map(\.key))
        let verdict = Sweep(configuration: deletion).verdict(
            gone: gone, isAccepted: acceptsDeletes || state.mayDelete, denials: try denials(live, in: worker))
        return (verdict, gone.subtracting(verdict.doomed), buried.mapValues(\.keys))
    }

    /// Those of these rows that other resources vouch for.
    private func vouchedByOthers(_ keys: KeyRuns, in worker: NSManagedObjectContext) throws -> KeyRuns {
        guard let vouching else { return try RunState.vouched(among: keys, of: entity.name, byOthersThan: scope, in: worker) }
        return try vouching.vouched(among: keys, of: entity.name, byOthersThan: scope, in: worker)
    }

    /// How many deletions are held back from now on. What a listing lacked is known until the next one.
    private func heldDeletes(_ conclusion: RunConclusion, _ verdict: Sweep.Verdict, _ gone: Sweep.Verdict) -> Int {
        if conclusion.isListing { return verdict.held }
        guard entity.deletionSign != nil else { return state.heldDeletes }
        return deletion.detect == .snapshot ? max(state.heldDeletes, gone.held) : gone.held
    }

    /// Rows that went with others may come back with them, and whoever lists them has to ask for them then: not only for what has changed.
    private func forgetCursors(besides removed: [String: Set<Int64>], in worker: NSManagedObjectContext) throws {
        let others = Set(removed.filter { $0.key != entity.name && !$0.value.isEmpty }.keys)
        if others.isEmpty { return }
        for var row in try StateRow<ResourceTable>.all(in: worker) where row.cursor != nil {
            guard let entity = ModelMapping.entity(ofFingerprint: row.mapping), others.contains(entity) else { continue }
            row.cursor = nil
            row.write(in: worker)
        }
    }

    /// Forgets a part that is none any more.
    ///
    /// - Returns: what it had that was missing.
    private func forget(_ part: StateRow<ResourceTable>, _ keys: [StoredKeys.Entry], in worker: NSManagedObjectContext) throws -> [MissingKeys] {
        defer { for entry in keys { entry.delete(in: worker) } }
        for row in try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(part.scope)")], in: worker) { row.delete(in: worker) }
        part.delete(in: worker)
        return keys.filter { $0.kind == .missing }.map { MissingKeys($0.data) }
    }

    /// Forgets what the pages said whose records name rows of these entities: a record that names a row which is gone brings it back when it is read.
    func forgetPages(naming erased: Set<String>, in worker: NSManagedObjectContext) throws {
        for entity in mapping.entities(naming: erased) { try StoredManifest.forget(entity: entity, in: worker) }
    }

    /// How the model's rules forbid removing these rows.
    private func denials(
        _ rows: [NSManagedObjectID: RowSnapshot], in worker: NSManagedObjectContext
    ) throws -> [Int64: Sweep.Denial] {
        let rules = DeleteRules(mapping: mapping, context: worker)
        return try rows.reduce(into: [:]) { denials, row in
            denials[row.key.key] = try rules.denial(of: row.key, row.value, forGood: deletion.action == .delete)
        }
    }

    /// - Parameter said: those of the rows that go whose objects something said to be gone.
    private func sweep(
        _ verdict: Sweep.Verdict, said: KeyRuns, _ missing: inout MissingKeys, in worker: NSManagedObjectContext
    ) throws -> (deleted: Set<Int64>, gone: [String: Set<Int64>]) {
        let removal = Removal(mapping: mapping, entity: entity, action: deletion.action, now: endedAt, run: state.number)
        if state.fingerprint == nil, !isPart, deletion.detect == .snapshot {
            // Tombstones from before their owners were recorded.
            let taken = try RunState.tombstones(of: entity.name, byOthersThan: scope, in: worker)
            for (second, keys) in try removal.tombstones(in: worker) {
                missing.tombstones[second, default: []].formUnion(keys.subtracting(taken))
            }
        }
        let last = MissingKeys.second(deletion.purgeCutoff(endedAt))
        for (second, keys) in missing.tombstones where second <= last {
            let waiting = try removal.purge(keys, madeAt: second, in: worker)
            missing.forgetTombstones(madeAt: second, besides: waiting)
        }
        missing.forgetSaid(until: last)
        guard !verdict.doomed.isEmpty else { return ([], [:]) }
        let (removed, all) = try removal.remove(verdict.doomed, in: worker)
        let buried = all[entity.name] ?? []
        if deletion.action == .tombstone, !buried.isEmpty {
            missing.tombstones[MissingKeys.second(endedAt), default: []].formUnion(KeyRuns(buried))
            missing.say(said.intersection(KeyRuns(removed)), madeAt: MissingKeys.second(endedAt))
        }
        return (removed, all)
    }

    /// The rows that this conclusion removes, by entity.
    private func goneRows(_ removed: [String: Set<Int64>], in worker: NSManagedObjectContext) -> [String: Set<Int64>] {
        worker.processPendingChanges()
        var gone = removed
        for object in worker.deletedObjects { gone[object.entity.name ?? "", default: []].insert(object.objectID.key) }
        return gone
    }

    /// The rows that the unmodified pages keep: those of their records, and those of records that were set aside.
    private func vouched(_ stored: [StoredKeys.Entry]) throws -> KeyRuns {
        let pages = Dictionary(grouping: stored, by: \.request)
        return try tally.unmodified.reduce(into: KeyCollector()) { vouched, request in
            let sets = (pages[request] ?? []).filter { $0.kind == .members || $0.kind == .listed }
            guard sets.contains(where: { $0.kind == .members }) else { throw UnreadableKeys(request: request) }
            for entry in sets {
                guard let keys = entry.keys else { throw UnreadableKeys(request: request) }
                vouched.add(keys)
            }
        }.keys
    }

    /// What a page vouches for is damaged or gone, and nothing may be concluded without it.
    struct UnreadableKeys: Error {
        let request: String
    }

    private func writeResource(
        _ conclusion: RunConclusion, _ verdict: Sweep.Verdict, _ missing: MissingKeys, members: KeyRuns, count: Int, heldDeletes: Int,
        in worker: NSManagedObjectContext
    ) throws {
        var row = try ResourceTable.row(of: scope, in: worker)
        try StoredKeys.set(members.data, .members, of: scope, in: worker)
        // That nothing is missing is stored, too: each poll asks, and finds a row it knows without asking the store.
        try StoredKeys.set(missing.data ?? Data(), .missing, of: scope, in: worker)
        row.listing = conclusion.leavesNothingOpen ? tally.listing : nil
        row.mapping = fingerprint
        row.heldDeletes = heldDeletes
        // What records say needs no listing to be accepted for.
        if conclusion.isListing || deletion.isOnlySaid && tally.isCaughtUp, verdict.guardName == nil || verdict.isDenied { row.mayDelete = false }
        if conclusion.isListing {
            row.completeAt = endedAt
            row.completeRun = state.number
        }
        if conclusion.isListing || tally.isIncrement { row.rows = count }
        // A run of steps, or in order, has noted how far it came, and may have been cut off.
        if tally.cursor != .none || state.cursor != nil && cursor != state.cursor { row.cursor = cursor }
        if isIncremental, !tally.isIncrement { row.fullAt = startedAt }
        row.runNumber = state.number
        row.pages = tally.pages
        row.httpStatus = tally.status
        row.lastError = tally.outcome == .succeeded ? nil : tally.error.map { RemoteText.line($0) }
        let failed = tally.outcome == .failed || tally.outcome == .parked
        row.consecutiveFailures = failed ? row.consecutiveFailures + 1 : 0
        row.write(in: worker)
    }

    /// Drops records that were set aside and became good, or are no longer listed, and the oldest of those that are too many. An unchanged page is as
    /// bad as it was.
    private func tidyQuarantine(isListing: Bool, in worker: NSManagedObjectContext) throws {
        guard tally.wroteAnything else { return }
        let rows = try StateRow<QuarantineTable>.all(
            where: [.isEqual(\.source, scope.source), .isEqual(\.resource, scope.resource), .isEqual(\.partition, scope.partition ?? "")],
            sortedBy: [.down(\.seenAt), .up(\.record)], in: worker)
        var kept = 0
        for row in rows {
            // The pages of a run that asks for what has changed are other ones than those of their numbers.
            let isGone = row.run < state.number && !tally.isIncrement && (tally.readPages.contains(row.page) || (isListing && row.page > tally.pages))
            if !isGone { kept += 1 }
            if isGone || kept > Self.quarantine { row.delete(in: worker) }
        }
    }

    private func writeRun(deleted: Int, in worker: NSManagedObjectContext) throws {
        var counts = tally.counts
        counts.deleted = deleted
        try StateRow<RunTable>.write(
            RunReport(
                run: run, scope: scope, cause: cause, startedAt: startedAt, endedAt: endedAt, outcome: tally.outcome,
                isComplete: tally.isComplete && !tally.isIncrement,
                pages: tally.pages, bytes: tally.bytes, counts: counts, httpStatus: tally.status, error: tally.error), number: state.number,
            in: worker)
    }
}

extension StateRow<RunTable> {
    /// How many runs of a resource are remembered.
    private static var history: Int64 { 500 }

    /// Writes how a run went, and forgets the oldest of its resource.
    static func write(_ report: RunReport, number: Int64, in worker: NSManagedObjectContext) throws {
        let scope = report.scope
        var row = try RunTable.row(of: scope, number, in: worker)
        row.uuid = report.run
        row.cause = report.cause
        row.startedAt = report.startedAt
        row.endedAt = report.endedAt
        row.outcome = report.outcome
        row.isComplete = report.isComplete
        row.pages = report.pages
        row.bytes = report.bytes
        row.take(report.counts)
        row.httpStatus = report.httpStatus
        row.error = report.error.map { RemoteText.line($0) }
        row.write(in: worker)
        let old = try all(
            where: [.isEqual(\.source, scope.source), .isEqual(\.resource, scope.resource), .isAtMost(\.number, number - history)], in: worker)
        for row in old { row.delete(in: worker) }
    }
}

extension RunFailure {
    /// The kind of failure of an error that ended a run.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as FetchError:
                switch error.kind {
                case .tls: .tls
                case .spool: .store
                case .answer, .answerErrors: .page
                default: .fetch
                }
            case is SyncError: .page
            default: .store
            }
    }
}
