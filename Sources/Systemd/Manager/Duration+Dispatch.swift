import Dispatch

extension Duration {
    /// Whole microseconds, rounded down; the unit of every time that systemd is told. Saturates at 292,000 years.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000_000
    }

    var dispatchInterval: DispatchTimeInterval { .microseconds(Int(microseconds)) }
}
