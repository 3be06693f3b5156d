import Foundation
import SyncControl
import SyncReports
import Synchronization
import Testing

@testable import cisternctl

@Suite struct StatusTableTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    private var snapshot: StatusSnapshot {
        let failing = ResourceStatus(
            ResourceScope(source: "github", resource: "issues"), .degraded, ageSeconds: 7200, nextPollAt: start.addingTimeInterval(60 + 18 * 60),
            objects: 700,
            error: "cannot connect", consecutiveFailures: 3, heldDeletes: 40)
        let running = ResourceStatus(ResourceScope(source: "iso", resource: "countries"), .running, runningPage: 7, runningRecords: 700)
        return StatusSnapshot(
            generatedAt: start.addingTimeInterval(60),
            daemon: .init(
                name: "cisternd", version: "1.2.3", pid: 7, state: "ready", startedAt: start, configurationGeneration: 2,
                configurationLoadedAt: start, status: "Degraded: github unreachable", watchdog: .init(enabled: false)),
            document: .init(path: "/var/lib/cistern", unsavedChanges: 12, oldestUnsavedSeconds: 9, lastSaveAt: start),
            resources: [failing, running])
    }

    private final class Written: Sendable {
        let text = Mutex("")
    }

    /// What is written, line by line.
    private func lines(
        _ snapshot: StatusSnapshot, isTerminal: Bool = false, width: Int = 80, hasColour: Bool = false
    ) -> [String] {
        let written = Written()
        let console = Console(
            write: { part in written.text.withLock { $0 += part } }, writeError: { _ in }, isTerminal: isTerminal, width: width, hasColour: hasColour)
        StatusTable(snapshot: snapshot).show(on: console)
        return written.text.withLock { $0 }.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" }.dropLast().map { String($0) }
    }

    @Test func everyResourceIsALineWithItsCause() {
        #expect(
            lines(snapshot) == [
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

    @Test func aServerThatIsLeftAloneIsToldWithWhatAsksItSooner() {
        var snapshot = snapshot
        snapshot.resources = [BreakerStatus(.open, until: start, openings: 1), BreakerStatus(.halfOpen, openings: 1)].map {
            ResourceStatus(
                ResourceScope(source: "iso", resource: "countries"), .degraded, error: "cannot connect", consecutiveFailures: 1, breaker: $0)
        }
        let lines = lines(snapshot)
        #expect(lines[5].hasSuffix("cannot connect; its server is left alone: cisternctl resume iso/countries asks it sooner"))
        #expect(lines[6].hasSuffix("cannot connect; one resource tries whether its server works again"))
    }

    @Test func aTerminalGetsLinesOfItsWidthAndColours() {
        #expect(lines(snapshot, isTerminal: true, width: 78, hasColour: true)[5].contains("\u{1B}[31mdegraded\u{1B}[0m"))
        #expect(lines(snapshot, isTerminal: true, width: 78)[4...6].allSatisfy { $0.count <= 78 })
    }

    @Test func savingThatFailsCannotBeOverlooked() {
        var snapshot = snapshot
        snapshot.document.error = "disk full"
        snapshot.daemon.reloadError = "x.toml:4: no"
        let text = lines(snapshot).joined(separator: "\n")
        #expect(text.contains("; SAVING FAILS: disk full"))
        #expect(text.contains("The last reload failed; the previous configuration is in force: x.toml:4: no"))
    }

    @Test func noTextOfAServerReachesTheTerminalAsMoreThanText() {
        var snapshot = snapshot
        let text = "\u{1B}[2Jgone\u{9B}31m\r\nforged\u{202E}\u{85}line\u{7}"
        snapshot.resources[0].error = text
        snapshot.daemon.status = text
        snapshot.document.error = text
        let lines = lines(snapshot)
        #expect(lines.count == 9)
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0.value != 0x202E } })
        #expect(lines[1] == "\u{FFFD}[2Jgone\u{FFFD}31m forged\u{FFFD} line\u{FFFD}")
    }

    @Test func jsonForATerminalIsTheSameJSONWithoutControls() throws {
        let written = Written()
        let console = Console(
            write: { part in written.text.withLock { $0 += part } }, writeError: { _ in }, isTerminal: true, width: 80, hasColour: false)
        let value = ["a\u{9B}31m\u{1B}[2J\u{202E}\u{E0041}ü\r\n"]
        try console.json(value)
        let json = written.text.withLock { $0 }
        #expect(
            json.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x9B && $0.value != 0x202E && $0.value < 0xE0000) })
        #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == value)
    }

    @Test(
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true), (true, ["TERM": "dumb"], false),
        ] as [(Bool, [String: String], Bool)])
    func coloursAreForTerminalsWithoutNoColor(_ isTerminal: Bool, _ environment: [String: String], _ expected: Bool) {
        #expect(Console.colour(isTerminal: isTerminal, environment: environment) == expected)
    }

    @Test func theNewestBackupAndWhyTheLastOneFailedAreLinesOfTheirOwn() {
        var snapshot = self.snapshot
        snapshot.document.lastBackupAt = start.addingTimeInterval(60 - 7200)
        snapshot.document.backupError = "cannot make a backup in /b: the disk is full; make room"
        let shown = lines(snapshot)
        #expect(shown.contains("Last backup 2h ago"))
        #expect(shown.contains("THE LAST BACKUP FAILED: cannot make a backup in /b: the disk is full; make room"))
    }
}
