import Foundation
import SyncControl
import Testing

@testable import cisternctl

@Suite struct StatusTableTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    private var snapshot: StatusSnapshot {
        let failing = StatusSnapshot.Resource(
            scope: "github/issues", state: .degraded, ageSeconds: 7200, nextPollAt: start.addingTimeInterval(60 + 18 * 60), objects: 700,
            error: "cannot connect", consecutiveFailures: 3, heldDeletes: 40)
        let running = StatusSnapshot.Resource(scope: "iso/countries", state: .running, runningPage: 7, runningRecords: 700)
        return StatusSnapshot(
            generatedAt: start.addingTimeInterval(60),
            daemon: .init(
                name: "cisternd", version: "1.2.3", pid: 7, state: "ready", startedAt: start, configurationGeneration: 2,
                configurationLoadedAt: start, status: "Degraded: github unreachable", watchdog: .init(enabled: false)),
            document: .init(path: "/var/lib/cistern", unsavedChanges: 12, oldestUnsavedSeconds: 9, lastSaveAt: start),
            resources: [failing, running])
    }

    @Test func everyResourceIsALineWithItsCause() {
        let console = Console(write: { _ in }, writeError: { _ in }, isTerminal: false, width: 80, hasColour: false)
        #expect(
            StatusTable(snapshot: snapshot).lines(console: console) == [
                "cisternd 1.2.3, process 7, ready, up 60s, configuration 2",
                "Degraded: github unreachable",
                "/var/lib/cistern: 12 unsaved changes, the oldest 9s old, last save 60s ago",
                "",
                "RESOURCE       STATE       AGE   NEXT  OBJECTS  LAST RUN             CAUSE",
                "github/issues  degraded     2h  18min      700                       3 times: cannot connect",
                "iso/countries  running   never    now           page 7, 700 records",
                "",
                "github/issues: 40 deletions are held back. If the loss is real: cisternctl accept-deletes github/issues",
            ])
    }

    @Test func aTerminalGetsLinesOfItsWidthAndColours() {
        let console = Console(write: { _ in }, writeError: { _ in }, isTerminal: true, width: 78, hasColour: true)
        let lines = StatusTable(snapshot: snapshot).lines(console: console)
        #expect(lines[5].contains("\u{1B}[31mdegraded\u{1B}[0m"))
        let plain = Console(write: { _ in }, writeError: { _ in }, isTerminal: true, width: 78, hasColour: false)
        #expect(StatusTable(snapshot: snapshot).lines(console: plain)[4...6].allSatisfy { $0.count <= 78 })
    }

    @Test func savingThatFailsCannotBeOverlooked() {
        var snapshot = snapshot
        snapshot.document.error = "disk full"
        snapshot.daemon.reloadError = "x.toml:4: no"
        let console = Console(write: { _ in }, writeError: { _ in }, isTerminal: false, width: 80, hasColour: false)
        let text = StatusTable(snapshot: snapshot).lines(console: console).joined(separator: "\n")
        #expect(text.contains("; SAVING FAILS: disk full"))
        #expect(text.contains("Last reload failed, the configuration before it is in force: x.toml:4: no"))
    }

    @Test(
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true), (true, ["TERM": "dumb"], false),
        ] as [(Bool, [String: String], Bool)])
    func coloursAreForTerminalsWithoutNoColor(_ isTerminal: Bool, _ environment: [String: String], _ expected: Bool) {
        #expect(Console.colour(isTerminal: isTerminal, environment: environment) == expected)
    }
}
