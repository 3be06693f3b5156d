import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization

/// The routes' way to the running daemon.
final class DaemonControl: ControlBackend {
    /// How many entries of the quarantine an answer has if no number is given.
    static let defaultLimit = 100

    private let lifeCycle: DaemonLifeCycle
    private let pipeline: any SyncPipelining
    private let hub: EventHub
    private let backups: BackupRunner

    init(lifeCycle: DaemonLifeCycle, pipeline: any SyncPipelining, hub: EventHub, backups: BackupRunner) {
        self.lifeCycle = lifeCycle
        self.pipeline = pipeline
        self.hub = hub
        self.backups = backups
    }

    func version() -> ControlVersion { lifeCycle.version() }

    func status() async -> StatusSnapshot {
        lifeCycle.snapshot(resources: await pipeline.resources().map(\.onTheWire))
    }

    func configuration() -> RunningConfiguration { lifeCycle.runningConfiguration() }

    func quarantine(id: String?, limit: Int, skip: Int) async throws(ControlError) -> [QuarantineEntry] {
        do {
            return try await pipeline.quarantine(id: id, limit: limit, skip: skip)
        } catch {
            throw Self.translate(error)
        }
    }

    func reload(wait: Bool) async throws(ControlError) -> ControlResponse {
        if wait { return try await lifeCycle.requestReloadAndWait() }
        try lifeCycle.requestReload()
        return ControlResponse(message: "Reload requested; `cisternctl reload --wait` says how it went.")
    }

    func pause(_ scope: String?) async throws(ControlError) -> ControlResponse {
        try await translating { try await pipeline.pause(scope) }
        return ControlResponse(message: "\(scope ?? "Everything") is paused until `cisternctl resume`.")
    }

    func resume(_ scope: String?) async throws(ControlError) -> ControlResponse {
        try await translating { try await pipeline.resume(scope) }
        return ControlResponse(message: "\(scope ?? "Everything") is polled again.")
    }

    func acceptDeletes(_ scope: String) async throws(ControlError) -> ControlResponse {
        try await translating { try await pipeline.acceptDeletes(scope) }
        return ControlResponse(message: "The next complete run of \(scope) may remove what was held back, once.")
    }

    func reset(_ scope: String, _ parts: Set<ResetPart>) async throws(ControlError) -> ControlResponse {
        try await translating { try await pipeline.reset(scope, parts) }
        let names = parts.map(\.rawValue).sorted().joined(separator: " and ")
        return ControlResponse(
            message: "The \(names) of \(scope) \(parts == [.cursor] || parts == [.breaker] ? "is" : "are") forgotten; the next run does without.")
    }

    func backup() async throws(ControlError) -> BackupReport { try await backups.make() }

    func sync(_ scope: String?, full: Bool) async throws(ControlError) -> ControlResponse {
        let expected = try await resources(in: scope)
        try await translating { _ = try await pipeline.sync(scope, cause: .control, full: full, wait: false) }
        let count = expected.count
        return ControlResponse(
            message: count == 0
                ? "There is nothing to poll: everything is paused or disabled."
                : "\(count == 1 ? expected[0] : "\(count) resources") will be polled, within the limits.")
    }

    func syncProgress(_ scope: String?, full: Bool) async throws(ControlError) -> AsyncStream<SyncProgress> {
        progress(of: try await resources(in: scope)) { try await $0.sync(scope, cause: .control, full: full, wait: true) }
    }

    func replay(_ scope: String?) async throws(ControlError) -> ControlResponse {
        let expected = try await keptResources(in: scope)
        try await translating { _ = try await pipeline.replay(scope, wait: false) }
        let count = expected.count
        return ControlResponse(
            message: count == 0
                ? "There is nothing to map again: everything of which bodies are kept is paused or disabled."
                : "The archived bodies of \(count == 1 ? expected[0] : "\(count) resources") will be mapped again; no server is asked.")
    }

    func replayProgress(_ scope: String?) async throws(ControlError) -> AsyncStream<SyncProgress> {
        progress(of: try await keptResources(in: scope)) { try await $0.replay(scope, wait: true) }
    }

    /// Those of the resources of a scope that may be polled of which bodies are kept.
    private func keptResources(in scope: String?) async throws(ControlError) -> [String] {
        let configuration = lifeCycle.configurationInForce
        let kept = Set(configuration.sources.flatMap(\.resources).filter { $0.schema.raw != .none }.map(\.scope))
        let named = try await resources(in: scope)
        if kept.isDisjoint(with: configuration.sources.flatMap(\.resources).map(\.scope).filter { Self.contains(scope, $0) }) {
            throw Self.translate(SyncError.notKept(scope))
        }
        return named.filter(kept.contains)
    }

