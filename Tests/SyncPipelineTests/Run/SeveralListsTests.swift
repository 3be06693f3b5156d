import Foundation
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Pages whose records are in several lists.
@Suite struct SeveralListsTests {
    private let api = ScriptedAPI()

    private static func groups(_ more: String = "", defaults: String = "") -> String {
        ScriptedAPI.people("records = \"$.groups[*].people\"\n\(more)", defaults: defaults)
    }

    @Test func theRecordsOfAllListsAreOneListing() async throws {
        api.set("/people", #"{"groups": [{"people": [{"id": 1}, {"id": 2}]}, {"people": []}, {"n": 7, "people": {"id": 3}}], "at": 1}"#)
        let fixture = try await api.fixture(Self.groups())
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.counts.inserted == 3, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        // As bytes it is another page, of which one record changed and two stay; what moves to another group is there.
        api.set("/people", #"{"groups": [{"people": [{"id": 2, "name": "Bo"}]}, {"people": [{"id": 3}, {"id": 1}]}], "at": 2}"#)
        let moved = try await fixture.sync("api/people")
        #expect(moved.counts.updated == 1 && moved.counts.unchanged == 2 && moved.counts.deleted == 0, "\(moved)")
        // What no list has any more is gone.
        api.set("/people", #"{"groups": [{"people": [{"id": 2, "name": "Bo"}]}, {"people": []}], "at": 3}"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 2)
        #expect(try await fixture.live() == ["2"])
        try await fixture.end()
    }

    @Test(arguments: [true, false]) func aPageThatIsAsItWasIsNotRead(hasTag: Bool) async throws {
        api.set("/people", #"{"groups": [{"people": [{"id": 1}]}, {"people": [{"id": 2}]}]}"#, etag: hasTag ? "\"1\"" : nil)
        let fixture = try await api.fixture(Self.groups())
        try await fixture.sync("api/people")
        let again = try await fixture.sync("api/people")
        #expect(again.isComplete && again.notModifiedPages == 1 && again.counts.unchanged == 2, "\(again)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // What says where the listing goes on stands in front of the lists, between them, or behind.
    @Test(arguments: [0, 1, 2]) func aListingGoesOnWhereverThatStands(place: Int) async throws {
        func page(_ lists: [String], next: String) -> String {
            var members = lists.enumerated().map { #""list\#($0)": {"rows": \#($1)}"# }
            members.insert(#""next": \#(next)"#, at: place)
            return #"{"data": {\#(members.joined(separator: ", "))}}"#
        }
        let toml = ScriptedAPI.people(
            "records = \"$.data.*.rows\"\npages = { kind = \"cursor\", path = \"$.data.next\" }\nparse.records_absent = \"no-records\"")
        api.set("/people", page(["[{\"id\": 1}]", "[{\"id\": 2}, {\"id\": 3}]"], next: "\"abc\""), etag: "\"1\"")
        api.set("/people?cursor=abc", page(["[{\"id\": 4}]", "[]"], next: "\"\""), etag: "\"2\"")
        let fixture = try await api.fixture(toml)
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.pages == 2 && report.counts.inserted == 4, "\(report)")
        let again = try await fixture.sync("api/people")
        #expect(again.isComplete && again.notModifiedPages == 2, "\(again)")
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        try await fixture.end()
    }

    // MARK: What is not there

    // One list that is null, or is not there, proves of no row that it is gone.
    @Test(arguments: [
        (#"{"people": null}"#, RunOutcome.incomplete), (#"{"name": "b"}"#, .failed), (#"{"people": 7}"#, .failed), ("null", .failed), ("5", .failed),
        ("[]", .failed),
    ])
    func aListThatIsNotThereProvesNothing(group: String, outcome: RunOutcome) async throws {
        api.set("/people", #"{"groups": [{"people": [{"id": 1}]}, {"people": [{"id": 2}]}]}"#)
        let fixture = try await api.fixture(Self.groups())
        try await fixture.sync("api/people")
        api.set("/people", #"{"groups": [{"people": [{"id": 1}]}, \#(group)]}"#, etag: "\"1\"")
        for _ in 1...2 {
            let report = try await fixture.sync("api/people")
            #expect(report.outcome == outcome && report.notModifiedPages == 0 && report.counts.deleted == 0, "\(report)")
        }
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func groupsWithoutAListAreEmptyWhereThatIsSaid() async throws {
        let fixture = try await api.fixture(Self.groups("parse.records_absent = \"no-records\""))
        api.set("/people", #"{"groups": [{"people": [{"id": 1}]}, {"people": [{"id": 2}]}]}"#)
        try await fixture.sync("api/people")
        api.set("/people", #"{"groups": [{"people": [{"id": 1}]}, {"name": "b"}]}"#)
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    // A page without groups is the last; one whose groups are empty by chance is none.
    @Test func emptyGroupsAreNoEnd() async throws {
        func set(_ page: Int, _ groups: String) { api.set("/people?page=\(page)", #"{"groups": [\#(groups)]}"#, etag: "\"\(page)\"") }
        set(1, #"{"people": [{"id": 1}]}"#)
        set(2, #"{"people": []}, {"people": []}"#)
        set(3, #"{"people": [{"id": 3}]}"#)
        set(4, "")
        let fixture = try await api.fixture(Self.groups("pages = { kind = \"page\", size_param = \"\" }"))
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.pages == 4 && report.counts.inserted == 2, "\(report)")
        // Nor when it comes again as it was.
        let again = try await fixture.sync("api/people")
        #expect(again.isComplete && again.pages == 4 && again.notModifiedPages == 3, "\(again)")
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    // MARK: Bad records

    @Test func aRecordStandsWhereItDoesOverAllLists() async throws {
        api.set("/people", #"{"groups": [{"people": [{"id": 1}, {"id": 2}]}, {"people": [{"id": 3}, {"id": "x"}, {"id": 5}]}]}"#)
        let fixture = try await api.fixture(Self.groups())
        let report = try await fixture.sync("api/people")
        #expect(report.counts.quarantined == 1 && report.counts.inserted == 4, "\(report)")
        #expect(try await fixture.values("record", of: "CisternQuarantine") == ["3"])
        try await fixture.end()
    }

    @Test func limitsCountTheRecordsOfAllLists() async throws {
        api.set("/people", #"{"groups": [{"people": [{"id": 1}, {"id": 2}]}, {"people": [{"id": 3}]}]}"#)
        let fixture = try await api.fixture(Self.groups("limits = { max_records_per_page = 2 }"))
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.contains("max_records_per_page = 2") == true, "\(report)")
        #expect(try await fixture.live().isEmpty)
        try await fixture.end()
    }

    // MARK: Parts

    @Test func eachPartHasItsLists() async throws {
        let toml = ScriptedAPI.people(
            "records = \"$.groups[*].people\"\nfor_each = { values = [\"eu\", \"us\"], as = \"region\" }\nparams = { region = \"{region}\" }\n"
                + "set = { region = \"{region}\" }", attributes: "region = { type = \"string\" }")
        api.set("/people?region=eu", #"{"groups": [{"people": [{"id": 1}]}, {"people": [{"id": 2}]}]}"#)
        api.set("/people?region=us", #"{"groups": [{"people": [{"id": 3}]}]}"#)
        let fixture = try await api.fixture(toml)
        #expect(try await fixture.sync("api/people").counts.inserted == 3)
        #expect(try await fixture.values("region", of: "Person") == ["eu", "eu", "us"])
        api.set("/people?region=eu", #"{"groups": [{"people": []}, {"people": [{"id": 2}]}]}"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        #expect(try await fixture.live() == ["2", "3"])
        try await fixture.end()
    }

    // MARK: Other paths

    // What was found at one path is not there under another, whatever the server says of its page.
    @Test func anotherPathReadsThePageAgain() async throws {
        api.set("/people", #"{"groups": [{"people": [{"id": 1}], "staff": [{"id": 2}]}]}"#, etag: "\"1\"")
        let fixture = try await api.fixture(Self.groups())
        try await fixture.sync("api/people")
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        let staff = Self.groups().replacing("$.groups[*].people", with: "$.groups[*].staff")
        try await fixture.pipeline.reload(try PipelineFixture.configuration(staff))
        let report = try await fixture.sync("api/people")
        #expect(report.notModifiedPages == 0 && report.counts.inserted == 1 && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live() == ["2"])
        try await fixture.end()
    }
}
