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
        let first = try await issuer.token { _, _ in }
        #expect(first.isNew)
        fixture.clock.advance(by: .seconds(30 * 86_400))
        let same = try await issuer.token { _, _ in }
        #expect(!same.isNew && same.token.number == first.token.number)
        issuer.holder.drop(first.token)
        let second = try await issuer.token { _, _ in }
        #expect(second.token.value.revealed() == "token-2")
        // Somebody else's request was refused with the first one, and comes late.
        issuer.holder.drop(first.token)
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
        let waits = Mutex<[String]>([])
        let found = try await fixture.issuer(TokenFixture.client).token { error, _ in waits.withLock { $0.append(error.summary) } }
        #expect(found.token.value.revealed() == "late")
        #expect(waits.withLock { $0 } == ["status 503", "cannot connect"])
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
