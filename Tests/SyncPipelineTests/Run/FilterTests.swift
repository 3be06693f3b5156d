import Foundation
import NIOHTTP1
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Whole runs of which only some records are wanted.
@Suite struct FilterTests {
    private let api = ScriptedAPI()

    private static let users = "filter = [{ path = \"$.kind\", equals = \"user\" }]"

    private func list(_ records: String...) -> String { "[\(records.joined(separator: ", "))]" }
    private func user(_ id: Int, _ name: String = "x") -> String { #"{"id": \#(id), "kind": "user", "name": "\#(name)"}"# }
    private func bot(_ id: Int, _ name: String = "x") -> String { #"{"id": \#(id), "kind": "bot", "name": "\#(name)"}"# }

    // What is looked at need not be an attribute.
    @Test func onlyRecordsThatFitBecomeRows() async throws {
        api.set("/people", list(user(1), bot(2), #"{"id": 3}"#, #"{"id": 4, "kind": null}"#, user(5)))
        let fixture = try await api.fixture(ScriptedAPI.people(Self.users))
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.counts.inserted == 2 && report.counts.quarantined == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "5"])
        try await fixture.end()
    }

    @Test func anyTableOfTheListSuffices() async throws {
        api.set("/people", list(user(1), bot(2, "kept"), bot(3), #"{"id": 4, "name": "kept"}"#))
        let filter = "filter = [{ path = \"$.kind\", equals = \"user\" }, { path = \"$.name\", in = [\"kept\"] }]"
        let fixture = try await api.fixture(ScriptedAPI.people(filter))
        try await fixture.sync()
        #expect(try await fixture.live() == ["1", "2", "4"])
        try await fixture.end()
    }

    // A row whose record no longer fits is one that is no longer listed; and what no longer fits is read again when it does.
    @Test(arguments: [false, true]) func aRecordThatNoLongerFitsIsNoLongerListed(isTagged: Bool) async throws {
        var version = 0
        func set(_ records: String...) {
            version += 1
            api.set("/people", "[\(records.joined(separator: ", "))]", etag: isTagged ? "\"\(version)\"" : nil)
        }
        set(user(1), user(2), bot(3))
        let fixture = try await api.fixture(ScriptedAPI.people(Self.users))
        try await fixture.sync()
        set(user(1), bot(2), bot(3))
        var report = try #require(try await fixture.sync().first)
        #expect(report.counts.deleted == 1 && report.counts.unchanged == 1, "\(report)")
        #expect(try await fixture.live() == ["1"])
        set(user(1), user(2), user(3))
        report = try #require(try await fixture.sync().first)
        #expect(report.counts.inserted + report.counts.updated == 2 && report.counts.unchanged == 1, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        // One that is not wanted may change as it likes.
        set(user(1), user(2), user(3), bot(4))
        _ = try await fixture.sync()
        set(user(1), user(2), user(3), bot(4, "other"))
        report = try #require(try await fixture.sync().first)
        #expect(report.counts.unchanged == 3 && report.counts.records == 3 && report.counts.deleted == 0, "\(report)")
        try await fixture.end()
    }

    // Nor is a page that has not changed one of more rows than it has.
    @Test func anUnchangedPageKeepsWhatFits() async throws {
        api.set("/people", list(user(1), bot(2), bot(3)), etag: "\"1\"")
        let fixture = try await api.fixture(ScriptedAPI.people(Self.users))
        try await fixture.sync()
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.notModifiedPages == 1 && report.counts.unchanged == 1 && report.isComplete, "\(report)")
        }
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func aFilterThatChangesMakesPagesBeReadAnew() async throws {
        api.set("/people", list(user(1), bot(2)), etag: "\"1\"")
        let fixture = try await api.fixture(ScriptedAPI.people(Self.users))
        try await fixture.sync()
        for (filter, live) in [("", ["1", "2"]), ("filter = [{ path = \"$.kind\", equals = \"bot\" }]", ["2"]), (Self.users, ["1"])] {
            try await fixture.pipeline.reload(try PipelineFixture.configuration(ScriptedAPI.people(filter)))
            #expect(try await fixture.sync().first?.isComplete == true)
            #expect(try await fixture.live() == live, "\(filter)")
        }
        #expect(fixture.transport.requests.allSatisfy { $0.headers["If-None-Match"] == [] })
        try await fixture.end()
    }

    // An empty page is no end where records were left out, an offset is that of all records, and a total counts all of them.
    @Test func pagesAreCountedWithAllTheirRecords() async throws {
        api.set("/people?offset=0&limit=2", #"{"total": 5, "items": [\#(bot(1)), \#(bot(2))]}"#)
        api.set("/people?offset=2&limit=2", #"{"total": 5, "items": [\#(user(3)), \#(bot(4))]}"#)
        api.set("/people?offset=4&limit=2", #"{"total": 5, "items": [\#(user(5))]}"#)
        let pages = "pages = { kind = \"offset\", limit = 2, stop = { short_page = true, total = \"$.total\" } }"
        let fixture = try await api.fixture(ScriptedAPI.people("records = \"$.items\"\n\(pages)\n\(Self.users)"))
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 3, "\(report)")
        #expect(try await fixture.live() == ["3", "5"])
        try await fixture.end()
    }

    @Test func aPageBeginsAfterTheLastRecordWantedOrNot() async throws {
        api.set("/people", list(user(1), bot(2)))
        api.set("/people?after=2", list(user(3)))
        api.set("/people?after=3", "[]")
        let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"keyset\", from = \"$.id\" }\n\(Self.users)"))
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    @Test func anIncrementGoesByTheTimesOfAllRecords() async throws {
        let lines = "incremental = { field = \"$.at\", since = \"since\" }\n\(Self.users)"
        let fixture = try await PipelineFixture(ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", lines))) { _, _ in
            let body = #"[{"id": 1, "kind": "user", "at": "2024-11-01T00:00:00Z"}, {"id": 2, "kind": "bot", "at": "2024-12-01T00:00:00Z"}]"#
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        try await fixture.sync()
        try await fixture.sync()
        let asked = fixture.transport.requests.last?.address.url.query?.removingPercentEncoding ?? ""
        #expect(asked.contains("since=2024-12-01T00:00:00Z"), "\(asked)")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    // A filter that fits nothing is like an empty listing, and that is not believed.
    @Test func aListingThatIsLeftOutAsAWholeRemovesNothing() async throws {
        api.set("/people", list(user(1), user(2)))
        let fixture = try await api.fixture(ScriptedAPI.people(Self.users))
        try await fixture.sync()
        api.set("/people", list(bot(1), bot(2)))
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.counts.deleted == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // What is left out was read as it should be: one bad record among many others is one, however few of them are wanted.
    @Test func whatIsNotWantedIsNotBad() async throws {
        api.set("/people", list(user(1), #"{"id": "bad", "kind": "bot"}"#))
        let fixture = try await api.fixture(ScriptedAPI.people(Self.users))
        #expect(try await fixture.sync().first?.counts.quarantined == 0)
        api.set("/people", list(#"{"id": "bad", "kind": "user"}"#, bot(2), bot(3), bot(4)))
        var report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.isComplete && report.counts.quarantined == 1 && report.counts.deleted == 0, "\(report)")
        api.set("/people", list(#"{"id": "bad", "kind": "user"}"#, #"{"id": "worse", "kind": "user"}"#, bot(4)))
        report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.counts.quarantined == 2, "\(report)")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func aBadRecordAmongOthersThatAreNotWantedHoldsNoCursor() async throws {
        let lines = "pages = { kind = \"page\", size_param = \"\" }\nincremental = { field = \"$.at\", since = \"since\" }\n\(Self.users)"
        let fixture = try await PipelineFixture(ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", lines))) { request, _ in
            let query = request.address.url.query ?? "", time = "\"at\": \"2024-12-01T00:00:00Z\""
            let body =
                query.contains("page=1")
                ? "[{\"id\": 1, \"kind\": \"user\", \(time)}]"
                : query.contains("page=2") ? "[{\"kind\": \"user\", \(time)}, {\"id\": 2, \"kind\": \"bot\", \(time)}]" : "[]"
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.isComplete && report.counts.quarantined == 1, "\(report)")
        try await fixture.sync()
        #expect(fixture.transport.requests.last?.address.url.query?.contains("since=2024-12-01") == true)
        try await fixture.end()
    }

    // MARK: What records do not say

    // All that a service may send of what is gone is its key; what says that it is something else is none that is wanted.
    @Test(arguments: ["field", "snapshot"]) func aDeletionThatSaysNothingElseCounts(detect: String) async throws {
        let lines = """
            incremental = { field = "$.at", since = "since" }
            deletion = { detect = "\(detect)", path = "$.removed" }
            filter = [{ path = "$.kind", equals = "user" }, { path = "$.team", equals = "x" }]
            """
        let time = "\"at\": \"2024-12-01T00:00:00Z\""
        let changes = """
            [{"id": 1, "removed": {"reason": "deleted"}}, {"id": 2, "removed": true, "kind": "bot"}, {"id": 3, "removed": true, "kind": null},
             {"id": 4, "removed": true, "kind": "user"}, {"id": 9, "removed": true}]
            """
        let fixture = try await PipelineFixture(ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", lines))) { _, number in
            let all = (1...6).map { "{\"id\": \($0), \"kind\": \"user\", \(time)}" }.joined(separator: ", ")
            let body = number == 0 ? "[\(all)]" : changes
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        #expect(try await fixture.sync().first?.counts.inserted == 6)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.counts.deleted == 3 && report.counts.quarantined == 0, "\(report)")
        #expect(try await fixture.live() == ["2", "5", "6"])
        try await fixture.end()
    }

    // A list of what is gone is about what the filter lets through.
    @Test func ofAListOfWhatIsGoneOnlyWhatFitsIsGone() async throws {
        api.set("/people", list(user(1), user(2)))
        api.set("/gone", list(#"{"id": 1}"#, user(2)))
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person"),
                ScriptedAPI.resource("gone", of: "Person", "deletion = { detect = \"records\" }\n\(Self.users)")))
        try await fixture.sync("api/people")
        #expect(try await fixture.sync("api/gone").counts.deleted == 1)
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func whatIsNotWantedNeedNotSayHowNewItIs() async throws {
        let lines = "incremental = { field = \"$.at\", since = \"since\", on_missing = \"fail\" }\n\(Self.users)"
        let fixture = try await PipelineFixture(ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", lines))) { _, number in
            let time = "\"at\": \"2024-12-01T00:00:00Z\"", body: String
            switch number {
            case 0: body = "[{\"id\": 1, \"kind\": \"bot\"}, {\"id\": 2, \"kind\": \"user\", \(time)}]"
            case 1: body = "[{\"id\": 1, \"kind\": \"bot\"}]"
            default: body = "[{\"id\": 3, \"kind\": \"user\"}]"
            }
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        for outcome in [RunOutcome.succeeded, .succeeded, .failed] { #expect(try await fixture.sync().first?.outcome == outcome) }
        #expect(!fixture.events.contains { if case .cursorMissing = $0 { true } else { false } })
        try await fixture.end()
    }

    @Test func anEntityWithOneRecordHasTheOneThatFits() async throws {
        api.set("/people", list(bot(1), user(2), bot(3)))
        let entities = "[entity.Person]\nkey = \"single\"\nattributes = { name = { type = \"string\" } }"
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", Self.users), entities: entities))
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.end()
    }

    // MARK: Times

    private func at(_ id: Int, _ time: String) -> String { #"{"id": \#(id), "at": \#(time)}"# }

    // The clock of a fixture starts on 2025-01-01.
    @Test func aRecordIsWantedForSoLong() async throws {
        api.set("/people", list(at(1, #""2024-12-31T12:00:00Z""#), at(2, #""2024-12-01T00:00:00Z""#), at(3, "null"), #"{"id": 4}"#), etag: "\"1\"")
        let fixture = try await api.fixture(ScriptedAPI.people("filter = [{ path = \"$.at\", after = \"-2d\" }]"))
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(try await fixture.live() == ["1"])
        // The same page says otherwise two days later: it is not enough that it is the same.
        api.set("/people", list(at(1, #""2024-12-31T12:00:00Z""#), at(5, #""2025-01-03T00:00:00Z""#)), etag: "\"2\"")
        fixture.clock.advance(by: .seconds(86_400))
        #expect(try await fixture.sync().first?.counts.inserted == 1)
        #expect(try await fixture.live() == ["1", "5"])
        fixture.clock.advance(by: .seconds(86_400))
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["5"])
        #expect(fixture.transport.requests.allSatisfy { $0.headers["If-None-Match"] == [] })
        try await fixture.end()
    }

    @Test func aRangeOfTimesDependsOnNoClock() async throws {
        api.set("/people", list(at(1, "1704067199"), at(2, "1704067200"), at(3, "\"1735689599.5\""), at(4, "1735689600")), etag: "\"1\"")
        let fixture = try await api.fixture(
            ScriptedAPI.people("filter = [{ path = \"$.at\", after = \"2024-01-01\", before = \"2025-01-01T00:00:00Z\", format = \"unix\" }]"))
        try await fixture.sync()
        #expect(try await fixture.live() == ["2", "3"])
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        try await fixture.end()
    }

    // A format that is wrong must not look like records that nobody wants.
    @Test func aTimeThatCannotBeReadIsSetAside() async throws {
        api.set("/people", list(at(1, #""2024-12-31T12:00:00Z""#), at(2, #""2024-12-30T12:00:00Z""#)))
        let fixture = try await api.fixture(ScriptedAPI.people("filter = [{ path = \"$.at\", after = \"2024-01-01\" }]"))
        try await fixture.sync()
        api.set("/people", list(at(1, #""2024-12-31T12:00:00Z""#), at(2, #""yesterday""#)))
        let report = try #require(try await fixture.sync().first)
        #expect(report.counts.quarantined == 1 && report.counts.deleted == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }
}
