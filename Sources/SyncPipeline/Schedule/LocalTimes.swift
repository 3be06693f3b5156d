import Foundation
import SyncConfiguration

/// What clocks in a time zone show, and when. Times are whole seconds since 1970; local ones count as if there were no offsets.
///
/// Of a change of the offset it knows what every zone has had since 1970: no two of them within a day and a half.
struct LocalTimes: Sendable {
    /// When a local time is shown.
    private enum Showing {
        case once(Int)
        /// The second time after the clocks were set back, at `change`.
        case twice(Int, Int, change: Int)
        /// The clocks were set forward over it then.
        case never(change: Int)
    }

    /// No zone is farther from UTC, and an hour more.
    private static let farthest = 15 * 3600
    /// The years 1 to 9999.
    private static let sensible = -62_135_596_800.0...253_402_300_799.0

    private let zone: TimeZone

    /// - Parameter name: one that the configuration accepts.
    init(_ name: String) { zone = TimeZone(identifier: name) ?? .gmt }

    private func offset(at time: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))) }

    private func local(_ time: Int) -> Int { time + offset(at: time) }

    private func showing(_ local: Int) -> Showing {
        var before = local - Self.farthest, change = local + Self.farthest
        let old = offset(at: before), new = offset(at: change)
        if old == new { return .once(local - old) }
        while change - before > 1 {
            let middle = before + (change - before) / 2
            if offset(at: middle) == old { before = middle } else { change = middle }
        }
        let first = local - old, second = local - new
        switch (first < change, second >= change) {
        case (true, true): return .twice(first, second, change: change)
        case (true, false): return .once(first)
        case (false, true): return .once(second)
        case (false, false): return .never(change: change)
        }
    }

    private static func seconds(_ date: Date) -> Int {
        Int(min(max(date.timeIntervalSince1970, sensible.lowerBound), sensible.upperBound).rounded(.down))
    }

    // MARK: Cron

    /// The first time of an expression after another time, as cronie has it. A time that the clocks are set over counts when they are set, once, however many
    /// there are of them; one that they show twice counts the first time. Where the expression means every hour, it goes on through both as the clocks do.
    func next(of expression: CronExpression, after date: Date) -> Date? {
        let time = Self.seconds(date), local = local(time)
        var next = search(expression, from: local, after: time)
        // The hour that is about to come again.
        if expression.meansEveryHour, case .twice(let first, _, let change) = showing(local), first == time {
            next = [next, search(expression, from: self.local(change) - 1, after: change - 1)].compactMap(\.self).min()
        }
        return next.map { Date(timeIntervalSince1970: Double($0)) }
    }

    private func search(_ expression: CronExpression, from start: Int, after time: Int) -> Int? {
        var local = start
        while let next = expression.next(after: local) {
            local = next
            let found: Int? =
                switch showing(next) {
                case .once(let only): only
                case .twice(let first, let second, _): first <= time && expression.meansEveryHour ? second : first
                case .never(let change): expression.meansEveryHour ? nil : change
                }
            if let found, found > time { return found }
        }
        return nil
    }

    // MARK: Quiet hours

    /// When quiet hours end that a time lies in; nil: it lies in none.
    func end(of hours: [QuietHours], at date: Date) -> Date? {
        let start = Self.seconds(date)
        var time = start
        // One may begin where the other ends. Together they leave a part of the day free.
        for _ in 0...2 * hours.count {
            let local = local(time), (day, second) = local.splitDown(by: 86_400)
            guard let range = hours.first(where: { $0.contains(second / 60) }) else { break }
            let end = (range.end * 60 > second ? day : day + 1) * 86_400 + range.end * 60
            switch showing(end) {
            case .once(let only): time = max(only, time + 1)
            case .twice(let first, let second, _): time = first > time ? first : max(second, time + 1)
            case .never(let change): time = max(change, time + 1)
            }
        }
        return time == start ? nil : Date(timeIntervalSince1970: Double(time))
    }
}
