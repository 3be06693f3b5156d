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
    let clock = ManualClock()
    let transport: StubTransport
    private let recorded = Mutex<[SyncEvent]>([])

    /// What the pipeline told, in order.
    var events: [SyncEvent] { recorded.withLock { $0 } }

    init(_ toml: String, folder: URL? = nil, answer: @escaping @Sendable (HTTPRequest, Int) async throws -> StubTransport.Answer) async throws {
        let folder = folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("cistern-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        let texts = ConfigurationTexts(["/cisternd.toml": toml])
        let configuration = try ConfigurationReader(path: "/cisternd.toml", files: texts).configuration()
        document = UIManagedDocument(fileURL: folder, model: try SyncPipeline.model(for: configuration))
        try document.openStore(creating: true)
        let transport = StubTransport(answer)
        self.transport = transport
        let box = EventBox()
        pipeline = try SyncPipeline(
            document: document, configuration: configuration, transports: TransportPool { _ in transport }, clock: clock, secrets: .none,
            version: "test", random: RandomSource { 0.5 }
        ) { event in box.add(event) }
        box.target = { [weak self] event in self?.recorded.withLock { $0.append(event) } }
        try await pipeline.start(armed: false)
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
        private let state = Mutex<(early: [SyncEvent], target: (@Sendable (SyncEvent) -> Void)?)>(([], nil))

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
