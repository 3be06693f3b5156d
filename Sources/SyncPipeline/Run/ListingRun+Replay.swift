import Foundation
import OpenCoreData
import SyncConfiguration
import SyncReports

/// What becomes of a listing's archived bodies when they are mapped once more.
extension ListingRun {
    /// What the store remembers of a page.
    private struct RememberedPage: Sendable {
        /// The run that read it.
        let run: Int64
        /// What decided what its body became.
        let mapping: String?
        let request: StoredRequest?
    }

    /// Maps the bodies in the order in which they came, so that what is newer comes last.
    ///
    /// - Parameters:
    ///   - number: that of the run.
    ///   - deadline: when it has to end.
    func replay(as number: Int64, until deadline: SyncInstant, into result: inout ReplayTally) async throws {
        let scope = scope
        let pages = try await environment.workers.run { worker in
            try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(scope)")], in: worker).reduce(into: [String: RememberedPage]()) {
                $0[$1.request] = RememberedPage(run: $1.run, mapping: $1.mapping, request: $1.remembered)
            }
        }
        var tally = RunTally(), mapped: [ArchivedHead] = [], failure: (any Error)?
        do {
            for body in environment.archive.bodies(of: scope) {
                try await checkTime(deadline)
                step { $0.page = body.entry.page }
                if let head = try await replay(body, pages, as: number, &tally) { mapped.append(head) }
            }
            tally.end(PaginationEnd(rules: [.singlePage], doubts: []), limits: resource.limits)
        } catch {
            failure = error
        }
        result.take(tally)
        try await tidyQuarantine(mapped, before: number)
        if let failure { throw failure }
        let requests = Set(mapped.map(\.request)), missing = pages.filter { !requests.contains($0.key) }
        try await result.take(known: pages.count, missing: missing.count, oldest: oldest(missing))
    }

    private func checkTime(_ deadline: SyncInstant) async throws {
        try Task.checkCancellation()
        if progress.mustStop { throw SyncError.cancelled }
        if environment.clock.instant >= deadline {
            throw SyncError.page("\(scope): the replay took longer than limits.max_run_time = \(resource.limits.maxRunTime)")
        }
        _ = try await waitForRoom(until: deadline)
    }

    /// Maps one body.
    ///
    /// - Returns: what it is; nil: it is older than its rows, or damaged.
    private func replay(
        _ body: (entry: BodyArchive.Entry, path: String), _ pages: [String: RememberedPage], as number: Int64, _ tally: inout RunTally
    ) async throws -> ArchivedHead? {
        do {
            let archived = try ArchivedBody(body.path), head = archived.head, known = pages[head.request]
            guard head.scope == "\(scope)", try await isCurrent(head, isSaved: body.entry.isSaved, known) else { return nil }
            let listing = try prepared.at(RunTimes(since: nil, until: nil, now: head.now), environment), settings = try listing.settings.get().anew()
            let spool = SpoolPlace(folder: environment.document.fileURL, leavesFree: environment.store.minFreeDisk.bytes)
            var page = try await archived.page(settings, clock: environment.clock, spool: spool)
            // A server may have given the same body a new tag since.
            if known?.mapping == fingerprint, let request = known?.request, request.facts?.digest == page.content.digest {
                page.validators = request.validators
            }
            let recipe = PageRecipe(
                resource: listing.resource, mapping: prepared.mapping, settings: settings, constants: try listing.constants.get())
            // The order in which pages are read is another one than that of the listing: what records were is found out by the next poll.
            var comparison = prepared.comparison
            comparison.mayBeKept = false
            let asked = AskedPage(
                key: head.request, method: RequestMethod(rawValue: head.method) ?? .get, number: head.page,
                isRemembered: head.repetition == 0 && !head.isMasked, readIn: head.run)
            _ = try await parse(page, nil, asked, comparison, recipe, run: number, &tally)
            tally.note(head.request)
            if !body.entry.isSaved { environment.archive.settle(body.entry, of: scope) }
            return head
        } catch let damage as DamagedBody {
            environment.archive.discard(body.entry, of: scope)
            environment.archive.tell(scope, "\(damage); it is dropped")
            return nil
        }
    }

    /// Whether a body is as new as the rows that its page stands for, and brings back nothing that was removed since.
    private func isCurrent(_ head: ArchivedHead, isSaved: Bool, _ known: RememberedPage?) async throws -> Bool {
        guard let known else {
            // A page that the store has forgotten is in no listing any more; one that could never be mapped it has never known.
            return !isSaved
        }
        if known.run > head.run { return false }
        guard ModelMapping.entity(ofFingerprint: known.mapping) == resource.entity, let entity = prepared.mapping.entities[resource.entity] else {
            return true
        }
        let scope = scope, request = head.request
        return try await environment.workers.run { worker in
            guard let members = try StoredKeys.keys(.members, of: scope, page: request, in: worker) else { return false }
            var areThere = true
            try members.forEachPiece(of: 10_000) { piece in
                guard areThere else { return }
                let rows = try entity.rows(piece, in: worker)
                areThere = rows.count == piece.count && rows.values.allSatisfy { $0[entity.bookkeeping.deletedAt].isNull }
            }
            return areThere
        }
    }

    /// The page that was read the longest ago, in words.
    private func oldest(_ pages: [String: RememberedPage]) async throws -> ReplayTally.MissingPage? {
        guard let page = pages.min(by: { ($0.value.run, $0.key) < ($1.value.run, $1.key) }) else { return nil }
        let whole = scope.whole, run = page.value.run
        let readAt = try await environment.workers.run { worker in try RunTable.row(of: whole, run, in: worker).startedAt }
        let words = (try? prepared.settings.get())?.redactor.redact(page.key) ?? "a page"
        return ReplayTally.MissingPage(words: RemoteText.line(words, limit: 300), run: run, readAt: readAt)
    }

    /// Drops records that were set aside when these pages were read, and were not when they were mapped once more.
    private func tidyQuarantine(_ mapped: [ArchivedHead], before number: Int64) async throws {
        if mapped.isEmpty { return }
        let scope = scope
        let runs = mapped.reduce(into: [Int: Int64]()) { $0[$1.page] = min($0[$1.page] ?? $1.run, $1.run) }
        try await environment.workers.run { worker in
            let rows = try StateRow<QuarantineTable>.all(
                where: [.isEqual(\.source, scope.source), .isEqual(\.resource, scope.resource), .isEqual(\.partition, scope.partition ?? "")],
                in: worker)
            let good = rows.filter { row in row.run < number && runs[row.page].map { row.run >= $0 } == true }
            if good.isEmpty { return }
            for row in good { row.delete(in: worker) }
            try worker.save()
        }
    }
}
