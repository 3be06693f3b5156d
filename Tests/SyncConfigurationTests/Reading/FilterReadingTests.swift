import JSONPaths
import Testing

@testable import SyncConfiguration

/// `filter`.
@Suite struct FilterReadingTests {
    private func filter(_ value: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [RecordCondition] {
        try configuration(itemSource + "filter = \(value)", sourceLocation: sourceLocation).sources[0].resources[0].filter
    }

    @Test func aFilterIsWhatTheFileSays() throws {
        let read = try filter(
            """
            [{ path = "$.type", equals = "user", not_equals = 3 }, { path = "/at", after = "-90d", before = 2025-01-01, format = "unix" }]
            """)
        #expect(read.map(\.path) == ["$.type", "$.at"])
        #expect(read[0].tests == [.equals(.text("user")), .notEquals(.integer(3))] && !read[0].dependsOnTime)
        #expect(read[1].after == .ago(.days(90)) && read[1].before == .time(seconds: 1_735_689_600))
        #expect(read[1].format == .unix && read[1].dependsOnTime)
        #expect(try filter("[]").isEmpty)
    }

    @Test func whatIsShownIsWhatWasRead() throws {
        let value = "[{ path = \"$.a\", exists = true, after = \"2024-02-03T04:05:06Z\", before = \"-1h\" }, { path = \"$.b\", in = [1, \"x\"] }]"
        let reading = read(itemSource + "filter = \(value)")
        let shown = try #require(reading.resolved?.settings.first { $0.key == "filter" }).value
        let first = try filter(value), again = try filter(shown)
        #expect(first == again && first.count == 2, "\(shown)")
    }

    @Test(arguments: [
        ("\"id > 3\"", "expected a list of conditions"), ("[{ path = \"$.type\" }]", "nothing is asked of the path"),
        ("[{ equals = 1 }]", "it does not say what to look at"), ("[{ path = \"$.a\", status = 200 }]", "unknown key \"status\""),
        ("[{ path = \"$.a\", after = \"90d\" }]", "did you mean \"-90d\"?"),
        ("[{ path = \"$.a\", equals = 1, format = \"unix\" }]", "no time is asked of"),
        ("[{ path = \"$.a\", exists = false, before = \"-1d\" }]", "what is not there is no time"),
    ]) func whatMakesNoSenseIsRefused(value: String, message: String) {
        let found = errors(itemSource + "filter = \(value)").joined(separator: "\n")
        #expect(found.contains("filter") && found.contains(message), "\(found)")
    }
}
