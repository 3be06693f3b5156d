import Testing

@testable import SyncConfiguration

/// Tokens that are made here.
@Suite struct SignedTokenReadingTests {
    private func auth(_ table: String) throws -> AuthenticationConfiguration {
        try #require(try configuration(itemSource + "auth = \(table)").sources.first?.resources.first).authentication
    }

    private func problem(_ table: String) -> String { errors(itemSource + "auth = \(table)").joined(separator: "\n") }

    @Test func aSignedTokenIsReadWithItsDefaults() throws {
        let read = try auth("{ kind = \"jwt\", key = { credential = \"k\" } }")
        #expect(read == .jwt(.init(.init(key: .credential("k")))))
        guard case .jwt(let jwt) = read else { throw Unexpected() }
        #expect(jwt.webToken.algorithm == .rs256 && jwt.webToken.lifetime == .minutes(10) && jwt.webToken.keyEncoding == .text)
        #expect(jwt.earlyRefresh == .seconds(60) && jwt.sendAs == .init() && read.secrets == [.credential("k")])
        #expect(read.keysOfSeveralLines == [.credential("k")])
    }

    @Test func everyKeyOfASignedTokenIsRead() throws {
        let read = try auth(
            """
            { kind = "jwt", key = { file = "/k" }, key_encoding = "base64", algorithm = "HS512", lifetime = "20m", early_refresh = "5s", \
            claims = { iss = "me", level = 1.5, admin = true, aud = ["a", "b"], sub = { credential = "s" }, ctx = { tenant = { env = "T" } } }, \
            headers = { kid = "key-1", typ = "at+jwt" }, send_as = { in = "query", name = "jwt" } }
            """)
        guard case .jwt(let jwt) = read else { throw Unexpected() }
        #expect(jwt.webToken.algorithm == .hs512 && jwt.webToken.keyEncoding == .base64 && jwt.webToken.lifetime == .minutes(20))
        #expect(jwt.webToken.claims.map(\.name) == ["admin", "aud", "ctx", "iss", "level", "sub"])
        #expect(jwt.webToken.claims[4].value == .number("1.5") && jwt.webToken.claims[1].value == .array([.text(.text("a")), .text(.text("b"))]))
        #expect(jwt.webToken.headers.map(\.name) == ["kid", "typ"])
        #expect(jwt.earlyRefresh == .seconds(5) && jwt.sendAs.place == .query && jwt.sendAs.name == "jwt" && jwt.sendAs.prefix == "")
        #expect(Set(read.secrets) == [.file("/k"), .credential("s"), .environment("T")])
        // A key that is one line is no key in PEM form.
        #expect(read.keysOfSeveralLines == [])
    }

    @Test(arguments: AuthenticationConfiguration.WebToken.Algorithm.allCases) func everyAlgorithmIsRead(
        algorithm: AuthenticationConfiguration.WebToken.Algorithm
    ) throws {
        guard case .jwt(let jwt) = try auth("{ kind = \"jwt\", key = { credential = \"k\" }, algorithm = \"\(algorithm.rawValue)\" }") else {
            throw Unexpected()
        }
        #expect(jwt.webToken.algorithm == algorithm)
    }

    @Test func whatIsWrongWithASignedTokenIsSaid() {
        let key = "kind = \"jwt\", key = { credential = \"k\" }"
        #expect(problem("{ kind = \"jwt\" }").contains("\"key\" is missing; kind = \"jwt\" needs it"))
        #expect(problem("{ kind = \"jwt\", key = \"hunter2\" }").contains("may not contain a secret"))
        #expect(!problem("{ kind = \"jwt\", key = \"hunter2\" }").contains("hunter2"))
        #expect(problem("{ \(key), algorithm = \"none\" }").contains("one of \"RS256\""))
        #expect(problem("{ \(key), key_encoding = \"base64\" }").contains("the key of RS256 is in PEM form"))
        #expect(problem("{ \(key), claims = { exp = 1 } }").contains("exp is written for each token; remove it; lifetime says how long"))
        #expect(problem("{ \(key), headers = { alg = \"none\" } }").contains("alg is written for each token; remove it, and write algorithm"))
        #expect(problem("{ \(key), claims = { credential = \"c\" } }").contains("a reference stands for one value"))
        #expect(problem("{ \(key), claims = { a = 1979-05-27 } }").contains("a: JSON has no such value"))
        #expect(problem("{ \(key), send_as = { in = \"cookie\" } }").contains("\"name\" is missing"))
        #expect(problem("{ \(key), lifetime = \"0s\" }").contains("lifetime"))
        #expect(problem("{ kind = \"bearer\", token = { credential = \"t\" }, claims = {} }").contains("belongs to kind = \"jwt\""))
        #expect(problem("{ \(key), token_path = \"$.a\" }").contains("\"token_path\" belongs to kind = \"oauth2\", but the kind is \"jwt\""))
    }

