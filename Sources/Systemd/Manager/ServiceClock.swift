import Dispatch
import Glibc

/// Where `Notify` and `Watchdog` get the time from and who wakes them, so that their tests turn the clock by hand.
public protocol ServiceClock: Sendable {
    /// Time since some fixed moment. Never goes backwards.
    var now: Duration { get }

    /// Runs `work` once on `queue`, `delay` from now or a little later. It cannot be cancelled: work that is no longer wanted must notice that when
    /// it runs.
    func schedule(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void)
}

/// The monotonic clock of the machine, with timers of libdispatch.
public struct SystemServiceClock: ServiceClock {
    /// Every instance tells the same time.
    public init() {}

    /// `CLOCK_MONOTONIC`: time since boot without suspension, in whole microseconds.
    public var now: Duration { .microseconds(Int64(MonotonicClock.microseconds())) }

    /// Runs `work` on `queue` by `asyncAfter`; a negative delay counts as none.
    public func schedule(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + max(delay, .zero).dispatchInterval, execute: work)
    }
}

/// The clock that the service manager compares a reload's `MONOTONIC_USEC=` with.
public enum MonotonicClock {
    /// `CLOCK_MONOTONIC` in microseconds: time since boot without suspension, the same for every process of the machine.
    public static func microseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }
}

extension Duration {
    /// Whole microseconds, rounded down; the unit of every time that systemd is told. Saturates at 292,000 years.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000_000
    }

    var dispatchInterval: DispatchTimeInterval { .microseconds(Int(microseconds)) }
}
