import Synchronization

/// Keeps the due times of many things and says when they have come.
///
/// A key has at most one due time. When it has come the key is handed to `onDue`, once, and has none until it is given a new one: what
/// still runs cannot become due again. Nothing is ever early; due times that lie within `leeway` of each other are handed out together,
/// with one wake-up.
public final class Scheduler<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var due: [Key: SyncInstant] = [:]
        var held: Set<Key> = []
        var isRunning = false
        /// The instant the present timer fires at, and the task that waits for it.
        var timer: (instant: SyncInstant, task: Task<Void, Never>)?
        /// Counts timers, so that one that was replaced while firing does nothing.
        var generation = 0
    }

    private let clock: any SyncClock
    private let leeway: Duration
    private let longestSleep: Duration
    private let onDue: @Sendable (Set<Key>) -> Void
    private let state = Mutex(State())

    /// A scheduler that is not running yet.
    /// - Parameters:
    ///   - clock: what due times are measured on.
    ///   - leeway: how late a due time may be met in order to meet several at once.
    ///   - longestSleep: no single sleep is longer; a timer that did not count a suspension of the machine is late by no more than this.
    ///   - onDue: receives the keys whose time has come. Called on no particular thread, never with a lock held.
    public init(
        clock: any SyncClock, leeway: Duration = .milliseconds(250), longestSleep: Duration = .seconds(60),
        onDue: @escaping @Sendable (Set<Key>) -> Void
    ) {
        self.clock = clock
        self.leeway = leeway
        self.longestSleep = longestSleep
        self.onDue = onDue
    }

    deinit {
        state.withLock { $0.timer?.task.cancel() }
    }

    // MARK: Due times

    /// Gives a key its due time, in place of the one it had.
    public func schedule(_ key: Key, at instant: SyncInstant) {
        update { $0.due[key] = instant }
    }

    /// Gives a key a due time unless it already has an earlier one. Asking twice is asking once.
    public func expedite(_ key: Key, to instant: SyncInstant) {
        update { $0.due[key] = min($0.due[key] ?? instant, instant) }
    }

    /// Takes the due time away.
    public func cancel(_ key: Key) {
        update { $0.due[key] = nil }
    }

    /// Replaces everything at once, as a reload does: keys that are not in `instants` are forgotten, held ones included.
    public func replaceAll(with instants: [Key: SyncInstant]) {
        update { state in
            state.due = instants
            state.held.formIntersection(instants.keys)
        }
    }

    /// Keeps a key from becoming due until it is released. Its due time stays.
    public func hold(_ key: Key) {
        update { $0.held.insert(key) }
    }

    /// Lets a held key become due again; at once, if its time has passed meanwhile.
    public func release(_ key: Key) {
        update { $0.held.remove(key) }
    }

    /// All due times, held keys included.
    public var dueTimes: [Key: SyncInstant] {
        state.withLock { $0.due }
    }

    // MARK: Running

    /// Begins to hand out what is due.
    public func start() {
        update { $0.isRunning = true }
    }

    /// Hands out nothing more. Due times are kept; `start()` goes on with them.
    public func stop() {
        update { $0.isRunning = false }
    }

    private func update(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            arrange(&state)
        }
    }

    /// Makes the timer fit the due times.
    private func arrange(_ state: inout State) {
        let wake = state.isRunning ? wakeTime(state) : nil
        if let wake, let timer = state.timer, timer.instant == wake { return }
        state.timer?.task.cancel()
        state.generation += 1
        state.timer = wake.map { wake in
            let generation = state.generation
            let task = Task { [weak self, clock] in
                do { try await clock.sleep(until: wake) } catch { return }
                self?.fire(generation)
            }
            return (wake, task)
        }
    }

    /// The latest due time that may still be met together with the earliest, or earlier if that is too far ahead for one sleep.
    private func wakeTime(_ state: State) -> SyncInstant? {
        let times = state.due.lazy.filter { !state.held.contains($0.key) }.map(\.value)
        guard let earliest = times.min() else { return nil }
        let limit = earliest.advanced(by: leeway)
        let latest = times.filter { $0 <= limit }.max() ?? earliest
        return min(latest, clock.instant.advanced(by: longestSleep))
    }

    private func fire(_ generation: Int) {
        let keys: Set<Key> = state.withLock { state in
            guard state.generation == generation, state.isRunning else { return [] }
            let now = clock.instant
            let due = state.due.filter { $0.value <= now && !state.held.contains($0.key) }
            for key in due.keys { state.due[key] = nil }
            state.timer = nil
            arrange(&state)
            return Set(due.keys)
        }
        if !keys.isEmpty { onDue(keys) }
    }
}
