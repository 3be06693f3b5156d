import Foundation
import JSONReader
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

    /// Twenty-five spellings of dates, and what `rfc3339` takes them for: a time since 1970, or no date. What it does not know is not guessed.
    private static let spellings: [(text: String, seconds: Double?)] = [
        ("2016-12-31T23:59:59Z", 1_483_228_799), ("2016-12-31t23:59:59z", 1_483_228_799), ("2016-12-31 23:59:59Z", 1_483_228_799),
        ("2016-12-31T23:59:59.999999Z", 1_483_228_799.999999), ("2016-12-31T23:59:59.000000001Z", 1_483_228_799.000000001),
        ("2017-01-01T13:59:59+14:00", 1_483_228_799), ("2016-12-31T11:59:59-12:00", 1_483_228_799), ("2016-12-31T23:59:59-00:00", 1_483_228_799),
        ("2016-12-31T23:59:59", 1_483_228_799), ("2016-12-31", 1_483_142_400),
        // A leap second is the first of the next day, as in POSIX.
        ("2016-12-31T23:59:60Z", 1_483_228_800), ("2016-12-31T23:59:61Z", nil), ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("9999-12-31T23:59:59Z", 253_402_300_799), ("10000-01-01T00:00:00Z", nil), ("-0001-01-01T00:00:00Z", nil), ("+2016-12-31T23:59:59Z", nil),
        ("20161231T235959Z", nil), ("2016-W52-6", nil), ("2016-366", nil), ("31.12.2016", nil), ("12/31/2016", nil),
        ("Sat, 31 Dec 2016 23:59:59 GMT", nil), ("1483228799", nil), ("1483228799000", nil),
    ]

    // J6
    @Test func aDateIsWhatItsSpellingSaysAndIsNeverGuessed() {
        #expect(Self.spellings.count == 25)
        for (spelling, seconds) in Self.spellings { #expect(text(spelling) == seconds, "\(spelling)") }
        // A number is no text in that format: whether it counts seconds or thousandths of them, nobody knows.
        for number in [JSONCell.int64(1_483_228_799), .int64(1_483_228_799_000), .double(1_483_228_799)] {
            #expect(DateConversion.seconds(number, format: .rfc3339) == nil)
        }
    }

    @Test func patternsReadTheirDirectives() {
        #expect(text("06/11/1994 08:49:37", .pattern("%d/%m/%Y %H:%M:%S")) == 784_111_777)
        #expect(text("Nov 6 1994 8:49 AM", .pattern("%b %d %Y %I:%M %p")) == 784_111_740)
        #expect(text("784111777", .pattern("%s")) == 784_111_777)
        #expect(text("1994-11-06", .pattern("%d/%m/%Y")) == nil)
    }

    @Test func unixTimesAreSecondsOrParts() {
        #expect(text("12.5", .unix) == 12.5)
        #expect(text("1500", .unixMilliseconds) == 1.5)
        #expect(text("1500000", .unixMicroseconds) == 1.5)
        #expect(text("0x10", .unix) == nil)
    }

    private static let formats: [DateFormat] = [
        .rfc3339, .unix, .unixMilliseconds, .httpDate, .pattern("%d/%m/%Y %H:%M:%S"), .pattern("%b %e %y %I:%M %p"), .pattern("%Y-%j"),
        .pattern("%s.%f"), .pattern("%FT%T%z"),
    ]

    /// Texts that are dates of these formats, nearly so, or not at all.
    private static func texts(_ random: inout SeededNumbers) -> [String] {
        [""]
            + (0..<2000).map { _ in
                func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
                let days = random.next(upTo: 33), day = two(days), month = two(random.next(upTo: 14)), year = 1890 + random.next(upTo: 250)
                let hour = two(random.next(upTo: 25)), time = "\(hour):\(two(random.next(upTo: 61))):\(two(random.next(upTo: 62)))"
                let fraction = random.chance(30) ? ".\(random.next(upTo: 1_000_000_000))" : ""
                let zone = random.element(["Z", "", "+02:00", "-0930", "z"]) ?? ""
                let number = Int64(truncatingIfNeeded: random.next()) >> Int64(random.next(upTo: 60))
                let forms: [String] = [
                    "\(year)-\(month)-\(day)T\(time)\(fraction)\(zone)", "\(year)-\(month)-\(day)", "\(day)/\(month)/\(year) \(time)",
                    "\(number)\(fraction)", "\(year)-\(days * 12)", "0.1e\(random.next(upTo: 400))", "Sun, \(day) Nov \(year) \(time) GMT",
                    "Nov \(days) \(two(year % 100)) \(hour):12 PM", "\(random.next(upTo: 1_000_000_000)).5",
                ]
                var text = random.element(forms) ?? ""
                if random.chance(10) { text += random.element(["é", "\u{0}", " ", "\"", "0", String(repeating: "7", count: 300)]) ?? "" }
                return text
            }
    }

    @Test(arguments: 0..<5) func aDateInJSONIsWhatItsTextIs(seed: Int) throws {
        var random = SeededNumbers(seed)
        let texts = Self.texts(&random), plan = JSONFieldPlan([JSONField(key: "d")])
        var body = "[", index = 0, known = 0
        for text in texts {
            // Some of it escaped, so that the bytes lie elsewhere.
            let escaped = text.unicodeScalars.map { scalar -> String in
                let isEscaped = scalar.value < 32 || scalar == "\"" || (scalar.value < 128 && random.chance(5))
                return isEscaped ? "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16) : String(scalar)
            }
            body += "\(body.count > 1 ? "," : ""){\"d\":\"\(escaped.joined())\"}"
        }
        _ = try JSONRecordReader().read(body: Array((body + "]").utf8), plan: plan) { record in
            for format in Self.formats {
                let seconds = DateConversion.seconds(texts[index], format: format)
                #expect(DateConversion.seconds(record[0], format: format) == seconds, "\(texts[index])")
                if seconds != nil { known += 1 }
            }
            index += 1
        }
        #expect(index == texts.count && known > 500)
    }

    @Test func aTimeInTextIsTheNearestDoubleOfItsDigits() {
        var random = SeededNumbers(9)
        for text in Self.texts(&random) {
            let value = NumberText(text.utf8).flatMap { Double($0.canonical) }.flatMap { $0.isFinite ? $0 : nil }
            #expect(DateConversion.seconds(text, format: .unix) == value.map { $0 - 978_307_200 }, "\(text)")
            #expect(DateConversion.seconds(text, format: .unixMilliseconds) == value.map { $0 / 1000 - 978_307_200 }, "\(text)")
        }
    }

    @Test func theFoundationFormatterAgreesOnADayInEveryMonth() {
        let formatter = ISO8601DateFormatter()
        for day in stride(from: 0, to: 20_000, by: 31) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 12_345)
            #expect(text(formatter.string(from: date)) == date.timeIntervalSince1970)
        }
    }
}
