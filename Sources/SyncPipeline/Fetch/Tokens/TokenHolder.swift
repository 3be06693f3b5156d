import Foundation
import Secrets
import SyncConfiguration
import SyncReports
import Synchronization

/// Holds one token, and fetches the next when it is needed: once, however many need it.
final class TokenHolder: Sendable {
    private struct State {
        var current: AccessToken?
        var flight: TokenFlight?
        var count = 0
        /// A server has refused the current token when it was new: another one is no better.
        var isRefusedWhenNew = false
        /// The paths at which servers have accepted the current token.
        var accepted: Set<String> = []
    }

    private let request: TokenRequest
    private let refusals = TokenRefusals()
    private let state = Mutex(State())

    init(_ request: TokenRequest) {
        self.request = request
    }

    /// The request that is under way.
    var flight: TokenFlight? { state.withLock { $0.flight } }

    /// The token to send now, and whether it was fetched for whoever asks.
    /// - Throws: `FetchError`, `CancellationError`.
    func token(
        by issuer: TokenIssuer, _ observe: @escaping @Sendable (FetchEvent) -> Void
    ) async throws -> (token: AccessToken, isNew: Bool) {
        enum Step {
            case known(AccessToken)
            case join(TokenFlight)
            case begin(TokenFlight)
        }
        // Who gives up begins nothing that nobody waits for.
        try Task.checkCancellation()
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
        case .join(let flight): return (try await flight.value(flight.join(.init(hear: observe))), true)
        case .begin(let flight):
            let id = flight.join(.init(hear: observe)), flights = issuer.service.flights, isAllowed = flights.enter(flight)
            flight.begin { [self] in
                defer { flights.leave(flight) }
                return try await fetch(issuer, flight, isAllowed: isAllowed)
            }
            return (try await flight.value(id), true)
        }
    }

    // MARK: What servers say of the token

    /// A server has accepted the token of a request to this path.
    func accept(_ token: AccessToken, at path: String) {
        state.withLock { state in
            if state.current?.number == token.number, state.accepted.count < Self.mostPaths { state.accepted.insert(path) }
        }
    }

    /// A server has refused a token that was fetched for the request.
    func refuseNew(_ token: AccessToken) {
        state.withLock { state in
            if state.current?.number == token.number { state.isRefusedWhenNew = true }
        }
    }

    /// A server has refused the token of a request to this path. The token is not sent any more, unless it is younger than a minute and known to be good,
    /// or as good as any other: then the server means the request.
    /// - Returns: whether the request is to be made again, with another token.
    func drop(_ token: AccessToken, at path: String, now: SyncInstant) -> Bool {
        state.withLock { state in
            // Another one has taken its place already.
            guard let current = state.current, current.number == token.number else { return true }
            let isGoodElsewhere = !state.accepted.isEmpty && !state.accepted.contains(path)
            if current.fetchedAt.duration(to: now) < Self.trial, state.isRefusedWhenNew || isGoodElsewhere { return false }
            state.current = nil
            return true
        }
    }

    private static let trial = Duration.seconds(60)
    private static let mostPaths = 1000

    // MARK: The next one

    private func fetch(_ issuer: TokenIssuer, _ flight: TokenFlight, isAllowed: Bool) async throws -> AccessToken {
        do {
            guard isAllowed else { throw CancellationError() }
            let (answer, related, isRotated) = try await ask(issuer, flight), value = try answer.token.get()
            let clock = issuer.service.clock, now = clock.instant, end = self.end(of: answer)
            let token = state.withLock { state in
                state.count += 1
                let token = AccessToken(
                    value: value, number: state.count, fetchedAt: now, usableUntil: end, related: related)
                state.current = token
                state.flight = nil
                state.isRefusedWhenNew = false
                state.accepted = []
                return token
            }
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
        let service = issuer.service, secrets = issuer.secrets, redactor = Redactor()
        if case .jwt(let jwt) = request.kind { return try await make(jwt, issuer) }
        guard let address = request.address, let rules = issuer.rules else { throw FetchError(.credential, detail: "tokens cannot be fetched here") }
        let exchange = TokenExchange(
            request: request, address: address, rules: rules, transports: service.transports, clock: service.clock, random: service.random,
            secrets: secrets, redactor: redactor, refusals: refusals, flight: flight, gate: issuer.gate)
        guard let reference = request.refreshToken else {
            let answer = try await exchange.run(refreshToken: nil)
            return (answer, answer.secrets, false)
        }
        let read = { @Sendable () async throws -> Secret in
            let configured = try await secrets.secret(reference)
            redactor.learn(configured)
            return configured
        }
        while true {
            let chain = service.pool.chain(from: try await read(), clock: service.clock)
            // Another token may be configured while this one waits for its turn.
            guard let renewal = try await chain.renew(read, { try await exchange.run(refreshToken: $0) }) else { continue }
            return (renewal.answer, renewal.answer.secrets + renewal.tokens, renewal.isRotated)
        }
    }

    /// Makes a token here.
    private func make(
        _ jwt: AuthenticationConfiguration.JWT, _ issuer: TokenIssuer
    ) async throws -> (answer: TokenAnswer, related: [Secret], isRotated: Bool) {
        let used = UsedSecrets(), secrets = issuer.secrets, clock = issuer.service.clock, instant = clock.instant
        let reading = TokenSecrets(
            sent: { reference in
                let secret = try await secrets.secret(reference)
                used.add(secret)
                return secret
            }, key: { try await secrets.secret($0, form: $1) })
        let signed = try await SignedToken(jwt.webToken, now: clock.wallTime, reading)
        return (TokenAnswer(signed, made: instant), used.all, false)
    }

    /// When a token is no longer sent: early enough before its end that it holds for a whole request, but not before half of its life is over, so
    /// that one of short life is not fetched for each request.
    private func end(of answer: TokenAnswer) -> SyncInstant? {
        guard let life = answer.life ?? request.lifetime else { return nil }
        return answer.askedAt.advanced(by: life - min(request.earlyRefresh, life / 2))
    }
}
