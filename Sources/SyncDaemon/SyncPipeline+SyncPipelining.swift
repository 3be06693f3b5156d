import Foundation
import SyncControl
import SyncPipeline

extension SyncPipeline: SyncPipelining {
    public func resources() async -> [StatusSnapshot.Resource] {
        let now = Date()
        return await status().resources.map { StatusSnapshot.Resource($0, at: now) }
    }

    public func quarantineRecords(id: String?, limit: Int, skip: Int) async throws -> [QuarantineRecord] {
        try await quarantine(id: id, limit: limit, skip: skip).map { QuarantineRecord($0) }
    }

    public var activity: PipelineActivity {
        let liveness = liveness
        let overrun = liveness.longestOverrun ?? .zero
        return PipelineActivity(
            overdue: liveness.schedulerOverdue, forgotten: liveness.forgotten?.description, lateOperation: overrun > .zero ? "a run" : nil,
            lateBy: max(overrun, .zero),
            progress: UInt64(max(0, liveness.progress)), isBusy: liveness.isBusy)
    }
}

extension StatusSnapshot.Resource {
    init(_ status: ResourceStatus, at now: Date) {
        self.init(
            scope: status.scope.description, state: StatusSnapshot.ResourceState(rawValue: status.health.rawValue) ?? .degraded,
            lastSuccessAt: status.lastSuccess, completeAt: status.completeAt,
            ageSeconds: status.lastSuccess.map { max(0, now.timeIntervalSince($0)) }, nextPollAt: status.nextPollAt, objects: status.objects,
            httpStatus: status.httpStatus, error: status.error, consecutiveFailures: status.consecutiveFailures,
            heldDeletes: status.heldDeletes > 0 ? status.heldDeletes : nil, runningPage: status.runningPage,
            runningRecords: status.runningRecords, lastRun: status.lastReport.map { RunSummary($0) })
    }
}

extension QuarantineRecord {
    init(_ entry: QuarantineEntry) {
        self.init(
            id: entry.digest, scope: entry.scope.description, run: entry.run, page: entry.page, record: entry.record, reason: entry.reason,
            path: entry.path.isEmpty ? nil : entry.path, raw: entry.raw.isEmpty ? nil : entry.raw, seenAt: entry.seenAt ?? .distantPast,
            count: entry.count)
    }
}
