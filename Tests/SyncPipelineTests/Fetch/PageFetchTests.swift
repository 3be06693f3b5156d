import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// The judgement of answers and the patience between attempts: no network, and a clock that stands still.
@Suite struct PageFetchTests {
    private let clock = ManualClock()
    private static let url = "https://a.example/items"

    private func fetch(
        _ transport: StubTransport, validators: ConditionalGET? = nil, recognisesUnmodified: Bool = false,
        slots: RequestSlots? = nil,
        _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) throws -> PageFetch {
        let settings = try Fixture.settings(Self.url, change)
        return PageFetch(
            PageRequest(address: settings.first), validators: validators, recognisesUnmodified: recognisesUnmodified,
            environment: FetchEnvironment(
                settings: settings, transport: transport, clock: clock, random: RandomSource { 0.5 }, slots: slots))
    }

    /// What was told during a fetch.
    private final class Events: Sendable {
        let all = Mutex<[FetchEvent]>([])

        var delays: [Duration] {
            all.withLock { $0 }.compactMap { if case .retrying(_, let delay) = $0 { delay } else { nil } }
        }
    }

    /// Runs a fetch and moves the clock on whenever it waits for its next attempt, and only then.
    private func run(
        _ transport: StubTransport, events: Events = Events(), _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) async throws -> FetchOutcome {
        let (delays, continuation) = AsyncStream.makeStream(of: Duration.self)
        let settings = try Fixture.settings(Self.url, change)
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock, random: RandomSource { 0.5 }) { event in
            events.all.withLock { $0.append(event) }
            if case .retrying(_, let delay) = event { continuation.yield(delay) }
        }
        let task = Task {
            defer { continuation.finish() }
            return await PageFetch(PageRequest(address: settings.first), environment: environment).run()
        }
        for await delay in delays where delay > .zero {
            let end = clock.instant.advanced(by: delay)
            await clock.deadlines { $0.contains(end) }
            clock.advance(by: delay)
        }
        return await task.value
    }

    private let json: HTTPHeaders = ["Content-Type": "application/json"]
    private func ok(_ headers: HTTPHeaders = [:], body: String = "[1]") -> StubTransport.Answer {
        var all = json
        all.add(contentsOf: headers)
        return .response(status: 200, headers: all, body: Array(body.utf8))
    }

    // MARK: Success

    @Test func aPageComesWithEverythingThatBelongsToIt() async throws {
        let transport = StubTransport(ok(["ETag": "\"v1\"", "Cache-Control": "max-age=60", "Last-Modified": "yesterday"]))
        guard case .page(let page) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(try page.content.digest == Fixture.content(Array("[1]".utf8)).digest)
        #expect(page.validators == ConditionalGET(etag: "\"v1\"", lastModified: "yesterday", bodyDigest: page.content.digest))
        #expect(page.pacing.cacheLifetime == .seconds(60))
        #expect((page.status, page.received, page.attempts, page.isPartial) == (200, 3, 1, false))
        #expect(page.address.description == Self.url)
        let request = try #require(transport.requests.first)
        #expect(request.headers["Accept-Encoding"] == ["gzip"])
        #expect(request.headers["User-Agent"] == ["cisternd/1.0"])
        #expect(request.headers["If-None-Match"] == [])
    }

    // MARK: Conditions

    // R7
    @Test func a304IsNotModified() async throws {
        let known = ConditionalGET(etag: "\"v1\"", lastModified: nil)
        let transport = StubTransport(.response(status: 304, headers: ["ETag": "\"v2\""]))
        guard case .notModified(let page) = await (try fetch(transport, validators: known)).run() else { throw Unexpected() }
        #expect(page.evidence == .status)
        #expect(page.validators == known)
        #expect(transport.requests[0].headers["If-None-Match"] == ["\"v1\""])
    }

    // N8
    @Test func a304NobodyAskedForIsRefused() async throws {
        let transport = StubTransport(.response(status: 304))
        let digestOnly = ConditionalGET(etag: nil, lastModified: nil, bodyDigest: BodyDigest(of: "x"))
        for validators in [nil, digestOnly] {
            let outcome = await (try fetch(transport, validators: validators)).run()
            #expect(outcome.error?.kind == .refused(.unexpectedStatus(304)))
        }
        let off = try fetch(transport, validators: ConditionalGET(etag: "a", lastModified: nil)) { $0.http.conditional = .off }
        #expect(await off.run().error?.kind == .refused(.unexpectedStatus(304)))
        #expect(transport.requests.allSatisfy { $0.headers["If-None-Match"] == [] })
    }

    // R7
    @Test(arguments: [
        ("\"v1\"", "[1]", UnmodifiedPage.Evidence?.some(.etag)), ("\"v2\"", "[1]", .body), ("\"v1\"", "[2]", nil), ("\"v2\"", "[2]", nil),
        ("W/\"w\"", "[1]", .body),
    ])
    func aSuccessThatBringsNothingNewIsRecognised(etag: String, body: String, evidence: UnmodifiedPage.Evidence?) async throws {
        let known = ConditionalGET(etag: "\"v1\"", lastModified: nil, bodyDigest: try Fixture.content(Array("[1]".utf8)).digest)
        let transport = StubTransport(ok(["ETag": etag], body: body))
        let outcome = await (try fetch(transport, validators: known, recognisesUnmodified: true)).run()
        if case .notModified(let page) = outcome { #expect(page.evidence == evidence) } else { #expect(evidence == nil) }
        guard case .page = await (try fetch(transport, validators: known)).run() else { throw Unexpected() }
    }

    // What cannot be taken apart is for the parser to judge, whatever it looks like.
    @Test func aPageThatIsBrokenOffIsNeverTheSameAsBefore() async throws {
        let broken = try Fixture.content(Array("[1, 2".utf8))
        let known = ConditionalGET(etag: nil, lastModified: nil, bodyDigest: broken.digest)
        let outcome = await (try fetch(StubTransport(ok(body: "[1, 2")), validators: known, recognisesUnmodified: true)).run()
        guard case .page(let page) = outcome else { throw Unexpected() }
        #expect(page.content.digest == broken.digest && !page.content.isWhole)
    }

    @Test func aWeakTagIsEnoughAndAPartIsNot() async throws {
        let known = ConditionalGET(etag: "W/\"w\"", lastModified: nil, bodyDigest: try Fixture.content(Array("[1]".utf8)).digest)
        let weak = StubTransport(ok(["ETag": "W/\"w\""], body: "[1 ]"))
        guard case .notModified = await (try fetch(weak, validators: known, recognisesUnmodified: true)).run() else { throw Unexpected() }
        let part = StubTransport(.response(status: 206, headers: ["ETag": "W/\"w\""], body: Array("[1]".utf8)))
        let outcome = await (try fetch(part, validators: known, recognisesUnmodified: true) { $0.success = [200, 206] }).run()
        guard case .page(let page) = outcome else { throw Unexpected() }
        #expect(page.isPartial)
    }

    // MARK: Refusals

    // N8
    @Test func everyStatusHasItsOutcome() async throws {
        for status in Array(100...599) where ![301, 302, 303, 307, 308].contains(status) {
            for body in ["", "{\"error\":1}", "<html>"] {
                let transport = StubTransport(.response(status: status, headers: json, body: Array(body.utf8)))
                let outcome = await (try fetch(transport) { $0.retry.attempts = 1 }).run()
                switch (status, outcome) {
                case (200, .page): break
                case (304, .refused(let error)): #expect(error.kind == .refused(.unexpectedStatus(304)))
                case (401, .authenticationRejected(let error)): #expect(error.kind == .status(401))
                case (_, .failed(let error)):
                    #expect(error.kind == .status(status))
                    #expect(error.excerpt == body)
                default: Issue.record("\(status): \(outcome)")
                }
            }
        }
    }

    // N8
    @Test func aLoginPageIsNoPage() async throws {
        let html = "<html><body>Please log in</body></html>"
        let transport = StubTransport(.response(status: 200, headers: ["Content-Type": "text/html; charset=utf-8"], body: Array(html.utf8)))
        let error = try #require(await (try fetch(transport)).run().error)
        #expect(error.kind == .contentType)
        #expect(error.excerpt == html)
        #expect(error.contentType == "text/html; charset=utf-8")
        #expect(error.status == 200)
        #expect(error.description.contains("https://a.example/items"))
        #expect(transport.requests.count == 1)
    }

    @Test func messagesShowNoSecretsAndNoMoreThan200Bytes() async throws {
        let secret = "verysecrettoken"
        let body = String(repeating: "x", count: 190) + secret + String(repeating: "y", count: 500)
        let transport = StubTransport(.response(status: 500, body: Array(body.utf8)))
        let settings = try Fixture.settings(Self.url + "?copy=\(secret)", secrets: Fixture.secret(secret)) {
            $0.authentication = .bearer(.init(token: .credential("t")))
            $0.retry.attempts = 1
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
        let error = try #require(await PageFetch(PageRequest(address: settings.first), environment: environment).run().error)
        #expect(error.excerpt.count == 200)
        #expect(!error.description.contains("very"))
        #expect(error.url == Self.url + "?copy=[redacted]")
        #expect(transport.requests[0].headers["Authorization"] == ["Bearer \(secret)"])
    }

    @Test func tooManyHeaderBytesAreRefused() async throws {
        let transport = StubTransport(ok(["X-Filler": String(repeating: "x", count: 70_000)]))
        #expect(await (try fetch(transport)).run().error?.kind == .tooLarge(.header))
    }

    @Test func aPrivateAddressIsNotAskedWithoutPermission() async throws {
        let transport = StubTransport(ok())
        for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:10.0.0.1]", "169.254.169.254"] {
            let settings = try Fixture.settings("http://\(host)/") { $0.http.allowPrivateNetworks = .refuse }
            let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
            guard case .refused(let error) = await PageFetch(PageRequest(address: settings.first), environment: environment).run(),
                case .refused(.privateAddress) = error.kind
            else { throw Unexpected() }
        }
        #expect(transport.requests.isEmpty)
    }

    // N5
    @Test(arguments: ["http://127.0.0.1/", "http://169.254.169.254/latest", "http://[::1]/", "http://0x7f.1/", "http://localhost/"])
    func aRedirectToAPrivateAddressIsNotFollowed(target: String) async throws {
        let transport = StubTransport { request, _ in
            request.address.origin.host == "a.example" ? .response(status: 302, headers: ["Location": target]) : .silence
        }
        let settings = try Fixture.settings("http://a.example/items") { $0.http.redirects = .any }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
        guard case .refused(let error) = await PageFetch(PageRequest(address: settings.first), environment: environment).run(),
            case .refused(.privateAddress) = error.kind
        else { throw Unexpected() }
        #expect(transport.requests.count == 1)
    }

    // MARK: Redirects and credentials

    // N4, R10
    @Test(arguments: AuthenticationConfiguration.carrying(.credential("t")))
    func noCredentialReachesTheSecondHost(authentication: AuthenticationConfiguration) async throws {
        let transport = StubTransport { [json] request, _ in
            guard request.address.origin.host == "a.example" else { return .response(status: 200, headers: json, body: [0x5B, 0x5D]) }
            // As a server does that hands the whole query on.
            let query = request.address.url.query.map { "?\($0)" } ?? ""
            return .response(status: 307, headers: ["Location": "https://b.example/items\(query)", "Set-Cookie": "session=topsecret"])
        }
        let settings = try Fixture.settings(Self.url, secrets: Fixture.secret("topsecret")) {
            $0.authentication = authentication
            $0.headers = [HeaderField(name: "X-Own-Key", value: "topsecret")]
            $0.http.redirects = .any
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
        guard case .page(let page) = await PageFetch(PageRequest(address: settings.first), environment: environment).run() else {
            throw Unexpected()
        }
        #expect(transport.requests.count == 2)
        let second = transport.requests[1]
        #expect(second.address.description == "https://b.example/items")
        #expect(second.headers.map(\.name).sorted() == ["Accept", "Accept-Encoding", "User-Agent"])
        #expect(page.address == second.address)
    }

    @Test func aRedirectThatCopiesAKeyIntoThePathIsRefused() async throws {
        let transport = StubTransport(.response(status: 302, headers: ["Location": "https://b.example/topsecret"]))
        let settings = try Fixture.settings(Self.url, secrets: Fixture.secret("topsecret")) {
            $0.authentication = .apiKey(.init(name: "k", in: .query, value: .credential("t")))
            $0.http.redirects = .any
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
        let error = await PageFetch(PageRequest(address: settings.first), environment: environment).run().error
        #expect(error?.kind == .refused(.credentialLeak))
        #expect(error?.description.contains("topsecret") == false)
    }

    @Test func credentialsStayOnTheirOwnOriginThroughARedirect() async throws {
        let transport = StubTransport(
            .response(status: 301, headers: ["Location": "/v2/items", "Set-Cookie": "lb=7; Path=/"]), ok())
        let settings = try Fixture.settings(Self.url, secrets: Fixture.secret("topsecret")) {
            $0.authentication = .bearer(.init(token: .credential("t")))
        }
        let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
        guard case .page = await PageFetch(PageRequest(address: settings.first), environment: environment).run() else { throw Unexpected() }
        #expect(transport.requests.map { $0.headers["Authorization"] } == [["Bearer topsecret"], ["Bearer topsecret"]])
        #expect(transport.requests[1].headers["Cookie"] == ["lb=7"])
    }

    // MARK: Attempts

    @Test func failuresWorthRepeatingAreRepeated() async throws {
        let events = Events()
        let transport = StubTransport(.failure(FetchError(.reset)), .response(status: 503), .failure(FetchError(.dnsTemporary)), ok())
        guard case .page(let page) = try await run(transport, events: events) else { throw Unexpected() }
        #expect(page.attempts == 4)
        #expect(events.delays == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(page.duration == .milliseconds(3500))
    }

    @Test func afterTheLastAttemptTheRunFails() async throws {
        let transport = StubTransport(.response(status: 503))
        guard case .failed(let error) = try await run(transport) else { throw Unexpected() }
        #expect((error.kind, error.attempts) == (.status(503), 4))
        #expect(transport.requests.count == 4)
    }

    @Test(arguments: [
        FetchError.Kind.tls, .dnsNotFound, .malformed, .corruptBody, .contentType, .tooLarge(.body), .refused(.downgrade), .status(404),
    ])
    func otherFailuresAreNotRepeated(kind: FetchError.Kind) async throws {
        let transport = StubTransport(.failure(FetchError(kind)))
        #expect(await (try fetch(transport)).run().error?.kind == kind)
        #expect(transport.requests.count == 1)
    }

    @Test func theConfigurationDecidesWhatIsRepeated() async throws {
        let transport = StubTransport(.response(status: 404), ok())
        guard case .page = try await run(transport, { $0.retry.statuses = [404] }) else { throw Unexpected() }
        let reset = StubTransport(.failure(FetchError(.reset)), ok())
        guard case .failed = try await run(reset, { $0.retry.errors = [.connect] }) else { throw Unexpected() }
        let never = StubTransport(.response(status: 503), ok())
        guard case .failed = try await run(never, { $0.retry.methods = [.head] }) else { throw Unexpected() }
    }

    // MARK: Retry-After

    // N8, R9
    @Test(arguments: [
        ("0", 0.5), ("1", 1), ("300", 300), ("Wed, 01 Jan 2025 00:00:42 GMT", 42), ("-1", 0.5), ("soon", 0.5),
        ("Sun Nov  6 08:49:37 1994", 0.5),
    ])
    func theServersPatienceIsObeyed(value: String, seconds: Double) async throws {
        let events = Events()
        let transport = StubTransport(.response(status: 429, headers: ["Retry-After": value]), ok())
        guard case .page = try await run(transport, events: events) else { throw Unexpected() }
        #expect(events.delays == [.seconds(seconds)])
    }

    @Test(arguments: ["301", "86400", "100000000000000000000", "Wed, 01 Jan 2025 01:00:00 GMT"])
    func tooMuchPatienceParks(value: String) async throws {
        let now = clock.wallTime
        for status in [429, 503, 403, 404] {
            let transport = StubTransport(.response(status: status, headers: ["Retry-After": value]))
            guard case .parked(let until, let error) = await (try fetch(transport)).run() else { throw Unexpected() }
            #expect(error.kind == .status(status))
            #expect(transport.requests.count == 1)
            let expected = RetryAfter.delay(values: [value], date: nil, now: now)
            #expect(until == expected.map { now.advanced(by: min($0, RetryConfiguration().maxPark.duration)) })
        }
    }

    @Test func aRunThatFailsKeepsTheServersWish() async throws {
        let transport = StubTransport(.response(status: 503, headers: ["Retry-After": "60"]))
        let outcome = await (try fetch(transport) { $0.retry.attempts = 1 }).run()
        #expect(outcome.notBefore == clock.wallTime.addingTimeInterval(60))
    }

    @Test func twoHeadersCountAsTheLonger() async throws {
        let headers = HTTPHeaders([("Retry-After", "5"), ("Retry-After", "7200")])
        let transport = StubTransport(.response(status: 429, headers: headers))
        guard case .parked(let until, _) = await (try fetch(transport)).run() else { throw Unexpected() }
        #expect(until == clock.wallTime.addingTimeInterval(7200))
    }

    @Test func aWishHoldsEvenIfItsBodyNeverEnds() async throws {
        let transport = StubTransport(.silentBody(status: 429, headers: ["Retry-After": "7200"]))
        let task = Task { [fetch = try fetch(transport)] in await fetch.run() }
        await pass(until: 15, silenceOf: transport)
        guard case .parked(_, let error) = await task.value else { throw Unexpected() }
        #expect(error.kind == .status(429))
    }

    // MARK: Time

    /// Waits until the transport keeps somebody waiting, and moves the clock from one look at the time to the next until it shows `seconds`.
    private func pass(until seconds: Double, silenceOf transport: StubTransport) async {
        for await _ in transport.silences { break }
        let end = SyncInstant(sinceOrigin: .seconds(seconds))
        while clock.instant < end {
            let now = clock.instant
            await clock.deadlines { !$0.isEmpty && $0[0] > now }
            clock.advanceToNextDeadline()
        }
        #expect(clock.instant == end)
    }

    @Test func aHeadThatDoesNotComeTimesOut() async throws {
        let transport = StubTransport(.silence)
        let task = Task { [fetch = try fetch(transport, { $0.retry.attempts = 1 })] in await fetch.run() }
        await pass(until: 40, silenceOf: transport)  // connect_timeout and first_byte_timeout together
        #expect(await task.value.error?.kind == .timeout(.firstByte))
    }

    @Test func silenceInABodyTimesOut() async throws {
        let transport = StubTransport(.silentBody(status: 200, headers: json))
        let task = Task { [fetch = try fetch(transport, { $0.retry.attempts = 1 })] in await fetch.run() }
        await pass(until: 15, silenceOf: transport)
        let error = try #require(await task.value.error)
        #expect(error.kind == .timeout(.idle))
    }

    @Test func cancellationEndsAFetchAnywhere() async throws {
        let silent = try fetch(StubTransport(.silence))
        let inBody = try fetch(StubTransport(.silentBody(status: 200, headers: json)))
        let waiting = try fetch(StubTransport(.response(status: 503)))
        for fetch in [silent, inBody, waiting] {
            let task = Task { await fetch.run() }
            await clock.sleepers(atLeast: 1)
            task.cancel()
            guard case .cancelled = await task.value else { throw Unexpected() }
            #expect(clock.deadlines.isEmpty)
        }
        let slots = RequestSlots(1, clock: clock)
        let holder = Task { [fetch = try fetch(StubTransport(.silence), slots: slots)] in await fetch.run() }
        await clock.sleepers(atLeast: 1)
        let queued = Task { [fetch = try fetch(StubTransport(.silence), slots: slots)] in await fetch.run() }
        queued.cancel()
        guard case .cancelled = await queued.value else { throw Unexpected() }
        holder.cancel()
        guard case .cancelled = await holder.value else { throw Unexpected() }
    }

    // MARK: Slots

    @Test func aFetchThatWaitsHoldsNoSlot() async throws {
        let slots = RequestSlots(1, clock: clock)
        let waiting = Task { [fetch = try fetch(StubTransport(.response(status: 503)), slots: slots)] in await fetch.run() }
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .milliseconds(500))] }
        guard case .page = await (try fetch(StubTransport(ok()), slots: slots)).run() else { throw Unexpected() }
        waiting.cancel()
        _ = await waiting.value
    }

    @Test func noMoreRequestsRunThanThereAreSlots() async throws {
        let slots = RequestSlots(3, clock: clock)
        let now = Mutex((running: 0, most: 0))
        let transport = StubTransport { [json] _, _ in
            now.withLock {
                $0.running += 1
                $0.most = max($0.most, $0.running)
            }
            for _ in 0..<20 { await Task.yield() }
            now.withLock { $0.running -= 1 }
            return .response(status: 200, headers: json, body: [0x5B, 0x5D])
        }
        let fetch = try fetch(transport, slots: slots)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = await fetch.run() } }
        }
        #expect(transport.requests.count == 50)
        #expect(now.withLock { $0.most } <= 3)
    }
}

/// An outcome of another kind than the test is about.
struct Unexpected: Error {}
