import Dispatch

/// The monotonic clock of the machine, with timers of libdispatch.
public struct SystemServiceClock: ServiceClock {
    public init() {}

    public var now: Duration { .microseconds(Int64(MonotonicClock.microseconds())) }

    public func schedule(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + max(delay, .zero).dispatchInterval, execute: work)
    }
}
