import Foundation
import OpenCoreData
import SyncConfiguration

/// What follows from a run, and what it reports.
extension ListingRun {
    /// - Parameter objection: what speaks against believing that a part is gone.
    func conclude(
        _ tally: RunTally, state: RunState?, startedAt: Date, isWaitedFor: Bool, acceptsDeletes: Bool, objection: String? = nil
    ) async -> Conclusion {
        var tally = tally
        var verdict = Sweep.Verdict(), known = 0, held = tally.isIncrement ? state?.heldDeletes ?? 0 : 0
        if let state, let entity = prepared.mapping.entities[resource.entity] {
            let record = RunRecord(
                run: id, scope: scope, cause: cause, mapping: environment.mapping, entity: entity, deletion: resource.deletion, tally: tally,
                state: state,
                startedAt: startedAt, endedAt: environment.clock.wallTime, acceptsDeletes: acceptsDeletes,
                fingerprint: fingerprint, isPart: isPart, isIncremental: resource.incremental != nil, objection: objection,
                vouching: part?.vouching)
            do {
                if record.isNeeded {
                    let written = try await write(record)
                    (verdict, known, held) = (written.verdict, written.known, written.heldDeletes)
                    await tidyArchive(tally, forgotten: written.forgotten)
                    tally.counts.deleted += written.deleted
                    // Once more: a page that names what is gone may have been saved meanwhile.
                    if !written.erased.isEmpty {
                        try await environment.workers.run { worker in
                            try record.forgetPages(naming: written.erased, in: worker)
                            try worker.save()
                        }
                    }
                    let isStopping = tally.outcome == .cancelled || progress.mustStop
                    if isStopping { return conclusion(tally, verdict, startedAt, held: held) }
                    if !isPart {
                        step { $0.waitsForDisk = true }
                        try await environment.commit(isHurried: isWaitedFor || progress.isHurried)
                    }
                }
            } catch let unreadable as RunRecord.UnreadableKeys {
                environment.trust.forget([unreadable.request], of: scope)
                tally.fail(unreadable)
                tally.error = "the store cannot tell which rows the page \(unreadable.request) holds; the next run reads the page again"
            } catch {
                tally.fail(error)
            }
        }
        if let guardName = verdict.guardName {
            environment.observe(
                .deletesHeld(scope: scope, run: id, count: verdict.held, known: known, guardName: guardName))
        }
        return conclusion(tally, verdict, startedAt, held: held)
    }

    private func write(_ record: RunRecord) async throws -> RunRecord.Outcome {
        let write = { @Sendable [environment, scope] in
            try await environment.workers.run { worker in try record.write(in: worker) { environment.parseProbe?.concludes(scope) } }
        }
        let place = VouchingJournal.Place(scope: scope)
        environment.trust.vouching.begin(place)
        defer { environment.trust.vouching.end(place) }
        let tombstones = environment.trust.tombstones
        var isOther = true
        tombstones.begin()
        defer { tombstones.end(isOther: isOther) }
        let written = record.mayRemove ? try await environment.trust.conclusions.run(write) : try await write()
        isOther = written.saysOther
        environment.trust.doubt(written.removed)
        environment.trust.forget(written.forgotten, of: scope)
        return written
    }

    func conclusion(_ tally: RunTally, _ verdict: Sweep.Verdict, _ startedAt: Date, held: Int) -> Conclusion {
        let report = RunReport(
            run: id, scope: scope, cause: cause, startedAt: startedAt, endedAt: environment.clock.wallTime, outcome: tally.outcome,
            isComplete: tally.isComplete && !tally.isIncrement, pages: tally.pages, notModifiedPages: tally.notModified, bytes: tally.bytes,
            counts: tally.counts, httpStatus: tally.status, error: tally.error, failure: tally.failure)
        return Conclusion(
            report: report, parkedUntil: tally.parkedUntil, pacing: tally.pacing, heldDeletes: held,
            guardName: verdict.guardName, isCaughtUp: tally.isCaughtUp, evidence: tally.evidence)
    }
}
