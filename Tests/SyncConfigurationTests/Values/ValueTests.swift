import Foundation
import Testing

@testable import SyncConfiguration

@Suite struct ValueTests {
    @Test(arguments: [("250ms", 250), ("30s", 30_000), ("15m", 900_000), ("24h", 86_400_000), ("30d", 2_592_000_000), ("0s", 0)])
    func aTimeSpanIsANumberAndAUnit(text: String, milliseconds: Int64) throws {
        let span = try #require(TimeSpan(text))
        #expect(span.milliseconds == milliseconds)
        #expect(TimeSpan(span.description) == span)
    }

    @Test(arguments: ["", "15", "m", "1.5h", "15 m", "15min", "-1s", "+1s", "1h30m", "9223372036854775807d", "١٥m", "1M"])
    func aTimeSpanIsNothingElse(text: String) {
        #expect(TimeSpan(text) == nil)
    }

    @Test func aTimeSpanIsPrintedInItsLargestUnit() {
        #expect(TimeSpan.seconds(60).description == "1m")
        #expect(TimeSpan.hours(24).description == "24h")
        #expect(TimeSpan.days(30).description == "30d")
        #expect(TimeSpan.milliseconds(1500).description == "1500ms")
        #expect(TimeSpan.seconds(90).duration == .seconds(90))
    }

    @Test(arguments: [("1B", 1), ("64KiB", 65_536), ("16MiB", 16_777_216), ("1GiB", 1_073_741_824), ("0B", 0)])
    func aByteCountIsANumberAndAUnit(text: String, bytes: Int) throws {
        let count = try #require(ByteCount(text))
        #expect(count.bytes == bytes)
        #expect(count.description == text)
    }

    @Test(arguments: ["", "16", "16MB", "16 MiB", "MiB", "-1B", "1.5MiB", "9223372036854775807GiB"])
    func aByteCountIsNothingElse(text: String) {
        #expect(ByteCount(text) == nil)
    }

    @Test func speedsAgesAndPercentagesReadWhatTheyPrint() throws {
        let speed = try #require(MinimumSpeed("1KiB/s over 1m"))
        #expect(speed == MinimumSpeed(perSecond: .kibibytes(1), over: .minutes(1)))
        #expect(MinimumSpeed(speed.description) == speed)
        #expect(MinimumSpeed("0B/s over 30s") == nil)
        #expect(MinimumSpeed("256B/s  over 30s") == nil)
        #expect(MaximumAge("3 intervals")?.span(every: .minutes(15)) == .minutes(45))
        #expect(MaximumAge("2h")?.span(every: .minutes(15)) == .hours(2))
        #expect(MaximumAge("0 intervals") == nil)
        #expect(MaximumAge("0s") == nil)
        #expect(Percentage("2.5%")?.fraction == 0.025)
        #expect(Percentage("2.5%")?.description == "2.5%")
        #expect(Percentage("10%")?.description == "10%")
        #expect(Percentage("nan%") == nil)
        #expect(Percentage("1e1%") == nil)
        #expect(Percentage("101%") == nil)
    }

    @Test func aDateFormatIsAWordOrAPatternOfKnownDirectives() {
        #expect(DateFormat("unix-ms") == .unixMilliseconds)
        #expect(DateFormat("%Y-%m-%dT%H:%M:%S") == .pattern("%Y-%m-%dT%H:%M:%S"))
        #expect(DateFormat("100%% %Y") == .pattern("100%% %Y"))
        #expect(DateFormat("%Q") == nil)
        #expect(DateFormat("%Y%") == nil)
        #expect(DateFormat("yyyy-MM-dd") == nil)
    }

    @Test func aDefaultDateIsRFC3339WithTwoRelaxations() {
        #expect(AttributeDefault.date("1970-01-01")?.timeIntervalSince1970 == 0)
        #expect(AttributeDefault.date("2019-10-06T09:28:06")?.timeIntervalSince1970 == 1_570_354_086)
        #expect(AttributeDefault.date("2019-10-06T11:28:06.5+02:00")?.timeIntervalSince1970 == 1_570_354_086.5)
        #expect(AttributeDefault.date("2000-02-29T00:00:00Z")?.timeIntervalSince1970 == 951_782_400)
        #expect(AttributeDefault.date("1900-02-29") == nil)
        #expect(AttributeDefault.date("2019-13-01") == nil)
        #expect(AttributeDefault.date("2019-10-06T24:00:00Z") == nil)
    }

    @Test func editDistanceCountsAnExchangeOnce() {
        #expect(editDistance("evry", "every") == 1)
        #expect(editDistance("eveyr", "every") == 1)
        #expect(editDistance("", "every") == 5)
        #expect(suggestion(for: "retry-after", among: ["retry_after", "base"], kind: "known keys") == "did you mean \"retry_after\"?")
        #expect(suggestion(for: "xyz", among: ["alpha", "omega"], kind: "known keys") == "known keys: alpha, omega")
    }
}
