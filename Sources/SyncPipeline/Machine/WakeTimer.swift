import Synchronization

/// One timer that can be set to another time.
final class WakeTimer: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// Counts settings, so that one that was replaced while firing does nothing.
        var generation = 0
    }

    private let clock: any SyncClock
    private let longestSleep: Duration
    private let fire: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - longestSleep: no single sleep is longer; a clock that did not count a suspension of the machine makes it late by no more than this.
    ///   - fire: called once for each setting, on no particular thread.
    init(clock: any SyncClock, longestSleep: Duration = .seconds(60), fire: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.longestSleep = longestSleep
        self.fire = fire
    }

    deinit {
        state.withLock { $0.task?.cancel() }
    }

    /// Fires at that instant and not at the one set before; nil: never.
    func set(_ instant: SyncInstant?) {
        state.withLock { state in
            state.task?.cancel()
            state.generation += 1
            state.task = instant.map { instant in
                let generation = state.generation
                return Task { [weak self, clock, longestSleep] in
                    while clock.instant < instant {
                        do { try await clock.sleep(until: min(instant, clock.instant.advanced(by: longestSleep))) } catch { return }
                    }
                    self?.fire(generation)
                }
            }
        }
    }

    private func fire(_ generation: Int) {
        if state.withLock({ $0.generation == generation }) { fire() }
    }
}
