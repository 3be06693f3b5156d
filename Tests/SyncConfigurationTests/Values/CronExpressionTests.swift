import Testing

@testable import SyncConfiguration

@Suite struct CronExpressionTests {
    /// Local seconds of a minute.
    private func time(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0) -> Int {
        CalendarDay(year: year, month: month, day: day).number * 86_400 + hour * 3600 + minute * 60
    }

    private func next(_ text: String, after start: Int) throws -> Int? { try CronExpression(parsing: text).next(after: start) }

    private func problem(_ text: String) -> String {
        do throws(CronProblem) {
            _ = try CronExpression(parsing: text)
            return ""
        } catch {
            return "\(error.message); \(error.suggestion)"
        }
    }

    @Test func fieldsHaveNumbersRangesStepsListsAndNames() throws {
        // A Wednesday.
        let start = time(2025, 1, 1, 12, 7)
        #expect(try next("*/15 * * * *", after: start) == time(2025, 1, 1, 12, 15))
        #expect(try next("7 12 * * *", after: start) == time(2025, 1, 2, 12, 7))
        #expect(try next("7 12 * * *", after: start - 1) == start)
        #expect(try next("10-50/20,3 8-18 * * *", after: start) == time(2025, 1, 1, 12, 10))
        #expect(try next("0 6 * * mon-FRI", after: time(2025, 1, 3, 6)) == time(2025, 1, 6, 6))
        #expect(try next("0 0 1 jan,Jul *", after: start) == time(2025, 7, 1))
        #expect(try next("59 23 31 12 *", after: start) == time(2025, 12, 31, 23, 59))
    }

    @Test(arguments: ["0", "7", "sun", "7-7", "0,7"]) func sundayHasTwoNumbers(field: String) throws {
        #expect(try next("0 0 * * \(field)", after: time(2025, 1, 1)) == time(2025, 1, 5))
        #expect(try next("0 0 * * \(field)", after: time(2025, 1, 5)) == time(2025, 1, 12))
    }

    @Test func aRangeMayEndOnSunday() throws {
        #expect(try next("0 0 * * sat-sun", after: time(2025, 1, 4)) == time(2025, 1, 5))
        #expect(try next("0 0 * * 6-7", after: time(2025, 1, 5)) == time(2025, 1, 11))
    }

    // The rule of Vixie's cron.
    @Test func ofTwoRestrictedDaysOneIsEnoughAndAStarIsNoRestriction() throws {
        let start = time(2025, 1, 1, 1)
        #expect(try next("0 0 13 * fri", after: start) == time(2025, 1, 3))
        #expect(try next("0 0 13 * fri", after: time(2025, 1, 10)) == time(2025, 1, 13))
        #expect(try next("0 0 * * fri", after: start) == time(2025, 1, 3))
        #expect(try next("0 0 13 * *", after: start) == time(2025, 1, 13))
        // A step over all is a star as well: both must hold.
        #expect(try next("0 0 */2 * fri", after: time(2025, 1, 3)) == time(2025, 1, 17))
        #expect(try next("0 0 13 * */6", after: start) == time(2025, 4, 13))
    }

    @Test(arguments: [
        ("@hourly", "0 * * * *"), ("@daily", "0 0 * * *"), ("@midnight", "0 0 * * *"), ("@weekly", "0 0 * * 0"), ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"),
    ])
    func nicknamesStandForFields(name: String, fields: String) throws {
        var (a, b) = (time(2025, 3, 14, 15, 9), time(2025, 3, 14, 15, 9))
        for _ in 0..<5 {
            a = try #require(try next(name, after: a))
            b = try #require(try next(fields, after: b))
            #expect(a == b)
        }
    }

    @Test func rareDaysAreFoundAcrossACenturyWithoutALeapDay() throws {
        #expect(try next("0 0 29 2 *", after: time(2025, 1, 1)) == time(2028, 2, 29))
        #expect(try next("0 0 29 2 *", after: time(2096, 2, 29)) == time(2104, 2, 29))
        // On a Saturday or a Sunday.
        #expect(try next("0 0 29 2 */6", after: time(2025, 1, 1)) == time(2032, 2, 29))
        #expect(try next("0 0 31 * *", after: time(2025, 1, 31)) == time(2025, 3, 31))
    }

    @Test(arguments: ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 30,31 2 *"]) func aDayThatNeverComesIsRefused(text: String) {
        #expect(problem(text).contains("there is no day"))
    }

    @Test func aDayThatNeverComesBesideADayOfTheWeekIsLeftOut() throws {
        #expect(try next("0 0 30 2 mon", after: time(2025, 1, 1)) == time(2025, 2, 3))
    }

    @Test func errorsNameTheFieldAndWhatIsAllowed() {
        #expect(problem("60 * * * *").hasPrefix("minute: \"60\" is out of range; write *, a number from 0 to 59"))
        #expect(problem("* 24 * * *").hasPrefix("hour: \"24\" is out of range; write *, a number from 0 to 23"))
        #expect(problem("* * 0 * *").hasPrefix("day of the month: \"0\" is out of range; write *, a number from 1 to 31"))
        #expect(problem("* * * 13 *").contains("a number from 1 to 12, or jan to dec"))
        #expect(problem("* * * * 8").contains("a number from 0 to 7 (0 and 7 are Sunday), or sun to sat"))
        #expect(problem("* * L * *").contains("\"L\" is not a number"))
        #expect(problem("* * * * monday").contains("\"monday\" is neither a number nor a name"))
        #expect(problem("5/15 * * * *").contains("did you mean 5-59/15?"))
        #expect(problem("*/90 * * * *").contains("a step of \"90\" is not between 1 and 59"))
        #expect(problem("*/0 * * * *").contains("a step of \"0\""))
        #expect(problem("1,,2 * * * *").contains("minute: a number is missing"))
        #expect(problem("* * * * fri-mon").contains("goes backwards"))
        #expect(problem("0 0 6 * * *").contains("leave out the seconds"))
        #expect(problem("* * *").contains("it has 3 fields instead of five"))
        #expect(problem("@dayly").contains("did you mean \"@daily\"?"))
        #expect(problem("@reboot").contains("start in [daemon]"))
    }

    @Test func itIsWrittenWithOneSpaceBetweenFields() throws {
        #expect(try CronExpression(parsing: " 0   6 * *\tmon ").description == "0 6 * * mon")
    }

    @Test func daysHaveNumbersInBothDirections() {
        #expect(CalendarDay(year: 1970, month: 1, day: 1).number == 0)
        for number in stride(from: -800_000, through: 800_000, by: 37) {
            let day = CalendarDay(number: number)
            #expect(day.number == number)
            #expect((1...CalendarDay.count(inMonth: day.month, of: day.year)).contains(day.day))
        }
    }
}
