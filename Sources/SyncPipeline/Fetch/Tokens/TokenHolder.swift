import Foundation
import Secrets
import SyncReports
import Synchronization

/// Holds one token, and fetches the next when it is needed: once, however many need it.
final class TokenHolder: Sendable {
    private struct State {
        var current: AccessToken?
        var flight: TokenFlight?
        var count = 0
    }

    private let request: TokenRequest
    /// Nil: no refresh token is used.
    private let chain: RefreshChain?
    private let refusals = TokenRefusals()
    private let state = Mutex(State())

    init(_ request: TokenRequest, chain: RefreshChain?) {
        self.request = request
        self.chain = chain
    }

    /// The request that is under way.
    var flight: TokenFlight? { state.withLock { $0.flight } }

    /// The token to send now, and whether it was fetched for whoever asks.
    /// - Throws: `FetchError`, `CancellationError`.
    func token(
        by issuer: TokenIssuer, _ waits: @escaping @Sendable (FetchError, Duration) -> Void
    ) async throws -> (token: AccessToken, isNew: Bool) {
        enum Step {
            case known(AccessToken)
            case join(TokenFlight)
            case begin(TokenFlight)
        }
        let now = issuer.service.clock.instant
        let step: Step = state.withLock { state in
            if let current = state.current, current.isUsable(at: now) { return .known(current) }
            if let flight = state.flight { return .join(flight) }
            let flight = TokenFlight()
            state.flight = flight
            return .begin(flight)
        }
        switch step {
        case .known(let token): return (token, false)
        case .join(let flight): return (try await flight.value(.init(hear: waits)), true)
        case .begin(let flight):
            flight.begin { [self] in try await fetch(issuer, flight) }
            return (try await flight.value(.init(hear: waits)), true)
        }
    }

    /// A server has refused the token: it is not sent any more. Nothing, if another one has taken its place already.
    func drop(_ token: AccessToken) {
        state.withLock { state in
            if state.current?.number == token.number { state.current = nil }
        }
    }

    private func fetch(_ issuer: TokenIssuer, _ flight: TokenFlight) async throws -> AccessToken {
        do {
            let (answer, related, isRotated) = try await ask(issuer, flight)
            let token = state.withLock { state in
                state.count += 1
                let token = AccessToken(value: answer.token, number: state.count, usableUntil: end(of: answer), related: related)
                state.current = token
                state.flight = nil
                return token
            }
            let clock = issuer.service.clock
            let life = (answer.life ?? request.lifetime).map { answer.askedAt.advanced(by: $0) }
            issuer.service.observe(
                .tokenFetched(
                    scope: issuer.scope, expiresAt: life.map { clock.wallTime.advanced(by: clock.instant.duration(to: $0)) },
                    isRotated: isRotated))
            return token
        } catch {
            state.withLock { $0.flight = nil }
            throw error
        }
    }

    private func ask(
        _ issuer: TokenIssuer, _ flight: TokenFlight
    ) async throws -> (answer: TokenAnswer, related: [Secret], isRotated: Bool) {
        let service = issuer.service, redactor = Redactor()
        let exchange = TokenExchange(
            request: request, rules: issuer.rules, transports: service.transports, clock: service.clock, random: service.random,
            secrets: issuer.secrets, redactor: redactor, refusals: refusals
        ) { [weak flight] error, delay in
            flight?.tell(error, delay)
        }
        guard let chain, let reference = request.refreshToken else {
            let answer = try await exchange.run(refreshToken: nil)
            return (answer, answer.secrets, false)
        }
        let configured = try await issuer.secrets.secret(reference)
        redactor.learn(configured)
        let renewal = try await chain.renew(from: configured) { try await exchange.run(refreshToken: $0) }
        return (renewal.answer, renewal.answer.secrets + renewal.tokens, renewal.isRotated)
    }

    /// When a token is no longer sent: early enough before its end that it holds for a whole request, but not before half of its life is over, so
    /// that one of short life is not fetched for each request.
    private func end(of answer: TokenAnswer) -> SyncInstant? {
        guard let life = answer.life ?? request.lifetime else { return nil }
        return answer.askedAt.advanced(by: life - min(request.earlyRefresh, life / 2))
    }
}
