import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Fetches of pages that are no JSON documents, or are packed.
@Suite struct FormatFetchTests {
    private static let lines = Array("{\"id\":1}\n{\"id\":2}\n".utf8)

    private func fetch(_ answer: StubTransport.Answer, _ lines: String) async throws -> (outcome: FetchOutcome, accept: String?) {
        let toml = ScriptedAPI.people(lines + "\nretry = { attempts = 1 }")
        let configuration = try PipelineFixture.configuration(toml), resource = try #require(configuration.resource(scope: "api/people"))
        let transport = StubTransport(answer)
        let settings = try FetchSettings(resource: resource, daemon: configuration.daemon, version: "test", secrets: .none)
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: ManualClock())
        let outcome = await PageFetch(PageRequest(address: settings.first), environment: environment).run()
        return (outcome, transport.requests.first?.headers.first(name: "Accept"))
    }

    private func answer(_ body: [UInt8], _ headers: HTTPHeaders) -> StubTransport.Answer { .response(status: 200, headers: headers, body: body) }

    @Test(arguments: [
        ("format = \"ndjson\"", "application/x-ndjson; charset=utf-8"), ("format = \"ndjson\"", "text/plain"),
        ("format = \"json-seq\"", "application/geo+json-seq"), ("format = \"csv\"", "text/csv"), ("format = \"csv\"", "application/octet-stream"),
        ("format = \"csv\"\nparse = { content_types = [\"text/x\"] }", "text/x"),
    ])
    func aFormatIsAskedForAndTakenByItsTypes(lines: String, type: String) async throws {
        let body: [UInt8] = lines.contains("json-seq") ? [0x1E] + Self.lines.prefix(9) : Self.lines
        let (outcome, accept) = try await fetch(answer(body, ["Content-Type": type, "Content-Length": "\(body.count)"]), lines)
        guard case .page(let page) = outcome else { throw Unexpected(outcome) }
        #expect(page.content.isWhole)
        #expect(accept?.contains("application/json,") == false && accept?.isEmpty == false)
    }

    @Test func aLoginPageIsNoTable() async throws {
        let outcome = try await fetch(answer(Array("<html>".utf8), ["Content-Type": "text/html", "Content-Length": "6"]), "format = \"csv\"").outcome
        #expect(outcome.error?.kind == .contentType)
    }

    // What is missing at the end of a document is seen; of lines it would count as gone.
    @Test(arguments: ["ndjson", "json-seq", "csv"]) func aBodyWhoseEndIsOnlyThatOfTheConnectionIsRefused(format: String) async throws {
        let lines = "format = \"\(format)\"", body: [UInt8] = format == "json-seq" ? [0x1E] + Self.lines.prefix(9) : Self.lines
        let open = try await fetch(answer(body, ["Content-Type": "text/plain"]), lines).outcome
        #expect(open.error?.kind == .malformed && open.error?.detail.contains("Content-Length, or chunks") == true, "\(open)")
        for headers: HTTPHeaders in [
            ["Content-Type": "text/plain", "Content-Length": "\(body.count)"], ["Content-Type": "text/plain", "Transfer-Encoding": "chunked"],
        ] {
            guard case .page = try await fetch(answer(body, headers), lines).outcome else { throw Unexpected(headers) }
        }
        let packed = Fixture.gzip(body)
        guard case .page = try await fetch(answer(packed, ["Content-Type": "text/plain", "Content-Encoding": "gzip"]), lines).outcome,
            case .page = try await fetch(answer(packed, ["Content-Type": "application/gzip"]), lines + "\nunpack = \"gzip\"").outcome,
            case .page = try await fetch(answer(Array("[]".utf8), ["Content-Type": "application/json"]), "").outcome
        else { throw Unexpected(format) }
    }

    // There may have been another one.
    @Test func membersWithoutAnEndOfTheirOwnAreRefused() async throws {
        let packed = Fixture.gzip(Array("{\"id\": 1}\n".utf8)) + Fixture.gzip(Array("{\"id\": 2}\n".utf8)), lines = "format = \"ndjson\""
        let encoded: HTTPHeaders = ["Content-Type": "text/plain", "Content-Encoding": "gzip"],
            file: HTTPHeaders = ["Content-Type": "application/gzip"]
        for (headers, lines) in [(encoded, lines), (file, lines + "\nunpack = \"gzip\"")] {
            #expect(try await fetch(answer(packed, headers), lines).outcome.error?.kind == .malformed, "\(headers)")
            var announced = headers
            announced.add(name: "Content-Length", value: "\(packed.count)")
            guard case .page = try await fetch(answer(packed, announced), lines).outcome else { throw Unexpected(headers) }
        }
    }

    @Test func aBodyThatIsCutShortIsNoPage() async throws {
        let headers: HTTPHeaders = ["Content-Type": "text/csv", "Content-Length": "100"]
        #expect(try await fetch(answer(Array("id\n1\n".utf8), headers), "format = \"csv\"").outcome.error?.kind == .shortBody)
        let broken = StubTransport.Answer.pieces(
            status: 200, headers: ["Content-Type": "text/csv", "Transfer-Encoding": "chunked"], [Array("id\n1\n".utf8), nil])
        #expect(try await fetch(broken, "format = \"csv\"").outcome.error != nil)
        let zip = Array(ZipBuilder.zip(("a", Self.lines)).dropLast(30))
        let cut = try await fetch(answer(zip, ["Content-Type": "application/zip"]), "format = \"ndjson\"\nunpack = \"zip\"").outcome
        #expect(cut.error?.kind == .shortBody, "\(cut)")
    }

    // MARK: Conditions

    // In a table or in lines there is nothing that a path could lead to, and so nothing that is missing.
    @Test(arguments: ["fail_if", "ignore_if", "retry_if"]) func whatIsNoDocumentFulfilsNoConditionWithAPath(key: String) async throws {
        for (format, body) in [("csv", "id\n1\n"), ("ndjson", "{\"id\": 1}\n"), ("json-seq", "\u{1E}{\"id\": 1}\n")] {
            for test in ["path = \"$.ok\", not_equals = true", "path = \"$.ok\", exists = false", "path = \"$[0].id\", exists = true"] {
                let headers: HTTPHeaders = ["Content-Type": "text/plain", "Content-Length": "\(body.utf8.count)"]
                let outcome = try await fetch(answer(Array(body.utf8), headers), "format = \"\(format)\"\n\(key) = [{ \(test) }]").outcome
                guard case .page(let page) = outcome else { throw Unexpected("\(format) \(test): \(outcome)") }
                #expect(page.content.records.count == 1 && page.ignored == nil, "\(format) \(test)")
            }
        }
    }

    // An error that is a document is judged as such.
    @Test func whatIsAnErrorInPlaceOfATableIsJudged() async throws {
        let body = Array("{\"ok\": false}".utf8)
        for status in [200, 500] {
            let error = StubTransport.Answer.response(
                status: status, headers: ["Content-Type": "application/json", "Content-Length": "\(body.count)"], body: body)
            let outcome = try await fetch(error, "format = \"csv\"\nfail_if = [{ status = [200, 500], path = \"$.ok\", equals = false }]").outcome
            #expect(outcome.error?.kind == .answer(.fail), "\(status)")
        }
    }

    // It is no file, or nothing says where it ends: but it says what it is.
    @Test(arguments: ["zip", "gzip"]) func whatCannotBeUnpackedIsJudgedAsItCame(packing: String) async throws {
        let lines = "format = \"csv\"\nunpack = \"\(packing)\"", text = Array("export not ready".utf8)
        for condition in ["contains = \"not ready\"", "header = \"X-State\", equals = \"busy\""] {
            let pieces = text.map { Optional([$0]) }
            let busy = StubTransport.Answer.pieces(status: 200, headers: ["Content-Type": "text/plain", "X-State": "busy"], pieces)
            let outcome = try await fetch(busy, "\(lines)\nretry_if = [{ \(condition) }]").outcome
            #expect(outcome.error?.kind == .answer(.retry), "\(condition): \(outcome)")
        }
        let headers: HTTPHeaders = ["Content-Type": "text/plain", "Content-Length": "\(text.count)"]
        // Who asks nothing is shown it.
        for more in ["", "\nretry_if = [{ contains = \"later\" }]"] {
            let error = try await fetch(answer(text, headers), lines + more).outcome.error
            #expect(error?.kind == .corruptBody && error?.excerpt == "export not ready", "\(more): \(error.map { "\($0)" } ?? "")")
        }
        let empty: HTTPHeaders = ["Content-Type": "text/plain", "Content-Length": "0", "X-No-Data": "1"]
        let nothing = try await fetch(answer([], empty), "\(lines)\nignore_if = [{ header = \"X-No-Data\", exists = true }]").outcome
        guard case .page(let page) = nothing else { throw Unexpected(nothing) }
        #expect(page.content.records.count == 0 && page.ignored != nil)
        // Half of it says nothing.
        let half: HTTPHeaders = ["Content-Type": "text/plain", "Content-Length": "100"]
        let cut = try await fetch(answer(text, half), "\(lines)\nretry_if = [{ contains = \"not ready\" }]").outcome
        #expect(cut.error?.kind == .shortBody, "\(cut)")
    }

    @Test func whatDoesNotSayWhereItEndsIsJudged() async throws {
        let body = Array("{\"ok\": false}".utf8), headers: HTTPHeaders = ["Content-Type": "text/plain"]
        for condition in ["path = \"$.ok\", equals = false", "contains = \"ok\""] {
            let outcome = try await fetch(answer(body, headers), "format = \"ndjson\"\nfail_if = [{ \(condition) }]").outcome
            #expect(outcome.error?.kind == .answer(.fail), "\(condition)")
        }
        // It may be a record.
        let ignored = try await fetch(answer(body, headers), "format = \"ndjson\"\nignore_if = [{ path = \"$.items\", exists = false }]").outcome
        #expect(ignored.error?.kind == .malformed)
    }

    private struct Unexpected: Error {
        let what: String

        init(_ what: some Sendable) { self.what = "\(what)" }
    }
}
