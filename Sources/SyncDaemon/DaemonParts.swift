import Dispatch
import Foundation
import OpenCoreData
import Secrets
import SyncConfiguration
import SyncControl
import SyncPipeline
import Systemd

/// Where the document and the pipeline come from. `ManagedParts` makes the real ones; tests substitute others.
public protocol DaemonParts: Sendable {
    /// Opens the document and makes the pipeline, which is not started. May take as long as the store takes to open; called on a thread that
    /// may block.
    /// - Throws: `StartFailure`; `StopWanted` where `wiring` gave it up.
    func assemble(_ configuration: CisternConfiguration, _ wiring: EngineWiring) throws -> DaemonEngine
    /// What stands against an engine of this configuration, as far as it can be seen while another one runs on the document. Blocks as `assemble` does.
    /// - Throws: `StartFailure`
    func check(_ configuration: CisternConfiguration) throws
}

/// What an engine is joined to.
public struct EngineWiring: Sendable {
    /// Gets every event of the pipeline.
    public var observer: @Sendable (SyncEvent) -> Void
    /// Called after each save that is on disk.
    public var onSaved: @Sendable () -> Void
    /// Called with what is done to the store, often. False gives that up, unless it is on the disk already.
    public var onStep: @Sendable (OpeningStep) -> Bool
    /// The closed document of this process whose lock the new one takes over; nil at the start.
    public var predecessor: (any OpenDocument)?
    /// Hears of each request for a page and its answer; nil: nobody does.
    public var tracer: (any ExchangeTracing)?
    /// False: a store of another model is refused, whatever the configuration says.
    public var mayMigrate = true

    /// Of the first engine, if there is no predecessor.
    public init(
        observer: @escaping @Sendable (SyncEvent) -> Void, onSaved: @escaping @Sendable () -> Void,
        onStep: @escaping @Sendable (OpeningStep) -> Bool = { _ in true }, predecessor: (any OpenDocument)? = nil
    ) {
        self.observer = observer
        self.onSaved = onSaved
        self.onStep = onStep
        self.predecessor = predecessor
    }
}

/// The real parts: a document on disk, and the pipeline above it.
struct ManagedParts: DaemonParts {
    let environment: [String: String]
    /// They outlive each engine.
    private let tokens: TokenPool

    init(environment: [String: String]) {
        self.environment = environment
        tokens = TokenPool(vault: TokenVault(TokenFiles(folder: "\(ServiceDirectories.current(environment: environment).state)/tokens")))
    }

    func check(_ configuration: CisternConfiguration) throws {
        try SecretReader(environment: environment).check(configuration)
        try DocumentOpening(configuration: configuration).check(model: try model(of: configuration))
    }

    func assemble(_ configuration: CisternConfiguration, _ wiring: EngineWiring) throws -> DaemonEngine {
        let reader = SecretReader(environment: environment)
        try reader.check(configuration)
        let secrets = SecretResolver(reader)
        let opened = try DocumentOpening(configuration: configuration).open(
            model: try model(of: configuration), lock: (wiring.predecessor as? OpenedDocument)?.lock, mayMigrate: wiring.mayMigrate,
            onStep: wiring.onStep)
        opened.document.observe { event in
            if case .saved = event { wiring.onSaved() }
        }
        do {
            let pipeline = try SyncPipeline(
                document: opened.document, configuration: configuration, transports: TransportPool(secrets: secrets),
                clock: SystemClock(), secrets: secrets, tokens: tokens, version: CisternVersion.current, tracer: wiring.tracer,
                observer: wiring.observer)
            return DaemonEngine(document: opened, pipeline: pipeline, migration: opened.migration)
        } catch {
            throw StartFailure(
                .configuration, "the configuration cannot be run: \(error.inWords)" + (opened.migration.map { "; \($0)" } ?? ""))
        }
    }

    private func model(of configuration: CisternConfiguration) throws(StartFailure) -> NSManagedObjectModel {
        do {
            return try SyncPipeline.model(for: configuration)
        } catch {
            throw StartFailure(.configuration, "the model of the configuration cannot be used: \(error.inWords)")
        }
    }
}

extension TokenVault {
    /// One of files. The disk is waited for on a queue of its own, and not on a thread that runs tasks.
    init(_ files: TokenFiles) {
        let queue = DispatchQueue(label: "cistern.tokens", qos: .utility)
        @Sendable func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try body() }) }
            }
        }
        self.init(
            lock: { name in
                guard let lock = try await blocking({ try files.lock(name) }) else { return nil }
                return Lock { lock.release() }
            },
            place: { name in files.path(name) },
            read: { name in try await blocking { try files.read(name) } },
            prepare: { name in try await blocking { try files.prepare(name) } },
            write: { name, entry in try await blocking { try files.write(name, entry) } })
    }
}

/// What is put together when the configuration is known: the open document and the pipeline above it.
public struct DaemonEngine: Sendable {
    /// Open and locked. The daemon closes it after the pipeline has stopped.
    public var document: any OpenDocument
    /// Not started yet.
    public var pipeline: any SyncPipelining
    /// How the store was brought to a changed model; nil if it was of it.
    public var migration: String?

    /// Starts nothing: `pipeline` works on `document` already.
    public init(document: any OpenDocument, pipeline: any SyncPipelining, migration: String? = nil) {
        self.document = document
        self.pipeline = pipeline
        self.migration = migration
    }
}
