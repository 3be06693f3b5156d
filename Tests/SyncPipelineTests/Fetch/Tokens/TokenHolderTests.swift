import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// One token for all who need it, and the next one in time.
@Suite(.timeLimit(.minutes(10))) struct TokenHolderTests {
    /// Issues `token-1`, `token-2` …
    private func counting(_ more: String = "") -> TokenFixture {
        TokenFixture { _, number in TokenFixture.ok(#"{"access_token": "token-\#(number + 1)"\#(more)}"#) }
    }

    @Test func anyNumberOfCallersCauseOneRequest() async throws {
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self), (opened, open) = AsyncStream.makeStream(of: Void.self)
        let fixture = TokenFixture { _, _ in
            arrive.yield()
            for await _ in opened { break }
            return TokenFixture.ok(#"{"access_token": "the-token"}"#)
        }
        let issuer = try fixture.issuer(TokenFixture.client)
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await issuer.text() } }
            for await _ in arrived { break }
            open.yield()
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(tokens == Array(repeating: "the-token", count: 200))
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func resourcesWithEqualConfigurationsShareAToken() async throws {
        let fixture = counting()
        #expect(try await fixture.issuer(TokenFixture.client) { $0.source = "one" }.text() == "token-1")
        #expect(try await fixture.issuer(TokenFixture.client) { $0.source = "two" }.text() == "token-1")
        var other = TokenFixture.client
        other.scopes = ["read"]
        #expect(try await fixture.issuer(other).text() == "token-2")
    }

    @Test func aTokenIsRenewedBeforeItEnds() async throws {
        let fixture = counting(#", "expires_in": 3600"#), issuer = try fixture.issuer(TokenFixture.client)
        #expect(try await issuer.text() == "token-1")
        fixture.clock.advance(by: .seconds(3539))
        // However the wall clock is set.
        fixture.clock.setWallTime(fixture.clock.wallTime.addingTimeInterval(600))
        #expect(try await issuer.text() == "token-1")
        fixture.clock.setWallTime(fixture.clock.wallTime.addingTimeInterval(-1200))
        fixture.clock.advance(by: .seconds(1))
        #expect(try await issuer.text() == "token-2")
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func aTokenOfShortLifeIsNotFetchedForEachRequest() async throws {
        let fixture = counting(#", "expires_in": "30""#), issuer = try fixture.issuer(TokenFixture.client)
        #expect(try await issuer.text() == "token-1")
        fixture.clock.advance(by: .seconds(14))
        #expect(try await issuer.text() == "token-1")
        fixture.clock.advance(by: .seconds(1))
        #expect(try await issuer.text() == "token-2")
    }

    @Test func aTokenWhoseEndNobodyKnowsIsSentUntilItIsRefused() async throws {
        let fixture = counting(), issuer = try fixture.issuer(TokenFixture.client)
        let first = try await issuer.token { _ in }
        #expect(first.isNew)
        fixture.clock.advance(by: .seconds(30 * 86_400))
        let same = try await issuer.token { _ in }
        #expect(!same.isNew && same.token.number == first.token.number)
        #expect(issuer.drop(first.token))
        let second = try await issuer.token { _ in }
        #expect(second.token.value.revealed() == "token-2")
        // Somebody else's request was refused with the first one, and comes late.
        #expect(issuer.drop(first.token))
        #expect(try await issuer.text() == "token-2")
    }

    @Test func theConfiguredLifetimeHoldsWhereTheAnswerSaysNone() async throws {
        var oauth2 = TokenFixture.client
        oauth2.lifetime = .minutes(10)
        let fixture = counting(), issuer = try fixture.issuer(oauth2)
        #expect(try await issuer.text() == "token-1")
        fixture.clock.advance(by: .seconds(540))
        #expect(try await issuer.text() == "token-2")
    }

    @Test func whoeverWaitsMayGiveUpAndTheRequestGoesOn() async throws {
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self), (opened, open) = AsyncStream.makeStream(of: Void.self)
        let fixture = TokenFixture { _, _ in
            arrive.yield()
            for await _ in opened { break }
            return TokenFixture.ok(#"{"access_token": "the-token"}"#)
        }
        let issuer = try fixture.issuer(TokenFixture.client)
        let task = Task { try await issuer.text() }
        for await _ in arrived { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        open.yield()
        #expect(try await issuer.text() == "the-token")
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func aServiceThatFailsForNowIsAskedAgain() async throws {
        let fixture = TokenFixture { _, number in
            switch number {
            case 0: .response(status: 503)
            case 1: .failure(FetchError(.connect))
            default: TokenFixture.ok(#"{"access_token": "late"}"#)
            }
        }
        let told = Mutex<[String]>([])
        let found = try await fixture.issuer(TokenFixture.client).token { event in
            told.withLock { told in
                switch event {
                case .attempt(let number): told.append("\(number)")
                case .asking: told.append("?")
                case .waiting(let rest): told.append("\(rest)")
                case .retrying(let error, _): told.append(error.summary)
                }
            }
        }
        #expect(found.token.value.revealed() == "late")
        // Whoever hears of a wait hears that it is over: during a wait a run may be ended at once.
        #expect(told.withLock { $0 } == ["1", "status 503", "2", "cannot connect", "3"])
    }

    @Test func aServiceThatKeepsFailingIsAskedAsOftenAsAPage() async throws {
        let fixture = TokenFixture { _, _ in .response(status: 500) }
        let issuer = try fixture.issuer(TokenFixture.client) { $0.retry.attempts = 3 }
        let error = await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(error?.kind == .status(500) && error?.url == "https://login.example/token")
        #expect(fixture.transport.requests.count == 3)
    }

    @Test func aServiceThatAsksForALongWaitIsLeftAlone() async throws {
        let fixture = TokenFixture { _, _ in .response(status: 429, headers: ["Retry-After": "3600"]) }
        let issuer = try fixture.issuer(TokenFixture.client)
        let error = await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(error?.notBefore == fixture.clock.wallTime.addingTimeInterval(3600))
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func aSilentServiceEndsInTime() async throws {
        let fixture = TokenFixture { _, _ in .silence }
        let issuer = try fixture.issuer(TokenFixture.client) {
            $0.retry.attempts = 1
            $0.http.firstByteTimeout = .seconds(5)
        }
        let task = Task { try await issuer.text() }
        for await _ in fixture.transport.silences { break }
        fixture.clock.advance(by: .seconds(15))
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.kind == .timeout(.firstByte))
    }

    @Test func whatAServiceRefusesIsNotAskedForAgainAtOnce() async throws {
        let fixture = TokenFixture { _, _ in TokenFixture.refused(#"{"error": "invalid_client", "error_description": "who is secret-client?"}"#) }
        let issuer = try fixture.issuer(TokenFixture.client)
        for _ in 1...3 {
            let error = await #expect(throws: FetchError.self) { try await issuer.text() }
            #expect(error?.kind == .credential && error?.status == 400)
            #expect(error?.detail == "https://login.example refuses the request for a token: invalid_client: who is [redacted]?")
        }
        #expect(fixture.transport.requests.count == 1)
        // Another secret is worth a request.
        _ = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client, secrets: ["client": "corrected"]).text() }
        #expect(fixture.transport.requests.count == 2)
        fixture.clock.advance(by: .seconds(60))
        _ = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client, secrets: ["client": "corrected"]).text() }
        #expect(fixture.transport.requests.count == 3)
        // What is refused again and again is asked for less and less often.
        for (minutes, count) in [(1, 3), (1, 4), (3, 4), (1, 5)] {
            fixture.clock.advance(by: .seconds(60 * minutes))
            _ = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client, secrets: ["client": "corrected"]).text() }
            #expect(fixture.transport.requests.count == count)
        }
        for _ in 1...20 {
            fixture.clock.advance(by: .seconds(6 * 3600))
            _ = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client, secrets: ["client": "corrected"]).text() }
        }
        #expect(fixture.transport.requests.count == 25)
    }

    @Test(arguments: [FetchError.Kind.malformed, .corruptBody, .tooLarge(.body)])
    func anAnswerThatNobodyCanReadIsNotAskedForAgainAtOnce(kind: FetchError.Kind) async throws {
        let fixture = TokenFixture { _, _ in .failure(FetchError(kind)) }, issuer = try fixture.issuer(TokenFixture.client)
        for _ in 1...2 {
            let error = await #expect(throws: FetchError.self) { try await issuer.text() }
            #expect(error?.kind == kind)
        }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func aRefusalWithTheStatusOfASuccessIsToldInItsOwnWords() async throws {
        let fixture = TokenFixture { _, _ in
            TokenFixture.ok(#"{"error": "incorrect_client_credentials", "error_description": "secret-client is not it"}"#)
        }
        let error = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client).text() }
        #expect(
            error?.detail == "https://login.example refuses the request for a token: incorrect_client_credentials: [redacted] is not it"
                && error?.status == 200, "\(error.debugDescription)")
    }

    @Test(arguments: [true, false]) func whatIsSentBackIsNotShown(isJSON: Bool) async throws {
        let fixture = TokenFixture { request, _ in
            let sent = "\(request.headers.first(name: "Authorization") ?? "")"
            let escaped = #"se\"cr\/et-\u00fc"#
            return TokenFixture.refused(
                isJSON ? #"{"error": "invalid_client", "error_description": "you sent \#(sent)"}"# : "<html>\(sent) \(escaped)</html>")
        }
        let error = await #expect(throws: FetchError.self) {
            try await fixture.issuer(TokenFixture.client, secrets: ["client": "se\"cr/et-ü"]).text()
        }
        let shown = "\(error?.description ?? "") \(error?.excerpt ?? "") \(error?.detail ?? "")"
        let basic = Data("me:\(HTTPAddress.encode("se\"cr/et-ü"))".utf8).base64EncodedString()
        #expect(shown.contains("Basic [redacted]") && !shown.contains(basic) && !shown.contains("cr\\/et") && !shown.contains("u00fc"), "\(shown)")
    }

    @Test(arguments: ["0", "-5", "\"0\"", "1500000000"]) func aTokenThatIsSaidToBeOverIsUsedAllTheSame(seconds: String) async throws {
        let fixture = counting(#", "expires_in": \#(seconds)"#), issuer = try fixture.issuer(TokenFixture.client)
        for _ in 1...3 { #expect(try await issuer.text() == "token-1") }
        var oauth2 = TokenFixture.client
        oauth2.lifetime = .minutes(10)
        let limited = try fixture.issuer(oauth2)
        for _ in 1...2 { #expect(try await limited.text() == "token-2") }
        fixture.clock.advance(by: .seconds(540))
        #expect(try await limited.text() == "token-3")
    }

    // A server that lacks rights to answer with says the same as one that has seen a token end.
    @Test func aTokenThatWasRefusedWhenItWasNewIsRenewedOnceAMinute() async throws {
        let fixture = counting(), issuer = try fixture.issuer(TokenFixture.client)
        let first = try await issuer.token { _ in }
        issuer.holder.refuseNew(first.token)
        #expect(!issuer.drop(first.token))
        #expect(try await issuer.text() == "token-1")
        fixture.clock.advance(by: .seconds(60))
        #expect(issuer.drop(first.token))
        let second = try await issuer.token { _ in }
        #expect(second.token.value.revealed() == "token-2")
        // Nothing is known of this one yet.
        #expect(issuer.drop(second.token))
    }

    @Test func aTokenThatIsGoodElsewhereIsNotRenewedAtOnce() async throws {
        let fixture = counting(), issuer = try fixture.issuer(TokenFixture.client)
        let first = try await issuer.token { _ in }
        issuer.holder.accept(first.token, at: "/mine")
        #expect(!issuer.drop(first.token, at: "/others"))
        // Where it was good it has ended.
        #expect(issuer.drop(first.token, at: "/mine"))
        let second = try await issuer.token { _ in }
        issuer.holder.accept(second.token, at: "/mine")
        fixture.clock.advance(by: .seconds(60))
        #expect(issuer.drop(second.token, at: "/others"))
    }

    @Test func whatIsSaidOfTheCertificateOfAnAPIIsNotTrueOfAnotherServer() throws {
        let resource = Fixture.resource("https://api.example/items") {
            $0.tls.verify = false
            $0.tls.ca = .file("/ca.pem")
        }
        func tls(_ url: String) throws -> SyncConfiguration.TLSConfiguration {
            TokenRules(resource, address: try HTTPAddress(url), daemon: DaemonConfiguration(), userAgent: "test/1").transport.tls
        }
        #expect(try tls("https://api.example:443/token") == resource.tls)
        for url in ["https://login.example/token", "https://api.example:8443/token"] {
            #expect(try tls(url) == SyncConfiguration.TLSConfiguration())
        }
    }

    @Test(arguments: [
        "[]", "{}", "", "<html>", #"{"access_token": ""}"#, #"{"access_token": {}}"#, #"{"access_token": "a", "access_token": "secret-b"}"#,
    ])
    func anAnswerWithoutATokenIsRefusedAndNotShown(body: String) async throws {
        let fixture = TokenFixture { _, _ in TokenFixture.ok(body) }
        let error = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client).text() }
        #expect(error?.kind == .credential && error?.description.contains("secret-b") == false, "\(error.debugDescription)")
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let fixture = TokenFixture { _, _ in .response(status: 307, headers: ["Location": "https://evil.example/"]) }
        let error = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client).text() }
        #expect(error?.kind == .credential && fixture.transport.requests.count == 1)
    }

    @Test func anAnswerThatNeverEndsIsCutOff() async throws {
        let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
        let fixture = TokenFixture { _, _ in .pieces(status: 200, Array(repeating: piece, count: 17)) }
        let error = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.client).text() }
        #expect(error?.kind == .tooLarge(.compressedBody) || error?.kind == .tooLarge(.body))
    }

    @Test(arguments: ["http://169.254.169.254/token"]) func aMetadataServiceIsNotAsked(url: String) async throws {
        var oauth2 = TokenFixture.client
        oauth2.tokenURL = url
        let fixture = counting()
        let error = await #expect(throws: FetchError.self) { try await fixture.issuer(oauth2).text() }
        #expect(error?.kind == .refused(.privateAddress("169.254.169.254")) && fixture.transport.requests.isEmpty)
    }

    @Test func aFetchedTokenIsToldWithoutItself() async throws {
        let fixture = counting(#", "expires_in": 3600"#)
        _ = try await fixture.issuer(TokenFixture.client).text()
        let end = fixture.clock.wallTime.addingTimeInterval(3600)
        #expect(fixture.events == [.tokenFetched(scope: ResourceScope(source: "example", resource: "items"), expiresAt: end, isRotated: false)])
    }
}

extension TokenIssuer {
    /// A server has refused the token now.
    fileprivate func drop(_ token: AccessToken, at path: String = "/items") -> Bool { holder.drop(token, at: path, now: service.clock.instant) }
}
