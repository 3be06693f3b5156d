import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

@Suite struct DateConversionTests {
    private func text(_ text: String, _ format: DateFormat = .rfc3339) -> Double? {
        DateConversion.seconds(text, format: format).map { $0 + 978_307_200 }
    }

    @Test func rfc3339IsReadWithItsZoneAndFraction() {
        #expect(text("2001-01-01T00:00:00Z") == 978_307_200)
        #expect(text("2024-10-10T20:55:04Z") == 1_728_593_704)
        #expect(text("2024-10-10T22:55:04+02:00") == 1_728_593_704)
        #expect(text("2024-10-10T20:55:04.250Z") == 1_728_593_704.25)
        #expect(text("1969-12-31T23:59:59Z") == -1)
    }

    @Test func aMissingZoneIsUTCAndADateAloneIsItsMidnight() {
        #expect(text("2024-10-10T20:55:04") == 1_728_593_704)
        #expect(text("1970-01-02") == 86_400)
    }

    @Test func aDateThatDoesNotExistIsNone() {
        for bad in ["2023-02-29", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00+2:00", "yesterday", "", "2024-1-1"] {
            #expect(text(bad) == nil, "\(bad)")
        }
        #expect(text("2024-02-29") != nil)
    }

    @Test func patternsReadTheirDirectives() {
        #expect(text("06/11/1994 08:49:37", .pattern("%d/%m/%Y %H:%M:%S")) == 784_111_777)
        #expect(text("Nov 6 1994 8:49 AM", .pattern("%b %d %Y %I:%M %p")) == 784_111_740)
        #expect(text("784111777", .pattern("%s")) == 784_111_777)
        #expect(text("1994-11-06", .pattern("%d/%m/%Y")) == nil)
    }

    @Test func unixTimesAreSecondsOrMilliseconds() {
        #expect(text("12.5", .unix) == 12.5)
        #expect(text("1500", .unixMilliseconds) == 1.5)
        #expect(text("0x10", .unix) == nil)
    }

    @Test func theFoundationFormatterAgreesOnADayInEveryMonth() {
        let formatter = ISO8601DateFormatter()
        for day in stride(from: 0, to: 20_000, by: 31) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 12_345)
            #expect(text(formatter.string(from: date)) == date.timeIntervalSince1970)
        }
    }
}
