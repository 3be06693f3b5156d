import Glibc
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
            return Self.refusal(error, package: configuration.document.path)
        }
        let saving = "Reloading: saving"
        lifeCycle.recorder.opening(saving)
        defer { lifeCycle.recorder.opening(nil) }
        let patience = Task {
            while !Task.isCancelled {
                options.notify.extendTimeout(by: Self.extensionTime, status: saving)
                try await Task.sleep(for: Self.extensionPause)
            }
        }
        defer { patience.cancel() }
        let make = {
            @Sendable [self] (configuration: CisternConfiguration, document: any OpenDocument, isWayBack: Bool) async throws -> DaemonEngine in
            patience.cancel()
            if lifeCycle.isStopWanted { throw StopWanted() }
            let engine = try await assemble(configuration, over: document, isWayBack: isWayBack, lifeCycle: lifeCycle, onStep: slot.steps)
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
            try await slot.exchange(grace: old.daemon.shutdownGrace.duration) { error in
                // Another program's lock, a full disk: as while it runs, it is tried again.
                guard Self.isPassing(error, old), !lifeCycle.isStopWanted else { return false }
                try? await Task.sleep(for: .seconds(1))
                return true
            } for: {
                try await make(configuration, $0, false)
            } orAgain: {
                try await make(old, $0, true)
            }
        } catch {
            switch error {
            case .kept(let error):
                lifeCycle.recorder.seed(await slot.resources())
                return Self.refusal(error, package: configuration.document.path)
            case .givenUp: return DaemonLifeCycle.stopping
            case .lost(let reason, let error):
                return end(reason, "and the document could not be opened again as it was: \(Self.words(error))", lifeCycle)
            case .unsaved(let error): return end(error, "the document could not be saved", lifeCycle)
            }
        }
        lifeCycle.recorder.reload(configuration)
        lifeCycle.recorder.seed(await slot.resources())
        return nil
    }

    /// Nothing runs any more. The next start reads the files as they are now, so what they say does not keep it from being made.
    private func end(_ reason: any Error, _ words: String, _ lifeCycle: DaemonLifeCycle) -> ControlError {
        let status = DocumentOpening.failure(reason, package: lifeCycle.configurationInForce.document.path).status
        lifeCycle.tell(.failed([.configuration, .noPermission].contains(status) ? .temporaryFailure : status))
        return ControlError(
            "cisternd ends: \(Self.words(reason)); \(words)", advice: "the journal says more: journalctl -u cisternd", code: .failure)
    }

    private static func isPassing(_ error: any Error, _ configuration: CisternConfiguration) -> Bool {
        let failure = DocumentOpening.failure(error, package: configuration.document.path)
        return failure.status == .temporaryFailure || failure.code == ENOSPC
    }

    private static func words(_ error: any Error) -> String { (error as? StartFailure)?.message ?? error.inWords }

    /// Why the old configuration is kept. What the disk or another program did is no fault of the new one, and has a status of its own.
    static func refusal(
        _ error: any Error, package: String, advice: String = "`cisternctl plan --model` says what a changed [entity] does to the store"
    ) -> ControlError {
        let code: ControlExitCode =
            switch DocumentOpening.failure(error, package: package).status {
            case .ioError, .cannotCreate: .ioError
            case .temporaryFailure: .temporaryFailure
            default: .configuration
            }
        if code == .configuration {
            return ControlError(
                "the new configuration is refused: \(words(error)); the old one is kept",
                advice: "correct it and reload again" + (advice.isEmpty ? "" : "; \(advice)"), code: code)
        }
        return ControlError(
            "the new configuration could not be put into force: \(words(error)); the old one is kept", advice: "mend that and reload again",
            code: code)
    }
}
