import Foundation
import JSONReader
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Fetches whose answers mean something else than their statuses say.
@Suite struct AnswerFetchTests {
    private let clock = ManualClock()

    /// A fetch for a resource with these lines. There is no wait between its attempts, but where a server asks for one.
    private func fetch(
        _ lines: String, _ transport: StubTransport, secrets: SecretResolver = .none, willWait: @escaping @Sendable (Date) -> Void = { _ in }
    ) throws -> PageFetch {
        let configuration = try PipelineFixture.configuration(ScriptedAPI.people("records = \"$.items\"\n\(lines)"))
        let resource = try #require(configuration.resource(scope: "api/people"))
        let settings = try FetchSettings(
            resource: resource, daemon: configuration.daemon, version: "1.0", secrets: secrets, tokens: Fixture.tokens(secrets))
        return PageFetch(
            PageRequest(method: resource.method, address: settings.first, body: resource.body),
            environment: FetchEnvironment(
                settings: settings, transport: transport, clock: clock, random: RandomSource { 0 }, willWait: { willWait($0) }))
    }

    private static func answer(_ body: String, status: Int = 200, _ headers: HTTPHeaders = [:], isGzipped: Bool = false) -> StubTransport.Answer {
        var all = headers
        if !all.contains(name: "Content-Type") { all.add(name: "Content-Type", value: "application/json") }
        if isGzipped { all.add(name: "Content-Encoding", value: "gzip") }
        return .response(status: status, headers: all, body: isGzipped ? Fixture.gzip(Array(body.utf8)) : Array(body.utf8))
    }

