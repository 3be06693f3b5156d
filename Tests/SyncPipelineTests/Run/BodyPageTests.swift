import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Whole runs through listings that are asked for with POST.
@Suite struct BodyPageTests {
    /// A server whose answers a test sets, by what it is sent.
    final class BodyAPI: Sendable {
        private let answers = Mutex<[String: String]>([:])

        /// Sets what a body is answered with.
        func set(_ body: String, _ answer: String) { answers.withLock { $0[body] = answer } }

        func answer(_ request: HTTPRequest) -> StubTransport.Answer {
            let body = request.body?.revealed() ?? ""
            guard request.method == .post, let answer = answers.withLock({ $0[body] }) else {
                return .response(status: 400, headers: ["Content-Type": "application/json"], body: Array("unexpected: \(body)".utf8))
            }
            return .response(status: 200, headers: ["Content-Type": "application/json", "ETag": "\"always the same\""], body: Array(answer.utf8))
        }

        func fixture(_ toml: String) async throws -> PipelineFixture { try await PipelineFixture(toml) { request, _ in self.answer(request) } }
    }

    private let api = BodyAPI()

    private func bodies(_ fixture: PipelineFixture, since count: Int = 0) -> [String] {
        fixture.transport.requests.dropFirst(count).map { $0.body?.revealed() ?? "" }
    }

