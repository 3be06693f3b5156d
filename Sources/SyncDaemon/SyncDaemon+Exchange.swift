import SyncConfiguration
import SyncControl
import SyncPipeline
import Systemd

/// A reload that the open document can't follow: another model, or other ways to keep the store.
extension SyncDaemon {
    /// Ends the engine in use and has one of the new configuration take its place over the same document. Nil, or why the old configuration is kept.
    func exchange(_ running: RunningDaemon, for configuration: CisternConfiguration) async -> ControlError? {
        let lifeCycle = running.lifeCycle, slot = running.slot, old = lifeCycle.configurationInForce, parts = parts
        do {
            try await blocking { try parts.check(configuration) }
            // What a full disk prevents is better known while everything runs.
            try await slot.save()
        } catch {
            return Self.keeps(error)
        }
        let make = { @Sendable [self] (configuration: CisternConfiguration, document: any OpenDocument) async throws -> DaemonEngine in
            if lifeCycle.isStopWanted { throw StopWanted() }
            let engine = try await assemble(configuration, over: document, lifeCycle: lifeCycle, onStep: slot.steps)
            do {
                try await engine.pipeline.start()
            } catch {
                await engine.pipeline.stop(grace: .zero)
                try? await engine.document.close()
                throw error
            }
            return engine
        }
        do throws(EngineSlot.ExchangeFailure) {
            try await slot.exchange(grace: old.daemon.shutdownGrace.duration) {
                try await make(configuration, $0)
            } orAgain: {
                try await make(old, $0)
            }
        } catch {
            switch error {
            case .kept(let error):
                lifeCycle.recorder.seed(await slot.resources())
                return Self.keeps(error)
            case .givenUp: return DaemonLifeCycle.stopping
            case .lost(let error), .unsaved(let error):
                let failure = DocumentOpening.failure(error, package: old.document.path)
                lifeCycle.tell(.failed(failure.status))
                return ControlError(
                    "the document could not be opened again: \(failure.message); cisternd ends",
                    advice: "the journal says more: journalctl -u cisternd",
                    code: .failure)
            }
        }
        lifeCycle.recorder.seed(await slot.resources())
        return nil
    }

    private static func keeps(_ error: any Error) -> ControlError {
        ControlError(
            "the new configuration is refused: \((error as? StartFailure)?.message ?? error.inWords); the old one is kept",
            advice: "correct it and reload again; `cisternctl plan --model` says what a changed [entity] does to the store", code: .configuration)
    }
}
