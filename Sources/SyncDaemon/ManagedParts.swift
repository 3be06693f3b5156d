import Foundation
import OpenCoreData
import Secrets
import SyncConfiguration
import SyncControl
import SyncPipeline
import Systemd

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
        let opened = try DocumentOpening(configuration: configuration).open(model: model)
        opened.document.observe { event in
            if case .saved = event { onSaved() }
        }
        do {
            let pipeline = try SyncPipeline(
                document: opened.document, configuration: configuration, transports: TransportPool(secrets: secrets),
                clock: SystemClock(), secrets: secrets, version: CisternVersion.current, observer: observer)
            return DaemonEngine(document: opened, pipeline: pipeline)
        } catch {
            throw StartFailure(.configuration, "the configuration cannot be run: \(error.inWords)")
        }
    }
}
