import CEpoll
import Dispatch
import Glibc
import Synchronization

/// Everything that sleeps by the system's clock, tasks and calls alike: one kernel timer and one thread for all of them.
///
/// A cancelled sleep leaves nothing behind. `Task.sleep` leaves its timer, which later wakes the process for nothing; nearly every sleep here is a
/// time limit that is not reached.
final class Sleepers: Sendable {
    private typealias Instant = ContinuousClock.Instant

    private struct Sleeper: Sendable {
        let deadline: Instant
        /// In order of arrival: those with the same deadline wake in this order.
        let number: UInt64
        let waking: Waking

        func wake() {
            switch waking {
            case .resume(let continuation): continuation.resume()
            case .call(let body): DispatchQueue.global().async(execute: body)
            }
        }

        func giveUp() {
            if case .resume(let continuation) = waking { continuation.resume(throwing: CancellationError()) }
        }
    }

    private enum Waking: Sendable {
        case resume(CheckedContinuation<Void, any Error>)
        case call(@Sendable () -> Void)
    }

    private struct State {
        /// The earliest first.
        var sleepers: [Sleeper] = []
        /// Those that were cancelled before they were added.
        var givenUp: Set<UInt64> = []
        var count: UInt64 = 0
        /// When the timer fires; nil: it is not set.
        var armed: Instant?
    }

    /// Nil where the kernel gave no timer or no thread.
    static let shared = Sleepers()

    private let timer: Int32
    private let state = Mutex(State())

    init?() {
        timer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC))
        guard timer >= 0 else { return nil }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Sleepers>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            close(timer)
            return nil
        }
        pthread_detach(thread)
    }

    /// How many sleep.
    var count: Int { state.withLock { $0.sleepers.count } }

    /// Suspends the task until then.
    /// - Throws: `CancellationError` if the task is cancelled first.
    func sleep(until deadline: ContinuousClock.Instant) async throws {
        let number = number()
        // The handler has run, or will not, when this returns.
        defer { state.withLock { _ = $0.givenUp.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add(Sleeper(deadline: deadline, number: number, waking: .resume($0))) }
        } onCancel: {
            giveUp(number, deadline)
        }
    }

    /// Calls `body` then, on a thread of Dispatch's.
    func call(at deadline: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void) -> ScheduledCall {
        let number = number()
        add(Sleeper(deadline: deadline, number: number, waking: .call(body)))
        return ScheduledCall { [self] in takeOut(number, deadline) }
    }

    private func number() -> UInt64 {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    private func add(_ sleeper: Sleeper) {
        let isGivenUp = state.withLock { state in
            if state.givenUp.contains(sleeper.number) { return true }
            state.sleepers.insert(sleeper, at: Self.place(sleeper.deadline, sleeper.number, in: state.sleepers))
            if state.armed.map({ sleeper.deadline < $0 }) ?? true { arm(&state) }
            return false
        }
        if isGivenUp { sleeper.giveUp() }
    }

    /// Ends a task's sleep, or keeps it from beginning.
    private func giveUp(_ number: UInt64, _ deadline: Instant) {
        let sleeper = state.withLock { state in
            let sleeper = Self.remove(number, deadline, from: &state)
            if sleeper == nil { state.givenUp.insert(number) }
            return sleeper
        }
        sleeper?.giveUp()
    }

    /// Cancels a call. Does nothing if it has been made.
    private func takeOut(_ number: UInt64, _ deadline: Instant) {
        _ = state.withLock { Self.remove(number, deadline, from: &$0) }
    }

    /// The timer stays as it is: at worst it fires once for something that is gone.
    private static func remove(_ number: UInt64, _ deadline: Instant, from state: inout State) -> Sleeper? {
        let place = place(deadline, number, in: state.sleepers)
        guard place < state.sleepers.count, state.sleepers[place].number == number else { return nil }
        return state.sleepers.remove(at: place)
    }

    /// Where in the order this one is, or belongs.
    private static func place(_ deadline: Instant, _ number: UInt64, in sleepers: [Sleeper]) -> Int {
        var low = 0, high = sleepers.count
        while low < high {
            let middle = (low + high) / 2, sleeper = sleepers[middle]
            if (sleeper.deadline, sleeper.number) < (deadline, number) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func arm(_ state: inout State) {
        state.armed = state.sleepers.first?.deadline
        guard let armed = state.armed else { return }
        // A time of zero would turn the timer off.
        let (seconds, attoseconds) = max(.nanoseconds(1), Instant.now.duration(to: armed)).components
        var setting = itimerspec()
        setting.it_value = timespec(tv_sec: Int(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        timerfd_settime(timer, 0, &setting, nil)
    }

    private func run() {
        var count: UInt64 = 0
        while true {
            // If the timer cannot be read, it would wake the thread again at once.
            if read(timer, &count, 8) != 8, errno != EINTR { usleep(10_000) }
            let due = state.withLock { state in
                let now = Instant.now, due = Array(state.sleepers.prefix { $0.deadline <= now })
                state.sleepers.removeFirst(due.count)
                arm(&state)
                return due
            }
            for sleeper in due { sleeper.wake() }
        }
    }
}
