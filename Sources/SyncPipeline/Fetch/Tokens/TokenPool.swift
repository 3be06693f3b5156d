import Foundation
import SyncConfiguration
public import SyncReports
import Synchronization

/// The tokens of a daemon: one for each way to ask for one, whoever needs it. It outlives reloads and the pipelines that use it, and keeps tokens in
/// memory only.
public final class TokenPool: Sendable {
    private struct State {
        var holders: [TokenRequest: TokenHolder] = [:]
        var chains: [String: RefreshChain] = [:]
    }

    private let state = Mutex(State())
    private let vault: TokenVault

    /// A pool without tokens.
    /// - Parameter vault: where refresh tokens are kept that took the place of configured ones.
    public init(vault: TokenVault = .inMemory()) {
        self.vault = vault
    }

    /// Who holds the token for a request.
    func holder(of request: TokenRequest) -> TokenHolder {
        state.withLock { state in
            if let known = state.holders[request] { return known }
            let chain = request.chainName.map { name in
                let chain = state.chains[name] ?? RefreshChain(name: name, vault: vault)
                state.chains[name] = chain
                return chain
            }
            let made = TokenHolder(request, chain: chain)
            state.holders[request] = made
            return made
        }
    }

    /// Forgets tokens that nobody asks for any more. Chains stay: one may hold what could not be stored yet.
    func keep(only requests: Set<TokenRequest>) {
        state.withLock { state in state.holders = state.holders.filter { requests.contains($0.key) } }
    }

    /// Returns when no request for a token is under way: those that are not answered in that time are given up.
    func settle(within patience: Duration, clock: any SyncClock) async {
        let flights = state.withLock { Array($0.holders.values) }.compactMap(\.flight)
        guard !flights.isEmpty else { return }
        let end = clock.call(at: clock.instant.advanced(by: patience)) { for flight in flights { flight.cancel() } }
        for flight in flights { await flight.ended() }
        end.cancel()
    }
}

/// What tokens are fetched with.
public struct TokenService: Sendable {
    let pool: TokenPool
    let transports: TransportPool
    let clock: any SyncClock
    let random: RandomSource
    let observe: @Sendable (SyncEvent) -> Void

    /// - Parameter observe: hears of each token that was fetched; called from any thread.
    public init(
        pool: TokenPool, transports: TransportPool, clock: any SyncClock, random: RandomSource = .system,
        observe: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) {
        self.pool = pool
        self.transports = transports
        self.clock = clock
        self.random = random
        self.observe = observe
    }
}

/// Fetches the tokens of a resource.
struct TokenIssuer: Sendable {
    let request: TokenRequest
    let rules: TokenRules
    let service: TokenService
    let secrets: SecretResolver
    let scope: ResourceScope
    let holder: TokenHolder

    init(
        _ request: TokenRequest, resource: ResourceConfiguration, daemon: DaemonConfiguration, userAgent: String, secrets: SecretResolver,
        service: TokenService
    ) {
        self.request = request
        self.service = service
        self.secrets = secrets
        rules = TokenRules(resource, address: request.address, daemon: daemon, userAgent: userAgent)
        scope = ResourceScope(source: resource.source, resource: resource.name)
        holder = service.pool.holder(of: request)
    }

    /// The token to send now, and whether it was fetched for whoever asks. May wait.
    /// - Parameter waits: hears of each wait for another attempt.
    /// - Throws: `FetchError`, `CancellationError`.
    func token(_ waits: @escaping @Sendable (FetchError, Duration) -> Void) async throws -> (token: AccessToken, isNew: Bool) {
        try await holder.token(by: self, waits)
    }
}
