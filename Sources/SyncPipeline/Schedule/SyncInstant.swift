/// A point on a clock that only runs forwards: what time-outs, waits and due times are measured against.
///
/// The origin is arbitrary and differs from process to process; an instant is therefore never stored. What has to survive a
/// restart is stored as wall time and converted once, at start.
public struct SyncInstant: InstantProtocol, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Time since the clock's origin.
    public let sinceOrigin: Duration

    /// An instant that lies `sinceOrigin` after the clock's origin.
    public init(sinceOrigin: Duration) {
        self.sinceOrigin = sinceOrigin
    }

    /// The instant that lies `duration` later (or earlier, if negative).
    public func advanced(by duration: Duration) -> SyncInstant {
        SyncInstant(sinceOrigin: sinceOrigin + duration)
    }

    /// How far `other` lies after this instant; negative if it lies before.
    public func duration(to other: SyncInstant) -> Duration {
        other.sinceOrigin - sinceOrigin
    }

    /// Which of two instants comes first.
    public static func < (left: SyncInstant, right: SyncInstant) -> Bool {
        left.sinceOrigin < right.sinceOrigin
    }

    /// The time since the origin, for messages.
    public var description: String { "\(sinceOrigin)" }
}
