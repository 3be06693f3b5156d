import Foundation
package import OpenCoreData
package import SyncConfiguration
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
                status.judge(at: clock.wallTime)
                return status
            }, unsavedChanges: document.unsavedChangeCount, oldestUnsavedChange: document.oldestUnsavedChange)
    }

    /// When a run begins that is asked for now: now, or as soon as `min_interval` and the server's wishes allow. Nil: none would, since the resource is not
    /// polled, or its server wants it left alone for longer than somebody waits.
    package func soonestRun(of scope: ResourceScope) -> Date? {
        state.withLock { state in
            let now = clock.moment
            guard let resource = state.machine.resources[scope], resource.isPollable, state.machine.parkedUntil(resource, now) == nil else {
                return nil
            }
            return now.wall(of: max(resource.soonest(at: now), state.machine.notBefore(resource, now)))
        }
    }

    /// After a stop: the polls that somebody had asked for without waiting for them, and that the stop left undone.
    public var unserved: [UnservedPoll] { state.withLock { $0.machine.unserved.values.sorted { $0.scope < $1.scope } } }

    /// A wait may end this much late before it counts as work that stands still.
    private static let waitSlack = Duration.seconds(60)

    /// Taken at once from what is known: waits for no run, no server and no store.
    public var liveness: PipelineLiveness {
        state.withLock { state in
            let now = clock.moment
            let runs = state.runs.values.map { ($0.run.progress, $0.run.resource.limits.maxRunTime.duration) }
            // Neither a wait that a server asked for nor a full disk is a standstill of ours: what waits for them is neither busy nor late.
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
                // Of parts those whose deletions are held: what another loses later is another matter.
                let parts = try ResourceTable.parts(of: scope, in: worker)
                for var row in try parts.isEmpty ? [ResourceTable.row(of: scope, in: worker)] : parts.filter({ $0.heldDeletes > 0 }) {
                    row.mayDelete = true
                    row.write(in: worker)
                }
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

    /// Ends a pause, and a wait that a server asked for or that its failures brought about, and polls. Throws `SyncError.unknownScope`, and what the store says.
    public func resume(_ scope: String?) async throws {
        for scope in try scopes(scope) { handle(.resumed(scope)) }
        try await writer.written()
    }

    /// Forgets parts of what is remembered of a source or a resource, its parts included, in one transaction; the rows stay. A run that is under way is cut
    /// off before, so that it writes nothing over that, and another one makes up for it. Throws `SyncError.unknownScope`, `SyncError.stopping`, and
    /// what the store says: then nothing is forgotten, or all of it as soon as the store can be written.
    public func reset(_ scope: String, _ parts: Set<ResetPart>) async throws {
        let scopes = try self.scopes(scope), stored = parts.subtracting([.breaker])
        if parts.contains(.breaker) {
            for scope in scopes { handle(.forgiven(scope)) }
            try await writer.written()
        }
        if stored.isEmpty { return }
        var begun: [(scope: ResourceScope, reset: Int)] = []
        defer { for entry in begun { handle(.wasReset(entry.scope, reset: entry.reset)) } }
        for scope in scopes {
            guard let reset = await beginReset(of: scope) else { throw SyncError.stopping }
            begun.append((scope, reset))
        }
        try await document.withWorker { worker in
            for scope in scopes { try RunState.forget(stored, of: scope, in: worker) }
            try worker.save()
        }
        try await document.save()
    }

    /// Returns when no run of the resource is open and none will be until `wasReset`; nil: the pipeline stops.
    private func beginReset(of scope: ResourceScope) async -> Int? {
        let reset = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        let may: Bool = await withCheckedContinuation { continuation in
            state.withLock { $0.resets[reset] = continuation }
            handle(.resetting(scope, reset: reset))
        }
        return may ? reset : nil
    }

    /// The records that were set aside, the newest first, after `skip` newer ones; with `id`, those whose id begins so.
    public func quarantine(id: String? = nil, limit: Int = 100, skip: Int = 0) async throws -> [QuarantineEntry] {
        try await document.withWorker { worker in
            let conditions: [RowCondition<QuarantineTable>] = id.map { [.begins(\.digest, $0)] } ?? []
            return try StateRow.all(
                where: conditions, sortedBy: [.down(\.seenAt), .up(\.digest)], skip: skip, limit: limit, in: worker
            ).map(\.entry)
        }
    }
}

extension RunReport {
    func due(_ next: Date?) -> RunReport {
        var report = self
        report.nextPollAt = next
        return report
    }
}

extension AutosavePolicy {
    /// As a configuration says it.
    package init(_ document: DocumentConfiguration) {
        self.init(
            interval: document.autosaveInterval.seconds, changes: document.autosaveChanges, bytes: document.autosaveBytes.bytes)
    }
}