    /// Tells what becomes of these resources line by line while `ask` waits for it.
    private func progress(
        of expected: [String], _ ask: @escaping @Sendable (any SyncPipelining) async throws -> [RunReport]
    ) -> AsyncStream<SyncProgress> {
        let (lines, continuation) = AsyncStream<SyncProgress>.makeStream(bufferingPolicy: .bufferingNewest(4096))
        continuation.yield(.accepted(resources: expected))
        let tally = SyncTally(scopes: Set(expected))
        let token = hub.listen { event in
            if let line = tally.line(for: event) { continuation.yield(line) }
        }
        let pipeline = pipeline, hub = hub
        // Does not end with the connection: a poll that has begun is finished, whether or not anybody still listens.
        Task {
            let last: SyncProgress
            do {
                let reports = try await ask(pipeline)
                last = .finished(runs: reports.map(\.onTheWire))
            } catch {
                last = .failed(Self.translate(error))
            }
            hub.remove(token)
            continuation.yield(last)
            continuation.finish()
        }
        return lines
    }

    /// The resources of a scope that may be polled at all.
    private func resources(in scope: String?) async throws(ControlError) -> [String] {
        if lifeCycle.isStopping { throw ControlError("cisternd is stopping", advice: "try again once it is running", code: .unavailable) }
        let all = await pipeline.resources()
        let named = all.filter { Self.contains(scope, $0.scope.description) }
        if named.isEmpty, let scope { throw Self.translate(SyncError.unknownScope(scope, known: all.map(\.scope.description))) }
        return named.filter { $0.health != .paused && $0.health != .disabled }.map(\.scope.description)
    }

    static func contains(_ scope: String?, _ resource: String) -> Bool {
        guard let scope else { return true }
        return resource == scope || resource.hasPrefix(scope + "/")
    }

    private func translating(_ body: () async throws -> Void) async throws(ControlError) {
        do {
            try await body()
        } catch {
            throw Self.translate(error)
        }
    }

    /// The wire form of what the pipeline throws.
    static func translate(_ error: any Error) -> ControlError {
        switch error {
        case let error as ControlError: error
        case let error as SyncError:
            switch error {
            case .unknownScope(let scope, let known) where known.isEmpty:
                ControlError(
                    "there is no source or resource \"\(scope)\"", advice: "the configuration has no sources; add one and reload", code: .usage)
            case .unknownScope, .notKept: ControlError("\(error)", code: .usage)
            case .stopping, .cancelled: ControlError("\(error)", advice: "try again once it is running", code: .unavailable)
            default: ControlError("\(error)", code: .failure)
            }
        case is CancellationError: ControlError("cisternd is stopping", advice: "try again once it is running", code: .unavailable)
        default: ControlError(error.inWords, advice: "the journal says more: journalctl -u cisternd", code: .failure)
        }
    }
}

/// Turns events into lines of progress, counting the records of each run.
private final class SyncTally: Sendable {
    private let scopes: Set<String>
    private let records = Mutex<[String: Int]>([:])

    init(scopes: Set<String>) {
        self.scopes = scopes
    }

    func line(for event: SyncEvent) -> SyncProgress? {
        switch event {
        case .runStarted(let start):
            let scope = start.scope.description
            guard scopes.contains(scope) else { return nil }
            records.withLock { $0[scope] = 0 }
            return .runStarted(scope: scope)
        case .pageSaved(let page):
            let scope = page.scope.whole.description
            guard scopes.contains(scope) else { return nil }
            let count = records.withLock { records in
                records[scope, default: 0] += page.counts.records
                return records[scope] ?? 0
            }
            return .page(scope: scope, page: page.page, records: count, notModified: false)
        case .pageNotModified(let part, _, let page):
            let scope = part.whole.description
            guard scopes.contains(scope) else { return nil }
            return .page(scope: scope, page: page, records: records.withLock { $0[scope] ?? 0 }, notModified: true)
        case .retrying(let part, _, let page, let attempt, let delay, let reason):
            let scope = part.whole.description
            guard scopes.contains(scope) else { return nil }
            return .retrying(scope: scope, page: page, attempt: attempt, delaySeconds: delay.inSeconds, reason: RemoteText.line(reason))
        case .parked(let part, let until):
            let scope = part.whole.description
            return scopes.contains(scope) ? .parked(scope: scope, until: until) : nil
        case .runFinished(let report):
            return scopes.contains(report.scope.description) ? .runFinished(report.onTheWire) : nil
        default: return nil
        }
    }
}
