import NIOHTTP1
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What a listing proves about rows that it does not name (R5, R6), and what counts as a success.
@Suite struct ListingEvidenceTests {
    private let api = ScriptedAPI()

    private func people(_ body: String, etag: String? = nil, status: Int = 200) {
        api.set("/people", body, etag: etag, status: status)
    }

    // MARK: Listed, but not to be mapped

    @Test func aListedRecordThatBecomesUnmappableKeepsItsRow() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        people(#"[{"id": 1, "age": 1}, {"id": 2, "age": 2}, {"id": 3, "age": 3}]"#)
        try await fixture.sync()
        people(#"[{"id": 1, "age": 1}, {"id": 2, "age": "old"}]"#, etag: "\"2\"")
        let report = try #require(try await fixture.sync().first)
        #expect(report.counts.quarantined == 1 && report.counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2"])
        // Neither does the page, answered 304, forget it.
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // A server may answer an error with the validators of the page in whose place it stands.
    @Test(arguments: [#"{"error": "later"}"#, #"[{"id": "one"}]"#]) func whatIsNoListingIsNotRememberedAsOne(_ body: String) async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        people(body, etag: "\"1\"")
        #expect(try await fixture.sync().first?.isComplete == false)
        people(#"[{"id": 1}]"#, etag: "\"1\"")
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.notModifiedPages == 0)
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func whatCannotBeToldByItsKeyIsNoProofOfAnyAbsence() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        people(#"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        try await fixture.sync()
        people(#"[{"id": 1}, {"id": "two"}]"#, etag: "\"2\"")
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.counts.deleted == 0)
        let status = try #require(await fixture.pipeline.status().resources.first)
        #expect(status.heldDeletes == 2 && status.guardName?.contains("key") == true)
        try await fixture.sync()
        #expect(try await fixture.live() == ["1", "2", "3"])
        // When every record can be told again, the listing is judged.
        people(#"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func aRecordThatIsNoGoodJSONIsNoProofOfAnyAbsence() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        people(#"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        people(#"[{"id": 1}, {"id": 2, "age": 1, "age": 2}]"#)
        #expect(try await fixture.sync().first?.counts.deleted == 0)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // MARK: Parts

    @Test func aPartLeavesNoValidatorsBehind() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("success = [200, 206]"))
        people(#"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        people(#"[{"id": 1}]"#, etag: "\"whole\"", status: 206)
        #expect(try await fixture.sync().first?.outcome == .incomplete)
        // The validator of a 206 is the whole's: a 304 would say that the whole is what was read of it.
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .incomplete && report.notModifiedPages == 0)
        #expect(fixture.transport.requests.last?.headers.first(name: "If-None-Match") == nil)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // MARK: Success

    @Test func anErrorObjectWithStatus200IsNoSuccess() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        people(#"{"error": "try later"}"#, etag: "\"e\"")
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .failed && !report.isComplete)
            #expect(report.error?.contains("set aside") == true, "\(report.error ?? "")")
        }
        #expect(await fixture.pipeline.status().resources.first?.lastSuccess == nil)
        try await fixture.end()
    }

    @Test func anObjectWhereNoListWasDeclaredIsNotAListing() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        people(#"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        people(#"{"id": 7, "error": "try later"}"#, etag: "\"e\"")
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .incomplete && report.error?.contains("object") == true, "\(report.error ?? "")")
        }
        #expect(try await fixture.live().contains("2"))
        try await fixture.end()
    }

    @Test func anObjectIsTheOnlyRecordWhereItsPathIsDeclared() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("records = \"$\""))
        people(#"{"id": 7}"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.isComplete)
        try await fixture.end()
    }

