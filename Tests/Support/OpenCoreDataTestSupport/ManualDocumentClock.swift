import Foundation
import OpenCoreData
import Synchronization

/// A document's clock that goes only when a test moves it.
package final class ManualDocumentClock: DocumentClock {
    private struct Alarm: Sendable {
        let time: TimeInterval
        let block: @Sendable () -> Void
    }

    private struct State: Sendable {
        var now: TimeInterval = 0
        var alarms: [Alarm] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var now: TimeInterval { state.withLock { $0.now } }
    /// The times at which blocks are due.
    package var due: [TimeInterval] { state.withLock { $0.alarms.map(\.time).sorted() } }

    package func schedule(after seconds: TimeInterval, _ block: @escaping @Sendable () -> Void) {
        state.withLock { $0.alarms.append(Alarm(time: $0.now + seconds, block: block)) }
    }

    /// Moves the clock and runs what has become due.
    package func advance(by seconds: TimeInterval) {
        let ready = state.withLock { state in
            state.now += seconds
            let ready = state.alarms.filter { $0.time <= state.now }.sorted { $0.time < $1.time }
            state.alarms.removeAll { $0.time <= state.now }
            return ready
        }
        for alarm in ready { alarm.block() }
    }
}
