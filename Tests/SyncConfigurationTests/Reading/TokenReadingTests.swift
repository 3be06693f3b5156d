import JSONPaths
import Testing

@testable import SyncConfiguration

/// Tokens that are fetched, sessions, and second secrets.
@Suite struct TokenReadingTests {
    private func resource(_ lines: String) throws -> ResourceConfiguration {
        try #require(try configuration(itemSource + lines).sources.first?.resources.first)
    }

    private func auth(_ table: String) throws -> AuthenticationConfiguration { try resource("auth = \(table)").authentication }

    private func problem(_ lines: String) -> String { errors(itemSource + lines).joined(separator: "\n") }

    private static let client =
        "kind = \"oauth2\", token_url = \"https://login.example.com/token\", client_id = \"me\", client_secret = { credential = \"c\" }"

    @Test func clientCredentialsAreReadWithTheirDefaults() throws {
        let expected = AuthenticationConfiguration.OAuth2(
            grant: .clientCredentials, tokenURL: "https://login.example.com/token", clientID: .text("me"), clientSecret: .credential("c"))
        let read = try auth("{ \(Self.client), grant = \"client-credentials\" }")
        #expect(read == .oauth2(expected) && read.secrets == [.credential("c")])
        #expect(expected.tokenPath == JSONPath(keys: ["access_token"]) && expected.expiresPath == JSONPath(keys: ["expires_in"]))
        #expect(expected.earlyRefresh == .seconds(60) && expected.lifetime == nil)
        #expect(expected.header == "Authorization" && expected.scheme == "Bearer")
    }

    @Test func everyKeyOfOAuth2IsRead() throws {
        let read = try auth(
            """
            { \(Self.client), grant = "password", username = { credential = "u" }, password = { credential = "p" }, scopes = ["a", "b:c"], \
            audience = "x", client_auth = "body", fields = { tenant = "t", pin = { credential = "f" }, n = 1 }, early_refresh = "5s", \
            token_path = "$.data.token", expires_path = "$.data.ttl", lifetime = "1h", header = "X-Token", scheme = "" }
            """)
        guard case .oauth2(let oauth2) = read else { throw Unexpected() }
        #expect(oauth2.grant == .password && oauth2.username == .secret(.credential("u")) && oauth2.password == .credential("p"))
        #expect(oauth2.scopes == ["a", "b:c"] && oauth2.audience == "x" && oauth2.clientAuthentication == .body)
        #expect(oauth2.fields.map(\.name) == ["n", "pin", "tenant"] && oauth2.fields[0].value == .text("1"))
        #expect(oauth2.tokenPath.description == "$.data.token" && oauth2.expiresPath.description == "$.data.ttl")
        #expect(oauth2.lifetime == .hours(1) && oauth2.earlyRefresh == .seconds(5) && oauth2.header == "X-Token" && oauth2.scheme == "")
        #expect(Set(read.secrets) == [.credential("c"), .credential("u"), .credential("p"), .credential("f")])
    }

    @Test func eachGrantNamesWhatItNeeds() {
        #expect(problem("auth = { kind = \"oauth2\" }").contains("\"grant\" is missing"))
        #expect(problem("auth = { kind = \"oauth2\", grant = \"client-credentials\" }").contains("\"token_url\" is missing"))
        let url = "kind = \"oauth2\", token_url = \"https://a.example/t\""
        #expect(problem("auth = { \(url), grant = \"client-credentials\", client_id = \"x\" }").contains("\"client_secret\" is missing"))
        #expect(problem("auth = { \(url), grant = \"refresh-token\", client_id = \"x\" }").contains("\"refresh_token\" is missing"))
        #expect(problem("auth = { \(url), grant = \"password\", username = \"x\" }").contains("\"password\" is missing"))
        let stray = problem("auth = { \(Self.client), grant = \"client-credentials\", refresh_token = { credential = \"r\" } }")
        #expect(stray.contains("\"refresh_token\" belongs to grant = \"refresh-token\", but the grant is \"client-credentials\""))
        let doubled = problem("auth = { \(Self.client), grant = \"client-credentials\", fields = { scope = \"x\" } }")
        #expect(doubled.contains("the field scope has a key of its own; use scopes"))
    }

