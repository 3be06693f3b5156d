import Foundation
import NIOHTTP1
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Whole runs with answers that mean something else than their statuses say.
@Suite struct ConditionTests {
    private let api = ScriptedAPI()

    private static let failing = "fail_if = [{ path = \"$.ok\", equals = false, message = \"$.error\" }]"
    private static let once = "[defaults.retry]\nattempts = 1"
    private static let paged = "pages = { kind = \"cursor\", path = \"$.next\" }"

    private static func people(_ more: String) -> String { ScriptedAPI.people("records = \"$.items\"\n\(more)", defaults: once) }

    private func page(_ ids: Int..., next: String? = nil) -> String {
        #"{"ok": true, "items": [\#(ids.map { #"{"id": \#($0)}"# }.joined(separator: ", "))]\#(next.map { #", "next": "\#($0)""# } ?? "")}"#
    }

    private func asked(_ fixture: PipelineFixture) -> [String?] {
        fixture.transport.requests.map { $0.headers.first(name: "If-None-Match") }
    }

    // MARK: Errors

    @Test func aSuccessThatIsAnErrorChangesNothing() async throws {
        api.set("/people", page(1, 2), etag: "\"good\"")
        let fixture = try await api.fixture(Self.people(Self.failing))
        #expect(try await fixture.sync().first?.isComplete == true)
        // Also one that brings records.
        for body in [#"{"ok": false, "error": "invalid_auth"}"#, #"{"items": [{"id": 3}], "ok": false, "error": "invalid_auth"}"#] {
            api.set("/people", body, etag: "\"bad\"")
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .failed && report.failure == .page && report.httpStatus == 200 && report.counts.deleted == 0, "\(report)")
            #expect(report.error?.contains("the answer is an error (fail_if): invalid_auth") == true, "\(report)")
            #expect(try await fixture.live() == ["1", "2"])
        }
        // Its tag is not kept, nor is what was known before forgotten.
        api.set("/people", page(1, 2), etag: "\"good\"")
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        #expect(asked(fixture) == [nil, "\"good\"", "\"good\"", "\"good\""])
        try await fixture.end()
    }

    // What was kept of a page while nobody asked for that is not believed, and a 304 hides no change of what is asked.
    @Test func aConditionThatIsNewIsAskedOfAllPages() async throws {
        api.set("/people", #"{"ok": false, "error": "x", "items": [{"id": 1}]}"#, etag: "\"1\"")
        let fixture = try await api.fixture(Self.people(""))
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.pipeline.reload(try PipelineFixture.configuration(Self.people(Self.failing)))
        #expect(try await fixture.sync().first?.outcome == .failed)
        try await fixture.pipeline.reload(try PipelineFixture.configuration(Self.people("")))
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(asked(fixture)[1] == nil)
        try await fixture.end()
    }

    @Test func anErrorBehindTheFirstPageRemovesNothing() async throws {
        api.set("/people", page(1, next: "b"))
        api.set("/people?cursor=b", page(2, next: "c"))
        api.set("/people?cursor=c", page(3))
        let fixture = try await api.fixture(Self.people("\(Self.paged)\n\(Self.failing)"))
        try await fixture.sync()
        api.set("/people", page(4, next: "b"))
        api.set("/people?cursor=b", #"{"ok": false, "error": "internal", "items": [{"id": 5}], "next": "c"}"#)
        let before = fixture.transport.requests.count
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && !report.isComplete && report.counts.inserted == 1 && report.counts.deleted == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        #expect(fixture.transport.requests.count == before + 2)
        try await fixture.end()
    }

    @Test func anErrorLeavesTheCursorWhereItWas() async throws {
        let lines = "incremental = { field = \"$.at\", since = \"since\" }\n\(Self.failing)"
        let toml = ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", "records = \"$.items\"\n\(lines)"))
        let fixture = try await PipelineFixture(toml) { _, number in
            let body =
                number == 1
                ? #"{"ok": false, "error": "x", "items": [{"id": 2, "at": "2024-12-01T00:00:00Z"}]}"#
                : #"{"items": [{"id": 1, "at": "2024-11-01T00:00:00Z"}]}"#
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        for outcome in [RunOutcome.succeeded, .failed, .succeeded] { #expect(try await fixture.sync().first?.outcome == outcome) }
        let since = fixture.transport.requests.map { request in
            (request.address.url.query?.removingPercentEncoding ?? "").contains("since=2024-11-01T00:00:00Z")
        }
        #expect(since == [false, true, true])
        try await fixture.end()
    }

    // A status after which everything is asked for may be something else.
    @Test func aRateLimitIsNoRejectedCursor() async throws {
        let lines = """
            records = "$.items"
            incremental = { field = "$.at", since = "since" }
            rate_limited_if = [{ path = "$.error", equals = "slow" }]
            """
        let fixture = try await PipelineFixture(
            ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", lines), defaults: Self.once)
        ) { _, number in
            let body = number == 0 ? #"{"items": [{"id": 1, "at": "2024-11-01T00:00:00Z"}]}"# : #"{"error": "slow"}"#
            return .response(status: number == 0 ? 200 : 400, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        try await fixture.sync()
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("rate_limited_if") == true, "\(report)")
        #expect(fixture.transport.requests.count == 2)
        try await fixture.end()
    }

    @Test func anAnswerToAPOSTIsJudged() async throws {
        let posts = BodyPageTests.BodyAPI()
        posts.set(#"{"q":"a"}"#, #"{"ok": false, "error": "not_found"}"#)
        let fixture = try await posts.fixture(Self.people("method = \"POST\"\njson = { q = \"a\" }\n\(Self.failing)"))
        #expect(try await fixture.sync().first?.error?.contains("(fail_if): not_found") == true)
        posts.set(#"{"q":"a"}"#, page(1))
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.end()
    }

    @Test func aMessageIsShownWithoutTheSecretThatItRepeats() async throws {
        let secret = "hunter2/\"secret\""
        let fixture = try await PipelineFixture(
            Self.people("auth = { kind = \"api-key\", in = \"query\", name = \"k\", value = { credential = \"K\" } }\n\(Self.failing)"),
            secrets: Fixture.secret(secret)
        ) { _, _ in
            let body = #"{"ok": false, "error": "the key hunter2\/\"secret\" is \#(String(repeating: "very ", count: 200))wrong"}"#
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
        let error = try #require(try await fixture.sync().first?.error)
        #expect(error.contains("the key [redacted] is very") && !error.contains("hunter2") && error.unicodeScalars.count < 600, "\(error)")
        try await fixture.end()
    }

    // MARK: Waiting

    @Test func aRateLimitInASuccessParksTheResource() async throws {
        api.set("/people", #"{"ok": false, "error": "ratelimited"}"#, headers: ["Retry-After": "7200"])
        let fixture = try await api.fixture(Self.people("rate_limited_if = [{ path = \"$.error\", equals = \"ratelimited\" }]\n\(Self.failing)"))
        #expect(try await fixture.sync().first?.outcome == .parked)
        #expect(fixture.events.contains { if case .parked = $0 { true } else { false } })
        // An hour later it is left alone still.
        try await fixture.sync()
        #expect(fixture.transport.requests.count == 1)
        api.set("/people", page(1))
        fixture.clock.advance(by: .seconds(3600))
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.end()
    }

    // MARK: Nothing there

    private static let ignoring = "ignore_if = [{ status = [200, 400], path = \"$.error\", equals = \"no data\", message = \"$.error\" }]"

    @Test(arguments: [200, 400]) func aPageWithoutRecordsEndsTheListingAsAnEmptyStatusDoes(status: Int) async throws {
        api.set("/people?page=1&per_page=100", page(1))
        api.set("/people?page=2&per_page=100", #"{"error": "no data"}"#, etag: "\"none\"", status: status)
        let fixture = try await api.fixture(Self.people("pages = { kind = \"page\" }\n\(Self.ignoring)"))
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.isComplete && report.pages == 2, "\(report)")
        let said = fixture.events.contains { event in
            if case .pageIgnored(_, report.run, 2, status, "no data") = event { true } else { false }
        }
        #expect(said)
        #expect(try await fixture.sync().first?.isComplete == true)
        // As a whole it is not believed while there are rows.
        api.set("/people?page=1&per_page=100", #"{"error": "no data"}"#, status: status)
        #expect(try await fixture.sync().first?.counts.deleted == 0)
        #expect(try await fixture.live() == ["1"])
        // And what comes back is read.
        api.set("/people?page=1&per_page=100", page(1, 2))
        #expect(try await fixture.sync().first?.isComplete == true)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func aPartThatHasNothingStopsNoOther() async throws {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person",
                "records = \"$.items\"\nfor_each = { values = [\"a\", \"b\", \"c\"], as = \"part\" }\nparams = { part = \"{part}\" }\n\(Self.ignoring)"
            ),
            defaults: Self.once)
        api.set("/people?part=a", page(1))
        api.set("/people?part=b", #"{"error": "no data"}"#, status: 400)
        api.set("/people?part=c", page(3))
        let fixture = try await api.fixture(toml)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.isComplete && report.pages == 3, "\(report)")
        #expect(try await fixture.live() == ["1", "3"])
        // What is no such thing fails as before.
        api.set("/people?part=b", #"{"error": "other"}"#, status: 400)
        #expect(try await fixture.sync().first?.outcome == .failed)
        try await fixture.end()
    }

    // 404 says that there is no such part, unless a condition says that it is an error.
    @Test(arguments: [false, true]) func aPartThatIsNotThereMayBeAnError(isError: Bool) async throws {
        let condition = isError ? "fail_if = [{ status = 404, path = \"$.error\", exists = true }]" : ""
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person",
                "records = \"$.items\"\nfor_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }\n\(condition)"),
            defaults: Self.once)
        api.set("/people?part=a", page(1))
        api.set("/people?part=b", #"{"error": "gone"}"#, status: 404)
        let fixture = try await api.fixture(toml)
        #expect(try await fixture.sync().first?.outcome == (isError ? .failed : .succeeded))
        try await fixture.end()
    }

    @Test func aCompressedAnswerIsReadAsAnyOther() async throws {
        let fixture = try await PipelineFixture(Self.people("\(Self.ignoring)\n\(Self.failing)")) { _, number in
            let body = number == 0 ? #"{"ok": false, "error": "x"}"# : #"{"error": "no data"}"#
            return .response(
                status: number == 1 ? 400 : 200, headers: ["Content-Type": "application/json", "Content-Encoding": "gzip"],
                body: Fixture.gzip(Array(body.utf8)))
        }
        for outcome in [RunOutcome.failed, .succeeded, .succeeded] { #expect(try await fixture.sync().first?.outcome == outcome) }
        try await fixture.end()
    }
}
