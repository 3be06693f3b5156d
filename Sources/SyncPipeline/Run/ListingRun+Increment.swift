import Foundation
import OpenCoreData
import SyncConfiguration

/// What a run asks for, step by step, and how far it has come.
extension ListingRun {
    /// What there is to ask for; nil: the resource asks for everything each time.
    func increment(_ state: RunState, _ now: Date, acceptsDeletes: Bool) -> Increment? {
        guard let configuration = resource.incremental else { return nil }
        // Only a listing of everything shows what is gone, unless records say it, and only a reading of everything what records are under other
        // rules.
        let mayDelete = (acceptsDeletes || state.mayDelete) && !resource.deletion.isOnlySaid
        let isFull = isFull || mayDelete || isListingDue(configuration, state, now) || state.fingerprint != fingerprint
        // An address that a service gave may lead where it must not any more.
        let before = state.cursor.flatMap { configuration.token == nil || prepared.begins(with: $0) ? $0 : nil }
        return Increment(configuration, before: before, isFull: isFull, now: now)
    }

    /// Whether everything is to be listed again. One that does not come to its end leaves room for what has changed.
    private func isListingDue(_ configuration: IncrementalConfiguration, _ state: RunState, _ now: Date) -> Bool {
        guard let interval = configuration.fullEvery?.duration else { return false }
        func isOver(_ time: Date?, _ interval: Duration) -> Bool { time.map { now >= $0.advanced(by: interval) } ?? true }
        return isOver(state.completeAt, interval) && isOver(state.fullAt, min(interval, Self.timeBetweenListings))
    }

    private static let timeBetweenListings = Duration.seconds(6 * 3600)

    /// What the run asks for first.
    func firstStep(_ increment: Increment?, _ now: Date) throws -> Step { try step(increment, increment?.slice(after: nil), now) }

    private func step(_ increment: Increment?, _ slice: Increment.Slice?, _ now: Date) throws -> Step {
        Step(listing: try prepared.at(RunTimes(slice, now: now), environment), increment: increment, slice: slice, now: now)
    }

    /// Reads step after step.
    func readSteps(_ tally: inout RunTally, _ begin: Beginning) async throws {
        do throws(any Error) {
            try await readSteps(&tally, begin, begin.step, stored: begin.stored)
        } catch let rejection as CursorRejection {
            guard let increment = begin.step.increment else { throw rejection }
            environment.observe(.cursorRejected(scope: scope, run: id, cursor: increment.before?.words ?? "", status: rejection.status ?? 0))
            try await readSteps(&tally, begin, firstStep(increment.full, increment.now), stored: nil)
        }
    }

    private func readSteps(_ tally: inout RunTally, _ begin: Beginning, _ first: Step, stored: KnownPage?) async throws {
        var step = first, stored = stored
        tally.isIncrement = first.increment?.isFull == false
        // Records that say no time may be again what they were when everything was listed last, while their rows are what they were in between: a page
        // that has not changed since then says nothing of these.
        if let increment = first.increment, increment.isFull, increment.configuration.token != nil { tally.isReadAnew = true }
        while true {
            guard let end = try await readPages(&tally, number: begin.state.number, step, first: stored) else { return }
            stored = nil
            guard let increment = step.increment, let slice = step.slice, end.isComplete else { return tally.end(end, limits: resource.limits) }
            if let next = increment.slice(after: slice) {
                if let until = slice.until, tally.isTrusted { try await note(.time(until), increment) }
                tally.lastCursor = nil
                step = try self.step(increment, next, increment.now)
                continue
            }
            tally.end(end, limits: resource.limits)
            if tally.isCaughtUp {
                tally.cursor = .set(increment.cursor(after: tally, last: slice))
                if let token = increment.configuration.token, tally.token == nil, !tally.keepsToken { tellMissing(token, tally) }
            }
            return
        }
    }