    /// A kind of pages, and what is sent and answered for each of three pages.
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let resource: String
        let sent: [String]
        let answers: [String]
        var testDescription: String { name }
    }

    private static let json = "method = \"POST\"\njson = { q = \"a\", paging = { } }\n"
    private static let form = "method = \"POST\"\nform = { q = \"a\" }\n"
    private static let lists = [#"[{"id": 1}, {"id": 2}]"#, #"[{"id": 3}]"#, "[]"]
    private static let items = [
        #"{"items": [{"id": 1}, {"id": 2}], "next": "b c"}"#, #"{"items": [{"id": 3}], "next": 7}"#, #"{"items": []}"#,
    ]

    private static let numbers = [
        #"{"items": [{"id": 1}, {"id": 2}], "next": 1.50}"#, #"{"items": [{"id": 3}], "next": 1E+3}"#, #"{"items": []}"#,
    ]

    static let kinds = [
        Kind(
            name: "page in JSON",
            resource: json + "pages = { kind = \"page\", in = \"body\", param = \"/paging/page\", size_param = \"/paging/size\", size = 2 }",
            sent: (1...3).map { #"{"q":"a","paging":{"page":\#($0),"size":2}}"# }, answers: lists),
        Kind(
            name: "page in a form", resource: form + "pages = { kind = \"page\", in = \"body\", start = 0, size_param = \"\" }",
            sent: (0...2).map { "q=a&page=\($0)" }, answers: lists),
        Kind(
            name: "offset in JSON",
            resource: json + "pages = { kind = \"offset\", in = \"body\", param = \"from\", limit_param = \"size\", limit = 2 }",
            sent: [0, 2, 3].map { #"{"q":"a","paging":{},"from":\#($0),"size":2}"# }, answers: lists),
        Kind(
            name: "offset in a form", resource: form + "pages = { kind = \"offset\", in = \"body\" }",
            sent: [0, 2, 3].map { "q=a&offset=\($0)&limit=100" }, answers: lists),
        Kind(
            name: "cursor in JSON",
            resource: json + "records = \"$.items\"\npages = { kind = \"cursor\", in = \"body\", path = \"$.next\", param = \"/paging/after\" }",
            sent: [#"{"q":"a","paging":{}}"#, #"{"q":"a","paging":{"after":"b c"}}"#, #"{"q":"a","paging":{"after":7}}"#], answers: items),
        Kind(
            name: "cursor in a form", resource: form + "records = \"$.items\"\npages = { kind = \"cursor\", in = \"body\", path = \"$.next\" }",
            sent: ["q=a", "q=a&cursor=b%20c", "q=a&cursor=7"], answers: items),
        Kind(
            name: "cursor in JSON that is a number in digits of its own",
            resource: json + "records = \"$.items\"\npages = { kind = \"cursor\", in = \"body\", path = \"$.next\", param = \"/paging/after\" }",
            sent: [#"{"q":"a","paging":{}}"#, #"{"q":"a","paging":{"after":1.50}}"#, #"{"q":"a","paging":{"after":1E+3}}"#], answers: numbers),
        Kind(
            name: "cursor in a form that is a number in digits of its own",
            resource: form + "records = \"$.items\"\npages = { kind = \"cursor\", in = \"body\", path = \"$.next\" }",
            sent: ["q=a", "q=a&cursor=1.50", "q=a&cursor=1E%2B3"], answers: numbers),
        Kind(
            name: "keyset in JSON", resource: json + "pages = { kind = \"keyset\", in = \"body\", from = \"$.id\", param = \"/search_after/0\" }",
            sent: [#"{"q":"a","paging":{}}"#, #"{"q":"a","paging":{},"search_after":[2]}"#, #"{"q":"a","paging":{},"search_after":[3]}"#],
            answers: lists),
        Kind(
            name: "keyset in a form", resource: form + "pages = { kind = \"keyset\", in = \"body\", from = \"$.id\" }",
            sent: ["q=a", "q=a&after=2", "q=a&after=3"], answers: lists),
    ]

    // What was not modified leads on as it did, numbers as numbers.
    @Test(arguments: kinds) func everyKindLeadsThroughAListing(kind: Kind) async throws {
        for (body, answer) in zip(kind.sent, kind.answers) { api.set(body, answer) }
        let fixture = try await api.fixture(ScriptedAPI.people(kind.resource))
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 3 && report.counts.inserted == 3, "\(report)")
        #expect(bodies(fixture) == kind.sent)
        let again = try #require(try await fixture.sync().first)
        #expect(again.isComplete && again.notModifiedPages == 3 && again.counts.unchanged == 3, "\(again)")
        #expect(bodies(fixture, since: 3) == kind.sent)
        #expect(fixture.transport.requests.allSatisfy { $0.headers["If-None-Match"] == [] && $0.address.url.query == nil })
        // A page that changes is read although its tag says that it does not.
        api.set(kind.sent[0], kind.answers[0].replacing(#"{"id": 1}"#, with: #"{"id": 1, "name": "Ada"}"#))
        let changed = try #require(try await fixture.sync().first)
        #expect(changed.isComplete && changed.notModifiedPages == 2 && changed.counts.updated == 1, "\(changed)")
        #expect(fixture.events.allSatisfy { if case .pageSaved(let page) = $0 { page.method == "POST" } else { true } })
        try await fixture.end()
    }

    @Test func whatIsGoneFromAListingGoes() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("method = \"POST\"\njson = { q = \"a\" }"))
        api.set(#"{"q":"a"}"#, #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        api.set(#"{"q":"a"}"#, #"[{"id": 2}]"#)
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["2"])
        try await fixture.end()
    }

    // Where a link leads is for the server to say, but not who gets what is sent.
    @Test func aLinkToAnotherOriginIsNotFollowedWithWhatIsSent() async throws {
        api.set(#"{"q":"a"}"#, #"{"items": [{"id": 1}], "next": "https://other.example/people"}"#)
        let fixture = try await api.fixture(
            ScriptedAPI.people(
                """
                method = "POST"
                json = { q = "a" }
                records = "$.items"
                http = { next_links = "any" }
                pages = { kind = "body-link", path = "$.next" }
                """))
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .incomplete && report.counts.inserted == 1, "\(report)")
        #expect(fixture.transport.requests.map(\.address.origin.host) == ["api.example"])
        try await fixture.end()
    }

    // MARK: What is known of pages

    @Test func resourcesOfOneAddressAndOtherBodiesShareNothing() async throws {
        func resource(_ name: String) -> String {
            ScriptedAPI.resource(
                name, of: "Person",
                "method = \"POST\"\njson = { q = \"\(name)\" }\ndeletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }"
            ).replacing("path = \"/\(name)\"", with: "path = \"/search\"")
        }
        let fixture = try await api.fixture(ScriptedAPI.configuration(resource("a"), resource("b")))
        api.set(#"{"q":"a"}"#, #"[{"id": 1}]"#)
        api.set(#"{"q":"b"}"#, #"[{"id": 2}]"#)
        try await fixture.sync()
        #expect(try await fixture.live() == ["1", "2"])
        #expect(try await fixture.sync("api/a").notModifiedPages == 1)
        api.set(#"{"q":"b"}"#, #"[{"id": 3}]"#)
        try await fixture.sync("api/b")
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    // The bytes of two answers are the same, and yet the second question was never asked before.
    @Test func aResourceThatSendsAnotherBodyKnowsNothingOfItsPages() async throws {
        func toml(_ q: String) -> String { ScriptedAPI.people("method = \"POST\"\njson = { q = \"\(q)\" }") }
        let fixture = try await api.fixture(toml("a"))
        for q in ["a", "b"] { api.set(#"{"q":"\#(q)"}"#, #"[{"id": 1}]"#) }
        try await fixture.sync()
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        try await fixture.pipeline.reload(try PipelineFixture.configuration(toml("b")))
        let report = try #require(try await fixture.sync().first)
        #expect(report.notModifiedPages == 0 && report.isComplete, "\(report)")
        try await fixture.end()
    }

    // MARK: Parts

    @Test func aParentStandsInABody() async throws {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource("repos", of: "Repo"),
            ScriptedAPI.resource(
                "issues", of: "Issue",
                """
                method = "POST"
                json = { filter = { repo = "{repo.fullName}", raw = "{{repo}}" }, n = 1.0 }
                pages = { kind = "page", in = "body", size_param = "" }
                for_each = { resource = "repos", as = "repo" }
                set = { repo = "{repo}" }
                """),
            entities: """
                [entity.Repo]
                key = ["id"]
                attributes = { id = { type = "int64", optional = false }, fullName = { path = "$.full_name", type = "string" } }
                [entity.Issue]
                key = ["id"]
                attributes = { id = { type = "int64", optional = false } }
                relationships = { repo = { to = "Repo" } }
                """)
        let api = api
        let fixture = try await PipelineFixture(toml) { request, _ in
            guard request.method == .get else { return api.answer(request) }
            return .response(
                status: 200, headers: ["Content-Type": "application/json"],
                body: Array(#"[{"id": 1, "full_name": "a/\"x"}, {"id": 2, "full_name": "b"}]"#.utf8))
        }
        for (repo, id) in [(#"a/\"x"#, 1), ("b", 2)] {
            for page in 1...2 {
                api.set(
                    #"{"filter":{"repo":"\#(repo)","raw":"{repo}"},"n":1.0,"page":\#(page)}"#, page == 1 ? #"[{"id": \#(id)}]"# : "[]")
            }
        }
        let reports = try await fixture.sync()
        #expect(reports.allSatisfy { $0.isComplete }, "\(reports)")
        #expect(try await fixture.values("id", of: "Issue") == ["1", "2"])
        #expect(try await fixture.sync("api/issues").notModifiedPages == 4)
        try await fixture.end()
    }

    // MARK: Attempts

    @Test func aPOSTIsMadeAgainInARunWhereThatIsSaid() async throws {
        for isIdempotent in [false, true] {
            let toml = ScriptedAPI.people(
                "method = \"POST\"\njson = {}\nidempotent = \(isIdempotent)", defaults: "[defaults.retry]\nbase = \"7s\"\njitter = \"none\"")
            let fixture = try await PipelineFixture(toml) { _, index in
                index == 0
                    ? .response(status: 503)
                    : .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(#"[{"id": 1}]"#.utf8))
            }
            fixture.clock.advance(by: .seconds(3600))
            async let reports = fixture.pipeline.sync(nil, cause: .control, wait: true)
            if isIdempotent {
                await fixture.told { $0.contains { if case .retrying = $0 { true } else { false } } }
                let end = fixture.clock.instant.advanced(by: .seconds(7))
                await fixture.clock.deadlines { $0.contains(end) }
                fixture.clock.advance(by: .seconds(7))
            }
            let report = try #require(try await reports.first)
            #expect(report.outcome == (isIdempotent ? .succeeded : .failed), "\(report)")
            #expect(fixture.transport.requests.count == (isIdempotent ? 2 : 1))
            try await fixture.end()
        }
    }

    // MARK: Trials

    @Test func aTrialShowsWhatIsSent() async throws {
        api.set(#"{"q":"a","page":1}"#, #"[{"id": 1}]"#)
        let toml = ScriptedAPI.people("method = \"POST\"\njson = { q = \"a\" }\npages = { kind = \"page\", in = \"body\", size_param = \"\" }")
        let configuration = try PipelineFixture.configuration(toml), transport = StubTransport { [api] request, _ in api.answer(request) }
        let pages = try await PageTrial.run(
            try #require(configuration.resource(scope: "api/people")), configuration: configuration, transports: TransportPool { _ in transport },
            clock: ManualClock(), secrets: .none, version: "test", pages: 1)
        let page = try #require(pages.first)
        #expect(page.method == .post && page.sent == #"{"q":"a","page":1}"# && page.url == "https://api.example/people")
        #expect(page.next == #"next page: POST https://api.example/people {"q":"a","page":2}"#)
    }
    // Half of a secret is one, too: nothing is cut off before secrets are masked.
    @Test(arguments: [0, 173]) func aTrialMasksSecretsInWhatTheNextPageIsSent(distance: Int) async throws {
        let padding = String(repeating: "x", count: distance)
        api.set(#"{"q":"a"}"#, #"{"items": [{"id": 1}], "next": "\#(padding)topsecret"}"#)
        let toml = ScriptedAPI.people(
            """
            method = "POST"
            json = { q = "a" }
            records = "$.items"
            pages = { kind = "cursor", in = "body", path = "$.next" }
            auth = { kind = "bearer", token = { credential = "token" } }
            """)
        let configuration = try PipelineFixture.configuration(toml), transport = StubTransport { [api] request, _ in api.answer(request) }
        let pages = try await PageTrial.run(
            try #require(configuration.resource(scope: "api/people")), configuration: configuration, transports: TransportPool { _ in transport },
            clock: ManualClock(), secrets: Fixture.secret("topsecret"), version: "test", pages: 1)
        let next = try #require(pages.first).next
        #expect(next.hasPrefix(#"next page: POST https://api.example/people {"q":"a","cursor":"\#(padding)[redac"#), "\(next)")
        #expect(!next.contains("topse"), "\(next)")
    }

    // Messages have the beginning of a value only, and that may be the beginning of a secret.
    @Test(arguments: [0, 35, 39, 60]) func aTrialMasksSecretsThatRecordsRepeat(distance: Int) async throws {
        let secret = "topsecret" + String(repeating: "0123456789", count: 5), padding = String(repeating: "x", count: distance)
        let said = padding + secret
        let people = #"[{"id": 1, "age": "\#(said)"}, {"id": 2, "name": "\#(said)"}]"#
        let toml = ScriptedAPI.people("auth = { kind = \"bearer\", token = { credential = \"token\" } }")
        let configuration = try PipelineFixture.configuration(toml)
        let transport = StubTransport { _, _ in .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(people.utf8)) }
        let pages = try await PageTrial.run(
            try #require(configuration.resource(scope: "api/people")), configuration: configuration, transports: TransportPool { _ in transport },
            clock: ManualClock(), secrets: Fixture.secret(secret), version: "test", pages: 1)
        let page = try #require(pages.first), reasons = page.rejected.map { $0.reason }
        #expect(!reasons.isEmpty && reasons.allSatisfy { !$0.contains("tops") && !$0.contains("xt\"") }, "\(reasons)")
        let values = page.objects.flatMap { $0.values.map { $0.value } }
        #expect(values.contains("\(padding)[redacted]") && !values.contains { $0.contains("tops") }, "\(values)")
    }

    // What is stored and told of a record that is set aside is in the journal.
    @Test func whatIsToldOfARecordThatIsSetAsideHoldsNoPartOfASecret() async throws {
        let secret = "topsecret" + String(repeating: "0123456789", count: 5)
        let people = #"[{"id": 1, "age": "xx\#(secret)"}, {"id": 2}]"#
        let fixture = try await PipelineFixture(
            ScriptedAPI.people("auth = { kind = \"bearer\", token = { credential = \"token\" } }"), secrets: Fixture.secret(secret)
        ) { _, _ in .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(people.utf8)) }
        #expect(try await fixture.sync("api/people").counts.quarantined == 1)
        let entry = try #require(try await fixture.pipeline.quarantine().first)
        #expect(entry.reason.contains("xx[redacted]"), "\(entry.reason)")
        let told = fixture.events.compactMap { event -> String? in if case .quarantined(_, _, _, _, let first) = event { first } else { nil } }
        #expect(told.count == 1 && !told[0].contains("tops"), "\(told)")
        try await fixture.end()
    }
}
