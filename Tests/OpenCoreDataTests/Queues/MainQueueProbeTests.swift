import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import TestTraits
import Testing

@Suite struct MainQueueProbeTests {
    /// A timer that runs out when a test says so.
    private final class Hourglass: Sendable {
        private let blocks = Mutex<[@Sendable () -> Void]>([])

        func makeProbe() -> MainQueueProbe { MainQueueProbe(seconds: 7) { _, block in self.blocks.withLock { $0.append(block) } } }

        /// Lets it run out. Returns how often it had been turned.
        func runOut() -> Int {
            let blocks = blocks.withLock { $0 }
            for block in blocks { block() }
            return blocks.count
        }
    }

    // GB42
    @Test(.longProcess) func aMainQueueThatNobodyServesIsTold() async {
        await #expect(processExitsWith: .success) { await Self.keepTheMainQueueBusy() }
    }

    @MainActor private static func keepTheMainQueueBusy() {
        let recorder = DiagnosticRecorder(), hourglass = Hourglass(), probe = hourglass.makeProbe()
        probe.watch()
        probe.watch()
        let told = { recorder.all.filter { $0.kind == .mainQueueNotDrained && $0.seconds == 7 } }
        guard told().isEmpty, hourglass.runOut() == 1, told().count == 1 else { exit(1) }
        exit(told()[0].message.contains("dispatchMain()") ? 0 : 1)
    }

    // GB42
    @Test func aMainQueueThatIsServedIsNot() async {
        let recorder = DiagnosticRecorder(), hourglass = Hourglass()
        hourglass.makeProbe().watch()
        // Behind the probe's own block.
        await MainActor.run {}
        #expect(hourglass.runOut() == 1)
        #expect(!recorder.all.contains { $0.kind == .mainQueueNotDrained && $0.seconds == 7 })
    }
}
