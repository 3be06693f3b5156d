import Foundation

/// Now, on both clocks: what links the instants that decide to the wall times that are shown and stored.
struct Moment: Sendable, Hashable {
    let wall: Date
    let instant: SyncInstant

    /// The wall time of another instant, as seen now.
    func wall(of other: SyncInstant) -> Date { wall.advanced(by: instant.duration(to: other)) }

    /// The instant of another wall time, as seen now.
    func instant(of date: Date) -> SyncInstant { instant.advanced(by: wall.duration(to: date)) }
}

extension SyncClock {
    /// Both clocks at once.
    var moment: Moment { Moment(wall: wallTime, instant: instant) }
}
