import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Refresh tokens that a service replaces with each use.
@Suite(.timeLimit(.minutes(10))) struct RefreshChainTests {
    /// Accepts the newest refresh token only, and gives a new one each time.
    private final class StrictService: Sendable {
        private let newest: Mutex<String>
        private let count = Mutex(0)

        init(_ first: String) { newest = Mutex(first) }

        func answer(_ request: HTTPRequest) -> StubTransport.Answer {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let isAccepted = newest.withLock { newest in
                guard TokenFixture.form(request)["refresh_token"] == newest else { return false }
                newest = "refresh-\(number + 1)"
                return true
            }
            guard isAccepted else { return TokenFixture.refused(#"{"error": "invalid_grant"}"#) }
            return TokenFixture.ok(#"{"access_token": "access-\#(number)", "expires_in": 600, "refresh_token": "refresh-\#(number + 1)"}"#)
        }
    }

    private func fixture(_ first: String = "secret-refresh") -> TokenFixture {
        let service = StrictService(first)
        return TokenFixture { request, _ in service.answer(request) }
    }

    @Test func aNewRefreshTokenIsStoredBeforeTheTokenIsUsed() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing)
        #expect(try await issuer.text() == "access-1")
        #expect(fixture.lines == ["prepare", "ask secret-refresh", "write refresh-2"])
        fixture.clock.advance(by: .seconds(600))
        #expect(try await issuer.text() == "access-2")
        #expect(fixture.lines.suffix(3) == ["prepare", "ask refresh-2", "write refresh-3"])
        #expect(
            fixture.events.allSatisfy { if case .tokenFetched(_, _, isRotated: true) = $0 { true } else { false } } && fixture.events.count == 2)
    }

    // The service may know no other one any more: it is lost for ever if it is not stored now.
    @Test func aNewRefreshTokenIsStoredAlthoughTheAnswerHoldsNoToken() async throws {
        var oauth2 = TokenFixture.refreshing
        oauth2.tokenPath = JSONPath(keys: ["token"])
        let fixture = fixture()
        let error = await #expect(throws: FetchError.self) { try await fixture.issuer(oauth2).text() }
        #expect(error?.kind == .credential && error?.detail.contains("there is no token at $.token") == true)
        #expect(fixture.lines == ["prepare", "ask secret-refresh", "write refresh-2"])
        // The path is corrected.
        #expect(try await fixture.issuer(TokenFixture.refreshing).text() == "access-2")
    }

    @Test(arguments: [
        #"{"access_token": "a", "access_token": "b", "refresh_token": "new"}"#, #"{"data": {"refresh_token": "new"}}"#,
        #"{"data": {"access_token": "a", "refresh_token": "new"}, "refresh_token": "other"}"#,
        #"{"data": {"access_token": "a", "refresh_token": null}, "refresh_token": "new"}"#,
    ])
    func aNewRefreshTokenIsLookedForBesideTheTokenAndAtTheRoot(body: String) async throws {
        var oauth2 = TokenFixture.refreshing
        oauth2.tokenPath = JSONPath(keys: ["data", "access_token"])
        let fixture = TokenFixture { _, _ in TokenFixture.ok(body) }
        _ = try? await fixture.issuer(oauth2).text()
        #expect(fixture.lines.last == "write new")
    }

    @Test(arguments: ["4217", "421700000000000000000000"]) func aNewRefreshTokenMayBeANumber(number: String) async throws {
        let fixture = TokenFixture { _, _ in TokenFixture.ok(#"{"access_token": "a", "refresh_token": \#(number)}"#) }
        #expect(try await fixture.issuer(TokenFixture.refreshing).text() == "a")
        #expect(fixture.lines.last == "write \(number)")
    }

    @Test func aStoredRefreshTokenOutlivesWhateverElseIsConfiguredAnew() async throws {
        var renamed = TokenFixture.refreshing, other = TokenFixture.refreshing
        renamed.refreshToken = .credential("renamed")
        other.tokenURL = "https://login.example/token/"
        other.clientID = .secret(.credential("id"))
        other.scopes = ["read"]
        let fixture = fixture()
        #expect(try await fixture.issuer(TokenFixture.refreshing).text() == "access-1")
        #expect(try await fixture.issuer(renamed, secrets: ["renamed": "secret-refresh"]).text() == "access-2")
        #expect(try await fixture.issuer(other).text() == "access-3")
        #expect(fixture.names.count == 1)
    }

    @Test func aTokenThatIsConfiguredWhileAnotherWaitsForItsTurnIsTheOneThatIsUsed() async throws {
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self), (opened, open) = AsyncStream.makeStream(of: Void.self)
        let fixture = TokenFixture { _, number in
            if number == 0 {
                arrive.yield()
                for await _ in opened { break }
            }
            return TokenFixture.ok(#"{"access_token": "access-\#(number)", "refresh_token": "given-\#(number)"}"#)
        }
        var scoped = TokenFixture.refreshing
        scoped.scopes = ["read"]
        let first = try fixture.issuer(TokenFixture.refreshing), second = try fixture.issuer(scoped)
        let asking = Task { try await first.text() }
        for await _ in arrived { break }
        let waiting = Task { try await second.text() }
        // Two of the first one's, to find its turn and in its turn.
        var count = 0
        for await id in fixture.reads where id == "refresh" {
            count += 1
            if count == 3 { break }
        }
        fixture.configure("refresh", "configured-anew")
        open.yield()
        _ = try await asking.value
        _ = try await waiting.value
        #expect(fixture.lines.filter { $0.hasPrefix("ask") } == ["ask secret-refresh", "ask configured-anew"])
    }

    @Test func whoeverComesWhileAnotherProcessUsesTheTokenWaits() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing)
        fixture.isUsedElsewhere = true
        let task = Task { try await issuer.text() }
        await fixture.clock.sleepers(atLeast: 1)
        #expect(fixture.lines.isEmpty)
        fixture.isUsedElsewhere = false
        fixture.clock.advance(by: .seconds(1))
        #expect(try await task.value == "access-1")
    }

    @Test func whoeverWaitsForAnotherProcessInVainSaysWhy() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing)
        fixture.isUsedElsewhere = true
        let task = Task { try await issuer.text() }
        for _ in 1...30 {
            await fixture.clock.sleepers(atLeast: 1)
            fixture.clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.detail.hasPrefix("another process uses the same refresh token at /vault/") == true && fixture.lines.isEmpty)
    }

    @Test func aServiceThatKeepsItsRefreshTokenStoresNothing() async throws {
        let fixture = TokenFixture { _, _ in TokenFixture.ok(#"{"access_token": "a-token", "refresh_token": "secret-refresh"}"#) }
        #expect(try await fixture.issuer(TokenFixture.refreshing).text() == "a-token")
        #expect(fixture.lines == ["prepare", "ask secret-refresh"])
    }

    @Test func aTokenIsNotUsedBeforeTheNewRefreshTokenIsStored() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing)
        fixture.isVaultBroken = true
        for _ in 1...2 {
            let error = await #expect(throws: FetchError.self) { try await issuer.text() }
            #expect(error?.kind == .credential && error?.detail.contains("cannot be stored") == true && error?.detail.contains("full") == true)
        }
        // It was asked once: what it gave must be stored first, and is not lost.
        #expect(fixture.lines == ["prepare", "ask secret-refresh"])
        fixture.isVaultBroken = false
        #expect(try await issuer.text() == "access-2")
        #expect(fixture.lines.suffix(4) == ["write refresh-2", "prepare", "ask refresh-2", "write refresh-3"])
    }

    @Test func theStoredRefreshTokenIsUsedAfterAStart() async throws {
        let fixture = fixture()
        #expect(try await fixture.issuer(TokenFixture.refreshing).text() == "access-1")
        fixture.pool.keep(only: [])
        #expect(try await fixture.issuer(TokenFixture.refreshing).text() == "access-2")
        #expect(fixture.names == [String(RefreshChain.digest(of: Secret(Array("secret-refresh".utf8))).prefix(32))])
    }

    @Test func aNewlyConfiguredRefreshTokenTakesTheStoredOnesPlace() async throws {
        let fixture = TokenFixture { _, number in
            TokenFixture.ok(#"{"access_token": "access-\#(number)", "refresh_token": "given-\#(number)", "expires_in": 600}"#)
        }
        _ = try await fixture.issuer(TokenFixture.refreshing).text()
        fixture.clock.advance(by: .seconds(600))
        _ = try await fixture.issuer(TokenFixture.refreshing, secrets: ["refresh": "configured-anew"]).text()
        fixture.clock.advance(by: .seconds(600))
        _ = try await fixture.issuer(TokenFixture.refreshing, secrets: ["refresh": "configured-anew"]).text()
        #expect(fixture.lines.filter { $0.hasPrefix("ask") } == ["ask secret-refresh", "ask configured-anew", "ask given-1"])
    }

    @Test func whoeverUsesTheSameRefreshTokenDoesNotLockOthersOut() async throws {
        let fixture = fixture()
        var reading = TokenFixture.refreshing, writing = TokenFixture.refreshing
        reading.scopes = ["read"]
        writing.scopes = ["write"]
        let issuers = [try fixture.issuer(reading), try fixture.issuer(writing), try fixture.issuer(TokenFixture.refreshing)]
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for issuer in issuers { group.addTask { try await issuer.text() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens == ["access-1", "access-2", "access-3"])
    }

    @Test func aRefusedRefreshTokenSaysWhatToDo() async throws {
        let fixture = fixture("another")
        let error = await #expect(throws: FetchError.self) { try await fixture.issuer(TokenFixture.refreshing).text() }
        let remedy =
            "invalid_grant; the refresh token is no longer valid: get a new one, and put it where the configuration reads it"
            + ", and restart the service"
        #expect(error?.detail.hasSuffix(remedy) == true)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func aVaultThatRefusesKeepsARefreshTokenFromBeingUsedUp() async throws {
        let transport = StubTransport(.response(status: 500))
        let service = TokenService(
            pool: TokenPool(vault: .refusing("ask the daemon")), transports: TransportPool { _ in transport }, clock: ManualClock())
        let request = try #require(try TokenRequest(.oauth2(TokenFixture.refreshing)))
        let issuer = TokenIssuer(
            request, resource: Fixture.resource("https://api.example/items"), daemon: DaemonConfiguration(), userAgent: "test/1",
            secrets: Fixture.secret("x-secret"), service: service)
        let error = await #expect(throws: FetchError.self) { try await issuer.text() }
        #expect(error?.detail == "ask the daemon" && transport.requests.isEmpty)
    }

    @Test func anEntryComesBackAsItWasAndADamagedOneNotAtAll() {
        let root = RefreshChain.digest(of: Secret(Array("first".utf8)))
        let entry = RefreshChain.Entry(root: root, token: Secret(Array("a\ntoken".utf8))).encoded
        let read = RefreshChain.Entry(entry)
        #expect(read?.root == root && read?.token.revealed() == "a\ntoken")
        for length in 0..<entry.count - "a\ntoken".utf8.count + 1 {
            #expect(RefreshChain.Entry(entry.withUnsafeBytes { Secret($0.prefix(length)) }) == nil)
        }
    }
}
