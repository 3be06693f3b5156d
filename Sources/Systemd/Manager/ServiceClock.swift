import Dispatch

/// Where `Notify` and `Watchdog` get the time from and who wakes them, so that their tests turn the clock by hand.
public protocol ServiceClock: Sendable {
    /// Time since some fixed moment. Never goes backwards.
    var now: Duration { get }

    /// Runs `work` once on `queue`, `delay` from now or a little later. It cannot be called off: what is no longer wanted says so
    /// when it runs.
    func schedule(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void)
}
