import Testing

@testable import AirbyteManifests

@Suite struct DateFormatsTests {
    @Test func recordsAreReadAsWidelyAsTheirFormatsSay() throws {
        func records(_ patterns: String...) throws -> String {
            let result = try DateFormats.forRecords(patterns)
            return result.format + (result.isNarrow ? " (narrow)" : "")
        }
        #expect(try records("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%d") == "rfc3339")
        #expect(try records("%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%SZ") == "%Y-%m-%dT%H:%M:%S%z")
        #expect(try records("%Y-%m-%dT%H:%M:%S.%f%z") == "%Y-%m-%dT%H:%M:%S.%f%z")
        #expect(try records("%Y-%m-%dT%H:%M:%S.%_ms%z", "%Y-%m-%dT%H:%M:%S%z") == "rfc3339 (narrow)")
        #expect(try records("%s") == "unix")
        #expect(try records("%d/%m/%Y") == "%d/%m/%Y")
        #expect(try records("%d/%m/%Y", "%s") == "%d/%m/%Y (narrow)")
        #expect(throws: Unsayable.self) { try records("%Q") }
        #expect(throws: Unsayable.self) { try records() }
    }

    @Test func requestsCutOffWhatCannotBeSaid() throws {
        #expect(try DateFormats.forRequests("%Y-%m-%dT%H:%M:%S.%_msZ") == "%Y-%m-%dT%H:%M:%S.000Z")
        #expect(try DateFormats.forRequests("%ms") == "unix-ms")
        #expect(throws: Unsayable.self) { try DateFormats.forRequests("yyyy") }
    }
}
