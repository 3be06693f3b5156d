import Glibc

/// The clock that the service manager compares a reload's `MONOTONIC_USEC=` with.
public enum MonotonicClock {
    /// `CLOCK_MONOTONIC` in microseconds: time since boot without suspension, the same for every process of the machine.
    public static func microseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }
}
