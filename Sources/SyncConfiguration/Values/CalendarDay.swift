/// A day of the Gregorian calendar, continued into the past, and its number: 1970-01-01 is day 0.
package struct CalendarDay: Sendable, Hashable {
    package let year: Int
    /// From 1 to 12.
    package let month: Int
    /// From 1 on.
    package let day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Counted in years that begin in March, so that the leap day is last.
    package init(number: Int) {
        let (era, dayOfEra) = (number + 719_468).splitDown(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    }

    package var number: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).splitDown(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// How many days a month has.
    package static func count(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int {
    /// Divided by a positive number, rounded towards the past.
    package func dividedDown(by divisor: Int) -> Int { splitDown(by: divisor).whole }

    /// The same with what remains, which is never negative.
    package func splitDown(by divisor: Int) -> (whole: Int, rest: Int) {
        let (whole, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (whole - 1, rest + divisor) : (whole, rest)
    }
}
