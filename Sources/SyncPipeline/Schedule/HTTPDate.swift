public import Foundation
import SyncConfiguration

/// The dates of HTTP headers (RFC 9110, 5.6.7): written in the one preferred form, read in all three.
public enum HTTPDate {
    /// The time that `text` stands for, or nil if it is none of the three forms or names a time that does not exist.
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT     preferred
    ///     Sunday, 06-Nov-94 08:49:37 GMT    obsolete, two-digit year
    ///     Sun Nov  6 08:49:37 1994          obsolete, asctime
    ///
    /// The day of the week must be valid, but need not be the right one: several servers get it wrong.
    /// - Parameter now: decides the century of a two-digit year: a date more than 50 years ahead belongs to the past.
    public static func parse(_ text: String, now: Date) -> Date? {
        var scanner = Scanner(text)
        scanner.skipSpaces()
        guard let day = scanner.word() else { return nil }
        let time: Date?
        if scanner.skip(UInt8(ascii: ",")) {
            scanner.skipSpaces()
            if shortDays.contains(day) {
                time = scanner.preferredForm()
            } else {
                time = longDays.contains(day) ? scanner.twoDigitForm(now: now) : nil
            }
        } else {
            time = shortDays.contains(day) ? scanner.asctimeForm() : nil
        }
        scanner.skipSpaces()
        return scanner.isAtEnd ? time : nil
    }

    /// `time` in the preferred form, whole seconds, rounded down. Times outside the years 1 to 9999 are clamped to them.
    public static func format(_ time: Date) -> String {
        let bounded = min(max(time.timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
        let seconds = Int(bounded.rounded(.down))
        let (days, second) = seconds.splitDown(by: 86_400), date = CalendarDay(number: days)
        let weekday = ((days % 7) + 11) % 7  // day 0 was a Thursday
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let years = String(repeating: "0", count: max(0, 4 - "\(date.year)".count)) + "\(date.year)"
        return
            "\(names[weekday]), \(two(date.day)) \(monthNames[date.month - 1]) \(years) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    private static let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let shortDays: Set<String> = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longDays: Set<String> = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    // MARK: Reading

    private struct Scanner {
        private let bytes: [UInt8]
        private var position = 0

        init(_ text: String) {
            bytes = Array(text.utf8.prefix(64))  // the longest form has 33 characters; what is cut off makes the text too long anyway
        }

        var isAtEnd: Bool { position == bytes.count }

        mutating func skip(_ byte: UInt8) -> Bool {
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }

        @discardableResult
        mutating func skipSpaces() -> Bool {
            let start = position
            while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
            return position > start
        }

        /// A run of ASCII letters, in lower case.
        mutating func word() -> String? {
            let start = position
            while position < bytes.count, (65...90).contains(bytes[position] & 0xDF) { position += 1 }
            return position > start ? String(decoding: bytes[start..<position].map { $0 | 0x20 }, as: UTF8.self) : nil
        }

        mutating func number(digits: ClosedRange<Int>) -> Int? {
            let start = position
            var value = 0
            while position < bytes.count, position - start < digits.upperBound, (48...57).contains(bytes[position]) {
                value = value * 10 + Int(bytes[position] - 48)
                position += 1
            }
            return digits.contains(position - start) ? value : nil
        }

        private mutating func month() -> Int? {
            guard let name = word() else { return nil }
            return HTTPDate.monthNames.firstIndex { $0.lowercased() == name }.map { $0 + 1 }
        }

        private mutating func clock() -> Int? {
            guard let hour = number(digits: 2...2), skip(UInt8(ascii: ":")), let minute = number(digits: 2...2),
                skip(UInt8(ascii: ":")), let second = number(digits: 2...2), hour < 24, minute < 60, second <= 60
            else { return nil }
            return hour * 3600 + minute * 60 + second
        }

        private mutating func isGreenwich() -> Bool {
            guard skipSpaces(), let zone = word() else { return false }
            return zone == "gmt" || zone == "utc"
        }

        private func date(year: Int, month: Int, day: Int, second: Int) -> Date? {
            guard year >= 1, (1...CalendarDay.count(inMonth: month, of: year)).contains(day) else { return nil }
            let days = CalendarDay(year: year, month: month, day: day).number
            return Date(timeIntervalSince1970: TimeInterval(days * 86_400 + second))
        }

        mutating func preferredForm() -> Date? {
            guard let day = number(digits: 1...2), skipSpaces(), let month = month(), skipSpaces(), let year = number(digits: 4...4),
                skipSpaces(), let second = clock(), isGreenwich()
            else { return nil }
            return date(year: year, month: month, day: day, second: second)
        }

        mutating func twoDigitForm(now: Date) -> Date? {
            let dash = UInt8(ascii: "-")
            guard let day = number(digits: 1...2), skip(dash), let month = month(), skip(dash), let short = number(digits: 2...2),
                skipSpaces(), let second = clock(), isGreenwich()
            else { return nil }
            let days = Int((min(max(now.timeIntervalSince1970, 0), 253_402_300_799) / 86_400).rounded(.down))
            let thisYear = CalendarDay(number: days).year
            var year = thisYear / 100 * 100 + short
            if year > thisYear + 50 { year -= 100 } else if year <= thisYear - 50 { year += 100 }
            return date(year: year, month: month, day: day, second: second)
        }

        mutating func asctimeForm() -> Date? {
            guard skipSpaces(), let month = month(), skipSpaces(), let day = number(digits: 1...2), skipSpaces(), let second = clock(),
                skipSpaces(), let year = number(digits: 4...4)
            else { return nil }
            return date(year: year, month: month, day: day, second: second)
        }
    }
}
