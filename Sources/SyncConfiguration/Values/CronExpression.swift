/// Times of the calendar as crontab(5) writes them, `"*/15 8-18 * * mon-fri"`: minute, hour, day of the month, month, day of the week.
///
/// It knows the calendar and no time zone: its times are local ones, in seconds since 1970-01-01 00:00 as if there were no offsets.
public struct CronExpression: Sendable, Hashable, CustomStringConvertible {
    /// As it was written, with one space between fields.
    public let description: String
    // What each field allows, a bit for each value.
    private let minutes: UInt64
    private let hours: UInt64
    private let days: UInt64
    private let months: UInt64
    private let weekdays: UInt64
    /// Whether a day has to be one of the month's and one of the week's: unless both are restricted, in which case one of them is enough.
    private let needsBothDays: Bool

    /// The days on which a weekday is a 29 February come around in 40 years, where 2100 lies between.
    private static let longestGap = 41

    /// Reads five fields, or a nickname such as `@daily`.
    package init(parsing text: String) throws(CronProblem) {
        let fields = text.split(whereSeparator: \.isWhitespace).map(String.init)
        description = fields.joined(separator: " ")
        let written = try fields.count == 1 && text.contains("@") ? Self.fields(ofNickname: fields[0]) : fields
        guard written.count == 5 else { throw .fieldCount(written.count) }
        minutes = try CronField.minute.bits(written[0])
        hours = try CronField.hour.bits(written[1])
        days = try CronField.day.bits(written[2])
        months = try CronField.month.bits(written[3])
        weekdays = try CronField.weekday.bits(written[4])
        needsBothDays = written[2].hasPrefix("*") || written[4].hasPrefix("*")
        let isPossible = !needsBothDays || (1...12).contains { months.has($0) && days & Self.bits(1...Self.mostDays(in: $0)) != 0 }
        if !isPossible { throw .neverComes("\(written[2]) \(written[3])") }
    }

    private static func fields(ofNickname name: String) throws(CronProblem) -> [String] {
        switch name.lowercased() {
        case "@yearly", "@annually": ["0", "0", "1", "1", "*"]
        case "@monthly": ["0", "0", "1", "*", "*"]
        case "@weekly": ["0", "0", "*", "*", "0"]
        case "@daily", "@midnight": ["0", "0", "*", "*", "*"]
        case "@hourly": ["0", "*", "*", "*", "*"]
        default: throw .unknownNickname(name)
        }
    }

    /// Whether every hour of a day that counts has a time. Such an expression goes on in the hours that a change of the clock skips or repeats; any other
    /// means certain hours, and each of them once.
    public var meansEveryHour: Bool { hours == Self.bits(0...23) }

    /// The first time after another one; nil if there is none in the next decades.
    public func next(after local: Int) -> Int? {
        let (day, minute) = (local.dividedDown(by: 60) + 1).splitDown(by: 1440)
        if dates(of: day) & 1 << UInt64(CalendarDay(number: day).day) != 0, let time = firstMinute(from: minute) { return (day * 1440 + time) * 60 }
        guard let later = nextDay(after: day), let time = firstMinute(from: 0) else { return nil }
        return (later * 1440 + time) * 60
    }

    /// The first minute of a day that counts, from one on.
    private func firstMinute(from start: Int) -> Int? {
        let (hour, minute) = (start / 60, start % 60), rest = minutes & (~0 << UInt64(minute))
        if hours.has(hour), rest != 0 { return hour * 60 + rest.trailingZeroBitCount }
        let later = hours & (~0 << UInt64(hour + 1))
        return later == 0 ? nil : later.trailingZeroBitCount * 60 + minutes.trailingZeroBitCount
    }

    private func nextDay(after day: Int) -> Int? {
        var date = CalendarDay(number: day + 1)
        for _ in 0...Self.longestGap * 12 {
            let first = date.number - date.day + 1
            let dates = months.has(date.month) ? dates(of: first) & (~0 << UInt64(date.day)) : 0
            if dates != 0 { return first + dates.trailingZeroBitCount - 1 }
            date = CalendarDay(number: first + CalendarDay.count(inMonth: date.month, of: date.year))
        }
        return nil
    }

    /// The days that count in the month of a day, a bit for each.
    private func dates(of day: Int) -> UInt64 {
        let date = CalendarDay(number: day), all = Self.bits(1...CalendarDay.count(inMonth: date.month, of: date.year))
        guard months.has(date.month) else { return 0 }
        var ofTheWeek: UInt64 = 0
        // 1970-01-01 was a Thursday.
        let zeroth = (day - date.day + 4).splitDown(by: 7).rest
        for number in 1...31 where weekdays.has((zeroth + number) % 7) { ofTheWeek |= 1 << UInt64(number) }
        return all & (needsBothDays ? days & ofTheWeek : days | ofTheWeek)
    }

