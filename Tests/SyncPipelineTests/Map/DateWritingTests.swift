import Foundation
import SyncConfiguration
import Testing

@testable import SyncPipeline

@Suite struct DateWritingTests {
    /// 2024-02-29T13:05:09.25Z
    private let leap = 1_709_211_909.25 - 978_307_200

    @Test(arguments: [
        ("rfc3339", "2024-02-29T13:05:09.25Z"), ("unix", "1709211909"), ("unix-ms", "1709211909250"), ("unix-us", "1709211909250000"),
        ("http-date", "Thu, 29 Feb 2024 13:05:09 GMT"), ("%Y-%m-%d", "2024-02-29"), ("%F %T", "2024-02-29 13:05:09"),
        ("%d/%b/%y %I:%M %p", "29/Feb/24 01:05 PM"), ("%A %e %B, day %j", "Thursday 29 February, day 060"), ("%R%z", "13:05+0000"),
        ("%s.%f", "1709211909.250000"), ("%a%%", "Thu%"),
    ])
    func aTimeIsWrittenInEveryFormat(format: String, text: String) throws {
        #expect(DateWriting.text(leap, format: try #require(DateFormat(format))) == text)
    }

    // Who asks from a time on must not miss what happened in its last instant.
    @Test func whatAFormatCannotExpressIsCutOff() {
        let late = 0.999_999
        #expect(DateWriting.text(late, format: .rfc3339) == "2001-01-01T00:00:00.999999Z")
        #expect(DateWriting.text(late, format: .unix) == "978307200")
        #expect(DateWriting.text(late, format: .unixMilliseconds) == "978307200999")
        #expect(DateWriting.text(-0.5, format: .unix) == "978307199")
        #expect(DateWriting.text(-978_307_200 - 0.5, format: .pattern("%F %T")) == "1969-12-31 23:59:59")
    }

    @Test(arguments: [Double.infinity, .nan, 1e300, -1e13, 1e13])
    func aTimeThatNoCalendarHasIsNotWritten(seconds: Double) {
        #expect(DateWriting.text(seconds, format: .rfc3339) == nil)
    }

    // What is written is read as the same.
    @Test(arguments: ["rfc3339", "%Y-%m-%dT%H:%M:%S.%f%z", "%s.%f", "unix-us", "http-date", "%j %Y %T", "%d %B %Y %I:%M:%S %p"])
    func whatIsWrittenIsReadAsTheSame(format: String) throws {
        let format = try #require(DateFormat(format)), isExact = [.rfc3339, .unixMicroseconds].contains(format) || "\(format)".contains("%f")
        var random = SeededNumbers(7)
        for _ in 0..<2000 {
            let day = Double(Int.random(in: -700_000_000...2_000_000_000, using: &random))
            let seconds = day + (isExact ? Double(Int.random(in: 0...999_999, using: &random)) / 1_000_000 : 0)
            let text = try #require(DateWriting.text(seconds, format: format))
            let read = try #require(DateConversion.seconds(text, format: format), "\(text)")
            #expect(abs(read - seconds) < 0.000_001, "\(text)")
        }
    }
}
