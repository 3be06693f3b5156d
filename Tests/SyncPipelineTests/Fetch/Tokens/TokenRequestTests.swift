import Foundation
import JSONReader
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What a service of tokens gets, over a real connection.
@Suite(.timeLimit(.minutes(60))) struct TokenRequestTests: LoopbackTesting {
    private static let odd = "a b&c=d%+/ü\"\\"

    private func ask(
        _ configuration: (String) -> AuthenticationConfiguration, answer: String = #"{"access_token": "the-token"}"#, headers: [(String, String)] = []
    ) async throws -> (request: RawHTTPServer.Request, token: String) {
        try await with({ _, _ in [.send(Fixture.response(answer, headers: headers)), .keepAlive] }) { server, transport in
            let request = try #require(try TokenRequest(configuration(server.url())))
            let service = TokenService(pool: TokenPool(), transports: TransportPool { _ in transport }, clock: SystemClock())
            let resource = Fixture.resource("https://api.example/items") { $0.http.waitLong() }
            let issuer = TokenIssuer(
                request, resource: resource, daemon: DaemonConfiguration(), userAgent: "test/1", secrets: Fixture.secret(Self.odd), service: service)
            let token = try await issuer.text()
            return (try #require(server.requests.first), token)
        }
    }

    private func oauth2(
        _ url: String, _ grant: AuthenticationConfiguration.OAuth2.Grant, _ change: (inout AuthenticationConfiguration.OAuth2) -> Void = { _ in }
    ) -> AuthenticationConfiguration {
        var oauth2 = AuthenticationConfiguration.OAuth2(
            grant: grant, tokenURL: "\(url)oauth/token", clientID: .text("client:1"), clientSecret: .credential("c"))
        change(&oauth2)
        return .oauth2(oauth2)
    }

    // RFC 6749, 2.3.1 and 4.4.2
    @Test func clientAndSecretAreEncodedInTheHeader() async throws {
        let (request, token) = try await ask { url in
            oauth2(url, .clientCredentials) {
                $0.scopes = ["read:items", "write"]
                $0.audience = "https://api.example/"
                $0.fields = [SecretField(name: "tenant id", value: .secret(.credential("t"))), SecretField(name: "x", value: .text("y"))]
            }
        }
        #expect(token == "the-token")
        #expect(request.line == "POST /oauth/token HTTP/1.1")
        #expect(request.headers["content-type"] == "application/x-www-form-urlencoded" && request.headers["accept"] == "application/json")
        let pair = "client%3A1:\(HTTPAddress.encode(Self.odd))"
        #expect(request.headers["authorization"] == "Basic \(Data(pair.utf8).base64EncodedString())")
        #expect(
            request.form == [
                "grant_type": "client_credentials", "scope": "read:items write", "audience": "https://api.example/", "tenant id": Self.odd, "x": "y",
            ])
        #expect(request.headers["cookie"] == nil && request.headers["user-agent"] == "test/1")
    }

    @Test func clientAndSecretStandInTheFormWhereThatIsSaid() async throws {
        let (request, _) = try await ask { url in oauth2(url, .clientCredentials) { $0.clientAuthentication = .body } }
        #expect(request.headers["authorization"] == nil)
        #expect(request.form == ["grant_type": "client_credentials", "client_id": "client:1", "client_secret": Self.odd])
        #expect(String(decoding: request.body, as: UTF8.self).hasSuffix("client_secret=a%20b%26c%3Dd%25%2B%2F%C3%BC%22%5C"))
    }

    @Test func aPublicClientNamesItself() async throws {
        let (request, _) = try await ask { url in
            oauth2(url, .refreshToken) {
                $0.clientSecret = nil
                $0.refreshToken = .credential("r")
            }
        }
        #expect(request.headers["authorization"] == nil)
        #expect(request.form == ["grant_type": "refresh_token", "refresh_token": Self.odd, "client_id": "client:1"])
    }

    @Test func aUserIsNamedWithAnEmptyPasswordToo() async throws {
        let (request, _) = try await ask { url in
            oauth2(url, .password) {
                $0.clientID = nil
                $0.clientSecret = nil
                $0.username = .text("me")
            }
        }
        #expect(request.form == ["grant_type": "password", "username": "me", "password": ""])
    }

    @Test func aLoginSendsJSONAndFindsItsTokenWhereverItIs() async throws {
        var login = AuthenticationConfiguration.Login(url: "")
        login.body = .json(
            .object([
                .init(name: "a\"b", value: .array([.number("1.5"), .bool(true), .object([])])),
                .init(name: "password", value: .text(.secret(.credential("p")))),
            ]))
        login.parameters = [SecretField(name: "v", value: .text("2"))]
        login.username = .text("me")
        let (request, token) = try await ask(
            { url in
                login.url = "\(url)login"
                return .session(.init(login: login, token: .path(JSONPath.root)))
            }, answer: #""bare-token""#)
        #expect(token == "bare-token")
        #expect(request.line == "POST /login?v=2 HTTP/1.1" && request.headers["content-type"] == "application/json")
        #expect(request.headers["authorization"] == "Basic \(Data("me:".utf8).base64EncodedString())")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
        #expect(object["password"] as? String == Self.odd && (object["a\"b"] as? [Any])?.count == 3)
    }

    @Test func aLoginMayHaveHeadersOfItsOwn() async throws {
        let (request, _) = try await ask(
            { url in
                var login = AuthenticationConfiguration.Login(url: "\(url)login")
                login.method = .get
                login.headers = [
                    SecretField(name: "accept", value: .text("application/vnd.a+json")), SecretField(name: "X-Key", value: .secret(.credential("p"))),
                ]
                return .session(.init(login: login, token: .path(JSONPath(keys: ["access_token"]))))
            })
        #expect(request.line == "GET /login HTTP/1.1" && request.headers["x-key"] == Self.odd)
        #expect(request.headers["accept"] == "application/vnd.a+json" && request.headers["authorization"] == nil)
    }

    @Test func aLoginMayBeAFormAndItsTokenInAHeader() async throws {
        let (request, token) = try await ask(
            { url in
                var login = AuthenticationConfiguration.Login(url: "\(url)login")
                login.body = .form([SecretField(name: "pw", value: .secret(.credential("p")))])
                return .session(.init(login: login, token: .header("X-Session")))
            }, answer: "", headers: [("X-Session", "from-a-header")])
        #expect(token == "from-a-header" && request.form == ["pw": Self.odd])
    }

    @Test func aLoginMayBeAGETAndSayWhenItsTokenEnds() async throws {
        let (request, token) = try await ask(
            { url in
                var login = AuthenticationConfiguration.Login(url: "\(url)login")
                login.method = .get
                login.parameters = [SecretField(name: "apikey", value: .secret(.credential("p")))]
                var session = AuthenticationConfiguration.Session(login: login, token: .path(JSONPath(keys: ["data", "token"])))
                session.expiresPath = JSONPath(keys: ["data", "exp"])
                return .session(session)
            }, answer: #"{"data": {"token": 4217, "exp": 4000000000}}"#)
        #expect(token == "4217" && request.line == "GET /login?apikey=\(HTTPAddress.encode(Self.odd)) HTTP/1.1")
    }
}