    @Test(arguments: ["http://login.example.com/token", "http://127.example.com/", "http://10.0.0.1/token"])
    func secretsAreNotSentWithoutEncryption(url: String) {
        let found = problem("auth = { \(Self.client.replacing("https://login.example.com/token", with: url)), grant = \"client-credentials\" }")
        #expect(found.contains("secrets would be sent without encryption") && found.contains("use https"), "\(found)")
    }

    @Test(arguments: [("http://api.example.com", false), ("http://127.0.0.1:8080", true), ("https://api.example.com", true)])
    func aLoginBelowTheBaseIsNotSentWithoutEncryptionEither(base: String, isAllowed: Bool) {
        let found = errors(
            itemModel + """
                [[source]]
                name = "s"
                base_url = "\(base)"
                auth = { kind = "session", login = { path = "/login", json = { pw = { credential = "p" } } }, token_path = "$.t" }
                [[source.resource]]
                name = "r"
                path = "/items"
                entity = "Item"
                """
        ).joined(separator: "\n")
        #expect(found.contains("secrets would be sent without encryption to api.example.com") == !isAllowed, "\(found)")
        #expect(found.isEmpty == isAllowed, "\(found)")
    }

    @Test(arguments: ["http://127.0.0.1:8080/token", "http://localhost/token", "http://[::1]/token"])
    func thisMachineNeedsNoEncryption(url: String) throws {
        _ = try auth("{ \(Self.client.replacing("https://login.example.com/token", with: url)), grant = \"client-credentials\" }")
    }

    @Test func aSessionIsReadWithItsDefaults() throws {
        let read = try auth(
            """
            { kind = "session", login = { path = "/login", json = { user = "me", deep = [{ pw = { credential = "p" } }, 1, true] } }, \
            token_path = "$.token" }
            """)
        var login = AuthenticationConfiguration.Login(url: "https://api.example.com/login")
        login.body = .json(
            .object([
                .init(
                    name: "deep",
                    value: .array([.object([.init(name: "pw", value: .text(.secret(.credential("p"))))]), .number("1"), .bool(true)])),
                .init(name: "user", value: .text(.text("me"))),
            ]))
        #expect(read == .session(.init(login: login, token: .path(JSONPath(keys: ["token"])))))
        #expect(read.secrets == [.credential("p")])
    }

    @Test func everyKeyOfASessionIsRead() throws {
        let read = try auth(
            """
            { kind = "session", login = { url = "https://login.example.com/s", method = "POST", form = { pw = { credential = "f" } }, \
            params = { v = 2 }, headers = { X-App = "app", X-Key = { credential = "h" } }, username = "me", password = "" }, token_header = "X-Token", lifetime = "1h", early_refresh = "0s", \
            expires_path = "$.exp", send_as = { in = "cookie", name = "sid" } }
            """)
        guard case .session(let session) = read else { throw Unexpected() }
        #expect(session.login.url == "https://login.example.com/s" && session.login.username == .text("me") && session.login.password == nil)
        #expect(session.login.body == .form([SecretField(name: "pw", value: .secret(.credential("f")))]))
        #expect(session.login.parameters == [SecretField(name: "v", value: .text("2"))])
        #expect(
            session.login.headers == [SecretField(name: "X-App", value: .text("app")), SecretField(name: "X-Key", value: .secret(.credential("h")))])
        #expect(read.secrets == [.credential("f"), .credential("h")])
        #expect(session.token == .header("X-Token") && session.lifetime == .hours(1) && session.earlyRefresh == .zero)
        #expect(session.sendAs.place == .cookie && session.sendAs.name == "sid" && session.sendAs.prefix == "")
    }

    @Test func aLoginSaysWhatItLacks() {
        let session = "kind = \"session\", token_path = \"$.t\""
        #expect(problem("auth = { \(session) }").contains("\"login\" is missing"))
        #expect(problem("auth = { \(session), login = {} }").contains("a login needs path or url"))
        #expect(problem("auth = { kind = \"session\", login = { path = \"/l\" } }").contains("needs token_path or token_header"))
        #expect(
            problem("auth = { \(session), login = { path = \"/l\", json = {}, form = {} } }").contains("json and form cannot be used together"))
        #expect(problem("auth = { \(session), login = { path = \"/l\", method = \"GET\", json = {} } }").contains("a GET has no body"))
        #expect(problem("auth = { \(session), login = { path = \"/l\", username = \"me\" } }").contains("needs username and password"))
        #expect(
            problem(
                "auth = { \(session), login = { path = \"/l\", headers = { Authorization = { env = \"A\" } }, username = \"me\", password = \"\" } }"
            )
            .contains("stands in headers as well"))
        #expect(
            problem("auth = { \(session), login = { path = \"/l\", headers = { X-Api-Key = \"hunter2\" } } }").contains(
                "the header X-Api-Key carries a secret"))
        #expect(problem("auth = { \(session), login = { path = \"/l\" }, send_as = { in = \"query\" } }").contains("\"name\" is missing"))
        #expect(problem("auth = { kind = \"bearer\", token = { credential = \"t\" }, login = {} }").contains("belongs to kind = \"session\""))
    }

    @Test func aSecondSecretIsMergedAndOnlyEverAReference() throws {
        let text =
            itemModel + """
                [[source]]
                name = "s"
                base_url = "https://api.example.com"
                secret_headers = { X-A = { credential = "a" }, X-B = { credential = "b" } }
                secret_params = { k = { credential = "k" } }
                [[source.resource]]
                name = "r"
                path = "/items"
                entity = "Item"
                secret_headers = { x-b = { credential = "own" } }
                """
        let resource = try #require(try configuration(text).sources.first?.resources.first)
        #expect(
            resource.secretHeaders == [
                SecretField(name: "X-A", value: .secret(.credential("a"))), SecretField(name: "x-b", value: .secret(.credential("own"))),
            ])
        #expect(resource.secretParameters == [SecretField(name: "k", value: .secret(.credential("k")))])
        #expect(resource.secrets == [.credential("a"), .credential("own"), .credential("k")])
        let literal = problem("secret_headers = { X-A = \"hunter2\" }")
        #expect(literal.contains("may not contain a secret") && !literal.contains("hunter2"))
        #expect(problem("headers = { X-A = \"1\" }\nsecret_headers = { x-a = { credential = \"a\" } }").contains("x-a stands in headers as well"))
        #expect(problem("params = { a = 1 }\nsecret_params = { a = { credential = \"a\" } }").contains("a stands in params as well"))
    }

    @Test func anAPIKeyMayHaveAPrefixAndBasicAnEmptyPassword() throws {
        #expect(
            try auth("{ kind = \"api-key\", name = \"Authorization\", value = { credential = \"k\" }, prefix = \"Token \" }")
                == .apiKey(.init(name: "Authorization", value: .credential("k"), prefix: "Token ")))
        #expect(
            try auth("{ kind = \"basic\", username = { credential = \"k\" }, password = \"\" }")
                == .basic(.init(username: .secret(.credential("k")), password: nil)))
        #expect(
            try auth("{ kind = \"basic\", username = \"\", password = { credential = \"p\" } }")
                == .basic(.init(username: .name(""), password: .credential("p"))))
        #expect(
            problem("auth = { kind = \"api-key\", in = \"query\", value = { credential = \"k\" }, prefix = \"x\" }").contains(
                "a prefix stands in a header only"))
    }

    @Test func whatIsResolvedIsReadAgainAsTheSame() throws {
        for lines in [
            "auth = { \(Self.client), grant = \"client-credentials\", scopes = [\"a\"], fields = { \"a b\" = { env = \"X\" } } }",
            "auth = { kind = \"oauth2\", grant = \"jwt-bearer\", token_url = \"https://a.example/t\", "
                + "assertion = { key = { credential = \"k\" }, claims = { iss = \"a\" } } }",
            "tls = { client_cert = \"/c\", client_key = { credential = \"k\" } }\nauth = { kind = \"oauth2\", grant = \"client-credentials\", "
                + "token_url = \"https://a.example/t\", client_id = \"a\", tls = { ca = \"/ca\", client_cert = { credential = \"c\" } } }",
            "auth = { kind = \"jwt\", key = { credential = \"k\" }, claims = { aud = [\"a\"], iss = { env = \"I\" } }, "
                + "send_as = { name = \"X-T\" } }",
            "auth = { kind = \"session\", login = { path = \"/l\", json = { a = [1.5, { file = \"/x\" }] } }, token_path = \"$\" }\n"
                + "secret_params = { k = { credential = \"k\" } }",
        ] {
            let first = read(itemSource + lines), text = try #require(first.resolved).toml()
            let again = read(text)
            #expect(again.errors.map(\.description) == [], "\(text)")
            #expect(again.configuration?.sources == first.configuration?.sources, "\(text)")
        }
    }

    private struct Unexpected: Error {}
}
