import Foundation
import SyncConfiguration
import TestTraits
import Testing

@testable import SyncPipeline

/// When the times of `cron` are, in zones whose clocks change.
@Suite struct LocalTimesTests {
    private func date(_ text: String) throws -> Date { try #require(try? Date(text, strategy: .iso8601)) }

    /// The times of an expression between two times, in UTC.
    private func times(_ expression: String, _ zone: String, _ start: String, _ end: String) throws -> [String] {
        let cron = try CronExpression(parsing: expression), local = LocalTimes(zone), last = try date(end)
        var times: [String] = [], time = try date(start)
        while let next = local.next(of: cron, after: time), next <= last, times.count < 100 {
            times.append(next.formatted(.iso8601))
            time = next
        }
        return times
    }

    private func gaps(_ times: [String]) throws -> Set<Double> {
        let dates = try times.map(date)
        return Set(zip(dates, dates.dropFirst()).map { $1.timeIntervalSince($0) })
    }

    // MARK: Changes of the clock // K1

    @Test func aTimeThatDoesNotExistCountsWhenTheClocksAreSetForwardOnce() throws {
        // At 01:00 UTC, from 02:00 to 03:00.
        #expect(
            try times("30 2 * * *", "Europe/Zurich", "2025-03-29T00:00:00Z", "2025-03-31T23:00:00Z")
                == ["2025-03-29T01:30:00Z", "2025-03-30T01:00:00Z", "2025-03-31T00:30:00Z"])
        #expect(
            try times("0,20,40 2,3 * * *", "Europe/Zurich", "2025-03-30T00:00:00Z", "2025-03-30T02:00:00Z")
                == ["2025-03-30T01:00:00Z", "2025-03-30T01:20:00Z", "2025-03-30T01:40:00Z"])
        // At 07:00 UTC, from 02:00 to 03:00.
        #expect(try times("15 2 * * *", "America/New_York", "2025-03-09T00:00:00Z", "2025-03-09T23:00:00Z") == ["2025-03-09T07:00:00Z"])
        // At 15:30 UTC, by half an hour, from 02:00 to 02:30.
        #expect(try times("10 2 * * *", "Australia/Lord_Howe", "2025-10-04T00:00:00Z", "2025-10-05T00:00:00Z") == ["2025-10-04T15:30:00Z"])
        #expect(try times("40 2 * * *", "Australia/Lord_Howe", "2025-10-04T00:00:00Z", "2025-10-05T00:00:00Z") == ["2025-10-04T15:40:00Z"])
    }

    @Test func aTimeThatIsShownTwiceCountsOnce() throws {
        #expect(
            try times("30 2 * * *", "Europe/Zurich", "2025-10-25T22:00:00Z", "2025-10-27T22:00:00Z")
                == ["2025-10-26T00:30:00Z", "2025-10-27T01:30:00Z"])
        #expect(
            try times("30 1 * * *", "America/New_York", "2025-11-02T00:00:00Z", "2025-11-03T12:00:00Z")
                == ["2025-11-02T05:30:00Z", "2025-11-03T06:30:00Z"])
        #expect(
            try times("45 1 * * *", "Australia/Lord_Howe", "2025-04-05T00:00:00Z", "2025-04-06T20:00:00Z")
                == ["2025-04-05T14:45:00Z", "2025-04-06T15:15:00Z"])
        // From the middle of the second time on as well.
        #expect(
            try times("*/10 2 * * *", "Europe/Zurich", "2025-10-26T01:15:00Z", "2025-10-26T22:00:00Z").isEmpty)
    }

    @Test(arguments: [
        ("Europe/Zurich", "2025-03-30T00:00:00Z"), ("Europe/Zurich", "2025-10-26T00:00:00Z"), ("America/New_York", "2025-03-09T06:00:00Z"),
        ("America/New_York", "2025-11-02T05:00:00Z"), ("Australia/Lord_Howe", "2025-04-05T14:00:00Z"),
        ("Australia/Lord_Howe", "2025-10-04T14:00:00Z"), ("Pacific/Apia", "2011-12-30T09:00:00Z"),
    ])
    func whatMeansEveryHourGoesOnInTimeThatPasses(zone: String, start: String) throws {
        let end = try date(start).addingTimeInterval(4 * 3600).formatted(.iso8601)
        #expect(try gaps(times("*/15 * * * *", zone, start, end)) == [900])
        #expect(try times("*/15 * * * *", zone, start, end).count == 16)
    }

    @Test func aDayThatAZoneLeftOutCountsAtItsEnd() throws {
        // There was no 30 December: at 10:00 UTC the date line was crossed, and the 31st began.
        #expect(
            try times("0 6 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2012-01-01T00:00:00Z")
                == ["2011-12-29T16:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T16:00:00Z", "2011-12-31T16:00:00Z"])
    }

    @Test func theEndOfTheCalendarIsTheEndOfTimes() throws {
        let cron = try CronExpression(parsing: "*/5 * * * *"), local = LocalTimes("Europe/Zurich")
        for date in [Date.distantPast, Date(timeIntervalSince1970: -1e18), Date(timeIntervalSince1970: 1e18), Date.distantFuture] {
            #expect(local.next(of: cron, after: date).map { $0 > date } ?? true || date.timeIntervalSince1970 > 1e11)
        }
    }

    // MARK: By counting

    /// An expression, and what it means.
    private struct Sample {
        var text: String
        var fields: [(text: String, values: Set<Int>)]

        init(_ numbers: inout SeededNumbers) {
            fields = [0...59, 0...23, 1...31, 1...12, 0...6].map { Self.field($0, &numbers) }
            text = fields.map(\.text).joined(separator: " ")
        }

        private static func field(_ range: ClosedRange<Int>, _ numbers: inout SeededNumbers) -> (String, Set<Int>) {
            let low = range.lowerBound, count = range.count, first = low + numbers.next(upTo: count)
            let last = first + numbers.next(upTo: range.upperBound - first + 1), step = 1 + numbers.next(upTo: count - 1)
            switch numbers.next(upTo: 6) {
            case 0, 1: return ("*", Set(range))
            case 2: return ("*/\(step)", Set(stride(from: low, through: range.upperBound, by: step)))
            case 3: return ("\(first)-\(last)", Set(first...last))
            case 4: return ("\(first)-\(last)/\(step)", Set(stride(from: first, through: last, by: step)))
            default: return ("\(first),\(last)", [first, last])
            }
        }

        var meansEveryHour: Bool { fields[1].values.count == 24 }

        func matches(_ local: Int) -> Bool {
            let (number, second) = local.splitDown(by: 86_400), day = CalendarDay(number: number)
            guard fields[0].values.contains(second / 60 % 60), fields[1].values.contains(second / 3600), fields[3].values.contains(day.month) else {
                return false
            }
            let ofMonth = fields[2].values.contains(day.day), ofWeek = fields[4].values.contains((number + 4).splitDown(by: 7).rest)
            return fields[2].text.hasPrefix("*") || fields[4].text.hasPrefix("*") ? ofMonth && ofWeek : ofMonth || ofWeek
        }

        /// The times in some days, found minute by minute.
        func times(_ zone: TimeZone, from start: Int, to end: Int) -> [Int] {
            // The latest minute that was shown so far.
            var shown = Int.min, times: [Int] = []
            for time in stride(from: start - 3 * 86_400, through: end, by: 60) {
                let local = time + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
                var counts = matches(local)
                if !meansEveryHour, shown > Int.min {
                    if local <= shown { counts = false }
                    if local > shown + 60 { counts = stride(from: shown + 60, through: local, by: 60).contains(where: matches) }
                }
                shown = max(shown, local)
                if counts, time > start { times.append(time) }
            }
            return times
        }
    }

    @Test(
        .longComputation,
        arguments: [
            ("UTC", "2024-02-27T00:00:00Z"), ("Europe/Zurich", "2025-03-29T00:00:00Z"), ("Europe/Zurich", "2025-10-25T00:00:00Z"),
            ("America/New_York", "2025-03-08T00:00:00Z"), ("America/New_York", "2025-11-01T00:00:00Z"),
            ("Australia/Lord_Howe", "2025-04-04T00:00:00Z"), ("Australia/Lord_Howe", "2025-10-03T00:00:00Z"),
            ("Pacific/Apia", "2011-12-28T00:00:00Z"),
        ])
    func randomExpressionsMeanWhatAScanOfEveryMinuteFinds(name: String, day: String) throws {
        let zone = try #require(TimeZone(identifier: name)), local = LocalTimes(name)
        let first = Int(try date(day).timeIntervalSince1970)
        for seed in 0..<40 {
            var numbers = SeededNumbers(seed)
            let sample = Sample(&numbers), start = first + 60 * numbers.next(upTo: 2880), end = start + 4 * 86_400
            guard let cron = try? CronExpression(parsing: sample.text) else { continue }
            var found: [Int] = [], time = Date(timeIntervalSince1970: Double(start))
            while let next = local.next(of: cron, after: time), next.timeIntervalSince1970 <= Double(end) {
                found.append(Int(next.timeIntervalSince1970))
                time = next
            }
            let expected = sample.times(zone, from: start, to: end)
            #expect(found == expected, "seed \(seed): \(sample.text) in \(name) after \(start)")
        }
    }

    // MARK: Quiet hours

    @Test func quietHoursEndByTheClockOfTheZone() throws {
        let night = try [#require(QuietHours("22:00-06:00"))], local = LocalTimes("Europe/Zurich")
        func end(_ text: String) throws -> String? { local.end(of: night, at: try date(text))?.formatted(.iso8601) }
        #expect(try end("2025-01-01T20:59:59Z") == nil)
        #expect(try end("2025-01-01T21:00:00Z") == "2025-01-02T05:00:00Z")
        #expect(try end("2025-01-02T04:59:59Z") == "2025-01-02T05:00:00Z")
        #expect(try end("2025-01-02T05:00:00Z") == nil)
        // In the nights in which the clocks change.
        #expect(try end("2025-03-29T22:00:00Z") == "2025-03-30T04:00:00Z")
        #expect(try end("2025-10-25T21:00:00Z") == "2025-10-26T05:00:00Z")
    }

    @Test func quietHoursThatTouchAreOne() throws {
        let hours = try ["22:00-02:30", "02:30-06:00", "05:00-07:00"].map { try #require(QuietHours($0)) }
        let end = LocalTimes("UTC").end(of: hours, at: try date("2025-01-01T23:00:00Z"))
        #expect(end == (try date("2025-01-02T07:00:00Z")))
    }

    @Test func anEndThatDoesNotExistIsWhenTheClocksAreSet() throws {
        let hours = try [#require(QuietHours("22:00-02:30"))], local = LocalTimes("Europe/Zurich")
        #expect(local.end(of: hours, at: try date("2025-03-30T00:00:00Z")) == (try date("2025-03-30T01:00:00Z")))
        // Shown twice: quiet until the first time, and in the second hour up to the second.
        #expect(local.end(of: hours, at: try date("2025-10-26T00:00:00Z")) == (try date("2025-10-26T00:30:00Z")))
        #expect(local.end(of: hours, at: try date("2025-10-26T01:10:00Z")) == (try date("2025-10-26T01:30:00Z")))
    }
}
