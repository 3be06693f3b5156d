import Foundation
import SyncReports
import Testing

@testable import SyncControl

@Suite struct ControlExitCodeTests {
    static func run(_ outcome: RunOutcome, status: Int? = 200, failure: RunFailure? = nil) -> RunReport {
        RunReport(
            run: UUID(), scope: ResourceScope(source: "a", resource: "b"), cause: .control, startedAt: Date(timeIntervalSince1970: 0),
            endedAt: Date(timeIntervalSince1970: 1), outcome: outcome, isComplete: outcome == .succeeded, httpStatus: status, failure: failure)
    }

    @Test func everyRunSucceededIsZero() {
        #expect(ControlExitCode.sync([Self.run(.succeeded), Self.run(.succeeded)], expected: 2) == .success)
    }

    @Test func fewerRunsThanResourcesIsNotSuccess() {
        #expect(ControlExitCode.sync([Self.run(.succeeded)], expected: 2) == .temporaryFailure)
        #expect(ControlExitCode.sync([], expected: 1) == .temporaryFailure)
        #expect(ControlExitCode.sync([], expected: 0) == .success)
    }

    @Test(
        arguments: [
            (.failed, nil, ControlExitCode.unavailable), (.failed, 503, .unavailable), (.failed, 429, .unavailable),
            (.failed, 401, .noPermission),
            (.failed, 403, .noPermission), (.failed, 404, .protocolError), (.failed, 200, .protocolError), (.incomplete, 200, .protocolError),
            (.parked, 429, .temporaryFailure), (.cancelled, nil, .temporaryFailure),
        ] as [(RunOutcome, Int?, ControlExitCode)])
    func oneBadRunDecides(_ outcome: RunOutcome, _ status: Int?, _ code: ControlExitCode) {
        #expect(ControlExitCode.sync([Self.run(.succeeded), Self.run(outcome, status: status)], expected: 2) == code)
    }

    @Test(
        arguments: [
            (.succeeded, nil, ControlExitCode.success), (.incomplete, nil, .temporaryFailure), (.cancelled, nil, .temporaryFailure),
            (.failed, .page, .dataError), (.failed, .fetch, .dataError), (.failed, .store, .ioError),
        ] as [(RunOutcome, RunFailure?, ControlExitCode)])
    func noReplayIsTheFaultOfAServer(_ outcome: RunOutcome, _ failure: RunFailure?, _ code: ControlExitCode) {
        #expect(ControlExitCode.replay([Self.run(.succeeded), Self.run(outcome, status: 503, failure: failure)], expected: 2) == code)
        #expect(ControlExitCode.replay([Self.run(.succeeded)], expected: 2) == .temporaryFailure)
    }

    // Whatever the server answered: it is not to blame.
    @Test(arguments: [nil, 200, 304]) func aStoreThatFailsIsNoFaultOfTheServer(_ status: Int?) {
        #expect(ControlExitCode.sync([Self.run(.failed, status: status, failure: .store)], expected: 1) == .ioError)
        #expect(ControlExitCode.sync([Self.run(.failed, status: status, failure: .page)], expected: 1) != .ioError)
    }

    @Test func whatNeedsAPersonComesFirst() {
        let runs = [Self.run(.parked), Self.run(.failed, status: nil), Self.run(.failed, status: 401)]
        #expect(ControlExitCode.sync(runs, expected: 3) == .noPermission)
    }

    @Test(arguments: [
        (ResourceStatus.Health.ok, ControlExitCode.success), (.running, .success), (.paused, .success), (.disabled, .success),
        (.degraded, .temporaryFailure), (.pending, .temporaryFailure),
    ])
    func statusIsZeroOnlyIfEverythingIsCurrent(_ state: ResourceStatus.Health, _ code: ControlExitCode) {
        let then = Date(timeIntervalSince1970: 1_800_000_000)
        let snapshot = SnapshotExample.make([
            ResourceStatus(ResourceScope(source: "a", resource: "b"), .ok),
            ResourceStatus(ResourceScope(source: "a", resource: "c"), state, lastSuccess: then),
        ])
        #expect(ControlExitCode.status(snapshot) == code)
    }

    @Test func aFirstRunThatIsStillOpenIsNotCurrent() {
        #expect(
            ControlExitCode.status(SnapshotExample.make([ResourceStatus(ResourceScope(source: "a", resource: "c"), .running)])) == .temporaryFailure)
    }

    @Test func aDaemonThatSaysItIsDegradedIsNotCurrent() {
        var snapshot = SnapshotExample.make([])
        snapshot.daemon.degraded = true
        #expect(ControlExitCode.status(snapshot) == .temporaryFailure)
    }

    @Test func aDocumentThatCannotBeSavedIsNotCurrent() {
        var snapshot = SnapshotExample.make([])
        #expect(ControlExitCode.status(snapshot) == .success)
        snapshot.document.error = "disk full"
        #expect(ControlExitCode.status(snapshot) == .temporaryFailure)
    }
}

enum SnapshotExample {
    static func make(_ resources: [ResourceStatus]) -> StatusSnapshot {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        return StatusSnapshot(
            generatedAt: start.addingTimeInterval(60),
            daemon: .init(
                name: "cisternd", version: "1", pid: 7, state: "ready", startedAt: start, configurationGeneration: 1, configurationLoadedAt: start,
                status: "Idle", watchdog: .init(enabled: true, intervalSeconds: 60)),
            document: .init(path: "/var/lib/cistern"), resources: resources)
    }
}
