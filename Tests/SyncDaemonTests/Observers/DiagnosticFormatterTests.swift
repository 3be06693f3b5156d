import OpenCoreData
import Systemd
import Testing

@testable import SyncDaemon

@Suite struct DiagnosticFormatterTests {
    // GB29
    @Test func whatWasNoticedIsAWarningWithItsStack() {
        let diagnostic = ContextDiagnostic(
            .mainQueueHeld, "main held the main queue for 80 ms.", subject: "main", seconds: 0.08, stack: ["save() in Importer", "run() in Importer"])
        let entry = DiagnosticFormatter.entry(for: diagnostic)
        #expect(entry.priority == .warning)
        #expect(entry.message == "main held the main queue for 80 ms. It came from save() in Importer.")
        #expect(
            entry.fields
                == JournalFormatter.make([
                    ("CISTERN_DIAGNOSTIC", "mainQueueHeld"), ("CISTERN_CONTEXT", "main"),
                    ("CISTERN_STACK", "save() in Importer\nrun() in Importer"),
                ]))
    }
}
