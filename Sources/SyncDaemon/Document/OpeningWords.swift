import Synchronization
import Systemd

/// What is known of an opening while it lasts: what `STATUS=` says, and whether it moves.
final class OpeningWords: Sendable {
    private struct State {
        var text = OpeningStep.opening(bytes: 0).words
        var patience: OpeningPatience
    }

    private let state: Mutex<State>
    private let clock: any ServiceClock

    init(clock: any ServiceClock = SystemServiceClock()) {
        self.clock = clock
        state = Mutex(State(patience: OpeningPatience(now: clock.now)))
    }

    var text: String { state.withLock { $0.text } }

    /// The words for this step; nil where they have been said.
    func hear(_ step: OpeningStep) -> String? {
        let now = clock.now, text = step.words
        return state.withLock { state in
            state.patience.hear(step, now: now)
            defer { state.text = text }
            return state.text == text ? nil : text
        }
    }

    /// To be called every few seconds. Calls `moves` if SQLite may be at work on what it tells nothing of, and `lasts`, with the words, if the manager is to be
    /// asked for more time.
    func tick(moves: () -> Void, lasts: (String) -> Void) {
        let now = clock.now, (patience, text) = state.withLock { ($0.patience, $0.text) }
        if patience.moves(now: now) { moves() }
        if patience.lasts(now: now) { lasts(text) }
    }
}
