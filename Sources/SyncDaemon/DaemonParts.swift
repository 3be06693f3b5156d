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
    /// - Parameters:
    ///   - observer: gets every event of the pipeline.
    ///   - onSaved: called after each save that is on disk.
    /// - Throws: `StartFailure`
    func assemble(
        _ configuration: CisternConfiguration, observer: @escaping @Sendable (SyncEvent) -> Void, onSaved: @escaping @Sendable () -> Void
    ) throws -> DaemonEngine
}

/// The real parts: a document on disk, and the pipeline above it.
struct ManagedParts: DaemonParts {
    let environment: [String: String]
    let notify: Notify

    func assemble(
        _ configuration: CisternConfiguration, observer: @escaping @Sendable (SyncEvent) -> Void, onSaved: @escaping @Sendable () -> Void
    ) throws -> DaemonEngine {
        let reader = SecretReader(environment: environment)
        try reader.check(configuration)
        let secrets = SecretResolver(reader)
        let model: NSManagedObjectModel
        do {
            model = try SyncPipeline.model(for: configuration)
        } catch {
            throw StartFailure(.configuration, "the model of the configuration cannot be used: \(error.inWords)")
        }
        let opened = try DocumentOpening(configuration: configuration).open(model: model) {
            notify.status("Bringing the database to the changed model")
        }
        opened.document.observe { event in
            if case .saved = event { onSaved() }
        }
        do {
            let pipeline = try SyncPipeline(
                document: opened.document, configuration: configuration, transports: TransportPool(secrets: secrets),
                clock: SystemClock(), secrets: secrets, version: CisternVersion.current, observer: observer)
            return DaemonEngine(document: opened, pipeline: pipeline, migration: opened.migration)
        } catch {
            throw StartFailure(.configuration, "the configuration cannot be run: \(error.inWords)")
        }
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
