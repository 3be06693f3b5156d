/// When data stops counting as current: after so many poll intervals (`"3 intervals"`) or after a span (`"2h"`).
public enum MaximumAge: Sendable, Hashable, CustomStringConvertible {
    case intervals(Int)
    case span(TimeSpan)

    /// The span this means for a resource polled every `interval`.
    public func span(every interval: TimeSpan) -> TimeSpan {
        switch self {
        case .intervals(let count): .milliseconds(interval.milliseconds.multipliedReportingOverflow(by: Int64(count)).partialValue)
        case .span(let span): span
        }
    }

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
