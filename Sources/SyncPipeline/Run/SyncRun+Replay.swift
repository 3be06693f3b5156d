import Foundation
import OpenCoreData
import SyncConfiguration
import SyncReports
import Synchronization

/// A run that asks nobody: the bodies in the archive are mapped once more, as the configuration of today says. It concludes nothing from what is not there,
/// and leaves the cursor, the schedule and what is known of the last listing alone.
extension SyncRun {
    /// Maps what there is; never throws. With `isWaitedFor` the document is saved at once.
    func replay(isWaitedFor: Bool) async -> Conclusion {
        let start = RunStart(run: id, scope: scope, cause: cause, startedAt: environment.clock.wallTime)
        environment.begin(start)
        var tally = ReplayTally()
        do {
            let number = try await nextNumber()
            do {
                try await replay(as: number, into: &tally)
            } catch is CancellationError {
                tally.outcome = .cancelled
            } catch SyncError.cancelled {
                tally.outcome = .cancelled
            } catch {
                tally.fail(error)
            }
            tally.judge(scope)
            try await record(tally.report(start, endedAt: environment.clock.wallTime), as: number)
            if tally.outcome != .cancelled, !progress.mustStop {
                state.withLock { $0.isSaving = true }
                try await environment.commit(isHurried: isWaitedFor || state.withLock { $0.isHurried })
            }
        } catch {
            tally.fail(error)
        }
        return Conclusion(report: tally.report(start, endedAt: environment.clock.wallTime), heldDeletes: 0)
    }

    private func nextNumber() async throws -> Int64 {
        let scope = scope
        return try await environment.workers.run { worker in try ResourceTable.row(of: scope, in: worker).runNumber + 1 }
    }

    private func replay(as number: Int64, into tally: inout ReplayTally) async throws {
        let deadline = start.advanced(by: resource.limits.maxRunTime.duration)
        var replayed: [ListingRun.Replayed] = []
        for listing in try await listings(as: number, until: deadline, &tally) { replayed.append(try await listing.beginReplay()) }
        let scopes = replayed.map(\.listing.scope)
        let bodies = await environment.archive.perform { [archive = environment.archive] in archive.bodies(of: scopes) }
        var failure: (any Error)?
        if !bodies.isEmpty {
            try await forgetWhatIsKnown()
            do { try await map(bodies, of: &replayed, as: number, until: deadline) } catch { failure = error }
            // A poll of theirs that went on beside it may have noted what was true before.
            try await forgetWhatOthersKnow()
        }
        for part in replayed { try await part.listing.endReplay(part, isWhole: failure == nil, as: number, into: &tally) }
        if let failure { throw failure }
    }

    private func map(
        _ bodies: [BodyArchive.Body], of replayed: inout [ListingRun.Replayed], as number: Int64, until deadline: SyncInstant
    ) async throws {
        var last: Int?
        for body in bodies {
            let listing = replayed[body.part].listing
            if last != body.part, resource.partitions != nil { turn(to: listing) }
            last = body.part
            try await listing.replay(body, as: number, until: deadline, into: &replayed[body.part])
        }
    }

    /// What there are bodies of: the resource, or its parts as far as they can be asked for.
    private func listings(as number: Int64, until deadline: SyncInstant, _ tally: inout ReplayTally) async throws -> [ListingRun] {
        guard resource.partitions != nil else { return state.withLock { $0.listing }.map { [$0] } ?? [] }
        var listings: [ListingRun] = []
        let vouching = VouchingMemory(environment.trust.vouching)
        for partition in try await partitions().partitions {
            do {
                let part = try PreparedResource(prepared, for: partition, environment)
                listings.append(
                    ListingRun(
                        part, of: ResourceScope(source: scope.source, resource: scope.resource, partition: partition.name), id: id, cause: cause,
                        environment: environment, part: ListingRun.Part(number: number, isFirst: false, deadline: deadline, vouching: vouching)))
            } catch {
                tally.miss(error.inWords, partition)
            }
        }
        return listings
    }

    /// Has the next poll read every page that this replay does not come to, whatever ends it: what it maps may be older than what they say of the same
    /// rows. A page that it maps is known again from then on. What the listing as a whole was is judged anew in any case, since rows may have left it.
    private func forgetWhatIsKnown() async throws {
        let scope = scope, sharers = sharers
        try await environment.workers.run { worker in
            try RunState.forget([.validators], of: scope, in: worker)
            try RunState.forgetKnowledge(of: sharers, in: worker)
            try worker.save()
        }
    }

    /// The same of all pages of the resources that write rows which this one writes, too: they may have said something newer of them.
    private func forgetWhatOthersKnow() async throws {
        let sharers = sharers
        if sharers.isEmpty { return }
        try await environment.workers.run { worker in
            try RunState.forgetKnowledge(of: sharers, in: worker)
            try worker.save()
        }
    }

    /// Writes that there was a replay, and how it went: nothing else that a run writes of its resource.
    private func record(_ report: RunReport, as number: Int64) async throws {
        let scope = scope
        try await environment.workers.run { worker in
            var row = try ResourceTable.row(of: scope, in: worker)
            row.runNumber = max(row.runNumber, number)
            row.write(in: worker)
            try StateRow<RunTable>.write(report, number: number, in: worker)
            try worker.save()
        }
    }
}