    /// The next run has nothing to go on from.
    private func tellMissing(_ token: DeltaToken, _ tally: RunTally) {
        let place = token.path.map { "at \($0)" } ?? "in the header \(token.header ?? "")"
        let refusal = tally.refusedToken.map { ": \($0)" } ?? ""
        environment.observe(.tokenMissing(scope: scope, run: id, reason: "the last page has none \(place)\(refusal)"))
    }

    /// Whether a server does not take where a run begins to ask.
    func rejectsCursor(_ outcome: FetchOutcome, _ step: Step, _ tally: RunTally) -> Bool {
        guard let increment = step.increment, increment.configuration.onRejection == .full, tally.pages == 0,
            let error = outcome.error, case .status(let status) = error.kind
        else { return false }
        return mayReject(status, increment)
    }

    /// Whether a status may mean where a run begins to ask. What is not there where a token leads may be the token: 404, too, and whatever else says that
    /// something is gone.
    func mayReject(_ status: Int, _ increment: Increment?) -> Bool {
        guard let increment, !increment.isFull else { return false }
        if [400, 410, 422].contains(status) { return true }
        return increment.configuration.token != nil && (status == 404 || resource.deletion.goneStatuses.contains(status))
    }

    /// Takes in how new a page's records are.
    ///
    /// - Returns: whether the pages that follow are known.
    /// - Throws: `SyncError` where the records are not what `incremental` says.
    func follow(_ facts: PageFacts, _ step: Step, page: Int, _ tally: inout RunTally) async throws -> Bool {
        tally.trust(facts, limits: resource.limits)
        guard let increment = step.increment, let slice = step.slice, let span = facts.span else { return false }
        let configuration = increment.configuration, field = configuration.field.map { "\($0)" } ?? ""
        if span.missing > 0, configuration.onMissing == .fail {
            throw SyncError.page(
                "\(scope): page \(page): \(span.missing) of \(facts.records) records have no \(field) (incremental.on_missing = \"fail\")")
        }
        if span.missing > 0, span.newest == nil { environment.observe(.cursorMissing(scope: scope, run: id, page: page, field: field)) }
        if let disorder = increment.disorder(span, after: tally.lastCursor) {
            // What was noted on the way relied on the order.
            tally.cursor = .set(increment.before)
            throw SyncError.page("\(scope): page \(page): \(disorder); write order = \"unsorted\", or ask for the records in order")
        }
        tally.lastCursor = span.last ?? tally.lastCursor
        if increment.isIgnored(span, slice), !tally.isIgnoranceTold, let oldest = span.oldest {
            tally.isIgnoranceTold = true
            environment.observe(.sinceIgnored(scope: scope, run: id, since: slice.since?.text ?? "", oldest: oldest.text))
        }
        if configuration.order == .ascending, configuration.window == nil, tally.isTrusted, let newest = span.newest {
            try await note(newest, increment)
        }
        return increment.isBehind(span, slice)
    }

    /// Remembers how far the run has come, so that it goes on from there if it ends early. Not where it asks for everything although it need not: until
    /// it is through, what it has not read may be out of date.
    private func note(_ cursor: SyncCursor, _ increment: Increment) async throws {
        guard !increment.isFull || increment.before == nil, let cursor = increment.capped(cursor) else { return }
        let scope = scope, fingerprint = fingerprint, place = VouchingJournal.Place(scope: scope)
        environment.trust.vouching.begin(place)
        defer { environment.trust.vouching.end(place) }
        try await environment.workers.run { worker in
            var row = try ResourceTable.row(of: scope, in: worker)
            // What is remembered of another entity's rows is not ours to rename.
            if let stored = ModelMapping.entity(ofFingerprint: row.mapping), stored != ModelMapping.entity(ofFingerprint: fingerprint) { return }
            if let known = row.cursor.flatMap({ SyncCursor($0, of: increment.configuration.kind) }), known >= cursor { return }
            row.cursor = cursor.text
            row.mapping = fingerprint
            row.write(in: worker)
            try worker.save()
        }
    }
}

/// A server does not take where a run began to ask.
struct CursorRejection: Error {
    let status: Int?
}
