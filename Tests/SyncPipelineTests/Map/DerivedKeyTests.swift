import Foundation
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Records that do not say what they are recognised by.
@Suite struct DerivedKeyTests {
    private let api = ScriptedAPI()

    private func toml(_ key: String, _ more: String = "") -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("lines", of: "Line", "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }\n\(more)"),
            entities: """
                [entity.Line]
                key = "\(key)"
                [entity.Line.attributes]
                day = { type = "string" }
                clicks = { type = "int32" }
                """)
    }

    private func keys(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.values("cisternKey", of: "Line", where: "cisternDeletedAt == nil")
    }

    // MARK: Content

    @Test(arguments: [true, false]) func aRowIsWhatItsRecordSays(isPacked: Bool) async throws {
        // The long way is taken where a value is not what the attribute takes as it is.
        let two = isPacked ? "2" : "\"2\""
        api.set("/lines", #"[{"day": "mo", "clicks": 1}, {"day": "tu", "clicks": \#(two)}, {"clicks": 1, "day": "mo"}]"#)
        let fixture = try await api.fixture(toml("content"))
        let first = try await fixture.sync("api/lines")
        #expect(first.isComplete && first.counts.inserted == 2, "\(first)")
        let before = try await keys(fixture)
        #expect(Set(before).count == 2 && before.allSatisfy { $0.count == 32 })
        // Members in another order are the same record; one that says something else is another, and the one before is gone.
        api.set("/lines", #"[{"clicks":1,"day":"mo"},{"day": "tu", "clicks": 3}]"#)
        let second = try await fixture.sync("api/lines")
        #expect(second.counts.inserted == 1 && second.counts.deleted == 1, "\(second)")
        #expect(try await fixture.values("clicks", of: "Line", where: "cisternDeletedAt == nil") == ["1", "3"])
        #expect(Set(try await keys(fixture)).intersection(before).count == 1)
        try await fixture.end()
    }

    // What the attributes leave out counts, too.
    @Test func whatIsNotKeptTellsRecordsApart() async throws {
        api.set("/lines", #"[{"day": "mo", "clicks": 1, "page": "a"}, {"day": "mo", "clicks": 1, "page": "b"}]"#)
        let fixture = try await api.fixture(toml("content"))
        #expect(try await fixture.sync("api/lines").counts.inserted == 2)
        try await fixture.end()
    }

    @Test func theSameLineOfTwoPartsIsTwoRows() async throws {
        for part in ["a", "b"] { api.set("/lines?part=\(part)", #"[{"day": "mo", "clicks": 1}]"#) }
        let fixture = try await api.fixture(
            toml("content", "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }"))
        #expect(try await fixture.sync("api/lines").counts.inserted == 2)
        try await fixture.end()
    }

    // MARK: Single

    @Test func aListingOfOneRecordIsOneRow() async throws {
        api.set("/lines", #"{"day": "mo", "clicks": 1}"#)
        let fixture = try await api.fixture(toml("single", "records = \"$\""))
        #expect(try await fixture.sync("api/lines").counts.inserted == 1)
        api.set("/lines", #"{"day": "tu", "clicks": 2}"#)
        #expect(try await fixture.sync("api/lines").counts.updated == 1)
        #expect(try await fixture.values("day", of: "Line") == ["tu"])
        #expect(try await keys(fixture) == ["api/lines"])
        try await fixture.end()
    }

    @Test func eachPartHasOneRecord() async throws {
        for part in ["a", "b"] { api.set("/lines?part=\(part)", #"[{"day": "\#(part)", "clicks": 1}]"#) }
        let fixture = try await api.fixture(
            toml("single", "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }"))
        #expect(try await fixture.sync("api/lines").counts.inserted == 2)
        #expect(try await keys(fixture) == ["api/lines[a]", "api/lines[b]"])
        try await fixture.end()
    }

    // Nobody could say which of them is meant.
    @Test func severalRecordsAreNotOne() async throws {
        api.set("/lines", #"[{"day": "mo"}, {"day": "tu"}]"#)
        let fixture = try await api.fixture(toml("single"))
        let report = try await fixture.sync("api/lines")
        #expect(report.outcome == .failed && report.error?.contains("the answer has 2 records, but Line has key = \"single\"") == true, "\(report)")
        #expect(try await keys(fixture).isEmpty)
        try await fixture.end()
    }
}
