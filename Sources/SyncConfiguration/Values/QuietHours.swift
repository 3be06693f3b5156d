/// A part of every day, `"22:00-06:00"`: from a minute on, and up to another one, on the next day if that is the smaller one.
public struct QuietHours: Sendable, Hashable, CustomStringConvertible {
    /// The first minute, counted from midnight.
    public let start: Int
    /// The minute behind the last, counted from midnight: 1 to 1440.
    public let end: Int

    /// Reads `"22:00-06:00"`; nil for anything else, and where both times are the same.
    public init?(_ text: String) {
        let times = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minute)
        guard times.count == 2, let start = times[0], let end = times[1], start < 1440, start != end else { return nil }
        self.start = start
        self.end = end == 0 ? 1440 : end
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let hour = Int(parts[0]), let minute = Int(parts[1])
        else { return nil }
        return (hour < 24 && minute < 60) || (hour == 24 && minute == 0) ? hour * 60 + minute : nil
    }

    /// Whether a minute of the day, counted from midnight, is one of them.
    public func contains(_ minute: Int) -> Bool { start < end ? (start..<end).contains(minute) : minute >= start || minute < end }

    /// Whether nothing of a day is left beside these.
    package static func areAllDay(_ hours: [QuietHours]) -> Bool {
        (0..<1440).allSatisfy { minute in hours.contains { $0.contains(minute) } }
    }

    /// As the configuration writes it.
    public var description: String { "\(Self.text(start))-\(Self.text(end))" }

    private static func text(_ minute: Int) -> String {
        let (hour, rest) = (minute / 60, minute % 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }
}
