/// A length of time as the configuration writes it: a whole number and one unit, `"250ms"`, `"15m"`, `"30d"`.
///
/// The unit of storage is the millisecond. A day is 24 hours: spans are measured on a monotonic clock, not on a calendar.
public struct TimeSpan: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The whole length in milliseconds, never negative.
    public let milliseconds: Int64

    private init(_ milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// No time at all, `0s`.
    public static let zero = TimeSpan(0)

    /// A whole number of milliseconds. `count` must not be negative; it is not checked.
    public static func milliseconds(_ count: Int64) -> TimeSpan { TimeSpan(count) }
    /// Multiples of 1000 ms. Traps on overflow.
    public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(count * 1000) }
    /// Multiples of 60 s. Traps on overflow.
    public static func minutes(_ count: Int64) -> TimeSpan { TimeSpan(count * 60_000) }
    /// Multiples of 60 min. Traps on overflow.
    public static func hours(_ count: Int64) -> TimeSpan { TimeSpan(count * 3_600_000) }
    /// Multiples of 24 h. Traps on overflow.
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

    /// Compares the lengths in milliseconds.
    public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

/// When data stops counting as current: after so many poll intervals (`"3 intervals"`) or after a span (`"2h"`).
public enum MaximumAge: Sendable, Hashable, CustomStringConvertible {
    /// So many times the resource's poll interval, 1 to 1000.
    case intervals(Int)
    /// This long whatever the interval, more than zero.
    case span(TimeSpan)

    /// The span this means for a resource polled every `interval`.
    public func span(every interval: TimeSpan) -> TimeSpan {
        switch self {
        case .intervals(let count): .milliseconds(interval.milliseconds.multipliedReportingOverflow(by: Int64(count)).partialValue)
        case .span(let span): span
        }
    }

    /// As the configuration writes it: `3 intervals`, `1 interval` or `2h`.
    public var description: String {
        switch self {
        case .intervals(1): "1 interval"
        case .intervals(let count): "\(count) intervals"
        case .span(let span): span.description
        }
    }

    /// Reads `"3 intervals"`, `"1 interval"` or a span such as `"2h"`; zero is refused.
    public init?(_ text: String) {
        if let span = TimeSpan(text), span > .zero {
            self = .span(span)
            return
        }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[1] == "intervals" || words[1] == "interval", words[0].allSatisfy({ $0.isASCII && $0.isNumber }),
            let count = Int(words[0]), (1...1000).contains(count)
        else { return nil }
        self = .intervals(count)
    }
}
