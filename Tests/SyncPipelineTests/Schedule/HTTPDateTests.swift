import Foundation
import Testing

@testable import SyncPipeline

@Suite struct HTTPDateTests {
    let now = Date(timeIntervalSince1970: 1_735_689_600)  // 2025-01-01

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "sun, 6 nov 1994 08:49:37 gmt",
        "  Sun, 06 Nov 1994 08:49:37 UTC ", "Mon, 06 Nov 1994 08:49:37 GMT",
    ])
    func theThreeFormsNameTheSameTime(text: String) {
        #expect(HTTPDate.parse(text, now: now) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(arguments: [
        "", "0", "-1", "Sun", "Sun,", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 +0100",
        "Sun, 31 Feb 2024 00:00:00 GMT", "Sat, 29 Feb 2025 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT and more", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37", "Sun, 06 Nov 99999 08:49:37 GMT",
    ])
    func whatIsNoDateIsNil(text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test func aTwoDigitYearFarAheadBelongsToThePast() {
        #expect(HTTPDate.parse("Friday, 01-Jan-76 00:00:00 GMT", now: now) == Date(timeIntervalSince1970: 189_302_400))
        #expect(HTTPDate.parse("Wednesday, 01-Jan-75 00:00:00 GMT", now: now) == Date(timeIntervalSince1970: 3_313_526_400))
        #expect(HTTPDate.parse("Monday, 01-Jan-24 00:00:00 GMT", now: now) == Date(timeIntervalSince1970: 1_704_067_200))
    }

    @Test func aLeapSecondIsTheNextSecond() {
        #expect(
            HTTPDate.parse("Sat, 31 Dec 2016 23:59:60 GMT", now: now) == HTTPDate.parse("Sun, 01 Jan 2017 00:00:00 GMT", now: now))
    }

    @Test func writingAndReadingAreInverse() {
        var generator = SplitMix(state: 7)
        for _ in 0..<5000 {
            let second = Int.random(in: -62_135_596_800...253_402_300_799, using: &generator)
            let time = Date(timeIntervalSince1970: Double(second))
            #expect(HTTPDate.parse(HTTPDate.format(time), now: now) == time)
        }
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.format(.distantFuture) == "Mon, 01 Jan 4001 00:00:00 GMT")
    }

    /// Repeatable randomness.
    struct SplitMix: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
}
