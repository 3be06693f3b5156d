/// A length of time as the configuration writes it: a whole number and one unit, `"250ms"`, `"15m"`, `"30d"`.
///
/// The unit of storage is the millisecond. A day is 24 hours: spans are measured on a monotonic clock, not on a calendar.
public struct TimeSpan: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The whole length in milliseconds, never negative.
    public let milliseconds: Int64

    private init(_ milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    public static let zero = TimeSpan(0)

    public static func milliseconds(_ count: Int64) -> TimeSpan { TimeSpan(count) }
    public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(count * 1000) }
    public static func minutes(_ count: Int64) -> TimeSpan { TimeSpan(count * 60_000) }
    public static func hours(_ count: Int64) -> TimeSpan { TimeSpan(count * 3_600_000) }
    public static func days(_ count: Int64) -> TimeSpan { TimeSpan(count * 86_400_000) }

    /// The same length for Swift's clocks.
    public var duration: Duration { .milliseconds(milliseconds) }

    /// The length in seconds, with a fraction.
    public var seconds: Double { Double(milliseconds) / 1000 }

    /// The canonical spelling: the largest unit that divides the length, whole days from two days on.
    public var description: String {
        if milliseconds == 0 { return "0s" }
        if milliseconds >= 172_800_000, milliseconds % 86_400_000 == 0 { return "\(milliseconds / 86_400_000)d" }
        if milliseconds % 3_600_000 == 0 { return "\(milliseconds / 3_600_000)h" }
        if milliseconds % 60_000 == 0 { return "\(milliseconds / 60_000)m" }
        if milliseconds % 1000 == 0 { return "\(milliseconds / 1000)s" }
        return "\(milliseconds)ms"
    }

    /// Reads `"15m"`; `nil` when the text is anything but a whole number followed by `ms`, `s`, `m`, `h` or `d`, or too large.
    public init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let count = Int64(digits), let unit = Self.units[String(text[digits.endIndex...])] else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        if overflow { return nil }
        self.init(product)
    }

    static let units: [String: Int64] = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]

    public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
