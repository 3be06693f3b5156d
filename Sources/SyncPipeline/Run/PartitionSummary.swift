import Foundation
import OpenCoreData
import SyncConfiguration
import SyncReports

/// What the parts of a run have come to.
struct PartitionSummary: Sendable {
    var outcome = RunOutcome.succeeded
    /// What there are parts for.
    var names: [String] = []
    private var expected: Int { names.count }
    /// How many were read.
    private(set) var read = 0
    /// With which part the next run begins; empty: with the first.
    var resume = ""
    var lacksParents = false
    private(set) var isComplete = false
    /// All of them have read what they asked for: everything, or what had changed.
    private(set) var isCaughtUp = false
    private(set) var pages = 0
    private(set) var notModified = 0
    private(set) var bytes = 0
    private(set) var counts = RecordCounts()
    private(set) var status: Int?
    private(set) var heldDeletes = 0
    private var guardName: String?
    private var pacing: ServerPacing?
    private var parkedUntil: Date?
    /// What the last part that was asked for says of the server.
    private var evidence = Breaker.Evidence.none
    private(set) var error: String?
    private var failure: RunFailure?
    private var completeParts = 0
    private var partsCaughtUp = 0
    /// How many were tried, those that cannot be asked for included.
    private(set) var tried = 0
    /// How many have been answered with a page.
    private(set) var answered = 0
    /// What went wrong with parts: how many, and the first of it.
    private var failures = Troubles()
    /// Parts that the server says are not there.
    private var absent = Troubles()
    private var incomplete = Troubles()
    /// How many failed one after the other.
    private var failuresInARow = 0

    /// So many in a row, and the others would fail, too.
    private static let mostFailuresInARow = 5

    private struct Troubles: Sendable {
        var count = 0
        var first: String?
        var failure: RunFailure?
        var status: Int?

        mutating func add(_ partition: Partition, _ error: String?, _ failure: RunFailure?, status: Int? = nil) {
            count += 1
            if first == nil { (first, self.failure, self.status) = ("\(partition.name): \(error ?? "no reason given")", failure, status) }
        }
    }

    /// Whether no other part is to be read now.
    var isOver: Bool { parkedUntil != nil || failuresInARow >= Self.mostFailuresInARow }

    /// Takes in how a part was read.
    mutating func take(_ conclusion: SyncRun.Conclusion, of partition: Partition) {
        let report = conclusion.report
        read += 1
        tried += 1
        if report.pages > 0 { answered += 1 }
        pages += report.pages
        notModified += report.notModifiedPages
        bytes += report.bytes
        counts += report.counts
        status = report.httpStatus ?? status
        pacing = pacing.map { $0.slower(conclusion.pacing) } ?? conclusion.pacing
        heldDeletes += conclusion.heldDeletes
        guardName = guardName ?? conclusion.guardName
        // What is answered of one part says nothing of the others.
        if case .permanent = conclusion.evidence { evidence = .works } else { evidence.take(conclusion.evidence) }
        switch report.outcome {
        case .succeeded:
            if report.isComplete { completeParts += 1 }
            if conclusion.isCaughtUp { partsCaughtUp += 1 }
            // What is concluded after the last part was tried changes nothing of why it was the last.
            if !isOver { failuresInARow = 0 }
        case .incomplete:
            incomplete.add(partition, report.error, report.failure)
            failuresInARow = 0
        // Not where a condition says that it is something else.
        case .failed
        where report.pages == 0 && conclusion.parkedUntil == nil && report.failure != .page && Self.absentStatuses.contains(report.httpStatus ?? 0):
            absent.add(partition, report.error, report.failure, status: report.httpStatus)
            // If nobody may see any of them, it may be the credential.
            if report.httpStatus == 403 { failuresInARow += 1 }
        case .failed:
            failures.add(partition, report.error, report.failure, status: report.httpStatus)
            failuresInARow += 1
        case .parked:
            outcome = .parked
            error = report.error
            parkedUntil = conclusion.parkedUntil
        case .cancelled: break
        }
        // Also where a failure says so.
        parkedUntil = conclusion.parkedUntil ?? parkedUntil
    }

    /// With these a server says that an object has no such list, or that nobody may see it. That is that object's business.
    private static let absentStatuses: Set<Int> = [403, 404, 410]

    /// A part cannot be asked for.
    mutating func miss(_ reason: String, _ partition: Partition) {
        tried += 1
        failures.add(partition, reason, .page)
    }

    /// Something went wrong that concerns all of them.
    mutating func fail(_ reason: String, _ kind: RunFailure) {
        outcome = .failed
        error = reason
        failure = kind
    }

    /// Judges the run when there is no more to come.
    mutating func judge() {
        guard outcome == .succeeded else { return }
        let untried = isOver ? expected - tried : 0
        if failures.count > 0 || untried > 0 || absent.count > 0 && absent.count == read {
            let troubles = failures.count > 0 ? failures : absent
            outcome = .failed
            failure = troubles.failure
            status = troubles.status ?? status
            error =
                "\(troubles.count) of \(expected) parts failed" + (untried > 0 ? ", and \(untried) were not tried" : "") + "; \(troubles.first ?? "")"
        } else if incomplete.count > 0 {
            outcome = .incomplete
            error = "\(incomplete.count) of \(expected) parts are not complete; \(incomplete.first ?? "")"
        } else {
            isComplete = completeParts + absent.count == expected
            isCaughtUp = partsCaughtUp + absent.count == expected
        }
    }

