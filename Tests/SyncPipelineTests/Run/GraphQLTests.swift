import Foundation
import NIOHTTP1
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Whole runs through connections of GraphQL, and answers that hold errors.
@Suite struct GraphQLTests {
    private let api = BodyPageTests.BodyAPI()

    private static let query = "query($after: String, $team: Int) { people(after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"

    private static func people(_ more: String = "", records: String = "$.data.people.nodes") -> String {
        ScriptedAPI.people(
            """
            query = "\(query)"
            records = "\(records)"
            \(more)
            """)
    }

    private static let paged = people("pages = { kind = \"graphql\", page_info = \"$.data.people.pageInfo\" }\nvariables = { team = 7 }")

    private func sent(after: String? = nil) -> String {
        #"{"query":"\#(Self.query)","variables":{"team":7\#(after.map { #","after":"\#($0)""# } ?? "")}}"#
    }

    private func page(_ ids: Int..., next: String?, errors: String = "") -> String {
        let nodes = ids.map { #"{"id": \#($0)}"# }.joined(separator: ", "),
            info = #""hasNextPage": \#(next != nil), "endCursor": "\#(next ?? "last")""#
        return #"{"data": {"people": {"nodes": [\#(nodes)], "pageInfo": {\#(info)}}}\#(errors)}"#
    }

    // MARK: Connections

    @Test func aConnectionIsReadToItsEnd() async throws {
        api.set(sent(), page(1, 2, next: "Y3Vy=="))
        api.set(sent(after: "Y3Vy=="), page(next: "x"))
        api.set(sent(after: "x"), page(3, next: nil))
        let fixture = try await api.fixture(Self.paged)
        let report = try #require(try await fixture.sync().first)
        #expect(report.isComplete && report.pages == 3, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        let again = try #require(try await fixture.sync().first)
        #expect(again.isComplete && again.notModifiedPages == 3, "\(again)")
        api.set(sent(after: "x"), page(4, next: nil))
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2", "4"])
        #expect(fixture.transport.requests.allSatisfy { $0.headers["Content-Type"] == ["application/json"] })
        try await fixture.end()
    }

    // Neither does a wrong path make the first page the last one.
    @Test(arguments: [
        #"{"data": {"people": {"nodes": [{"id": 1}]}}}"#, #"{"data": {"people": {"nodes": [{"id": 1}], "pageInfo": {"endCursor": "x"}}}}"#,
        #"{"data": {"people": {"nodes": [{"id": 1}], "pageInfo": {"hasNextPage": true, "endCursor": null}}}}"#,
        #"{"data": {"people": {"nodes": [{"id": 1}], "pageInfo": {"hasNextPage": 1, "endCursor": "x"}}}}"#,
    ])
    func aConnectionThatDoesNotSayHowItGoesOnIsNoEnd(answer: String) async throws {
        api.set(sent(), page(1, 2, next: nil))
        let fixture = try await api.fixture(Self.paged)
        try await fixture.sync()
        api.set(sent(), answer)
        api.set(sent(after: "x"), page(1, next: nil))
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .incomplete && report.counts.deleted == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // MARK: Errors

    private static let errors = #", "errors": [{"message": "no \u001b[31mlight", "path": ["people"]}, {"message": "second"}]"#

    @Test(arguments: [
        #"{"data": null\#(errors)}"#, #"{\#(errors.dropFirst(2))}"#, #"{"data": {"people": null}\#(errors)}"#,
        #"{"data": {"people": {"nodes": [{"id": 1}], "pageInfo": {"hasNextPage": false}}}\#(errors)}"#,
        #"{\#(errors.dropFirst(2)), "data": {"people": {"nodes": [], "pageInfo": {"hasNextPage": false}}}}"#,
    ])
    func aSuccessThatHoldsErrorsIsNoPage(answer: String) async throws {
        api.set(sent(), page(1, 2, next: nil))
        let fixture = try await api.fixture(Self.paged)
        try await fixture.sync()
        api.set(sent(), answer)
        for _ in 1...2 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .failed && report.counts.deleted == 0 && report.counts.updated == 0, "\(report)")
            let error = try #require(report.error)
            #expect(error.contains("https://api.example/people: the answer holds errors, the first: no ") && error.contains("light"), "\(error)")
            #expect(!error.contains("\u{1B}") && !error.contains("second"), "\(error)")
        }
        #expect(try await fixture.live() == ["1", "2"])
        // The page is known as it was before.
        api.set(sent(), page(1, 2, next: nil))
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.end()
    }

