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
        guard resource.partitions != nil else {
            guard let listing = state.withLock({ $0.listing }) else { return }
            return try await listing.replay(as: number, until: deadline, into: &tally)
        }
        let vouching = VouchingMemory(environment.trust.vouching)
        for partition in try await partitions().partitions {
            let part: PreparedResource
            do { part = try PreparedResource(prepared, for: partition, environment) } catch {
                tally.miss(error.inWords, partition)
                continue
            }
            let listing = ListingRun(
                part, of: ResourceScope(source: scope.source, resource: scope.resource, partition: partition.name), id: id, cause: cause,
                environment: environment, part: ListingRun.Part(number: number, isFirst: false, deadline: deadline, vouching: vouching))
            turn(to: listing)
            try await listing.replay(as: number, until: deadline, into: &tally)
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
