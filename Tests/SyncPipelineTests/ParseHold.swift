import Dispatch
import Synchronization

@testable import SyncPipeline

/// Holds the first parse of a resource at a stage until it may go on.
final class ParseHold: Sendable {
    private let arrivals: AsyncStream<Void>
    private let mayGo = DispatchSemaphore(value: 0)

    init(_ pipeline: SyncPipeline, resource: String, at held: ParseProbe.Stage) {
        let (arrivals, arrive) = AsyncStream<Void>.makeStream()
        self.arrivals = arrivals
        let isFirst = Atomic<Bool>(true), mayGo = mayGo
        pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: 1000) { scope, stage in
                guard scope.resource == resource, stage == held, isFirst.exchange(false, ordering: .relaxed) else { return }
                arrive.yield()
                mayGo.wait()
            }
        }
    }

    /// Returns when the parse has come to the stage.
    func isReached() async { for await _ in arrivals { break } }

    func letGo() { mayGo.signal() }
}
