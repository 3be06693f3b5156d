import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline
import Systemd

extension SyncDaemon {
    /// Begins each action. Nothing here waits: whatever takes time tells the life cycle when it is done.
    func perform(_ action: DaemonState.Action, _ running: RunningDaemon) {
        let lifeCycle = running.lifeCycle
        switch action {
        case .announceReady: announceReady(lifeCycle)
        case .reload:
            Task {
                await reload(running)
                lifeCycle.tell(.reloadFinished)
            }
        case .pollEverything:
            let pipeline = running.slot
            Task {
                // Everything is known to the pipeline, and nothing waited for: there is nothing that could fail.
                _ = try? await pipeline.sync(nil, cause: .signal, full: false, wait: false)
                lifeCycle.tell(.pollFinished)
            }
        case .dumpStatus: Task { await dumpStatus(running) }
        case .stop(let status):
            Task {
                let outcome = await shutDown(running, status)
                if outcome != status { lifeCycle.tell(.failed(outcome)) }
                lifeCycle.tell(.stopFinished)
            }
        case .skipPage: Task { await running.slot.hurry() }
        }
    }

    private func announceReady(_ lifeCycle: DaemonLifeCycle) {
        let text = lifeCycle.readyText
        options.notify.ready(status: text)
        if lifeCycle.isFirstReady() {
            reporter.send(
                JournalEntry(
                    .ready, text,
                    fields: JournalFormatter.make([("CISTERN_VERSION", options.version), ("CISTERN_CONFIG_GENERATION", "\(lifeCycle.generation)")])))
        }
    }

    // MARK: Reload