    fileprivate static func bits(_ range: ClosedRange<Int>) -> UInt64 { range.reduce(0) { $0 | 1 << UInt64($1) } }

    private static func mostDays(in month: Int) -> Int { CalendarDay.count(inMonth: month, of: 2000) }
}

/// Why a text is no `CronExpression`.
package enum CronProblem: Error {
    case fieldCount(Int)
    /// What is wrong with a field, and what may be written there.
    case field(CronField, String)
    /// No year has such a day.
    case neverComes(String)
    case unknownNickname(String)

    package var message: String {
        switch self {
        case .fieldCount(let count): "it has \(count) field\(count == 1 ? "" : "s") instead of five"
        case .field(let field, let what): "\(field.rawValue): \(what)"
        case .neverComes(let date): "there is no day \(date)"
        case .unknownNickname(let name): "unknown name \"\(name)\""
        }
    }

    package var suggestion: String {
        switch self {
        case .fieldCount(6): "leave out the seconds: minute, hour, day of the month, month, day of the week"
        case .fieldCount: "write minute, hour, day of the month, month, day of the week, as in \"*/15 * * * *\""
        case .field(let field, _): "write \(field.expected)"
        case .neverComes: "choose a day that the month has"
        case .unknownNickname("@reboot"): "when polls begin after a start is said by start in [daemon]"
        case .unknownNickname(let name):
            SyncConfiguration.suggestion(
                for: name, among: ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"], kind: "known names")
        }
    }
}

/// A field of a `CronExpression`, as messages call it.
package enum CronField: String, Sendable {
    case minute
    case hour
    case day = "day of the month"
    case month
    case weekday = "day of the week"

    private static let monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    private var values: ClosedRange<Int> {
        switch self {
        case .minute: 0...59
        case .hour: 0...23
        case .day: 1...31
        case .month: 1...12
        case .weekday: 0...6
        }
    }

    fileprivate var expected: String {
        let names =
            switch self {
            case .month: ", or jan to dec"
            case .weekday: " (0 and 7 are Sunday), or sun to sat"
            default: ""
            }
        let last = self == .weekday ? 7 : values.upperBound
        return "*, a number from \(values.lowerBound) to \(last)\(names), a range such as 1-5, a step such as */2, or several with commas"
    }

    fileprivate func bits(_ text: String) throws(CronProblem) -> UInt64 {
        var bits: UInt64 = 0
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "/", omittingEmptySubsequences: false)
            guard let range = pieces.first, pieces.count <= 2 else { throw .field(self, "\"\(part)\" has two steps") }
            let (first, last) = try bounds(range)
            guard pieces.count == 2 else {
                for value in first...last { bits |= bit(value) }
                continue
            }
            if range != "*", !range.contains("-") {
                throw .field(self, "\"\(part)\" is a step without a range; did you mean \(range)-\(values.upperBound)/\(pieces[1])?")
            }
            guard let step = Self.number(pieces[1]), step > 0, step <= values.upperBound - values.lowerBound else {
                throw .field(self, "a step of \"\(pieces[1])\" is not between 1 and \(values.upperBound - values.lowerBound)")
            }
            for value in stride(from: first, through: last, by: step) { bits |= bit(value) }
        }
        return bits
    }

    private func bounds(_ text: Substring) throws(CronProblem) -> (first: Int, last: Int) {
        if text == "*" { return (values.lowerBound, values.upperBound) }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let start = ends.first, ends.count <= 2 else { throw .field(self, "\"\(text)\" has two ends") }
        let first = try value(start)
        guard ends.count == 2 else { return (first, first) }
        var last = try value(ends[1])
        // As in mon-sun.
        if self == .weekday, last == 0, first > 0 { last = 7 }
        if last < first { throw .field(self, "\"\(text)\" goes backwards; write two ranges with a comma") }
        return (first, last)
    }

    private func value(_ text: Substring) throws(CronProblem) -> Int {
        if let number = Self.number(text) {
            guard values.contains(number) || (self == .weekday && number == 7) else { throw .field(self, "\"\(text)\" is out of range") }
            return number
        }
        let names = self == .month ? Self.monthNames : self == .weekday ? Self.weekdayNames : []
        guard let index = names.firstIndex(of: text.lowercased()) else {
            if text.isEmpty { throw .field(self, "a number is missing") }
            throw .field(self, names.isEmpty ? "\"\(text)\" is not a number" : "\"\(text)\" is neither a number nor a name")
        }
        return index + values.lowerBound
    }

    private static func number(_ text: Substring) -> Int? { !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil }

    /// Sunday has two numbers.
    private func bit(_ value: Int) -> UInt64 { 1 << UInt64(self == .weekday ? value % 7 : value) }
}

extension UInt64 {
    fileprivate func has(_ value: Int) -> Bool { self & 1 << UInt64(value) != 0 }
}
