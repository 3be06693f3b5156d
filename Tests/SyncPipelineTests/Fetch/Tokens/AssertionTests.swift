import Crypto
import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Tokens that are asked for with signed ones (RFC 7523).
@Suite(.timeLimit(.minutes(10))) struct AssertionTests {
    private typealias OAuth2 = AuthenticationConfiguration.OAuth2
    private typealias WebToken = AuthenticationConfiguration.WebToken

    private static let url = "https://login.example/token"
    private static let secrets = ["key": SigningKeys.p256, "shared": "the-shared-key"]

    private static var assertion: WebToken {
        var webToken = WebToken(key: .credential("key"), algorithm: .es256)
        webToken.claims = [.init(name: "iss", value: .text(.text("robot@example")))]
        webToken.lifetime = .minutes(5)
        return webToken
    }

    private static var bearer: OAuth2 {
        var oauth2 = OAuth2(grant: .jwtBearer, tokenURL: url)
        oauth2.assertion = assertion
        oauth2.scopes = ["read", "write"]
        return oauth2
    }

    private static var signing: OAuth2 {
        var oauth2 = OAuth2(grant: .clientCredentials, tokenURL: url, clientID: .text("client 1"))
        oauth2.clientAuthentication = .privateKeyJWT
        oauth2.assertion = WebToken(key: .credential("shared"), algorithm: .hs256)
        oauth2.scopes = ["read"]
        return oauth2
    }

    private func counting(_ more: String = "") -> TokenFixture {
        TokenFixture { _, number in TokenFixture.ok(#"{"access_token": "token-\#(number + 1)"\#(more)}"#) }
    }

    private static func claims(_ assertion: String) throws -> [String: Any] {
        try SignedTokenTests.object(try #require(assertion.split(separator: ".").dropFirst().first))
    }

    @Test func anAssertionIsTheGrantAndSaysWhatAServiceWantsToKnow() async throws {
        let fixture = counting()
        #expect(try await fixture.issuer(Self.bearer, secrets: Self.secrets).text() == "token-1")
        let request = try #require(fixture.transport.requests.first), form = TokenFixture.form(request)
        #expect(request.address.description == Self.url && request.headers["Authorization"] == [])
        #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" && form["scope"] == "read write")
        #expect(Set(form.keys) == ["grant_type", "assertion", "scope"])
        let assertion = try #require(form["assertion"]), claims = try Self.claims(assertion)
        #expect(claims["iss"] as? String == "robot@example" && claims["aud"] as? String == Self.url && claims["scope"] as? String == "read write")
        let now = Int(fixture.clock.wallTime.timeIntervalSince1970)
        #expect(claims["iat"] as? Int == now - 60 && claims["exp"] as? Int == now + 240 && claims["sub"] == nil && claims["jti"] != nil)
        let parts = assertion.split(separator: "."), known = try P256.Signing.PrivateKey(pemRepresentation: SigningKeys.p256).publicKey
        let bytes = try #require(Secret.decoding(base64: Array(parts[2].utf8))).withUnsafeBytes { Data($0) }
        let message = Array("\(parts[0]).\(parts[1])".utf8)
        #expect(known.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: bytes), for: message))
    }

    @Test func whatTheConfigurationSaysInAnAssertionHolds() async throws {
        var oauth2 = Self.bearer
        oauth2.clientID = .text("client")
        oauth2.clientSecret = .credential("shared")
        oauth2.assertion?.claims = [
            .init(name: "aud", value: .text(.text("https://other.example/"))), .init(name: "iss", value: .text(.secret(.credential("issuer")))),
            .init(name: "scope", value: .text(.text("all"))), .init(name: "sub", value: .text(.text("somebody"))),
        ]
        let fixture = counting()
        #expect(try await fixture.issuer(oauth2, secrets: Self.secrets).text() == "token-1")
        let request = try #require(fixture.transport.requests.first), claims = try Self.claims(TokenFixture.form(request)["assertion"] ?? "")
        #expect(claims["aud"] as? String == "https://other.example/" && claims["iss"] as? String == "secret-issuer")
        #expect(claims["scope"] as? String == "all" && claims["sub"] as? String == "somebody")
        #expect(request.headers["Authorization"] == ["Basic \(Data("client:the-shared-key".utf8).base64EncodedString())"])
    }

    @Test func aClientThatSignsSendsNoSecret() async throws {
        let fixture = counting()
        #expect(try await fixture.issuer(Self.signing, secrets: Self.secrets).text() == "token-1")
        let request = try #require(fixture.transport.requests.first), form = TokenFixture.form(request)
        #expect(request.headers["Authorization"] == [])
        #expect(Set(form.keys) == ["grant_type", "scope", "client_id", "client_assertion_type", "client_assertion"])
        #expect(form["grant_type"] == "client_credentials" && form["client_id"] == "client 1")
        #expect(form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        let claims = try Self.claims(form["client_assertion"] ?? "")
        #expect(claims["iss"] as? String == "client 1" && claims["sub"] as? String == "client 1" && claims["aud"] as? String == Self.url)
        #expect(claims["scope"] == nil)
    }

    @Test func eachRequestHasAnAssertionOfItsOwn() async throws {
        let fixture = TokenFixture { _, number in
            number == 0 ? .response(status: 503) : TokenFixture.ok(#"{"access_token": "token", "expires_in": 600}"#)
        }
        let issuer = try fixture.issuer(Self.signing, secrets: Self.secrets)
        #expect(try await issuer.text() == "token")
        // It is kept for as long as it is good.
        #expect(try await issuer.text() == "token")
        fixture.clock.advance(by: .seconds(600))
        #expect(try await issuer.text() == "token")
        let sent = fixture.transport.requests.map { TokenFixture.form($0)["client_assertion"] ?? "" }
        #expect(sent.count == 3 && Set(sent).count == 3)
        let numbers = try sent.map { try #require(try Self.claims($0)["jti"] as? String) }
        #expect(Set(numbers).count == 3)
    }

    // No two assertions are the same: what is remembered is what they have in common.
    @Test func whatAServiceRefusesIsNotAskedForAtOnceWithAnotherAssertion() async throws {
        let fixture = TokenFixture { request, _ in
            let assertion = TokenFixture.form(request)["assertion"] ?? ""
            return TokenFixture.refused(#"{"error": "invalid_grant", "error_description": "not \#(assertion)"}"#)
        }
        let issuer = try fixture.issuer(Self.bearer, secrets: Self.secrets)
        for _ in 0..<3 {
            let error = await #expect(throws: FetchError.self) { try await issuer.text() }
            let said = "\(error?.description ?? "")"
            #expect(error?.kind == .credential && said.contains("invalid_grant: not [redacted]"), "\(said)")
            #expect(said.contains("check the claims and the key of the assertion, and the clock"), "\(said)")
            #expect(said.contains("it has no claim sub"), "\(said)")
        }
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(59))
        await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(1))
        await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(fixture.transport.requests.count == 2)
        // A key that is corrected is used at once.
        fixture.configure("key", SigningKeys.oldP256)
        await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(fixture.transport.requests.count == 3)
    }

    // A machine that begins in 1970 signs with that, and is refused for it.
    @Test(arguments: [bearer, signing]) func aClockThatIsSetRightIsTriedAtOnce(oauth2: AuthenticationConfiguration.OAuth2) async throws {
        let fixture = TokenFixture { _, number in
            number < 2 ? TokenFixture.refused(#"{"error": "invalid_grant"}"#) : TokenFixture.ok(#"{"access_token": "token"}"#)
        }
        let issuer = try fixture.issuer(oauth2, secrets: Self.secrets), right = fixture.clock.wallTime
        fixture.clock.setWallTime(Date(timeIntervalSince1970: 1000))
        for _ in 0..<2 { await #expect(throws: FetchError.self) { try await issuer.text() } }
        // It is kept right all the time.
        fixture.clock.advance(by: .seconds(5))
        fixture.clock.setWallTime(Date(timeIntervalSince1970: 1010))
        await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.setWallTime(right)
        await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(fixture.transport.requests.count == 2)
        fixture.clock.setWallTime(right.addingTimeInterval(-3600))
        #expect(try await issuer.text() == "token")
    }

    // The key may be registered a little later, and no account is locked.
    @Test func aRefusedAssertionIsTriedAgainAfterTenMinutesAtTheLatest() async throws {
        let fixture = TokenFixture { _, _ in TokenFixture.refused(#"{"error": "invalid_grant"}"#) }
        let issuer = try fixture.issuer(Self.bearer, secrets: Self.secrets)
        for number in 1...8 {
            await #expect(throws: FetchError.self) { try await issuer.text() }
            #expect(fixture.transport.requests.count == number)
            fixture.clock.advance(by: .seconds(600))
        }
        // A password is not: accounts are locked for that.
        let others = TokenFixture { _, _ in TokenFixture.refused(#"{"error": "invalid_client"}"#) }, other = try others.issuer(TokenFixture.client)
        for _ in 1...8 {
            await #expect(throws: FetchError.self) { try await other.text() }
            others.clock.advance(by: .seconds(600))
        }
        #expect(others.transport.requests.count < 8)
    }

    @Test func aKeyThatCannotBeUsedAsksForNothing() async throws {
        let fixture = counting(), issuer = try fixture.issuer(Self.bearer, secrets: ["key": SigningKeys.rsa])
        let error = await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(error?.kind == .credential && error?.detail.contains("holds an RSA key, and ES256 needs") == true, "\(error?.detail ?? "")")
        #expect(fixture.transport.requests.isEmpty && !"\(error?.description ?? "")".contains(SigningKeys.rsa.prefix(80)))
        // Nothing of it is remembered.
        fixture.configure("key", SigningKeys.p256)
        #expect(try await issuer.text() == "token-1")
    }

    @Test func keysStayHereAndWhatIsSentIsTakenOutOfTexts() async throws {
        let fixture = counting(), issuer = try fixture.issuer(Self.signing, secrets: Self.secrets)
        let (token, _) = try await issuer.token { _ in }
        let sent = fixture.transport.requests.map { $0.body?.revealed() ?? "" }.joined()
        #expect(!sent.contains("the-shared-key"))
        // Not kept with the token either.
        let related = token.related.map { $0.revealed() }
        #expect(!related.contains("the-shared-key") && related.contains { $0.split(separator: ".").count == 3 })
    }
}
