import Testing

@testable import AirbyteManifests

@Suite struct CivilTimeTests {
    @Test(
        arguments: zip(
            ["2024-02-29", "2024-02-29T10:20:30Z", "2024-02-29 10:20:30.5+02:00", "1969-12-31T23:59:59Z", "2024-01-01T00:00:00-0100"],
            ["2024-02-29T00:00:00Z", "2024-02-29T10:20:30Z", "2024-02-29T08:20:30Z", "1969-12-31T23:59:59Z", "2024-01-01T01:00:00Z"]))
    func aTimeIsReadAndWritten(_ text: String, _ result: String) {
        #expect(CivilTime(text)?.rfc3339 == result)
    }

    @Test(arguments: ["", "2024", "2024-13-01", "2024-01-01X", "20240101", "2024-01-01T25:00:00Z"]) func whatIsNoTimeIsNone(_ text: String) {
        #expect(CivilTime(text) == nil)
    }

    @Test func patternsAreThoseOfPython() {
        let time = CivilTime(epoch: 1_709_202_030)
        #expect(time.text("%Y-%m-%dT%H:%M:%S.%fZ") == "2024-02-29T10:20:30.000000Z")
        #expect(time.text("%s") == "1709202030")
        #expect(time.text("%ms") == "1709202030000")
        #expect(time.text("%Q") == nil)
    }

    @Test func durationsAreReadInSeconds() {
        #expect(ISODuration("P1DT1H")?.seconds == 90_000)
        #expect(ISODuration("PT0.000001S")?.seconds == 1)
        #expect(ISODuration("P1M")?.isRough == true)
        #expect(ISODuration("P0M1D")?.isRough == false)
        for text in ["", "P", "1D", "PD", "P1", "PT1D", "P1H", "P99999999999D"] { #expect(ISODuration(text) == nil, "\(text)") }
    }
}
