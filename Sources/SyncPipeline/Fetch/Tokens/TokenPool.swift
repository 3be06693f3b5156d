import Foundation
import Secrets
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
            let made = TokenHolder(request)
            state.holders[request] = made
            return made
        }
    }

    /// The chain that begins with a refresh token.
    func chain(from configured: Secret, clock: any SyncClock) -> RefreshChain {
        let root = RefreshChain.digest(of: configured)
        return state.withLock { state in
            if let known = state.chains[root] { return known }
            let made = RefreshChain(root: root, vault: vault, clock: clock)
            state.chains[root] = made
            return made
        }
    }

    /// Forgets tokens that nobody asks for any more, and that are not being fetched. Chains stay: one may hold what could not be stored yet.
    func keep(only requests: Set<TokenRequest>) {
        state.withLock { state in state.holders = state.holders.filter { requests.contains($0.key) || $0.value.flight != nil } }
    }

    /// Whether a refresh token is in memory only.
    var hasUnsaved: Bool { state.withLock { Array($0.chains.values) }.contains { $0.hasUnsaved } }

    /// Stores what could not be stored before.
    /// - Returns: why something still cannot.
    func flush() async -> [String] {
        var failures: [String] = []
        for chain in state.withLock({ Array($0.chains.values) }) {
            do { try await chain.flush() } catch {
                failures.append((error as? FetchError)?.detail ?? error.inWords)
            }
        }
        return failures
    }
}

/// What tokens are fetched with.
public struct TokenService: Sendable {
    let pool: TokenPool
    let transports: TransportPool
    let clock: any SyncClock
    let random: RandomSource
    /// What was begun through this service.
    let flights = TokenFlights()
    let observe: @Sendable (SyncEvent) -> Void
    /// What the requests of resources go through; nil: none are counted.
    var gates: RequestGates?

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

    /// How long a service may take at a stop to answer a request with a refresh token: the answer may hold the only one that is still good.
    static let patience = Duration.seconds(10)
    /// What ends, and what is written, takes no longer than this after it.
    private static let writing = Duration.seconds(1)

    /// Begins no other request, and returns when none is under way and everything is stored, or cannot be. A request with a refresh token that was
    /// sent already may take its time; everything else ends at once.
    func settle() async {
        let open = flights.close()
        guard !open.isEmpty || pool.hasUnsaved else { return }
        for flight in open { flight.stop() }
        let (ends, end) = AsyncStream.makeStream(of: [String].self)
        let work = Task {
            for flight in open { await flight.ended() }
            end.yield(await pool.flush())
        }
        let latest = clock.instant.advanced(by: Self.patience)
        let alarms = [
            clock.call(at: latest) { for flight in open { flight.cancel() } },
            // A disk that does not respond is nothing that the rest of a stop waits for.
            clock.call(at: latest.advanced(by: Self.writing)) {
                work.cancel()
                end.yield(pool.hasUnsaved ? ["the disk does not respond"] : [])
            },
        ]
        for await reasons in ends {
            for reason in reasons { observe(.refreshTokenUnsaved(reason: reason)) }
            break
        }
        for alarm in alarms { alarm.cancel() }
    }
}

/// Fetches the tokens of a resource, or makes them.
struct TokenIssuer: Sendable {
    let request: TokenRequest
    /// Those for requests; nil where none are made.
    let rules: TokenRules?
    let service: TokenService
    let secrets: SecretResolver
    let scope: ResourceScope
    let holder: TokenHolder
    /// Whether tokens come from the server that they are sent to: then what is asked of one counts for the other.
    private let isOneServer: Bool

    init(
        _ request: TokenRequest, resource: ResourceConfiguration, daemon: DaemonConfiguration, userAgent: String, secrets: SecretResolver,
        service: TokenService
    ) {
        self.request = request
        self.service = service
        self.secrets = secrets
        rules = request.address.map { TokenRules(resource, address: $0, daemon: daemon, userAgent: userAgent) }
        scope = ResourceScope(source: resource.source, resource: resource.name)
        isOneServer = request.address.map { $0.origin == (try? HTTPAddress(resource.url))?.origin } ?? false
        holder = service.pool.holder(of: request)
    }

    /// What requests for tokens go through.
    var gate: RequestGate? { isOneServer ? service.gates?.gate(of: scope) : nil }

    /// The token to send now, and whether it was fetched for whoever asks. May wait.
    /// - Parameter observe: hears of each attempt, and of each wait for another one.
    /// - Throws: `FetchError`, `CancellationError`.
    func token(_ observe: @escaping @Sendable (FetchEvent) -> Void) async throws -> (token: AccessToken, isNew: Bool) {
        try await holder.token(by: self, observe)
    }
}
