import OpenCoreData
import SyncConfiguration
import Synchronization

extension SyncPipeline {
    /// Maps what is archived once more, as the configuration in force says, and asks no server. `scope` is a source, `source/resource`, or nil for everything
    /// of which bodies are kept. With `wait` the reports come when what was mapped is committed; of a resource that is paused or disabled comes none.
    /// Throws `SyncError.unknownScope`, and `SyncError.notKept` where no bodies are kept of what is meant.
    @discardableResult
    public func replay(_ scope: String?, wait: Bool) async throws -> [RunReport] {
        let scopes = try self.scopes(scope).filter(archive.isKept)
        guard !scopes.isEmpty else { throw SyncError.notKept(scope) }
        if !wait {
            for scope in scopes { handle(.replayAsked(scope)) }
            return []
        }
        return await withTaskGroup(of: RunReport?.self) { group in
            for scope in scopes { group.addImmediateTask { await self.ask { .replayAsked(scope, waiter: $0) } } }
            var reports: [RunReport] = []
            for await report in group {
                if let report { reports.append(report) }
            }
            return reports.sorted { $0.scope < $1.scope }
        }
    }

    /// Asks the machine for what a waiter of this number gets an answer to, and waits for that.
    func ask(_ input: (_ waiter: Int) -> PipelineState.Input) async -> RunReport? {
        await withCheckedContinuation { continuation in
            let waiter = state.withLock { state in
                state.waiterCount += 1
                state.waiters[state.waiterCount] = continuation
                return state.waiterCount
            }
            handle(input(waiter))
        }
    }

    /// Keeps the bodies that a configuration says, and drops all others. Before anything is fetched under it.
    func keepBodies(as configuration: CisternConfiguration) async throws {
        var rules: [ResourceScope: SchemaConfiguration] = [:]
        for resource in configuration.sources.flatMap(\.resources) where resource.schema.raw != .none {
            rules[ResourceScope(source: resource.source, resource: resource.name)] = resource.schema
        }
        let runs =
            rules.isEmpty
            ? [:]
            : try await document.withWorker { worker in
                try StateRow<ResourceTable>.all(where: [.isEqual(\.partition, "")], in: worker).reduce(into: [ResourceScope: Int64]()) {
                    $0[$1.scope] = $1.runNumber
                }
            }
        let leavesFree = configuration.store.minFreeDisk.bytes, kept = rules
        await archive.perform { [archive] in archive.keep(kept, runs: runs, leavesFree: leavesFree) }
    }
}
