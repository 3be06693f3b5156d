import Foundation
import Glibc
import Logging
import Testing

@testable import Systemd

/// Run in a box by `SystemdBoxTests`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SYSTEMD_BOX"] == "1", "runs inside of Scripts/systemd-box"))
struct RealSystemdTests {
    // Section 9: fields arrive as they are, whatever their size
    @Test func aNativeEntryArrivesWithItsFieldsAndItsExplanation() throws {
        let journal = Journal(target: .journal, identifier: "cistern-test")
        let logger = Logger(label: "test", factory: { _ in JournalLogHandler(journal: journal) })
        let large = String(repeating: "large ", count: 200_000)
        logger.log(
            .deletesBlocked, "held back\nsecond line",
            metadata: ["CISTERN_SOURCE": "github", "CISTERN_RESOURCE": "issues", "CISTERN_DELETED": "812", "CISTERN_LARGE": "\(large)"])
        #expect(journal.flush(within: .seconds(10)))
        _ = try Tool.runHere(["journalctl", "--sync"])

        let arguments = ["journalctl", "-t", "cistern-test", "--no-pager"]
        let line = try Tool.runHere(arguments + ["-o", "json", "--all"]).output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["MESSAGE"] as? String == "held back\nsecond line")
        #expect(object["PRIORITY"] as? String == "4")
        #expect(object["MESSAGE_ID"] as? String == MessageID.deletesBlocked.rawValue)
        #expect(object["CISTERN_SOURCE"] as? String == "github")
        #expect(object["CISTERN_LARGE"] as? String == large)
        #expect(object["CODE_FUNC"] as? String == #function)

        let explained = try Tool.runHere(arguments + ["-x"]).output
        #expect(explained.contains("Deletions of github/issues were held back"))
        #expect(explained.contains("A complete run would have removed 812 objects"))
    }

    // Sections 6 and 7: a service made of this library's messages, seen by the manager
    @Test func theManagerShowsWhatItWasTold() throws {
        let unit = "cistern-notify-test"
        let start = try Tool.runHere(
            ["systemd-run", "--unit=\(unit)", "-p", "Type=notify", "-p", "NotifyAccess=main", "-E", "CISTERN_NOTIFY_PROBE=1"]
                + ["-E", "SYSTEMD_BOX=1", CommandLine.arguments[0], "--testing-library", "swift-testing"]
                + ["--filter", "RealSystemdTests/theProbe"])
        defer { _ = try? Tool.runHere(["systemctl", "stop", unit]) }
        // Type=notify: the start ends with READY=1.
        let log = try Tool.runHere(["journalctl", "-u", unit, "--no-pager"]).output
        #expect(start.status == 0, "\(start.errors)\(log)")
        let shown = try Tool.runHere(["systemctl", "show", unit, "-p", "StatusText", "-p", "SubState"]).output
        #expect(Set(shown.split(separator: "\n")) == ["StatusText=Ready: 3 sources", "SubState=running"])
    }

    /// Not a check by itself: the service that `theManagerShowsWhatItWasTold` starts. Stays up until it is stopped.
    @Test func theProbe() {
        guard ProcessInfo.processInfo.environment["CISTERN_NOTIFY_PROBE"] == "1" else { return }
        let notify = Notify.takingEnvironment()
        notify.ready(status: "Ready: 3 sources")
        #expect(notify.flush(within: .seconds(5), managerHasRead: true))
        #expect(ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] == nil)
        pause()
    }
}
