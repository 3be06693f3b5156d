import CEpoll
import Glibc

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
