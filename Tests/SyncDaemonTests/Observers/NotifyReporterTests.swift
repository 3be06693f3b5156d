import Foundation
import SyncConfiguration
import Synchronization
import Systemd
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

/// What the service manager is told, and what that costs.
@Suite struct NotifyReporterTests {
    @Test func newsThatIsNotSentMakesNoSentence() {
        // The recorder looks at the clock for each sentence.
        let sent = MessageList(), notify = Notify(sender: sent, statusInterval: .seconds(3_600)), sentences = Atomic(0)
        let recorder = StatusRecorder(configuration: CisternConfiguration()) {
            sentences.add(1, ordering: .relaxed)
            return Example.start
        }
        let reporter = NotifyReporter(notify: notify, recorder: recorder)
        reporter.observe(.resumed)
        #expect(notify.flush(within: .seconds(300)))
        #expect(sentences.load(ordering: .relaxed) == 1)
        for _ in 0..<100 { reporter.observe(.resumed) }
        #expect(notify.flush(within: .seconds(300)))
        #expect(sentences.load(ordering: .relaxed) == 2)
        #expect(sent.all.map(\.text) == ["STATUS=No sources configured", "STATUS=No sources configured"])
    }
}
