public import Foundation

/// The `Retry-After` header (RFC 9110, 10.2.3): a number of seconds, or a date.
public enum RetryAfter {
    /// Longer waits are taken for this one: 366 days. No server means more, and no number may overflow what is computed from it.
    public static let longest: Duration = .seconds(366 * 86_400)

    /// How long the server wants to be left alone, or nil if it did not say so in a form that can be read.
    ///
    /// Several values count as the longest of them: the server is never asked sooner than it allowed. A date in the past and the
    /// number 0 mean no wait. Negative numbers and anything else unreadable are treated as not sent.
    /// - Parameters:
    ///   - values: all values of the header.
    ///   - date: the response's `Date` header. A date is measured against it, so that a difference between the two clocks cancels out.
    ///   - now: stands in for `date` when that is absent or unreadable.
    public static func delay(values: [String], date: String?, now: Date) -> Duration? {
        let reference = date.flatMap { HTTPDate.parse($0, now: now) } ?? now
        return values.compactMap { delay(value: $0, reference: reference, now: now) }.max()
    }

    private static func delay(value: String, reference: Date, now: Date) -> Duration? {
        if let time = HTTPDate.parse(value, now: now) {
            return min(max(reference.duration(to: time), .zero), longest)
        }
        // Two header lines joined by a proxy arrive as one list.
        let delays = value.split(separator: ",", omittingEmptySubsequences: false).map { seconds(Substring($0)) }
        guard delays.allSatisfy({ $0 != nil }) else { return nil }
        return delays.compactMap { $0 }.max()
    }

    private static func seconds(_ text: Substring) -> Duration? {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
        let parts = trimmed.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } })
        else { return nil }
        // A fraction is not allowed, but sent; rounding it up keeps the promise.
        let extra: Int64 = parts.count == 2 ? 1 : 0
        guard let number = Int64(String(whole)), number < longest.components.seconds else { return longest }
        return .seconds(number + extra)
    }
}