    @Test(arguments: ["null", "[]", "[ ]", "{}", "{\n }"]) func anEmptyListOfErrorsIsNone(errors: String) async throws {
        api.set(sent(), page(1, next: nil, errors: #", "errors": \#(errors)"#))
        let fixture = try await api.fixture(Self.paged)
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.end()
    }

    @Test(arguments: [
        (#"[{"path": []}]"#, "an error without a message"), (#""out of order""#, "out of order"),
        (#"{"message": "x"}"#, "an error without a message"), ("[{}]", "an error without a message"), ("[ [ ] ]", "an error without a message"),
        (#"[{"message": "\#(String(repeating: "x", count: 5000))"}]"#, "xxx…"),
    ])
    func whateverStandsForErrorsIsOne(errors: String, shown: String) async throws {
        api.set(sent(), page(1, next: nil, errors: #", "errors": \#(errors)"#))
        let fixture = try await api.fixture(Self.paged)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains(shown) == true && (report.error?.count ?? 0) < 500, "\(report)")
        try await fixture.end()
    }

    // A second page that fails leaves what the first one brought.
    @Test func anErrorBehindTheFirstPageRemovesNothing() async throws {
        api.set(sent(), page(1, next: "x"))
        api.set(sent(after: "x"), page(2, next: nil))
        let fixture = try await api.fixture(Self.paged)
        try await fixture.sync()
        api.set(sent(), page(3, next: "x"))
        api.set(sent(after: "x"), #"{"data": null\#(Self.errors)}"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.counts.inserted == 1 && report.counts.deleted == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    // A field of that name says nothing where nobody speaks GraphQL.
    @Test func errorsOfOtherAnswersAreAFieldAsAnyOther() async throws {
        api.set(#"{"q":"a"}"#, #"{"items": [{"id": 1}], "errors": [{"message": "x"}]}"#)
        let fixture = try await api.fixture(ScriptedAPI.people("method = \"POST\"\njson = { q = \"a\" }\nrecords = \"$.items\""))
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.end()
    }

    // What was kept of a page while nobody looked for errors is not believed.
    @Test func aResourceThatBecomesAQueryReadsItsPagesAnew() async throws {
        // Without data it is no answer of GraphQL that anybody would recognise.
        let text = "{ people { nodes { id } } }"
        let plain = ScriptedAPI.people("method = \"POST\"\njson = { query = \"\(text)\" }\nrecords = \"$.people.nodes\"")
        api.set(#"{"query":"\#(text)"}"#, #"{"people": {"nodes": [{"id": 1}]}\#(Self.errors)}"#)
        let fixture = try await api.fixture(plain)
        #expect(try await fixture.sync().first?.isComplete == true)
        try await fixture.pipeline.reload(
            try PipelineFixture.configuration(ScriptedAPI.people("query = \"\(text)\"\nrecords = \"$.people.nodes\"")))
        #expect(try await fixture.sync().first?.outcome == .failed)
        try await fixture.end()
    }

    @Test func aQueryThatIsWrittenAsJSONIsOneToo() async throws {
        let text = "{ people { nodes { id } } }"
        let toml = ScriptedAPI.people("method = \"POST\"\njson = { query = \"\(text)\" }\nrecords = \"$.data.people.nodes\"")
        api.set(#"{"query":"\#(text)"}"#, #"{"data": {"people": {"nodes": [{"id": 1}, {"id": 2}]}}}"#)
        let fixture = try await api.fixture(toml)
        #expect(try await fixture.sync().first?.isComplete == true)
        api.set(#"{"query":"\#(text)"}"#, #"{"data": {"people": {"nodes": [{"id": 1}]}}\#(Self.errors)}"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("the answer holds errors") == true, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }
}
