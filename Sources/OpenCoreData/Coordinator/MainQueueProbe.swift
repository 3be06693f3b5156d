import Dispatch
import Synchronization

/// Finds out, once, whether anybody serves the main queue: in a program without a run loop and without `dispatchMain()` blocks of a main-queue
/// context wait for ever, and nothing else would say so.
package final class MainQueueProbe: Sendable {
    /// The process's own: it looks when the first block for the main queue has waited for ten seconds.
    static let shared = MainQueueProbe(seconds: 10) { seconds, block in
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds, execute: block)
    }

    package typealias Timer = @Sendable (_ seconds: Double, _ block: @escaping @Sendable () -> Void) -> Void

    private let seconds: Double
    private let timer: Timer
    private let isWatching = Atomic(false)
    private let wasServed = Atomic(false)

    package init(seconds: Double, timer: @escaping Timer) {
        self.seconds = seconds
        self.timer = timer
    }

    /// Called with each use of the main queue; only the first one does anything.
    package func watch() {
        guard !isWatching.load(ordering: .relaxed), !isWatching.exchange(true, ordering: .relaxed) else { return }
        DispatchQueue.main.async { self.wasServed.store(true, ordering: .relaxed) }
        timer(seconds) {
            if self.wasServed.load(ordering: .relaxed) { return }
            ContextDiagnostic.report(
                ContextDiagnostic(
                    .mainQueueNotDrained,
                    "Blocks for the main queue have waited for \(self.seconds) s and none has run: main-queue contexts neither run what they are "
                        + "given nor post what changed in them. Keep the main thread out of long calls, and end main with dispatchMain() or "
                        + "RunLoop.main.run(); or use private-queue contexts only.",
                    subject: "main", seconds: self.seconds))
        }
    }
}
