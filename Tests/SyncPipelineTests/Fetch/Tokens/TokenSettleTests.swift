import Foundation
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What a stop does to requests for tokens.
@Suite(.timeLimit(.minutes(10))) struct TokenSettleTests {
    private let arrived: AsyncStream<Void>
    private let arrive: AsyncStream<Void>.Continuation
    private let opened: AsyncStream<Void>
    private let open: AsyncStream<Void>.Continuation

    init() {
        (arrived, arrive) = AsyncStream.makeStream()
        (opened, open) = AsyncStream.makeStream()
    }

    /// Answers when it is opened, with another refresh token.
    private func fixture() -> TokenFixture {
        TokenFixture { [arrive, opened] _, _ in
            arrive.yield()
            for await _ in opened { break }
            try Task.checkCancellation()
            return TokenFixture.ok(#"{"access_token": "access", "refresh_token": "refresh-2"}"#)
        }
    }

    /// Begins to settle. Returns when that waits.
    private func settle(_ service: TokenService, _ clock: ManualClock) async -> Task<Void, Never> {
        let end = clock.instant.advanced(by: .seconds(11)), task = Task { await service.settle() }
        await clock.deadlines { $0.contains(end) }
        return task
    }

    @Test func aRotationThatWasSentMayEnd() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing) { $0.http.waitLong() }
        let asking = Task { try await issuer.text() }
        for await _ in arrived { break }
        // Nobody waits for it any longer, and its resource is gone.
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        fixture.pool.keep(only: [])
        let stop = await settle(issuer.service, fixture.clock)
        fixture.clock.advance(by: .seconds(9))
        open.yield()
        await stop.value
        #expect(fixture.lines.last == "write refresh-2")
    }

    @Test func aRotationThatIsNotAnsweredIsGivenUpAfterTenSeconds() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing) { $0.http.waitLong() }
        let asking = Task { try await issuer.text() }
        for await _ in arrived { break }
        let stop = await settle(issuer.service, fixture.clock)
        fixture.clock.advance(by: .seconds(10))
        await stop.value
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(fixture.lines == ["prepare", "ask secret-refresh"])
    }

    @Test func aRequestWithoutARefreshTokenEndsAtOnce() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.client)
        let asking = Task { try await issuer.text() }
        for await _ in arrived { break }
        await issuer.service.settle()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }

    @Test func whatWaitsForItsNextAttemptEndsAtOnce() async throws {
        let fixture = TokenFixture { _, _ in .response(status: 503) }
        let issuer = try fixture.issuer(TokenFixture.refreshing, random: 1), (waits, wait) = AsyncStream.makeStream(of: Void.self)
        let asking = Task {
            try await issuer.token { event in
                if case .retrying = event { wait.yield() }
            }.token.number
        }
        for await _ in waits { break }
        await issuer.service.settle()
        await #expect(throws: CancellationError.self) { _ = try await asking.value }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func noRequestBeginsAfterAStopNorForWhoHasGivenUp() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.client)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await issuer.text()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        await issuer.service.settle()
        await #expect(throws: CancellationError.self) { try await issuer.text() }
        #expect(fixture.transport.requests.isEmpty)
        // Another pipeline over the same pool may ask.
        open.yield()
        #expect(try await fixture.issuer(TokenFixture.client).text() == "access")
    }

    @Test func aTokenThatIsBeingFetchedIsNotForgotten() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.client)
        let asking = Task { try await issuer.text() }
        for await _ in arrived { break }
        fixture.pool.keep(only: [])
        let joining = try fixture.issuer(TokenFixture.client), joined = Task { try await joining.text() }
        open.yield()
        #expect(try await [asking.value, joined.value] == ["access", "access"])
        #expect(fixture.transport.requests.count == 1)
    }

    @Test func aTokenThatCouldNotBeStoredIsStoredAtTheStop() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing)
        fixture.isVaultBroken = true
        open.yield()
        _ = await #expect(throws: FetchError.self) { try await issuer.text() }
        fixture.isVaultBroken = false
        await issuer.service.settle()
        #expect(fixture.lines == ["prepare", "ask secret-refresh", "write refresh-2"])
    }

    @Test func aTokenThatCannotBeStoredAtTheStopIsTold() async throws {
        let fixture = fixture(), issuer = try fixture.issuer(TokenFixture.refreshing)
        fixture.isVaultBroken = true
        open.yield()
        _ = await #expect(throws: FetchError.self) { try await issuer.text() }
        await issuer.service.settle()
        guard case .refreshTokenUnsaved(let reason)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(reason.contains("the disk is full") && !reason.contains("refresh-2"))
    }
}