    @Test func aPageOfWhichNothingCouldBeMappedLeavesTheListingIncomplete() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"link-header\" }"))
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#, headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", #"[{"id": 3}]"#)
        try await fixture.sync()
        api.set("/people?page=2", #"[{"error": "try later"}]"#)
        #expect(try await fixture.sync().first?.outcome == .incomplete)
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    @Test func successIsJudgedByTheShareOfBadRecords() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        func list(bad: Int, of count: Int) -> String {
            "[" + (1...count).map { $0 <= bad ? "{\"id\": \($0), \"age\": \"x\"}" : "{\"id\": \($0)}" }.joined(separator: ", ") + "]"
        }
        people(list(bad: 150, of: 10_000))
        let few = try #require(try await fixture.sync().first)
        #expect(few.outcome == .succeeded && few.counts.quarantined == 150, "\(few.error ?? "")")
        people(list(bad: 60, of: 100), etag: "\"60\"")
        // What was good is stored all the same (40 of those that were bad before are good now), and a 304 is no success where its page was none.
        for _ in 1...2 { #expect(try await fixture.sync().first?.outcome == .failed) }
        #expect(try await fixture.live().count == 10_000 - 150 + 40)
        try await fixture.end()
    }

    // MARK: Repeated evidence

    @Test func theSameBytesAgainAreNoSecondListing() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(deletion: "confirm_runs = 2, max_fraction = 1.0"))
        people(#"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        people(#"[{"id": 1}]"#)
        for _ in 1...3 { try await fixture.sync() }
        #expect(try await fixture.live() == ["1", "2"])
        people(#"[{"id": 1, "name": "Ada"}]"#)
        try await fixture.sync()
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func aPageOutOfManyThatIsAsItWasConfirmsNothing() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people("pages = { kind = \"link-header\" }", deletion: "confirm_runs = 2, max_fraction = 1.0"))
        let link = "</people?page=2>; rel=next"
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#, headers: ["Link": link])
        api.set("/people?page=2", #"[{"id": 3}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"", headers: ["Link": link])
        for name in ["Ada", "Bo", "Di"] {
            api.set("/people?page=2", #"[{"id": 3, "name": "\#(name)"}]"#)
            try await fixture.sync()
        }
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    @Test func aListingThatStaysAsItIsIsReadAnewAfterADayAndBelievedThen() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(deletion: "confirm_runs = 2, max_fraction = 1.0"))
        people(#"[{"id": 1}, {"id": 2}]"#, etag: "\"1\"")
        try await fixture.sync()
        people(#"[{"id": 1}]"#, etag: "\"2\"")
        try await fixture.sync()
        for _ in 1...20 { try await fixture.sync() }
        #expect(try await fixture.live() == ["1", "2"])
        #expect(fixture.transport.requests.dropFirst().allSatisfy { $0.headers.contains(name: "If-None-Match") })
        for _ in 1...5 { try await fixture.sync() }
        #expect(try await fixture.live() == ["1"])
        // Once, and not from then on.
        #expect(fixture.transport.requests.dropFirst().count { !$0.headers.contains(name: "If-None-Match") } == 1)
        try await fixture.end()
    }

    // MARK: Ends that cannot be read

    @Test func aMalformedLinkIsNoEnd() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"link-header\" }"))
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"", headers: ["Link": "<https://api.example/people?page=2; rel=\"next\""])
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .incomplete && report.error?.contains("Link") == true, "\(report.error ?? "")")
        }
        try await fixture.end()
    }

    @Test(arguments: [#"{"after": "x"}"#, #"["x"]"#, "true"])
    func aCursorThatIsNoTextIsNoEnd(cursor: String) async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people("records = \"$.items\"\npages = { kind = \"cursor\", path = \"$.next\" }"))
        people(#"{"items": [{"id": 1}], "next": \#(cursor)}"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .incomplete && report.error?.contains("$.next") == true, "\(report.error ?? "")")
        try await fixture.end()
    }

    // Where a page says that it is the last, a token that is always there leads nowhere.
    @Test(arguments: ["cursor", "body-link"]) func theLastPageIsTheOneThatSaysSo(kind: String) async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people("records = \"$.items\"\npages = { kind = \"\(kind)\", path = \"$.next\", stop = { last = \"$.done\" } }"))
        let second = kind == "cursor" ? "/people?cursor=x" : "/x"
        people(#"{"items": [{"id": 1}, {"id": 3}], "next": "x", "done": false}"#)
        api.set(second, #"{"items": [{"id": 2}], "next": "y", "done": true}"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 2 && report.counts.inserted == 3, "\(report)")
        // A page that is not the last, and leads nowhere, is no end.
        people(#"{"items": [{"id": 1}], "next": null, "done": false}"#)
        let broken = try #require(try await fixture.sync().first)
        #expect(broken.outcome == .incomplete && broken.counts.deleted == 0, "\(broken)")
        // It is believed on its own: an empty page that is the last is one, too.
        people(#"{"items": [], "next": "z", "done": true}"#)
        #expect(try await fixture.sync().first?.pages == 1)
        try await fixture.end()
    }

    @Test(arguments: [("has_more", #""maybe""#), ("last", #""maybe""#), ("total", #""many""#), ("total_pages", "{}")])
    func aStopValueThatCannotBeReadIsADoubt(rule: String, value: String) async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people(
                "records = \"$.items\"\npages = { kind = \"cursor\", path = \"$.next\", stop = { \(rule) = \"$.stop\" } }"))
        people(#"{"items": [{"id": 1}], "stop": \#(value)}"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .incomplete && report.error?.contains(rule) == true, "\(report.error ?? "")")
        try await fixture.end()
    }

    // Some services say null for a list of none.
    @Test(arguments: ["null", "{\"items\": null}"]) func nullProvesNothingOfRowsThatWereListed(_ body: String) async throws {
        let api = ScriptedAPI(), isWrapped = body != "null"
        api.set("/people", isWrapped ? "{\"items\": [{\"id\": 1}]}" : "[{\"id\": 1}]")
        let fixture = try await api.fixture(ScriptedAPI.people(isWrapped ? "records = \"$.items\"" : ""))
        try await fixture.sync()
        for _ in 0..<2 {
            api.set("/people", body, etag: "\"null\"")
            let report = try #require(try await fixture.sync().first)
            #expect(!report.isComplete && report.notModifiedPages == 0)
            #expect(report.error?.contains("null where a list was expected") == true, "\(report.error ?? "")")
            #expect(try await fixture.live() == ["1"])
        }
        try await fixture.end()
    }

    @Test func nullIsAnEmptyListWhereNothingWasEverListed() async throws {
        let api = ScriptedAPI()
        api.set("/people", "null")
        let fixture = try await api.fixture(ScriptedAPI.people())
        for _ in 0..<2 { #expect(try await fixture.sync().first?.isComplete == true) }
        try await fixture.end()
    }
}
