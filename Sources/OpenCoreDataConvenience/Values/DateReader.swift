import CoreData
import Foundation

/// How dates of one attribute are written, by its user info: `dateFormat` and `dateFormat.0` to `.9`, which are tried in this order; `UnixTime` is
/// milliseconds since 1970. Without any, text is ISO 8601 and a number is seconds since 1970.
final class DateReader {
    private static let key = "dateFormat"
    private static let milliseconds = "UnixTime"

    /// The patterns, as they are in the model.
    let patterns: [String]
    private let countsMilliseconds: Bool
    private lazy var formatters = patterns.filter { $0 != Self.milliseconds }.map(Self.formatter)

    init(_ attribute: NSAttributeDescription) {
        let keys = [Self.key] + (0...9).map { "\(Self.key).\($0)" }
        patterns = keys.compactMap { attribute.userInfo?[$0] as? String }.filter { !$0.isEmpty }
        countsMilliseconds = patterns.contains(Self.milliseconds)
    }

    /// The date that a text says; nil if it says none.
    func date(_ text: String) -> Date? {
        for formatter in formatters {
            if let date = formatter.date(from: text) { return date }
        }
        if countsMilliseconds, let number = Number(text: text) { return date(number) }
        guard patterns.isEmpty else { return nil }
        for hasFraction in [false, true] {
            if let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).parse(text) { return date }
        }
        return nil
    }

    /// The date that a number says: seconds, or milliseconds where the model says `UnixTime`.
    func date(_ number: Number) -> Date? {
        guard let value = number.decimal?.description, let time = Double(value) else { return nil }
        return Date(timeIntervalSince1970: countsMilliseconds ? time / 1000 : time)
    }

    /// Reads without regard to where the program runs: in UTC where the text names no zone, with English names.
    private static func formatter(_ pattern: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.isLenient = false
        formatter.dateFormat = pattern
        return formatter
    }
}