    func conclusion(_ start: RunStart, endedAt: Date) -> SyncRun.Conclusion {
        SyncRun.Conclusion(
            report: RunReport(
                run: start.run, scope: start.scope, cause: start.cause, startedAt: start.startedAt, endedAt: endedAt, outcome: outcome,
                isComplete: isComplete, pages: pages, notModifiedPages: notModified, bytes: bytes, counts: counts, httpStatus: status, error: error,
                failure: failure),
            parkedUntil: parkedUntil, pacing: pacing, heldDeletes: heldDeletes, guardName: guardName, isCaughtUp: isCaughtUp,
            lacksParents: lacksParents, evidence: evidence)
    }
}

/// What is recorded when a run of parts has ended: its own row, and the state of its resource. Each part has recorded its own.
struct PartitionedRunRecord: Sendable {
    let report: RunReport
    /// All parts have read what they asked for, so that what they say together is up to date.
    let isCaughtUp: Bool
    /// With which part the next run begins.
    let resume: String
    let heldDeletes: Int
    /// What there are parts for.
    let names: [String]
    let fingerprint: String

    /// Writes and saves, if there is anything to say. On the context's queue.
    ///
    /// - Returns: whether anything was written, here or by a part.
    func write(in worker: NSManagedObjectContext) throws -> Bool {
        var row = try ResourceTable.row(of: report.scope, in: worker)
        let wrote = report.pages > report.notModifiedPages || report.counts.deleted > 0
        let parts = isCaughtUp ? BodyDigest(of: names.joined(separator: "\n")) : row.listing
        let isDue =
            row.listing != parts || row.resumeAt != resume || isCaughtUp && row.heldDeletes != heldDeletes || row.mapping != fingerprint
            || row.state().mustWrite(report.outcome)
        guard wrote || isDue else { return false }
        row.runNumber += 1
        row.mapping = fingerprint
        row.resumeAt = resume
        row.pages = report.pages
        row.httpStatus = report.httpStatus
        if isCaughtUp {
            row.heldDeletes = heldDeletes
            // What has parts for its objects may go on, and need not wait until all are listed at once.
            if report.isComplete || row.completeAt == nil { row.completeAt = report.endedAt }
            row.completeRun = row.runNumber
            row.listing = parts
            row.rows = try settleParts(in: worker)
            try forgetOneList(in: worker)
        }
        row.lastError = report.outcome == .succeeded ? nil : report.error.map { RemoteText.line($0) }
        let failed = report.outcome == .failed || report.outcome == .parked
        row.consecutiveFailures = failed ? row.consecutiveFailures + 1 : 0
        row.write(in: worker)
        try StateRow<RunTable>.write(report, number: row.runNumber, in: worker)
        try worker.save()
        return true
    }

    /// Takes in which parts there are now.
    ///
    /// - Returns: how many rows they have together.
    private func settleParts(in worker: NSManagedObjectContext) throws -> Int {
        let names = Set(names)
        return try ResourceTable.parts(of: report.scope, in: worker).reduce(0) { rows, part in
            let isRemoved = !names.contains(part.partition)
            if part.isRemoved != isRemoved {
                var part = part
                part.isRemoved = isRemoved
                if isRemoved { part.cursor = nil }
                part.write(in: worker)
            }
            return rows + (isRemoved ? 0 : part.rows)
        }
    }

    /// What is remembered of the time when it was one list vouches for nothing any more. Its tombstones are the first part's to purge.
    private func forgetOneList(in worker: NSManagedObjectContext) throws {
        let scope = report.scope
        for entry in try StoredKeys.entries(of: scope, in: worker) {
            if entry.kind == .missing, let first = names.first {
                let part = ResourceScope(source: scope.source, resource: scope.resource, partition: first)
                var missing = MissingKeys(try StoredKeys.data(.missing, of: part, in: worker) ?? Data())
                missing.inheritTombstones(of: MissingKeys(entry.data))
                try StoredKeys.set(missing.data ?? Data(), .missing, of: part, in: worker)
            }
            entry.delete(in: worker)
        }
        for row in try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(scope)")], in: worker) { row.delete(in: worker) }
    }
}

extension ResourceTable {
    /// The rows of a resource's parts, those that are no more included.
    static func parts(of scope: ResourceScope, in worker: NSManagedObjectContext) throws -> [StateRow<ResourceTable>] {
        try StateRow.all(where: [.isEqual(\.source, scope.source), .isEqual(\.resource, scope.resource), .isNot(\.partition, "")], in: worker)
    }

    /// Those of them that are no more.
    static func formerParts(of scope: ResourceScope, in worker: NSManagedObjectContext) throws -> [StateRow<ResourceTable>] {
        try StateRow.all(
            where: [
                .isEqual(\.source, scope.source), .isEqual(\.resource, scope.resource), .isNot(\.partition, ""), .isEqual(\.isRemoved, true),
            ], in: worker)
    }
}
