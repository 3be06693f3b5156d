import Foundation
import OpenCoreData
import SyncConfiguration
import Synchronization

extension SyncPipeline {
    /// How every resource stands, by name.
    public func status() async -> PipelineStatus {
        let (resources, running) = state.withLock { state in
            (state.machine.statuses(at: clock.moment), state.runs.mapValues(\.run.progress))
        }
        return PipelineStatus(
            resources: resources.map { status in
                guard let progress = running[status.scope] else { return status }
                var status = status
                status.runningPage = progress.page
                status.runningRecords = progress.records
                return status
            }, unsavedChanges: document.unsavedChangeCount, oldestUnsavedChange: document.oldestUnsavedChange)
    }

    /// A wait may end so much later than it should before it counts as work that stands still.
    private static let waitSlack = Duration.seconds(60)

    public var liveness: PipelineLiveness {
        state.withLock { state in
            let now = clock.moment
            let runs = state.runs.values.map { ($0.run.progress, $0.run.resource.limits.maxRunTime.duration) }
            // Neither a server's patience nor a full disk is a standstill of ours: what waits for them is neither busy nor late.
            let working = runs.filter { progress, _ in
                !progress.waitsForDisk && (progress.waitsUntil?.advanced(by: Self.waitSlack) ?? now.instant) <= now.instant
            }
            return PipelineLiveness(
                schedulerOverdue: state.machine.overdue(at: now), forgotten: state.machine.forgotten,
                longestOverrun: working.map { progress, limit in progress.startedAt.duration(to: now.instant) - limit }.max(),
                progress: runs.reduce(state.steps) { $0 + $1.0.steps }, isBusy: !working.isEmpty)
        }
    }

    /// Lets the deletions that a guard holds back through, once, and polls. Throws `SyncError.unknownScope`.
    public func acceptDeletes(_ scope: String) async throws {
        for scope in try scopes(scope) {
            try await document.withWorker { worker in
                var row = try StateRow.find(StateModel.resource, key: [.string(scope.source), .string(scope.resource)], in: worker)
                row["mayDelete"] = .bool(true)
                row.write(in: worker)
                try worker.save()
            }
            try await document.save()
            handle(.asked(scope, .control, acceptsDeletes: true))
        }
    }

    /// Keeps resources from being polled until `resume`, across restarts. Throws `SyncError.unknownScope`, and what the store says.
    public func pause(_ scope: String?) async throws {
        for scope in try scopes(scope) { handle(.paused(scope)) }
        try await writer.written()
    }

    /// Ends a pause, and a wait that a server asked for, and polls. Throws `SyncError.unknownScope`, and what the store says.
    public func resume(_ scope: String?) async throws {
        for scope in try scopes(scope) { handle(.resumed(scope)) }
        try await writer.written()
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
