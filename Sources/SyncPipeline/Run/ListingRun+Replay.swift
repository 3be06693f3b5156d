import Foundation
import OpenCoreData
import SyncConfiguration
import SyncReports

/// What becomes of a listing's archived bodies when they are mapped once more.
extension ListingRun {
    /// What the store remembers of a page from before the replay, which forgets it.
    struct RememberedPage: Sendable {
        /// The run that read it.
        let run: Int64
        /// Of which entity it vouches for rows; nil: nobody knows.
        let entity: String?
        /// A poll would have asked with what was known of it. If not, somebody had that forgotten, or it could not be relied on.
        let isKnown: Bool
        /// What it was asked for with under the rules of today; nil: it was read under others.
        let validators: ConditionalGET?

        fileprivate init(_ row: StateRow<RequestTable>, _ fingerprint: String) {
            let request = row.remembered
            run = row.run
            entity = ModelMapping.entity(ofFingerprint: row.mapping)
            isKnown = request != nil
            validators = row.mapping == fingerprint ? request?.validators : nil
        }
    }

    /// A listing whose bodies are mapped, among those of other parts.
    struct Replayed: Sendable {
        let listing: ListingRun
        /// By the keys of their requests.
        fileprivate let pages: [String: RememberedPage]
        /// The run that read the last complete listing; 0: none did.
        fileprivate let completeRun: Int64
        fileprivate var tally = RunTally()
        fileprivate var mapped: [ArchivedHead] = []
    }

    /// What is known before the first body is mapped.
    func beginReplay() async throws -> Replayed {
        let scope = scope, fingerprint = fingerprint
        let (pages, completeRun) = try await environment.workers.run { worker in
            let rows = try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(scope)")], in: worker)
            return (
                rows.reduce(into: [String: RememberedPage]()) { $0[$1.request] = RememberedPage($1, fingerprint) },
                try ResourceTable.row(of: scope, in: worker).completeRun
            )
        }
        return Replayed(listing: self, pages: pages, completeRun: completeRun)
    }

    /// Maps the next body.
    ///
    /// - Parameters:
    ///   - number: that of the run.
    ///   - deadline: when it has to end.
    func replay(_ body: BodyArchive.Body, as number: Int64, until deadline: SyncInstant, into replayed: inout Replayed) async throws {
        try await checkTime(deadline)
        step { $0.page = body.entry.page }
        if let head = try await map(body, as: number, &replayed) { replayed.mapped.append(head) }
    }

    /// Draws up what has come of a listing's bodies.
    ///
    /// - Parameter isWhole: all of them were mapped.
    func endReplay(_ replayed: Replayed, isWhole: Bool, as number: Int64, into result: inout ReplayTally) async throws {
        var tally = replayed.tally
        if isWhole { tally.end(PaginationEnd(rules: [.singlePage], doubts: []), limits: resource.limits) }
        result.take(tally)
        try await tidyQuarantine(replayed.mapped, before: number)
        guard isWhole else { return }
        let requests = Set(replayed.mapped.map(\.request)), missing = replayed.pages.filter { !requests.contains($0.key) }
        try await result.take(known: replayed.pages.count, missing: missing.count, oldest: oldest(missing))
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
    private func map(_ body: BodyArchive.Body, as number: Int64, _ replayed: inout Replayed) async throws -> ArchivedHead? {
        let archive = environment.archive, scope = scope, entry = body.entry
        do {
            let opened = await archive.perform { Result { () throws(DamagedBody) in try ArchivedBody(body.path) } }
            let archived = try opened.get(), head = archived.head, known = replayed.pages[head.request]
            guard head.scope == "\(scope)", try await isCurrent(head, isSaved: entry.isSaved, known, completeRun: replayed.completeRun) else {
                return nil
            }
            let listing = try prepared.at(RunTimes(since: nil, until: nil, now: head.now), environment), settings = try listing.settings.get().anew()
            let spool = SpoolPlace(folder: environment.document.fileURL, leavesFree: environment.store.minFreeDisk.bytes)
            var page = try await archived.page(settings, clock: environment.clock, spool: spool)
            // A server may have given the same body a new tag since.
            if let validators = known?.validators, validators.bodyDigest == page.content.digest { page.validators = validators }
            let recipe = PageRecipe(
                resource: listing.resource, mapping: prepared.mapping, settings: settings, constants: try listing.constants.get())
            // The order in which pages are read is another one than that of the listing: what records were is found out by the next poll.
            var comparison = prepared.comparison
            comparison.mayBeKept = false
            // What a poll would have had to read again it has to still, unless this is newer than what that was said of.
            let mayBeKnown = known.map { $0.isKnown || $0.run < head.run } ?? true
            let asked = AskedPage(
                key: head.request, method: RequestMethod(rawValue: head.method) ?? .get, number: head.page,
                isRemembered: head.repetition == 0 && !head.isMasked && mayBeKnown, readIn: head.run)
            _ = try await parse(page, nil, asked, comparison, recipe, run: number, &replayed.tally)
            replayed.tally.note(head.request)
            if !entry.isSaved { await archive.perform { archive.settle(entry, of: scope) } }
            return head
        } catch let damage as DamagedBody {
            await archive.perform { archive.discard(entry, of: scope) }
            archive.tell(scope, "\(damage); it is dropped")
            return nil
        }
    }

    /// Whether a body is as new as the rows that its page stands for, and brings back nothing that was removed since.
    private func isCurrent(_ head: ArchivedHead, isSaved: Bool, _ known: RememberedPage?, completeRun: Int64) async throws -> Bool {
        // What could not be mapped, and the next complete listing did without.
        let isOutlived = !isSaved && head.run <= completeRun
        guard let known else {
            // A page that the store has forgotten is in no listing any more; one that could never be mapped it has never known.
            return !isSaved && !isOutlived
        }
        if known.run > head.run || known.run < head.run && isOutlived { return false }
        guard known.entity == resource.entity, let entity = prepared.mapping.entities[resource.entity] else { return true }
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
