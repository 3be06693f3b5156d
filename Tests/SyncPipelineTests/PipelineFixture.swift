import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// A pipeline over a stub transport and a real document in a folder of its own.
final class PipelineFixture: Sendable {
    let folder: URL
    let document: UIManagedDocument
    let pipeline: SyncPipeline
    let clock: ManualClock
    let transport: StubTransport
    private struct Watcher {
        let test: @Sendable ([SyncEvent]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }
    private let recorded = Mutex<(events: [SyncEvent], watchers: [Watcher])>(([], []))
    private struct Listener: Sendable {
        let hear: @Sendable (SyncEvent) -> Void
    }
    private let listener = Mutex<Listener?>(nil)

    /// What the pipeline told, in order.
    var events: [SyncEvent] { recorded.withLock { $0.events } }

    /// The reports of the runs that have ended.
    var reports: [RunReport] { events.reports }

    /// - Parameters:
    ///   - now: what the clock shows at first.
    ///   - isArmed: whether the schedule polls; otherwise only `sync` does.
    ///   - savesAtOnce: the document saves with every change, and not after a time.
    init(
        _ toml: String, folder: URL? = nil, now: Date? = nil, isArmed: Bool = false, savesAtOnce: Bool = false, secrets: SecretResolver = .none,
        tracer: (any ExchangeTracing)? = nil, answer: @escaping @Sendable (HTTPRequest, Int) async throws -> StubTransport.Answer
    ) async throws {
        clock = now.map { ManualClock(wallTime: $0) } ?? ManualClock()
        let folder = folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("cistern-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let configuration = try Self.configuration(toml)
        document = UIManagedDocument(
            fileURL: folder, model: try SyncPipeline.model(for: configuration),
            autosavePolicy: savesAtOnce ? AutosavePolicy(interval: 0) : AutosavePolicy())
        document.persistentStoreOptions = [SQLiteRowSumsOption: true]
        try document.openStore(creating: true)
        let transport = StubTransport(answer)
        self.transport = transport
        let box = EventBox()
        pipeline = try SyncPipeline(
            document: document, configuration: configuration, transports: TransportPool { _ in transport }, clock: clock, secrets: secrets,
            version: "test", random: RandomSource { 0.5 }, tracer: tracer
        ) { event in box.add(event) }
        box.target = { [weak self] event in self?.record(event) }
        try await pipeline.start(armed: isArmed)
    }

    static func configuration(_ toml: String) throws -> CisternConfiguration {
        var files = ConfigurationTexts(["/cisternd.toml": toml])
        for (name, bytes) in ShippedPresets.files where toml.contains("preset = \"\(name)\"") { files.files["/presets/\(name).toml"] = bytes }
        return try ConfigurationReader(path: "/cisternd.toml", files: files).configuration()
    }

    private func record(_ event: SyncEvent) {
        let ready = recorded.withLock { recorded in
            recorded.events.append(event)
            let events = recorded.events
            defer { recorded.watchers.removeAll { $0.test(events) } }
            return recorded.watchers.filter { $0.test(events) }
        }
        for watcher in ready { watcher.continuation.resume() }
        listener.withLock { $0 }?.hear(event)
    }

    /// Calls `body` with each event, where it is told; nil: no longer.
    func listen(_ body: (@Sendable (SyncEvent) -> Void)?) {
        listener.withLock { $0 = body.map { Listener(hear: $0) } }
    }

    /// Waits until what was told satisfies `test`.
    func told(_ test: @escaping @Sendable ([SyncEvent]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isTold = recorded.withLock { recorded in
                if test(recorded.events) { return true }
                recorded.watchers.append(Watcher(test: test, continuation: continuation))
                return false
            }
            if isTold { continuation.resume() }
        }
    }

    /// Waits until so many runs have ended, and what they left behind is stored.
    func finished(_ count: Int) async throws {
        await told { $0.reports.count >= count }
        try await pipeline.writer.written()
    }

    /// Runs everything once, committed. The clock moves past `min_interval` first.
    @discardableResult
    func sync() async throws -> [RunReport] {
        clock.advance(by: .seconds(3600))
        return try await pipeline.sync(nil, cause: .control, wait: true)
    }

    /// The values of one attribute of an entity, sorted as text, as the store has them.
    func values(_ attribute: String, of entity: String, where format: String? = nil) async throws -> [String] {
        try await document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = format.map { NSPredicate(format: $0) }
            return try worker.fetch(request).map { "\($0.value(forKey: attribute) ?? "nil")" }.sorted()
        }
    }

    func end() async throws {
        await pipeline.stop(grace: .zero)
        try await document.close()
        try FileManager.default.removeItem(at: folder)
    }

    private final class EventBox: Sendable {
        private struct State: Sendable {
            var early: [SyncEvent] = []
            var target: (@Sendable (SyncEvent) -> Void)?
        }

        private let state = Mutex(State())

        var target: (@Sendable (SyncEvent) -> Void)? {
            get { state.withLock { $0.target } }
            set {
                let early = state.withLock { state in
                    state.target = newValue
                    return state.early
                }
                for event in early { newValue?(event) }
            }
        }

        func add(_ event: SyncEvent) {
            let target = state.withLock { state in
                if state.target == nil { state.early.append(event) }
                return state.target
            }
            target?(event)
        }
    }
}

extension [SyncEvent] {
    var reports: [RunReport] { compactMap { if case .runFinished(let report) = $0 { report } else { nil } } }
}
