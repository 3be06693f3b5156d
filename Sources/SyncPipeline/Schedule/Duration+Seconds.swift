public import Foundation

extension Duration {
    /// The duration in seconds, as a floating-point number.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// A duration of `seconds`, held within ± `limit` (a hundred years), so that no server's number can overflow later arithmetic.
    /// Not a number gives zero.
    public static func bounded(seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        let limit = 100 * 366 * 86_400.0
        return .seconds(min(max(seconds, -limit), limit))
    }

    /// This duration times `factor`, bounded in the same way.
    func scaled(by factor: Double) -> Duration {
        .bounded(seconds: inSeconds * factor)
    }
}

extension Date {
    /// This time plus `duration`.
    public func advanced(by duration: Duration) -> Date {
        addingTimeInterval(duration.inSeconds)
    }

    /// How far `other` lies after this time; negative if it lies before.
    public func duration(to other: Date) -> Duration {
        .bounded(seconds: other.timeIntervalSince(self))
    }
}
