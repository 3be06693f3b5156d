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

    private struct Unexpected: Error {}
}
