import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Budgets and limits from the text of a configuration to what a server sees.
@Suite(.timeLimit(.minutes(60))) struct RateRunTests {
    private let api = TimedAPI()

    /// A resource with pages, and one request every half minute.
    private static let slow = "rate = { requests = 2, per = \"1m\", burst = 1 }"
    private static let linked = "pages = { kind = \"link-header\" }\n"

    private func pages(_ count: Int) {
        for number in 1...count {
            let path = number == 1 ? "/people" : "/people?page=\(number)"
            api.pages.set(path, "[{\"id\": \(number)}]", headers: number < count ? ["Link": "</people?page=\(number + 1)>; rel=next"] : [:])
        }
    }

    // MARK: Budgets

    @Test func noMorePagesAreAskedForThanTheBudgetAllows() async throws {
        pages(4)
        let fixture = try await api.fixture(ScriptedAPI.people(Self.linked + Self.slow))
        let report = try #require(try await api.sync(fixture).first)
        #expect(report.outcome == .succeeded && report.pages == 4)
        #expect(api.times == [.zero, .seconds(30), .seconds(60), .seconds(90)])
        try await fixture.end()
    }

    // Two sources, one server, no credential.
    @Test func othersOfTheSameServerShareIt() async throws {
        let toml =
            ScriptedAPI.people(Self.slow) + """

                [[source]]
                name = "other"
                url = "https://api.example/others"
                entity = "Person"

                """
        let fixture = try await api.fixture(toml)
        api.pages.set("/people", "[]")
        api.pages.set("/others", "[]")
        #expect(try await api.sync(fixture).map(\.outcome) == [.succeeded, .succeeded])
        #expect(api.times == [.zero, .seconds(30)])
        try await fixture.end()
    }

    @Test func retriesCount() async throws {
        api.pages.set("/people", "", status: 503)
        let fixture = try await api.fixture(ScriptedAPI.people(Self.slow, defaults: "[defaults.retry]\nattempts = 3"))
        #expect(try await api.sync(fixture).first?.outcome == .failed)
        #expect(api.times == [.zero, .seconds(30), .seconds(60)])
        try await fixture.end()
    }

    // How long the server takes is another matter.
    @Test func aRedirectCountsAndItsWaitIsNotTheServers() async throws {
        api.pages.set("/people", "", status: 302, headers: ["Location": "/moved"])
        api.pages.set("/moved", "[{\"id\": 1}]")
        let fixture = try await api.fixture(ScriptedAPI.people(Self.slow, defaults: "[defaults.http]\ntotal_timeout = \"10s\""))
        #expect(try await api.sync(fixture).first?.outcome == .succeeded)
        #expect(api.times == [.zero, .seconds(30)])
        try await fixture.end()
    }

    @Test func aTokenOfTheSameServerCounts() async throws {
        api.pages.set("/token", #"{"access_token": "abc", "expires_in": 3600}"#)
        api.pages.set("/people", "[{\"id\": 1}]")
        let auth = """
            auth = { kind = "oauth2", grant = "client-credentials", token_url = "https://api.example/token", client_id = "me", client_secret = { credential = "c" } }

            """
        let fixture = try await api.fixture(ScriptedAPI.people(auth + Self.slow), secrets: Fixture.secret("s"))
        #expect(try await api.sync(fixture).first?.outcome == .succeeded)
        #expect(api.paths == ["/token", "/people"])
        #expect(api.times == [.zero, .seconds(30)])
        try await fixture.end()
    }

    @Test func aTokenThatEndsWhileItsRequestWaitsIsReplacedBeforeItGoesOut() async throws {
        pages(2)
        api.pages.set("/token", #"{"access_token": "abc", "expires_in": 1200}"#)
        let more = """
            auth = { kind = "oauth2", grant = "client-credentials", token_url = "https://login.example/token", client_id = "me", client_secret = { credential = "c" } }
            rate = { requests = 2, per = "1h", burst = 1 }

            """
        let fixture = try await api.fixture(ScriptedAPI.people(Self.linked + more), secrets: Fixture.secret("s"))
        #expect(try await api.sync(fixture).first?.outcome == .succeeded)
        #expect(api.paths == ["/token", "/people", "/token", "/people"])
        #expect(api.times == [.zero, .zero, .seconds(1800), .seconds(1800)])
        try await fixture.end()
    }

    // How long a run waits for a server is another matter.
    @Test func aListingTakesAsLongAsItsBudget() async throws {
        pages(3)
        let budget = "rate = { requests = 6, per = \"1h\", burst = 1 }"
        let fixture = try await api.fixture(ScriptedAPI.people(Self.linked + budget, defaults: "[defaults.retry]\nretry_after_park = \"0s\""))
        let report = try #require(try await api.sync(fixture).first)
        #expect(report.outcome == .succeeded && report.pages == 3, "\(report.error ?? "")")
        #expect(api.times == [.zero, .seconds(600), .seconds(1200)])
        try await fixture.end()
    }

    @Test func aBudgetThatIsTooSmallForItsRunEndsItAndIsNoWishOfTheServer() async throws {
        pages(2)
        let budget = "rate = { requests = 2, per = \"1h\", burst = 1 }"
        let fixture = try await api.fixture(ScriptedAPI.people(Self.linked + budget, defaults: "[defaults.limits]\nmax_run_time = \"10m\""))
        let report = try #require(try await api.sync(fixture).first)
        #expect(report.outcome == .failed && report.error?.contains("budget of requests is used up") == true, "\(report.error ?? "")")
        let status = try #require(await fixture.pipeline.status().resources.first)
        #expect(status.parkedUntil == nil && status.breaker == nil && api.times == [.zero])
        try await fixture.end()
    }

    @Test func aStopEndsTheWait() async throws {
        pages(2)
        let fixture = try await api.fixture(ScriptedAPI.people(Self.linked + Self.slow))
        _ = try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        while api.wait(of: fixture) == nil { await Task.yield() }
        await fixture.pipeline.stop(grace: .seconds(60))
        #expect(fixture.reports.map(\.outcome) == [.cancelled])
        #expect(api.times.count == 1)
        try await fixture.end()
    }

    // Nobody knows what the process before has asked for last.
    @Test func afterARestartTheBudgetCountsAsUsedUp() async throws {
        api.pages.set("/people", "[{\"id\": 1}]")
        let toml = ScriptedAPI.people(Self.slow), fixture = try await api.fixture(toml)
        try await api.sync(fixture)
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        let next = try await api.fixture(toml, folder: fixture.folder, now: fixture.clock.wallTime.addingTimeInterval(3600))
        try await api.sync(next)
        // A burst of one, and one more.
        #expect(api.times == [.zero, .seconds(60)])
        try await next.end()
    }

    // Each request that gets its turn waits until the test lets it go.
    @Test func soManyAreUnderWayAtATime() async throws {
        let names = (1...4).map { "r\($0)" }, open = Mutex<[CheckedContinuation<Void, Never>]>([]), most = Mutex(0)
        let toml = ScriptedAPI.configuration(
            names.map { ScriptedAPI.resource($0) }.joined(), defaults: "[defaults.rate]\nconcurrency = 2")
        let fixture = try await PipelineFixture(toml, savesAtOnce: true) { _, _ in
            await withCheckedContinuation { continuation in
                let count = open.withLock { open in
                    open.append(continuation)
                    return open.count
                }
                most.withLock { $0 = max($0, count) }
            }
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[]".utf8))
        }
        _ = try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        for answered in 1...names.count {
            let wanted = min(2, names.count - answered + 1)
            while open.withLock({ $0.count }) < wanted { await Task.yield() }
            open.withLock { $0.removeFirst() }.resume()
        }
        try await fixture.finished(names.count)
        #expect(most.withLock { $0 } == 2)
        try await fixture.end()
    }

    // MARK: What servers say

    private static let usedUp: HTTPHeaders = ["X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0"]

    private static func usedUp(for seconds: Int, link: String? = nil) -> HTTPHeaders {
        var headers = usedUp
        headers.add(name: "X-RateLimit-Reset", value: "\(seconds)")
        if let link { headers.add(name: "Link", value: "<\(link)>; rel=next") }
        return headers
    }

    @Test func theNextPageWaitsUntilThereIsMore() async throws {
        api.pages.set("/people", "[{\"id\": 1}]", headers: Self.usedUp(for: 120, link: "/people?page=2"))
        api.pages.set("/people?page=2", "[{\"id\": 2}]")
        let fixture = try await api.fixture(ScriptedAPI.people(Self.linked))
        #expect(try await api.sync(fixture).first?.outcome == .succeeded)
        #expect(api.times == [.zero, .seconds(120)])
        try await fixture.end()
    }

    @Test func whereHeadersAreOffNobodyWaits() async throws {
        api.pages.set("/people", "[{\"id\": 1}]", headers: Self.usedUp(for: 120, link: "/people?page=2"))
        api.pages.set("/people?page=2", "[{\"id\": 2}]")
        let fixture = try await api.fixture(ScriptedAPI.people(Self.linked + "rate.headers = \"off\""))
        #expect(try await api.sync(fixture).first?.outcome == .succeeded)
        #expect(api.times == [.zero, .zero])
        try await fixture.end()
    }

    // The page itself is good, and the run succeeds; whoever asks next waits, after a restart as well.
    @Test func aLimitThatIsUsedUpForLongParksTheServerAcrossARestart() async throws {
        api.pages.set("/people", "[{\"id\": 1}]", headers: Self.usedUp(for: 7200))
        let toml = ScriptedAPI.people(), fixture = try await api.fixture(toml), end = fixture.clock.wallTime.advanced(by: .seconds(7200))
        #expect(try await api.sync(fixture).first?.outcome == .succeeded)
        #expect(await fixture.pipeline.status().resources.first?.parkedUntil == end)
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        let next = try await api.fixture(toml, folder: fixture.folder, now: end.addingTimeInterval(-3600))
        let report = try #require(try await next.pipeline.sync(nil, cause: .control, wait: true).first)
        #expect(report.outcome == .parked && report.nextPollAt == end && next.transport.requests.isEmpty)
        try await next.end()
    }

    // Some say so with 403 and without Retry-After.
    @Test func aRefusalForWantOfRequestsIsTriedAgainWhenThereAreMore() async throws {
        api.pages.set("/people", "", status: 403, headers: Self.usedUp(for: 60))
        let fixture = try await api.fixture(ScriptedAPI.people("", defaults: "[defaults.retry]\nattempts = 2"))
        let report = try #require(try await api.sync(fixture).first)
        #expect(report.outcome == .failed && api.times == [.zero, .seconds(60)])
        // It is not for ever.
        #expect(!fixture.events.contains { if case .breakerOpened = $0 { true } else { false } })
        try await fixture.end()
    }

    @Test func aRedirectWaitsForWhatItsAnswerSays() async throws {
        var headers = Self.usedUp(for: 60)
        headers.add(name: "Location", value: "/moved")
        api.pages.set("/people", "", status: 302, headers: headers)
        api.pages.set("/moved", "[{\"id\": 1}]")
        let fixture = try await api.fixture(ScriptedAPI.people())
        #expect(try await api.sync(fixture).first?.outcome == .succeeded)
        #expect(api.times == [.zero, .seconds(60)])
        try await fixture.end()
    }
}

/// A scripted server that notes when it is asked, and a clock that goes on whenever all wait for it.
final class TimedAPI: Sendable {
    let pages = ScriptedAPI()
    private let clock = Mutex<ManualClock?>(nil)
    private let asked = Mutex<[(path: String, at: Duration)]>([])

    /// When it was asked, on the clock of the process that asked.
    var times: [Duration] { asked.withLock { $0.map(\.at) } }
    var paths: [String] { asked.withLock { $0.map(\.path) } }

    func fixture(_ toml: String, folder: URL? = nil, now: Date? = nil, secrets: SecretResolver = .none) async throws -> PipelineFixture {
        let fixture = try await PipelineFixture(toml, folder: folder, now: now, savesAtOnce: true, secrets: secrets) { [self] request, _ in
            let now = clock.withLock { $0 }?.instant.sinceOrigin ?? .zero
            asked.withLock { $0.append((request.address.url.path, now)) }
            return pages.answer(request)
        }
        clock.withLock { $0 = fixture.clock }
        return fixture
    }

    /// Polls everything once. The clock goes on whenever all that run wait for it.
    @discardableResult
    func sync(_ fixture: PipelineFixture) async throws -> [RunReport] {
        let isDone = Mutex(false)
        async let reports: [RunReport] = { @Sendable in
            defer { isDone.withLock { $0 = true } }
            return try await fixture.pipeline.sync(nil, cause: .control, wait: true)
        }()
        while !isDone.withLock({ $0 }) {
            if let wait = wait(of: fixture) { fixture.clock.advance(by: wait) }
            await Task.yield()
        }
        return try await reports
    }

    /// How long all that runs waits for the clock, and sleeps; nil: something goes on, or nothing runs.
    func wait(of fixture: PipelineFixture) -> Duration? {
        let now = fixture.clock.instant
        let ends = fixture.pipeline.state.withLock { state -> [SyncInstant] in
            state.isDelivering ? [] : state.runs.values.map { $0.run.progress.waitsUntil ?? now }
        }
        guard let first = ends.min(), first > now, fixture.clock.deadlines.contains(first) else { return nil }
        return now.duration(to: first)
    }
}
