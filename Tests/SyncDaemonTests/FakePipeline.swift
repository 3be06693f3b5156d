import Foundation
import SyncConfiguration
import SyncControl
import Synchronization

@testable import SyncDaemon
@testable import SyncPipeline

/// Records what is asked of it, and answers as it was told to.
final class FakePipeline: SyncPipelining {
    enum Call: Sendable, Equatable {
        case start, reload, stop(grace: Duration)
        case sync(String?, RunCause, full: Bool, wait: Bool)
        case replay(String?, wait: Bool)
        case pause(String?), resume(String?), acceptDeletes(String), reset(String, Set<ResetPart>)
    }

    struct Answers: Sendable {
        var resources = [ResourceStatus(Example.countries, .ok, objects: 249), ResourceStatus(Example.languages, .ok, objects: 7910)]
        var records: [QuarantineEntry] = []
        var liveness = PipelineLiveness()
        /// What `sync` does before it returns.
        var onSync: @Sendable () async throws -> [RunReport] = { [] }
        var onStop: @Sendable (Duration) async -> Void = { _ in }
        var onEnded: @Sendable () async -> Void = {}
        var onPause: @Sendable () async -> Void = {}
        var onReload: @Sendable () throws -> Void = {}
        var onStart: @Sendable () async -> Void = {}
        var error: SyncError?
        var unserved: [UnservedPoll] = []
    }

    private let answers = Mutex(Answers())
    private let history = Mutex<[Call]>([])
    private let listeners = Mutex<[@Sendable (Call) -> Void]>([])

    var calls: [Call] { history.withLock { $0 } }

    func answer(_ change: (inout Answers) -> Void) { answers.withLock { change(&$0) } }
    func set(_ liveness: PipelineLiveness) { answer { $0.liveness = liveness } }

    private func record(_ call: Call) throws {
        history.withLock { $0.append(call) }
        for listener in listeners.withLock({ $0 }) { listener(call) }
        if let error = answers.withLock({ $0.error }) { throw error }
    }

    /// Calls as they come, those so far included.
    func stream() -> AsyncStream<Call> {
        let (stream, input) = AsyncStream<Call>.makeStream()
        listeners.withLock { $0.append { input.yield($0) } }
        return stream
    }

    func start() async throws {
        try record(.start)
        await answers.withLock { $0.onStart }()
    }
    func stop(grace: Duration) async {
        try? record(.stop(grace: grace))
        await answers.withLock { $0.onStop }(grace)
    }
    func ended() async { await answers.withLock { $0.onEnded }() }
    func reload(_ configuration: CisternConfiguration) async throws {
        try record(.reload)
        try answers.withLock { $0.onReload }()
    }
    func sync(_ scope: String?, cause: RunCause, full: Bool, wait: Bool) async throws -> [RunReport] {
        try record(.sync(scope, cause, full: full, wait: wait))
        return wait ? try await answers.withLock { $0.onSync }() : []
    }
    func replay(_ scope: String?, wait: Bool) async throws -> [RunReport] {
        try record(.replay(scope, wait: wait))
        return wait ? try await answers.withLock { $0.onSync }() : []
    }
    func pause(_ scope: String?) async throws {
        try record(.pause(scope))
        await answers.withLock { $0.onPause }()
    }
    func resume(_ scope: String?) async throws { try record(.resume(scope)) }
    func acceptDeletes(_ scope: String) async throws { try record(.acceptDeletes(scope)) }
    func reset(_ scope: String, _ parts: Set<ResetPart>) async throws { try record(.reset(scope, parts)) }
    func resources() async -> [ResourceStatus] { answers.withLock { $0.resources } }
    func quarantine(id: String?, limit: Int, skip: Int) async throws -> [QuarantineEntry] {
        let records = answers.withLock { $0.records }.filter { $0.digest.hasPrefix(id ?? "") }
        return Array(records.dropFirst(skip).prefix(limit))
    }
    var liveness: PipelineLiveness { answers.withLock { $0.liveness } }
    var unserved: [UnservedPoll] { answers.withLock { $0.unserved } }
}

final class FakeDocument: OpenDocument {
    struct Failure: Error {}

    let answersProbes = Mutex(true)
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    let closings = Mutex(0)
    let failsToClose = Mutex(false)
    let failsToSave = Mutex(false)
    let saveError = Mutex<NSError?>(nil)

    let path = "/var/lib/cistern"
    var unsavedChanges: Int { 0 }
    var oldestUnsavedSeconds: Double? { nil }

    func probe(_ done: @escaping @Sendable () -> Void) {
        if answersProbes.withLock({ $0 }) { done() } else { waiting.withLock { $0.append(done) } }
    }

    func answerProbe() {
        answersProbes.withLock { $0 = true }
        for done in waiting.withLock({ waiting in
            defer { waiting = [] }
            return waiting
        }) { done() }
    }

    func save() async throws {
        if failsToSave.withLock({ $0 }) { throw Failure() }
        if let error = saveError.withLock({ $0 }) { throw error }
    }

    func close() async throws {
        closings.withLock { $0 += 1 }
        if failsToClose.withLock({ $0 }) { throw Failure() }
    }
}

/// Examples of what the pipeline says.
enum Example {
    static let countries = ResourceScope(source: "iso", resource: "countries")
    static let languages = ResourceScope(source: "iso", resource: "languages")
    static let start = Date(timeIntervalSince1970: 1_800_000_000)
    static let run = UUID(uuidString: "0E1F2A3B-4C5D-6E7F-8091-A2B3C4D5E6F7")!

    static func counts(_ inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, deleted: Int = 0, quarantined: Int = 0) -> RecordCounts {
        var counts = RecordCounts()
        counts.inserted = inserted
        counts.updated = updated
        counts.unchanged = unchanged
        counts.deleted = deleted
        counts.quarantined = quarantined
        return counts
    }

    static func report(
        _ scope: ResourceScope = countries, _ outcome: RunOutcome = .succeeded, counts: RecordCounts = RecordCounts(), status: Int? = 200,
        error: String? = nil, failure: RunFailure? = nil, next: Date? = nil
    ) -> RunReport {
        RunReport(
            run: run, scope: scope, cause: .schedule, startedAt: start, endedAt: start.addingTimeInterval(2), outcome: outcome,
            isComplete: outcome == .succeeded, pages: 1, notModifiedPages: 0, bytes: 6783, counts: counts, httpStatus: status, error: error,
            failure: failure, nextPollAt: next)
    }

    static func page(_ number: Int, _ scope: ResourceScope = countries, records: Int = 100) -> SyncEvent {
        .pageSaved(
            PageReport(
                scope: scope, run: run, page: number, url: "http://127.0.0.1/countries", status: 200, bytes: 1000, counts: counts(records),
                duration: .milliseconds(5)))
    }

    static func started(_ scope: ResourceScope = countries) -> SyncEvent {
        .runStarted(RunStart(run: run, scope: scope, cause: .schedule, startedAt: start))
    }
}
