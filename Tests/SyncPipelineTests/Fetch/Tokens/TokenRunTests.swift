import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Tokens that end in the middle of runs. // R13, N10
@Suite(.timeLimit(.minutes(10))) struct TokenRunTests {
    private static let pages = 50

    /// Issues tokens, and accepts the newest one only, until it is told to accept none.
    private final class Service: Sendable {
        struct State {
            var issued = 0
            var isEnded = false
            /// At which page the token ends; 0: at none.
            var endsAt = 0
            var acceptsNothing = false
            /// What a page is answered with whose token is not accepted.
            var refusal = 401
            /// What token requests are answered with, in place of a token.
            var failure: Int?
            /// How often each page was asked for.
            var asked: [Int: Int] = [:]
        }

        let state = Mutex(State())

        var issued: Int { state.withLock { $0.issued } }

        func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }

        func answer(_ request: HTTPRequest) -> StubTransport.Answer {
            state.withLock { state in
                if request.address.origin.host == "login.example" {
                    if let failure = state.failure { return TokenFixture.refused(#"{"error": "invalid_client"}"#, status: failure) }
                    state.issued += 1
                    state.isEnded = false
                    return TokenFixture.ok(#"{"access_token": "access-\#(state.issued)"}"#)
                }
                let page = request.address.parameter("page").flatMap { Int($0) } ?? 0
                state.asked[page, default: 0] += 1
                if page == state.endsAt {
                    state.endsAt = 0
                    state.isEnded = true
                }
                let isAccepted = request.headers["Authorization"] == ["Bearer access-\(state.issued)"] && !state.isEnded && !state.acceptsNothing
                guard isAccepted else { return .response(status: state.refusal) }
                return TokenFixture.ok(page < TokenRunTests.pages ? #"[{"id": \#(page)}]"# : "[]")
            }
        }
    }

    private static let toml = ScriptedAPI.people(
        """
        pages = { kind = "page" }
        retry = { attempts = 1 }
        auth = { kind = "oauth2", grant = "client-credentials", token_url = "https://login.example/token", client_id = "me", \
        client_secret = { credential = "client" } }
        """)

    private static let session = ScriptedAPI.people(
        """
        pages = { kind = "page" }
        retry = { attempts = 1 }
        auth = { kind = "session", login = { url = "https://login.example/session", json = { password = { credential = "client" } } }, \
        token_path = "$.access_token" }
        """)

    private func fixture(_ service: Service, _ toml: String = toml) async throws -> PipelineFixture {
        try await PipelineFixture(toml, secrets: Fixture.secret("client-secret")) { request, _ in service.answer(request) }
    }

    @Test(arguments: [1, 2, 25, 50]) func aTokenThatEndsAtAnyPageIsRenewedOnce(page: Int) async throws {
        let service = Service(), fixture = try await fixture(service)
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        service.change { state in
            state.endsAt = page
            state.asked = [:]
        }
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(service.issued == 2)
        let asked = service.state.withLock { $0.asked }
        #expect(asked[page] == 2 && asked.count == Self.pages, "\(asked)")
        #expect(try await fixture.values("id", of: "Person").count == Self.pages - 1)
        try await fixture.end()
    }

    // A session that has ended is to some services a person without rights.
    @Test func aSessionThatIsForbiddenIsRenewedOnceAndATokenIsNot() async throws {
        for (toml, issued) in [(Self.session, 2), (Self.toml, 1)] {
            let service = Service(), fixture = try await fixture(service, toml)
            #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
            service.change { state in
                state.endsAt = 25
                state.refusal = 403
            }
            #expect(try await fixture.sync().map(\.outcome) == [issued == 2 ? .succeeded : .failed])
            #expect(service.issued == issued)
            try await fixture.end()
        }
    }

    @Test(
        arguments: [
            ("[403]", 403, true), ("[401, 419]", 419, true), ("[419]", 401, false), ("[]", 401, false), ("\"auto\"", 401, true),
            ("\"auto\"", 419, false),
            // One that would be tried again in any case is tried with another token.
            ("[425]", 425, true),
        ] as [(String, Int, Bool)])
    func theStatusesThatRenewATokenAreThoseThatAreSaid(said: String, status: Int, isRenewed: Bool) async throws {
        let retry = "retry = { attempts = 1, refresh_auth_on = \(said) }"
        for toml in [Self.toml, Self.session] {
            let service = Service(), fixture = try await fixture(service, toml.replacing("retry = { attempts = 1 }", with: retry))
            #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
            service.change { state in
                state.endsAt = 25
                state.refusal = status
                state.asked = [:]
            }
            #expect(try await fixture.sync().map(\.outcome) == [isRenewed ? .succeeded : .failed])
            #expect(service.issued == (isRenewed ? 2 : 1))
            #expect(service.state.withLock { $0.asked[25] } == (isRenewed ? 2 : 1))
            try await fixture.end()
        }
    }

    @Test func aListOfStatusesTakesThePlaceOfTheOneOfSessions() async throws {
        let toml = Self.session.replacing("retry = { attempts = 1 }", with: "retry = { attempts = 1, refresh_auth_on = [401] }")
        let service = Service(), fixture = try await fixture(service, toml)
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        service.change { state in
            state.endsAt = 2
            state.refusal = 403
        }
        #expect(try await fixture.sync().map(\.httpStatus) == [403])
        #expect(service.issued == 1)
        try await fixture.end()
    }

    // Parts of a resource have paths of their own, and some may be for others only.
    @Test func whatAPersonMayNotReadRenewsATokenOnceAMinuteAtMost() async throws {
        let clock = ManualClock(), issued = Atomic(0)
        let transport = StubTransport { request, _ in
            if request.address.origin.host == "login.example" {
                return TokenFixture.ok(#"{"access_token": "access-\#(issued.add(1, ordering: .relaxed).newValue)"}"#)
            }
            return request.address.url.path == "/mine" ? TokenFixture.ok("[]") : .response(status: 401)
        }
        let tokens = TokenService(pool: TokenPool(), transports: TransportPool { _ in transport }, clock: clock)
        func isRead(_ path: String) async throws -> Bool {
            let resource = Fixture.resource("https://api.example/\(path)") { $0.authentication = .oauth2(TokenFixture.client) }
            let settings = try FetchSettings(
                resource: resource, daemon: DaemonConfiguration(), version: "1.0", secrets: Fixture.secret("client-secret"), tokens: tokens)
            let environment = FetchEnvironment(settings: settings, transport: transport, clock: clock)
            let outcome = await PageFetch(PageRequest(address: settings.first), environment: environment).run()
            return if case .page = outcome { true } else { false }
        }
        #expect(try await isRead("mine"))
        for number in 1...3 { #expect(try await !isRead("theirs/\(number)")) }
        #expect(issued.load(ordering: .relaxed) == 1)
        clock.advance(by: .seconds(60))
        for number in 1...3 { #expect(try await !isRead("theirs/\(number)")) }
        #expect(issued.load(ordering: .relaxed) == 2)
        #expect(try await isRead("mine"))
        #expect(issued.load(ordering: .relaxed) == 2)
    }

    @Test func aTokenThatEndedWhileItsFirstRequestWaitedIsRenewed() async throws {
        let clock = ManualClock(), issued = Atomic(0)
        let transport = StubTransport { request, _ in
            if request.address.origin.host == "login.example" {
                let number = issued.add(1, ordering: .relaxed).newValue
                return TokenFixture.ok(#"{"access_token": "access-\#(number)", "expires_in": 100}"#)
            }
            guard request.headers["Authorization"] == ["Bearer access-2"] else {
                clock.advance(by: .seconds(60))
                return .response(status: 401)
            }
            return TokenFixture.ok("[]")
        }
        let resource = Fixture.resource("https://api.example/items") {
            $0.authentication = .oauth2(TokenFixture.client)
            $0.http.waitLong()
        }
        let settings = try FetchSettings(
            resource: resource, daemon: DaemonConfiguration(), version: "1.0", secrets: Fixture.secret("client-secret"),
            tokens: TokenService(pool: TokenPool(), transports: TransportPool { _ in transport }, clock: clock))
        let outcome = await PageFetch(
            PageRequest(address: settings.first), environment: FetchEnvironment(settings: settings, transport: transport, clock: clock)
        ).run()
        guard case .page = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(issued.load(ordering: .relaxed) == 2)
    }

    @Test func aTokenOutlivesTheRunAndAReload() async throws {
        let service = Service(), fixture = try await fixture(service)
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        try await fixture.pipeline.reload(PipelineFixture.configuration(Self.toml + "\n# read again"))
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(service.issued == 1)
        try await fixture.end()
    }

    @Test func aNewTokenThatIsRefusedEndsTheRunAndIsNotReplaced() async throws {
        let service = Service(), fixture = try await fixture(service)
        service.change { $0.acceptsNothing = true }
        #expect(try await fixture.sync().map(\.httpStatus) == [401])
        #expect(service.issued == 1)
        #expect(fixture.events.contains { if case .authenticationRejected = $0 { true } else { false } })
        // The next run tries one other token.
        #expect(try await fixture.sync().map(\.httpStatus) == [401])
        #expect(service.issued == 2)
        try await fixture.end()
    }

    @Test(arguments: [400, 401, 500]) func aTokenThatCannotBeRenewedEndsTheRunWithOneRequest(status: Int) async throws {
        let service = Service(), fixture = try await fixture(service)
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        service.change { state in
            state.failure = status
            state.endsAt = 2
        }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("https://login.example/token") == true, "\(report.error ?? "")")
        #expect(report.error?.contains("client-secret") == false)
        #expect(fixture.transport.requests.filter { $0.address.origin.host == "login.example" }.count == 2)
        // Nothing of what was there is gone, and the next run makes it good.
        service.change { $0.failure = nil }
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(try await fixture.values("id", of: "Person").count == Self.pages - 1)
        try await fixture.end()
    }

    @Test func tokensGoToTheOriginOfTheSourceAndSecretsToThatOfTheService() async throws {
        let service = Service(), fixture = try await fixture(service)
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        for request in fixture.transport.requests {
            let text = "\(request.headers)\(request.address)\(request.body?.revealed() ?? "")"
            let basic = "Basic " + Data("me:client-secret".utf8).base64EncodedString()
            let isOfService = request.address.origin.host == "login.example"
            #expect(text.contains(basic) == isOfService && text.contains("access-") == !isOfService)
        }
        try await fixture.end()
    }

    @Test func secondSecretsGoAlongAndStayWithTheirOrigin() async throws {
        let toml = ScriptedAPI.people(
            """
            secret_headers = { DD-APPLICATION-KEY = { credential = "app" } }
            secret_params = { key = { credential = "key" } }
            auth = { kind = "api-key", name = "DD-API-KEY", value = { credential = "api" }, prefix = "Token " }
            http = { redirects = "any" }
            """)
        let secrets = SecretResolver { reference, _ in
            guard case .credential(let id) = reference else { throw Unexpected() }
            return Secret(Array("secret-\(id)".utf8))
        }
        let fixture = try await PipelineFixture(toml, secrets: secrets) { request, _ in
            guard request.address.origin.host == "api.example" else { return TokenFixture.ok(#"[{"id": 1}]"#) }
            return .response(status: 302, headers: ["Location": "https://other.example/people?key=secret-key"])
        }
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        let requests = fixture.transport.requests
        #expect(requests[0].headers["DD-APPLICATION-KEY"] == ["secret-app"] && requests[0].headers["DD-API-KEY"] == ["Token secret-api"])
        #expect(requests[0].address.parameter("key") == "secret-key")
        #expect(!"\(requests[1].headers)\(requests[1].address)".contains("secret-"))
        #expect(!"\(fixture.events)".contains("secret-"))
        try await fixture.end()
    }
}