    private func reload(_ running: RunningDaemon) async {
        let lifeCycle = running.lifeCycle
        let waiters = lifeCycle.takeWaiters()
        options.notify.reloading(status: "Reloading configuration")
        let result = await putIntoForce(running)
        switch result {
        case .success(let response):
            reporter.send(
                JournalEntry(
                    .reloaded, response.message, fields: JournalFormatter.make([("CISTERN_CONFIG_GENERATION", "\(response.generation ?? 0)")])))
        case .failure(let error):
            lifeCycle.refuse(error.problems?.first ?? error.error)
            let lines = error.problems ?? [error.description]
            for line in lines {
                reporter.send(
                    JournalEntry(
                        .reloadFailed, "reload failed, the old configuration is kept: \(line)",
                        fields: JournalFormatter.make([("CISTERN_ERROR", line), ("CISTERN_CONFIG_GENERATION", "\(lifeCycle.generation)")])))
            }
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    private func putIntoForce(_ running: RunningDaemon) async -> Result<ControlResponse, ControlError> {
        let lifeCycle = running.lifeCycle
        switch Reload(reader: reader).decide(inForce: lifeCycle.configurationInForce) {
        case .invalid(let problems):
            let errors = problems.filter { $0.severity == .error }
            return .failure(
                ControlError(
                    "the new configuration has \(JournalFormatter.count(errors.count, "error")); the old one is kept",
                    advice: "correct it and reload again", code: .configuration, problems: errors.map(\.description)))
        case .needsRestart(let reasons):
            return .failure(
                ControlError(
                    "restart needed: \(reasons.joined(separator: ", ")) changed; the old configuration is kept",
                    advice: "run `systemctl restart cisternd`, or undo the change", code: .configuration))
        case .unchanged(let reading):
            // What the configuration names may have changed all the same, such as a file of certificate authorities.
            if let error = await reload(running.slot, lifeCycle.configurationInForce) { return .failure(error) }
            let generation = lifeCycle.accept(lifeCycle.configurationInForce, reading)
            return .success(ControlResponse(message: "Configuration \(generation) is in force: nothing changed.", generation: generation))
        case .apply(let configuration, let difference, let reading):
            if difference.reopensDocument {
                if let error = await exchange(running, for: configuration) { return .failure(error) }
            } else {
                if let error = await reload(running.slot, configuration) { return .failure(error) }
            }
            let log = lifeCycle.configurationInForce.log, name = lifeCycle.configurationInForce.daemon.name
            lifeCycle.recorder.reload(configuration)
            running.liveness.reload(configuration)
            running.backups.reload(configuration.store)
            reporter.setThreshold(Self.threshold(configuration.log.level))
            if log.target != configuration.log.target || log.format != configuration.log.format || name != configuration.daemon.name {
                journal.replace(with: Self.makeJournal(configuration, environment: options.environment))
            }
            exchanges.configure(configuration.log)
            let generation = lifeCycle.accept(configuration, reading)
            return .success(
                ControlResponse(
                    message: "Configuration \(generation) is in force: \(Reload.summary(difference)).", generation: generation))
        }
    }

    /// What the engine in use can follow. Nil, or why the old configuration is kept.
    private func reload(_ slot: EngineSlot, _ configuration: CisternConfiguration) async -> ControlError? {
        do {
            try await slot.reload(configuration)
            return nil
        } catch {
            return Self.refusal(error, package: slot.path, advice: "")
        }
    }

    // MARK: Status

    private func dumpStatus(_ running: RunningDaemon) async {
        let snapshot = running.lifeCycle.snapshot(resources: await running.slot.resources())
        for line in StatusDump.lines(snapshot) {
            reporter.send(JournalEntry(.statusDump, line.text, fields: JournalFormatter.make(line.fields)))
        }
    }

    // MARK: Stop

    /// The start's order, backwards. What is in the main context is on disk when this returns 0.
    private func shutDown(_ running: RunningDaemon, _ status: ExitStatus) async -> ExitStatus {
        let lifeCycle = running.lifeCycle, notify = options.notify
        let grace = lifeCycle.configurationInForce.daemon.shutdownGrace.duration, deadline = ContinuousClock.now + grace + Self.savingTime
        lifeCycle.recorder.setStopping()
        notify.stopping(status: lifeCycle.recorder.text)
        running.watchdog?.stop()
        running.clocks?.stop()
        running.backups.stop()
        reporter.send(
            JournalEntry(
                .stopping, status == .success ? "stopping" : "stopping, because the store can no longer be trusted",
                fields: JournalFormatter.make([("CISTERN_VERSION", options.version)])))
        lifeCycle.refuseWaiters()
        await running.slot.stop(grace: grace)
        lifeCycle.refuseWaiters()
        await running.server.stop()
        let patience = Task {
            while !Task.isCancelled {
                notify.extendTimeout(by: Self.extensionPause, status: "Stopping: saving")
                try await Task.sleep(for: Self.extensionPause / 2)
            }
        }
        defer {
            patience.cancel()
            flush()
        }
        // A refresh token that was on its way may have taken all of that time.
        guard let reason = await close(running.slot, until: max(deadline, ContinuousClock.now + Self.savingTime)) else { return status }
        let path = lifeCycle.configurationInForce.document.path, unsaved = running.slot.unsavedChanges
        reporter.send(
            JournalEntry(
                "\(path) could not be saved: \(reason); \(JournalFormatter.count(unsaved, "changed object")) not on disk, to be fetched again "
                    + "at the next start", priority: .error,
                fields: JournalFormatter.make([("CISTERN_ERROR", reason)])))
        return status == .success ? .ioError : status
    }

    /// How long after the grace saving may take. What is in the file by then is safe, and what was pushed is in the push journal.
    static let savingTime = Duration.milliseconds(1500)

    /// Saves and closes. Returns what prevented that: a store that another program has locked, or a disk that does not respond, delays it no longer
    /// than until `deadline`.
    private func close(_ document: any OpenDocument, until deadline: ContinuousClock.Instant) async -> String? {
        let (ends, end) = AsyncStream.makeStream(of: String?.self)
        Task {
            do {
                try await document.close()
                end.yield(nil)
            } catch {
                end.yield(error.inWords)
            }
        }
        let alarm = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            end.yield("shutdown_grace is over and the store is still busy; another program may hold its lock, or the disk may not respond")
        }
        defer { alarm.cancel() }
        for await reason in ends { return reason }
        return nil
    }
}
