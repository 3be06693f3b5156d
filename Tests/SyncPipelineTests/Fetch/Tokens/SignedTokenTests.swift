import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What tokens say that are made here.
@Suite(.timeLimit(.minutes(10))) struct SignedTokenTests {
    typealias WebToken = AuthenticationConfiguration.WebToken

    /// 2025-01-01
    private static let now = Date(timeIntervalSince1970: 1_735_689_600.75)

    /// A key in PEM form has several lines, and no other secret has.
    private static var secrets: TokenSecrets {
        TokenSecrets(
            sent: { reference in Secret(Array("secret \"\(reference)\"".utf8)) },
            key: { _, form in Secret(Array((form == .lines ? SigningKeys.ed25519 : "the shared key").utf8)) })
    }

    private static func token(_ algorithm: WebToken.Algorithm = .hs256, _ change: (inout WebToken) -> Void = { _ in }) -> WebToken {
        var token = WebToken(key: .credential("key"), algorithm: algorithm)
        change(&token)
        return token
    }

    private func made(_ token: WebToken, now: Date = now) async throws -> (signed: SignedToken, said: [[String: Any]], parts: [String]) {
        let signed = try await SignedToken(token, now: now, id: "number-1", Self.secrets)
        let parts = signed.value.revealed().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return (signed, try parts.prefix(2).map(Self.object), parts)
    }

    static func object(_ part: some StringProtocol) throws -> [String: Any] {
        let bytes = try #require(Secret.decoding(base64: Array(part.utf8))).withUnsafeBytes { Data($0) }
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    @Test func itSaysWhatIsConfiguredAndItsTimes() async throws {
        let (signed, said, parts) = try await made(
            Self.token {
                $0.claims = [
                    .init(name: "admin", value: .bool(true)), .init(name: "aud", value: .array([.text(.text("a")), .text(.text("b"))])),
                    .init(name: "iss", value: .text(.text("me \"ü\""))), .init(name: "level", value: .number("1.5")),
                    .init(name: "sub", value: .text(.secret(.credential("subject")))),
                ]
                $0.headers = [.init(name: "kid", value: .text(.text("key-1")))]
            })
        #expect(parts.count == 3 && !parts.joined().contains("="))
        #expect(said[0] as? [String: String] == ["alg": "HS256", "kid": "key-1", "typ": "JWT"])
        let claims = said[1]
        #expect(claims["iss"] as? String == "me \"ü\"" && claims["sub"] as? String == "secret \"{ credential = \"subject\" }\"")
        #expect(claims["admin"] as? Bool == true && claims["aud"] as? [String] == ["a", "b"] && claims["level"] as? Double == 1.5)
        // Whole seconds, and from a minute before.
        #expect(claims["iat"] as? Int == 1_735_689_540 && claims["nbf"] as? Int == 1_735_689_540 && claims["exp"] as? Int == 1_735_690_140)
        #expect(claims["jti"] as? String == "number-1" && claims.count == 9)
        #expect(signed.life == .milliseconds(539_250))
        let key = try SigningKey(Secret(Array("the shared key".utf8)), encoding: .text, for: .hs256)
        let message = Secret(Array("\(parts[0]).\(parts[1])".utf8))
        #expect(try key.signature(of: message).base64(isForURLs: true).revealed() == parts[2])
    }

    @Test func aTokenWithoutClaimsSaysItsTimes() async throws {
        let (_, said, _) = try await made(Self.token(.edDSA))
        #expect(said[0] as? [String: String] == ["alg": "EdDSA", "typ": "JWT"])
        #expect(Set(said[1].keys) == ["iat", "nbf", "exp", "jti"])
    }

    @Test func whatIsSaidOfTypeAndNumberHolds() async throws {
        let (_, said, _) = try await made(
            Self.token {
                $0.headers = [.init(name: "typ", value: .text(.text("at+jwt")))]
                $0.claims = [.init(name: "jti", value: .number("7"))]
            })
        #expect(said[0]["typ"] as? String == "at+jwt" && said[1]["jti"] as? Int == 7 && said[1].count == 4)
    }

    @Test(
        arguments: [
            (.seconds(1), 0, 1), (.milliseconds(1999), 0, 1), (.seconds(30), 7, 23), (.seconds(240), 60, 180), (.hours(1), 60, 3540),
        ] as [(TimeSpan, Int, Int)])
    func aTokenOfShortLifeBeginsLaterBeforeNow(lifetime: TimeSpan, before: Int, after: Int) async throws {
        let (signed, said, _) = try await made(Self.token { $0.lifetime = lifetime })
        #expect(said[1]["iat"] as? Int == 1_735_689_600 - before && said[1]["exp"] as? Int == 1_735_689_600 + after)
        #expect(signed.life > .zero && signed.life <= .seconds(after))
    }

    @Test func tokensOfOneConfigurationDifferAndAreAlike() async throws {
        let first = try await SignedToken(Self.token(), now: Self.now, Self.secrets)
        let second = try await SignedToken(Self.token(), now: Self.now.addingTimeInterval(100), Self.secrets)
        #expect(!first.value.isEqual(to: second.value) && first.likeness.isEqual(to: second.likeness))
        let others = [
            Self.token { $0.claims = [.init(name: "sub", value: .text(.text("a")))] },
            Self.token { $0.headers = [.init(name: "kid", value: .number("1"))] }, Self.token(.edDSA),
        ]
        for other in others {
            let made = try await SignedToken(other, now: Self.now, Self.secrets)
            #expect(!made.likeness.isEqual(to: first.likeness))
        }
        let changed = TokenSecrets(sent: Self.secrets.sent, key: { _, _ in Secret(Array("another key".utf8)) })
        let rotated = try await SignedToken(Self.token(), now: Self.now, changed)
        #expect(!rotated.likeness.isEqual(to: first.likeness))
        #expect(!first.likeness.revealed().contains("the shared key"))
    }

    @Test func aKeyThatCannotBeUsedIsNamedByItsPlace() async throws {
        let error = await #expect(throws: FetchError.self) { try await SignedToken(Self.token(.rs256), now: Self.now, Self.secrets) }
        let detail = error?.detail ?? ""
        #expect(error?.kind == .credential && error?.attempts == 0)
        #expect(detail.hasPrefix("{ credential = \"key\" } holds an Ed25519 key, and RS256 needs an RSA key"), "\(detail)")
    }
}
