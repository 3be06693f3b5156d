import Synchronization

/// One timer that can be set to another time.
package final class WakeTimer: Sendable {
    private struct State {
        var call: ScheduledCall?
        /// Counts settings, so that one that was replaced while firing does nothing.
        var generation = 0
    }

    private let clock: any SyncClock
    private let longestSleep: Duration
    private let fire: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - longestSleep: no single sleep is longer; if the clock did not count while the machine was suspended, the timer is late by no more than
    ///     this.
    ///   - fire: called once for each setting, on no particular thread.
    package init(clock: any SyncClock, longestSleep: Duration = .seconds(60), fire: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.longestSleep = longestSleep
        self.fire = fire
    }

    deinit {
        state.withLock { $0.call?.cancel() }
    }

    /// Fires at that instant and not at the one set before; nil: never.
    package func set(_ instant: SyncInstant?) {
        state.withLock { state in
            state.call?.cancel()
            state.generation += 1
            state.call = instant.map { call(at: $0, state.generation) }
        }
    }

    private func call(at instant: SyncInstant, _ generation: Int) -> ScheduledCall {
        clock.call(at: min(instant, clock.instant.advanced(by: longestSleep))) { [weak self] in self?.awake(generation, instant) }
    }

    private func awake(_ generation: Int, _ instant: SyncInstant) {
        let fires = state.withLock { state in
            guard state.generation == generation else { return false }
            let isDue = clock.instant >= instant
            state.call = isDue ? nil : call(at: instant, generation)
            return isDue
        }
        if fires { fire() }
    }
}
