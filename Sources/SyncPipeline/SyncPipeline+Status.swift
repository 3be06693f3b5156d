import Foundation
import OpenCoreData
import SyncConfiguration
import Synchronization

extension SyncPipeline {
    /// How every resource stands, by name.
    public func status() async -> PipelineStatus {
        let resources = state.withLock { state in
            state.workers.values.map { worker in
                var status = worker.status
                if let progress = worker.running?.run.progress {
                    status.runningPage = progress.page
                    status.runningRecords = progress.records
                }
                return status
            }
        }
        return PipelineStatus(
            resources: resources.sorted { $0.scope < $1.scope }, unsavedChanges: document.unsavedChangeCount,
            oldestUnsavedChange: document.oldestUnsavedChange)
    }

    public var liveness: PipelineLiveness {
        let now = clock.instant
        let overdue = dueTimes.values.min().map { $0.duration(to: now) } ?? .zero
        let (overruns, progress, isBusy) = state.withLock { state in
            let running = state.workers.values.compactMap { worker in worker.running.map { ($0.run, worker.resource.limits.maxRunTime) } }
            let overruns = running.map { run, limit in run.progress.startedAt.duration(to: now) - limit.duration }
            let steps = running.reduce(state.steps) { $0 + $1.0.progress.steps }
            return (overruns, steps, !running.isEmpty)
        }
        return PipelineLiveness(schedulerOverdue: max(overdue, .zero), longestOverrun: overruns.max(), progress: progress, isBusy: isBusy)
    }

    /// Lets the deletions that a guard holds back through, once, and polls. Throws `SyncError.unknownScope`.
    public func acceptDeletes(_ scope: String) async throws {
        for scope in try scopes(scope) {
            state.withLock { $0.workers[scope]?.acceptsDeletes = true }
            try await remember(scope) { $0["mayDelete"] = .bool(true) }
        }
        try await sync(scope, cause: .control, wait: false)
    }

    /// Keeps resources from being polled until `resume`, across restarts. Throws `SyncError.unknownScope`.
    public func pause(_ scope: String?) async throws { try await setPaused(scope, true) }

    /// Ends a pause and polls. Throws `SyncError.unknownScope`.
    public func resume(_ scope: String?) async throws { try await setPaused(scope, false) }

    private func setPaused(_ text: String?, _ isPaused: Bool) async throws {
        for scope in try scopes(text) {
            try await remember(scope) { $0["isPaused"] = .bool(isPaused) }
            setPaused(scope, isPaused)
        }
    }

    private func remember(_ scope: ResourceScope, _ change: @escaping @Sendable (inout StateRow) -> Void) async throws {
        try await document.withWorker { worker in
            var row = try StateRow.find(StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
            change(&row)
            row.write(in: worker)
            try worker.save()
        }
        try await document.save()
    }

    /// The records that were set aside, the newest first.
    public func quarantine(limit: Int = 100) async throws -> [QuarantineEntry] {
        try await document.withWorker { worker in
            try StateRow.all(StateModel.quarantine, in: worker).map { row in
                QuarantineEntry(
                    digest: row.string("digest") ?? "",
                    scope: ResourceScope(source: row.string("source") ?? "", resource: row.string("resource") ?? ""),
                    run: Int(row.integer("run")), page: Int(row.integer("page")), record: Int(row.integer("record")),
                    reason: row.string("reason") ?? "", path: row.string("path") ?? "", raw: row.string("raw") ?? "",
                    seenAt: row.date("seenAt"), count: Int(row.integer("count")))
            }
        }
        .sorted { ($0.seenAt ?? .distantPast) > ($1.seenAt ?? .distantPast) }
        .prefix(limit).map { $0 }
    }
}

extension RunReport {
    func due(_ next: Date?) -> RunReport {
        RunReport(
            run: run, scope: scope, cause: cause, startedAt: startedAt, endedAt: endedAt, outcome: outcome, isComplete: isComplete,
            pages: pages, notModifiedPages: notModifiedPages, bytes: bytes, counts: counts, httpStatus: httpStatus, error: error,
            nextPollAt: next)
    }
}
