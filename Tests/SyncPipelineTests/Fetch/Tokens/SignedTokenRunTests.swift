import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Runs whose requests carry tokens that are made here. // R13, N10
@Suite(.timeLimit(.minutes(10))) struct SignedTokenRunTests {
    /// An API that takes the newest token that it has seen, as long as that is good, until it is told to take none.
    private final class API: Sendable {
        struct State {
            /// The tokens that came, in the order in which they were new.
            var tokens: [String] = []
            /// How many of them are refused.
            var refused = 0
            var refusal = 401
            /// What a refusal says.
            var said = ""
        }

        let state = Mutex(State())
        let lastPage: Int

        init(pages: Int = 3) { lastPage = pages }

        var tokens: [String] { state.withLock { $0.tokens } }

        /// Takes no token that came until now.
        func end(_ refusal: Int = 401) {
            state.withLock { state in
                state.refused = state.tokens.count
                state.refusal = refusal
            }
        }

        func answer(_ request: HTTPRequest) -> StubTransport.Answer {
            state.withLock { state in
                let token = Self.token(in: request)
                if !state.tokens.contains(token) { state.tokens.append(token) }
                let number = state.tokens.firstIndex(of: token) ?? 0
                guard number >= state.refused else { return .response(status: state.refusal, body: Array("no: \(token)".utf8)) }
                let page = request.address.parameter("page").flatMap { Int($0) } ?? 0
                return TokenFixture.ok(page < lastPage ? #"[{"id": \#(page)}]"# : "[]")
            }
        }

        private static func token(in request: HTTPRequest) -> String {
            let places = [
                request.headers.first(name: "Authorization")?.split(separator: " ").last.map(String.init),
                request.headers.first(name: "Cookie")?.split(separator: "=").last.map(String.init), request.address.parameter("jwt"),
            ]
            return places.compactMap(\.self).first ?? ""
        }
    }

    private static func toml(_ more: String = "") -> String {
        ScriptedAPI.people(
            """
            pages = { kind = "page" }
            retry = { attempts = 1 }
            auth = { kind = "jwt", key = { credential = "key" }, algorithm = "HS256", claims = { iss = "me" }\(more) }
            """)
    }

    private func fixture(_ api: API, _ toml: String = toml()) async throws -> PipelineFixture {
        try await PipelineFixture(toml, secrets: Fixture.secret("the-shared-key")) { request, _ in api.answer(request) }
    }

    @Test func oneTokenServesAllPagesAndRunsUntilItEnds() async throws {
        // A run every hour.
        let api = API(), fixture = try await fixture(api, Self.toml(", lifetime = \"2h\""))
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(api.tokens.count == 1)
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(api.tokens.count == 2)
        let claims = try api.tokens.map { try SignedTokenTests.object($0.split(separator: ".")[1]) }
        for claim in claims { #expect(claim["iss"] as? String == "me") }
        let ends = claims.compactMap { $0["exp"] as? Int }
        #expect(ends.count == 2 && ends[1] - ends[0] == 7200)
        // Nothing but pages was asked for.
        #expect(fixture.transport.requests.allSatisfy { $0.address.origin.host == "api.example" })
        #expect(try await fixture.values("id", of: "Person") == ["1", "2"])
        try await fixture.end()
    }

    @Test func aTokenThatIsRefusedInTheMiddleOfARunIsMadeAnew() async throws {
        let api = API(), fixture = try await fixture(api, Self.toml(", lifetime = \"10d\""))
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        api.end()
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(api.tokens.count == 2)
        // A person without rights has no better token.
        api.end(403)
        #expect(try await fixture.sync().map(\.outcome) == [.failed])
        #expect(api.tokens.count == 2)
        try await fixture.end()
    }

    @Test func aNewTokenThatIsRefusedEndsTheRunAndIsNotShown() async throws {
        let api = API(), fixture = try await fixture(api)
        api.state.withLock { $0.refused = .max }
        let report = try #require(try await fixture.sync().first)
        #expect(report.httpStatus == 401 && api.tokens.count == 1)
        #expect(fixture.events.contains { if case .authenticationRejected = $0 { true } else { false } })
        let told = "\(fixture.events)\(report.error ?? "")"
        #expect(!told.contains(api.tokens[0]) && !told.contains("the-shared-key") && told.contains("[redacted]"), "\(told)")
        try await fixture.end()
    }

    @Test func aTokenOutlivesAReloadUnlessWhatItSaysHasChanged() async throws {
        let api = API(), fixture = try await fixture(api, Self.toml(", lifetime = \"10d\""))
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        try await fixture.pipeline.reload(PipelineFixture.configuration(Self.toml(", lifetime = \"10d\"") + "\n# read again"))
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(api.tokens.count == 1)
        try await fixture.pipeline.reload(PipelineFixture.configuration(Self.toml(", lifetime = \"10d\", headers = { kid = \"2\" }")))
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        #expect(api.tokens.count == 2)
        let header = try SignedTokenTests.object(api.tokens[1].split(separator: ".")[0])
        #expect(header["kid"] as? String == "2")
        try await fixture.end()
    }

    @Test(arguments: ["header", "query", "cookie"]) func itIsSentWhereItIsSaidToBe(place: String) async throws {
        let name = place == "header" ? "Authorization" : "jwt"
        let api = API(), fixture = try await fixture(api, Self.toml(", send_as = { in = \"\(place)\", name = \"\(name)\" }"))
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        let token = try #require(api.tokens.first), first = try #require(fixture.transport.requests.first)
        #expect(api.tokens.count == 1 && token.split(separator: ".").count == 3)
        #expect(first.headers["Authorization"] == (place == "header" ? ["Bearer \(token)"] : []))
        #expect(first.headers["Cookie"] == (place == "cookie" ? ["jwt=\(token)"] : []))
        #expect(first.address.parameter("jwt") == (place == "query" ? token : nil))
        // What is stored and told of pages is without it.
        #expect(!"\(fixture.events)".contains(token))
        try await fixture.end()
    }

    @Test func aKeyThatIsReplacedSignsTheNextToken() async throws {
        let key = Mutex("first-shared-key"), api = API()
        let secrets = SecretResolver { _, _ in Secret(Array(key.withLock { $0 }.utf8)) }
        let fixture = try await PipelineFixture(Self.toml(), secrets: secrets) { request, _ in api.answer(request) }
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        key.withLock { $0 = "second-shared-key" }
        #expect(try await fixture.sync().map(\.outcome) == [.succeeded])
        for (token, text) in zip(api.tokens, ["first-shared-key", "second-shared-key"]) {
            let parts = token.split(separator: "."), key = try SigningKey(Secret(Array(text.utf8)), encoding: .text, for: .hs256)
            let message = Secret(Array("\(parts[0]).\(parts[1])".utf8))
            #expect(try key.signature(of: message).base64(isForURLs: true).revealed() == String(parts[2]))
        }
        #expect(api.tokens.count == 2)
        try await fixture.end()
    }

    @Test func aKeyThatIsNoneFailsTheRunBeforeAnythingIsSent() async throws {
        let api = API()
        let toml = Self.toml().replacing("HS256", with: "ES256"), secrets = Fixture.secret("hunter2-hunter2")
        let fixture = try await PipelineFixture(toml, secrets: secrets) { request, _ in api.answer(request) }
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && fixture.transport.requests.isEmpty)
        #expect(report.error?.contains("{ credential = \"key\" } holds no private key in PEM form") == true, "\(report.error ?? "")")
        #expect(!"\(fixture.events)\(report.error ?? "")".contains("hunter2"))
        try await fixture.end()
    }
}