    // MARK: Assertions

    private static let url = "kind = \"oauth2\", token_url = \"https://login.example.com/token\""
    private static let assertion = "assertion = { key = { credential = \"k\" }, claims = { iss = \"me\" } }"

    @Test func anAssertionIsReadWithItsDefaults() throws {
        guard case .oauth2(let oauth2) = try auth("{ \(Self.url), grant = \"jwt-bearer\", scopes = [\"a\"], \(Self.assertion) }") else {
            throw Unexpected()
        }
        #expect(oauth2.grant == .jwtBearer && oauth2.clientID == nil && oauth2.clientSecret == nil)
        #expect(oauth2.assertion?.algorithm == .rs256 && oauth2.assertion?.lifetime == .minutes(5) && oauth2.assertion?.headers == [])
        #expect(oauth2.assertion?.claims == [.init(name: "iss", value: .text(.text("me")))])
        #expect(oauth2.secrets == [.credential("k")] && AuthenticationConfiguration.oauth2(oauth2).keysOfSeveralLines == [.credential("k")])
    }

    @Test func aClientMaySignInPlaceOfASecret() throws {
        let read = try auth(
            """
            { \(Self.url), grant = "client-credentials", client_id = "me", client_auth = "private-key-jwt", \
            assertion = { key = { credential = "k" }, algorithm = "ES256", lifetime = "60s", headers = { kid = "1" } } }
            """)
        guard case .oauth2(let oauth2) = read else { throw Unexpected() }
        #expect(oauth2.clientAuthentication == .privateKeyJWT && oauth2.clientSecret == nil)
        #expect(oauth2.assertion?.algorithm == .es256 && oauth2.assertion?.lifetime == .seconds(60))
    }

    @Test func whatIsWrongWithAnAssertionIsSaid() {
        #expect(problem("{ \(Self.url), grant = \"jwt-bearer\" }").contains("\"assertion\" is missing"))
        #expect(problem("{ \(Self.url), grant = \"jwt-bearer\", assertion = {} }").contains("\"key\" is missing; an assertion is signed with it"))
        let nobody = problem("{ \(Self.url), grant = \"jwt-bearer\", assertion = { key = { credential = \"k\" } } }")
        #expect(nobody.contains("the assertion does not say who asks for the token"))
        #expect(problem("{ \(Self.url), grant = \"jwt-bearer\", client_id = \"a\", assertion = { key = { credential = \"k\" } } }") == "")
        let client = "client_id = \"a\", client_secret = { credential = \"s\" }"
        let stray = problem("{ \(Self.url), grant = \"client-credentials\", \(client), \(Self.assertion) }")
        #expect(stray.contains("\"assertion\" belongs to grant = \"jwt-bearer\" or client_auth = \"private-key-jwt\""))
        let signing = "grant = \"client-credentials\", client_auth = \"private-key-jwt\""
        #expect(problem("{ \(Self.url), \(signing), \(client), \(Self.assertion) }").contains("a client that signs has no secret"))
        #expect(problem("{ \(Self.url), \(signing), client_id = \"a\" }").contains("\"assertion\" is missing"))
        #expect(problem("{ \(Self.url), \(signing), \(Self.assertion) }").contains("\"client_id\" is missing"))
        let both = problem("{ \(Self.url), grant = \"jwt-bearer\", client_auth = \"private-key-jwt\", client_id = \"a\", \(Self.assertion) }")
        #expect(both.contains("says who asks; remove client_auth"))
        let field = problem("{ \(Self.url), grant = \"jwt-bearer\", \(Self.assertion), fields = { assertion = \"x\" } }")
        #expect(field.contains("the field assertion has a key of its own"))
        #expect(problem("{ kind = \"bearer\", token = { credential = \"t\" }, assertion = {} }").contains("belongs to kind = \"oauth2\""))
    }

    private struct Unexpected: Error {}
}