    private static let good = answer(#"{"items": [{"id": 1}]}"#)
    private static let busy = "retry_if = [{ path = \"$.state\", equals = \"busy\", message = \"$.why\" }]"

    // MARK: Trying again

    @Test(arguments: [200, 400, 500]) func aFailureThatPassesIsTriedAgain(status: Int) async throws {
        let transport = StubTransport { _, number in
            number < 2 ? Self.answer(#"{"state": "busy", "why": "later"}"#, status: status, ["ETag": "\"busy\""]) : Self.good
        }
        guard case .page(let page) = await (try fetch(Self.busy, transport)).run() else { throw Unexpected() }
        #expect(page.attempts == 3 && page.status == 200 && page.validators?.etag == nil && page.ignored == nil)
    }

    @Test func aFailureThatDoesNotPassFailsAtLast() async throws {
        let transport = StubTransport(Self.answer(#"{"state": "busy", "why": "later"}"#))
        guard case .failed(let error) = await (try fetch(Self.busy, transport)).run() else { throw Unexpected() }
        #expect(error.kind == .answer(.retry) && error.attempts == 4 && error.status == 200 && error.detail == "later")
        #expect("\(error)".hasPrefix("https://api.example/people: the answer is a failure (retry_if): later, status 200"), "\(error)")
        #expect(transport.requests.count == 4)
    }

    @Test func anErrorIsNotTriedAgain() async throws {
        let lines = "fail_if = [{ path = \"$.ok\", equals = false, message = \"$.error\" }]"
        let transport = StubTransport(Self.answer(#"{"ok": false, "error": "invalid_auth"}"#))
        guard case .failed(let error) = await (try fetch(lines, transport)).run() else { throw Unexpected() }
        #expect(error.kind == .answer(.fail) && error.detail == "invalid_auth" && error.excerpt.isEmpty && error.notBefore == nil)
        #expect(transport.requests.count == 1)
    }

    // Who reads nothing but an error wants to see it.
    @Test func anErrorWithoutAMessageIsShownAsItCame() async throws {
        let lines = "fail_if = [{ path = \"$.ok\", equals = false }]"
        for status in [200, 201] {
            let transport = StubTransport(Self.answer(#"{"ok": false, "error": "invalid_auth"}"#, status: status))
            guard case .failed(let error) = await (try fetch("success = [200, 201]\n\(lines)", transport)).run() else { throw Unexpected() }
            #expect(error.excerpt.contains("invalid_auth"), "\(error)")
        }
    }

    // With no word of when to come back it is tried again as 429 is, and not where that is not.
    @Test(arguments: [("", 4), ("retry.statuses = [500]", 1)]) func aRateLimitIsWhat429Is(retry: String, requests: Int) async throws {
        let transport = StubTransport(Self.answer(#"{"error": "slow down"}"#, status: 403))
        let lines = "rate_limited_if = [{ status = 403, path = \"$.error\", contains = \"slow\" }]\n\(retry)"
        guard case .failed(let error) = await (try fetch(lines, transport)).run() else { throw Unexpected() }
        #expect(error.kind == .answer(.rateLimited) && error.status == 403)
        #expect(transport.requests.count == requests)
    }

    @Test(arguments: [200, 403]) func aRateLimitObeysWhatTheServerSays(status: Int) async throws {
        let told = Mutex<[Date]>([])
        let transport = StubTransport(Self.answer(#"{"error": "ratelimited"}"#, status: status, ["Retry-After": "600"]))
        let lines = "rate_limited_if = [{ path = \"$.error\", equals = \"ratelimited\" }]"
        let outcome = await (try fetch(lines, transport) { until in told.withLock { $0.append(until) } }).run()
        guard case .parked(let until, let error) = outcome else { throw Unexpected() }
        #expect(until == clock.wallTime.advanced(by: .seconds(600)) && error.kind == .answer(.rateLimited))
        #expect(told.withLock { $0 } == [until] && transport.requests.count == 1)
    }

    @Test func aShortWaitIsWaitedFor() async throws {
        let transport = StubTransport { _, number in
            number == 0 ? Self.answer(#"{"error": "ratelimited"}"#, ["Retry-After": "30"]) : Self.good
        }
        let one = try fetch("rate_limited_if = [{ path = \"$.error\", equals = \"ratelimited\" }]", transport)
        let task = Task { await one.run() }
        let end = clock.instant.advanced(by: .seconds(30))
        await clock.deadlines { $0.contains(end) }
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(30))
        guard case .page(let page) = await task.value else { throw Unexpected() }
        #expect(page.attempts == 2)
    }

    @Test(arguments: [false, true]) func aPOSTIsMadeAgainOnlyWhereThatIsSaid(isIdempotent: Bool) async throws {
        let transport = StubTransport(Self.answer(#"{"state": "busy"}"#))
        let lines = "method = \"POST\"\njson = { q = \"a\" }\nidempotent = \(isIdempotent)\n\(Self.busy)"
        #expect(await (try fetch(lines, transport)).run().error?.kind == .answer(.retry))
        #expect(transport.requests.count == (isIdempotent ? 4 : 1))
    }

    // A session that has ended is a person without rights; a person who asks too often is another one.
    @Test func aRateLimitCostsNoToken() async throws {
        let lines = """
            auth = { kind = "session", login = { path = "/login", json = { p = { credential = "P" } } }, token_path = "$.access_token" }
            rate_limited_if = [{ path = "$.error", equals = "slow down" }]
            retry.statuses = [500]
            """
        for (body, requests) in [(#"{"error": "slow down"}"#, 1), (#"{"error": "no"}"#, 2)] {
            // The first one is good, so that the token is none that was just fetched.
            let transport = StubTransport { _, number in number == 0 ? Self.good : Self.answer(body, status: 403) }
            let pages = try fetch(lines, transport, secrets: Fixture.secret("topsecret"))
            guard case .page = await pages.run() else { throw Unexpected() }
            let before = transport.requests.count
            _ = await pages.run()
            #expect(transport.requests.count - before == requests, "\(body)")
        }
    }

    // MARK: Nothing there

    private static let nothing = """
        ignore_if = [{ status = ["2xx", "4xx"], path = "$.error.code", equals = "no_data", message = "$.error.text" }]
        """

    @Test(arguments: [(200, false), (200, true), (400, false), (400, true), (404, false)])
    func anAnswerThatSaysThatThereIsNothingIsAPageWithoutRecords(status: Int, isGzipped: Bool) async throws {
        let body = #"{"error": {"code": "no_data", "text": "none in this range"}}"#
        let transport = StubTransport(Self.answer(body, status: status, isGzipped: isGzipped))
        guard case .page(let page) = await (try fetch("empty_statuses = [404]\n\(Self.nothing)", transport)).run() else { throw Unexpected() }
        #expect(page.ignored == "none in this range" && page.status == status && page.content.records.count == 0)
        #expect(transport.requests.count == 1)
    }

    // It is tried again as ever, and heeded: the pages behind it would not be asked for, and no token would be renewed.
    @Test(arguments: [(401, "", 1), (408, "", 4), (429, "", 4), (503, "", 4), (403, "no_status", 1), (500, "no_status", 4)])
    func whatSaysSomethingElseIsNoPageWithoutRecords(status: Int, kind: String, requests: Int) async throws {
        let transport = StubTransport(Self.answer(#"{"message": "overloaded"}"#, status: status))
        let about = kind.isEmpty ? "status = [\"2xx\", \"4xx\"], " : ""
        let lines = "ignore_if = [{ \(about)path = \"$.items\", exists = false }]"
        let error = await (try fetch("\(lines)\nretry.statuses = [408, 429, 500, 503]", transport)).run().error
        #expect(error?.kind == .status(status), "\(status) \(kind)")
        #expect(transport.requests.count == requests, "\(status) \(kind)")
        // A success is what was meant.
        let success = StubTransport(Self.answer(#"{"message": "none"}"#))
        guard case .page(let page) = await (try fetch(lines, success)).run() else {
            throw Unexpected()
        }
        #expect(page.ignored?.isEmpty == true)
    }

    // What a status says by itself still holds where no condition does.
    @Test func anEmptyStatusMayBeSomethingElse() async throws {
        let lines = "empty_statuses = [404]\nrate_limited_if = [{ path = \"$.error\", equals = \"slow\" }]"
        let limited = StubTransport(Self.answer(#"{"error": "slow"}"#, status: 404)), none = StubTransport(Self.answer("", status: 404))
        #expect(await (try fetch(lines, limited)).run().error?.kind == .answer(.rateLimited))
        guard case .page(let page) = await (try fetch(lines, none)).run() else { throw Unexpected() }
        #expect(page.ignored == nil)
    }

    // What has not come may be what says that it is something else.
    @Test func anEmptyStatusIsNotBelievedBeforeItsBodyHasCome() async throws {
        let condition = "fail_if = [{ status = 404, path = \"$.code\", not_equals = \"no_records\" }]"
        let lines = "empty_statuses = [404]\nretry.attempts = 1\n\(condition)"
        let start = Array(#"{"code": "#.utf8), json: HTTPHeaders = ["Content-Type": "application/json"]
        var announced = json
        announced.add(name: "Content-Length", value: "300")
        let answers: [(StubTransport.Answer, FetchError.Kind)] = [
            (.pieces(status: 404, headers: announced, [start, nil]), .shortBody), (.pieces(status: 404, headers: announced, [start]), .shortBody),
            (.response(status: 404, headers: ["Content-Encoding": "br"], body: start), .refused(.contentEncoding("br"))),
            (.response(status: 404, headers: json, body: start + Array(repeating: UInt8(ascii: "x"), count: 100_000)), .malformed),
            (.response(status: 404, headers: ["Content-Encoding": "gzip"], body: Array(Fixture.gzip(start).dropLast(6))), .shortBody),
        ]
        for (answer, kind) in answers {
            let error = await (try fetch(lines, StubTransport(answer))).run().error
            #expect(error?.kind == kind, "\(kind): \(error.map { "\($0)" } ?? "a page")")
        }
        // Where nobody asks for it, it does not matter; and what has come is judged.
        for (lines, answer) in [
            ("empty_statuses = [404]", answers[0].0), (lines, Self.answer(#"{"code": "no_records"}"#, status: 404)),
            (lines, StubTransport.Answer.response(status: 404, headers: ["Content-Encoding": "gzip", "Content-Length": "0"])),
        ] {
            guard case .page(let page) = await (try fetch(lines, StubTransport(answer))).run() else { throw Unexpected() }
            #expect(page.content.records.count == 0)
        }
    }

    // MARK: Bodies

    @Test(arguments: [200, 429, 503]) func aTextThatIsNoJSONIsLookedAt(status: Int) async throws {
        let transport = StubTransport(Self.answer("Quota exceeded for today", status: status, ["Content-Type": "text/plain"]))
        let error = await (try fetch("fail_if = [{ status = [200, 429, 503], contains = \"for today\" }]", transport)).run().error
        #expect(error?.kind == .answer(.fail) && error?.excerpt.contains("Quota") == true, "\(error.map { "\($0)" } ?? "")")
        #expect(transport.requests.count == 1)
        // Otherwise it is what it was.
        let plain = await (try fetch("fail_if = [{ contains = \"tomorrow\" }]", transport)).run().error
        #expect(plain?.kind == (status == 200 ? .contentType : .status(status)))
    }

    @Test func aTextIsLookedForAtTheBeginning() async throws {
        for (filler, isFound) in [(60_000, true), (70_000, false)] {
            let body = #"{"items": [], "filler": "\#(String(repeating: "x", count: filler)) here"}"#
            for status in [200, 500] {
                let transport = StubTransport(Self.answer(body, status: status))
                let error = await (try fetch("fail_if = [{ status = [200, 500], contains = \"x here\" }]\nretry.attempts = 1", transport)).run().error
                #expect((error?.kind == .answer(.fail)) == isFound, "\(filler) \(status)")
            }
        }
    }

    // Nothing of a page is given to anybody before it is judged, and it is judged as a whole: what says that it is an error may come last.
    @Test(arguments: [
        #"{"items": [{"id": 1}], "ok": false}"#, #"{"ok": false, "items": [{"id": 1}]}"#, #"{"ok": false}"#, #"{"ok": false, "items": "x"}"#,
        #"{"ok": false, "items": null}"#, #"{"items": {"id": 1}, "ok": false}"#,
    ]) func anErrorIsFoundWhereverTheRecordsAre(body: String) async throws {
        let pieces = body.utf8.map { Optional([$0]) }
        let transport = StubTransport(.pieces(status: 200, headers: ["Content-Type": "application/json"], pieces))
        #expect(await (try fetch("fail_if = [{ path = \"$.ok\", equals = false }]", transport)).run().error?.kind == .answer(.fail))
    }

    // Whether the list is there, or what is around it, shows although its records are cut off while they arrive. For more all of the page is kept.
    @Test(arguments: [
        ("path = \"$.items\", exists = false", true), ("path = \"$.items\", exists = false, message = \"$.error\"", true),
        ("path = \"$.items\", contains = \"error\"", false), ("path = \"$.ok\", exists = false, message = \"$.items\"", false),
    ])
    func aPageIsCutWhereOnlyThePresenceOfItsRecordsCounts(test: String, isCut: Bool) async throws {
        let one = try fetch("fail_if = [{ \(test) }]", StubTransport(Self.answer(#"{"ok": true, "items": [{"id": 1}]}"#)))
        guard case .page(let page) = await one.run() else { throw Unexpected() }
        #expect(try (page.content.readEnvelope(policies: JSONReaderPolicies()) != nil) == isCut)
        let missing = try fetch("fail_if = [{ \(test) }]", StubTransport(Self.answer(#"{"error": "items: error"}"#)))
        let error = await missing.run().error
        #expect((error != nil) == !test.contains("contains"))
    }

    // Half a body says nothing.
    @Test func aBodyThatIsCutOffIsNotJudged() async throws {
        let transport = StubTransport(
            .pieces(status: 200, headers: ["Content-Type": "application/json"], [Array(#"{"ok": false, "items": ["#.utf8), nil]))
        #expect(await (try fetch("fail_if = [{ path = \"$.ok\", equals = false }]", transport)).run().error?.kind == .shortBody)
    }

    @Test func whatIsBrokenIsForTheParserToJudge() async throws {
        let transport = StubTransport(Self.answer(#"{"ok": false, "items": [1, 2"#))
        guard case .page(let page) = await (try fetch("fail_if = [{ path = \"$.ok\", equals = false }]", transport)).run() else { throw Unexpected() }
        #expect(!page.content.isWhole)
    }

    @Test func a304IsNotJudged() async throws {
        let lines = "rate_limited_if = [{ header = \"X-Left\", equals = 0 }]"
        let known = ConditionalGET(etag: "\"v1\"", lastModified: nil)
        let transport = StubTransport(.response(status: 304, headers: ["X-Left": "0"])), first = try fetch(lines, transport)
        let conditional = PageFetch(first.request, validators: known, recognisesUnmodified: true, environment: first.environment)
        guard case .notModified = await conditional.run() else { throw Unexpected() }
    }
}
