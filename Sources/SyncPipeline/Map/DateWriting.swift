import SyncConfiguration

/// Dates as requests say them, from seconds since 2001-01-01 00:00:00 UTC. What a format cannot express is cut off, never rounded up: who asks from a
/// time on must not miss what happened in its last instant.
enum DateWriting {
    /// Between 1970 and 2001.
    private static let offset: Int64 = 978_307_200

    /// - Returns: nil for a time that no calendar of four-digit years has.
    static func text(_ seconds: Double, format: DateFormat) -> String? {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        let whole = seconds.rounded(.down)
        // A double of this size is exact to an eighth of a microsecond: 0.1 must not become 0.099999.
        let microseconds = min(((seconds - whole) * 1_000_000 + 0.125).rounded(.down), 999_999)
        let time = CivilTime(epoch: Int64(whole) + offset, microsecond: Int(microseconds))
        guard (0...9999).contains(time.year) else { return nil }
        switch format {
        case .unix: return "\(time.epoch)"
        case .unixMilliseconds: return "\(time.epoch * 1000 + Int64(time.microsecond / 1000))"
        case .unixMicroseconds: return "\(time.epoch * 1_000_000 + Int64(time.microsecond))"
        case .httpDate: return time.text("%a, %d %b %Y %H:%M:%S GMT")
        case .rfc3339: return time.text("%FT%T") + time.fraction + "Z"
        case .pattern(let pattern): return time.text(pattern)
        }
    }
}

/// A time in the calendar, in UTC.
private struct CivilTime {
    /// Whole seconds since 1970.
    let epoch: Int64
    let microsecond: Int
    let year: Int
    let month: Int
    let day: Int
    let dayOfYear: Int
    /// 0: Sunday.
    let weekday: Int
    let hour: Int
    let minute: Int
    let second: Int

    init(epoch: Int64, microsecond: Int) {
        func divide(_ value: Int64, by divisor: Int64) -> (Int64, Int) {
            let rest = value % divisor
            return rest < 0 ? (value / divisor - 1, Int(rest + divisor)) : (value / divisor, Int(rest))
        }
        (self.epoch, self.microsecond) = (epoch, microsecond)
        let (days, secondOfDay) = divide(epoch, by: 86_400)
        (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
        weekday = divide(days + 4, by: 7).1
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, eras have 400 of them.
        let (era, dayOfEra) = divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayFromMarch = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayFromMarch + 2) / 153
        day = dayFromMarch - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
        let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
        dayOfYear = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month - 1] + day + (isLeap && month > 2 ? 1 : 0)
    }

    /// `.25`, or nothing.
    var fraction: String {
        if microsecond == 0 { return "" }
        var digits = padded(microsecond, 6)
        while digits.last == "0" { digits.removeLast() }
        return "." + digits
    }

    func text(_ pattern: String) -> String {
        var result = "", rest = pattern[...]
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            guard let letter = rest.popFirst() else { break }
            result += directive(letter)
        }
        return result + rest
    }

    private func directive(_ letter: Character) -> String {
        switch letter {
        case "Y": padded(year, 4)
        case "y": padded(year % 100, 2)
        case "m": padded(month, 2)
        case "b": String(Self.months[month - 1].prefix(3))
        case "B": Self.months[month - 1]
        case "d": padded(day, 2)
        case "e": "\(day)"
        case "j": padded(dayOfYear, 3)
        case "a": String(Self.weekdays[weekday].prefix(3))
        case "A": Self.weekdays[weekday]
        case "H": padded(hour, 2)
        case "I": padded((hour + 11) % 12 + 1, 2)
        case "p": hour < 12 ? "AM" : "PM"
        case "M": padded(minute, 2)
        case "S": padded(second, 2)
        case "f": padded(microsecond, 6)
        case "z": "+0000"
        case "s": "\(epoch)"
        case "F": text("%Y-%m-%d")
        case "T": text("%H:%M:%S")
        case "R": text("%H:%M")
        default: String(letter)
        }
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]
    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
}
