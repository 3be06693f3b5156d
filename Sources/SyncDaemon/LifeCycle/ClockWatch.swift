import CEpoll
import Dispatch
import Glibc
import Synchronization

/// Notices that the machine's wall clock was set. The kernel says so when it happens: a timer on the wall clock is cancelled. Nothing is polled, and
/// a clock that is only slewed, or a machine that slept, does not count.
// A dispatch source may be used from any thread; here it is only made and cancelled.
final class ClockWatch: @unchecked Sendable {
    /// The smallest step that is worth reporting.
    static let noticeable = Duration.seconds(5)

    private let timer: Int32
    private let clocks: MachineClocks
    private let onJump: @Sendable (Duration) -> Void
    private let last: Mutex<MachineClocks.Reading>
    private let source: any DispatchSourceRead

    /// Begins to watch; nil where the kernel has no timer left.
    /// - Parameter onJump: told by how much wall time was moved, forwards or backwards; called on a queue of this object.
    init?(clocks: MachineClocks = MachineClocks(), onJump: @escaping @Sendable (Duration) -> Void) {
        let timer = timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard timer >= 0 else { return nil }
        self.timer = timer
        self.clocks = clocks
        self.onJump = onJump
        Self.arm(timer, clocks.wake)
        last = Mutex(clocks.read())
        source = DispatchSource.makeReadSource(fileDescriptor: timer, queue: DispatchQueue(label: "cistern.clock"))
        source.setEventHandler { [weak self] in self?.look() }
        source.setCancelHandler { close(timer) }
        source.resume()
    }

    deinit { source.cancel() }

    /// Stops watching.
    func stop() { source.cancel() }

    /// A timer that is set again first misses nothing: what happens from then on wakes it once more.
    private func look() {
        var count: UInt64 = 0
        _ = read(timer, &count, 8)
        Self.arm(timer, clocks.wake)
        let step = last.withLock { last in
            let now = clocks.read()
            defer { last = now }
            return (now.wall - last.wall) - (now.running - last.running)
        }
        if step > Self.noticeable || step < .zero - Self.noticeable { onJump(step) }
    }

    private static func arm(_ timer: Int32, _ wake: time_t) {
        var setting = itimerspec()
        setting.it_value.tv_sec = wake
        timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME) | cancelOnSet, &setting, nil)
    }

    /// `TFD_TIMER_CANCEL_ON_SET`, which is no constant that Swift can read.
    private static let cancelOnSet: Int32 = 1 << 1
}

/// The two clocks of the machine, as `ClockWatch` compares them.
struct MachineClocks: Sendable {
    /// What both say at one moment.
    struct Reading: Sendable {
        let wall: Duration
        /// The time since the machine was started, suspended or not. It is never set.
        let running: Duration
    }

    var read: @Sendable () -> Reading = { Reading(wall: now(CLOCK_REALTIME), running: now(CLOCK_BOOTTIME)) }
    /// At which wall time the watch wakes by itself, in seconds since 1970: never.
    var wake = time_t.max

    private static func now(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
