import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Synchronization

@testable import SyncPipeline

/// A service of tokens without a network, a vault that writes down what it does, and those who ask.
final class TokenFixture: Sendable {
    /// What happened, in order: `prepare`, `ask REFRESH_TOKEN`, `write REFRESH_TOKEN`.
    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
        let entries = Mutex<[String: Secret]>([:])
        let isVaultBroken = Mutex(false)
        let isUsedElsewhere = Mutex(false)
        let configured = Mutex<[String: String]>([:])

        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    struct Broken: Error, CustomStringConvertible {
        let description = "the disk is full"
    }

    let clock = ManualClock()
    let transport: StubTransport
    let pool: TokenPool
    private let log: Log
    private let told = Mutex<[SyncEvent]>([])
    /// Yields the name of each credential that is read.
    let reads: AsyncStream<String>
    private let read: AsyncStream<String>.Continuation

    var lines: [String] { log.lines.withLock { $0 } }
    var events: [SyncEvent] { told.withLock { $0 } }
    var names: [String] { log.entries.withLock { $0.keys.sorted() } }
    var isVaultBroken: Bool {
        get { log.isVaultBroken.withLock { $0 } }
        set { log.isVaultBroken.withLock { $0 = newValue } }
    }

    /// Another process uses the vault.
    var isUsedElsewhere: Bool {
        get { log.isUsedElsewhere.withLock { $0 } }
        set { log.isUsedElsewhere.withLock { $0 = newValue } }
    }

    /// From now on a credential holds this, whatever an issuer was made with.
    func configure(_ id: String, _ secret: String) { log.configured.withLock { $0[id] = secret } }

    init(_ answer: @escaping @Sendable (HTTPRequest, Int) async throws -> StubTransport.Answer) {
        let log = Log()
        self.log = log
        (reads, read) = AsyncStream.makeStream()
        transport = StubTransport { request, number in
            log.note("ask \(TokenFixture.form(request)["refresh_token"] ?? "")")
            return try await answer(request, number)
        }
        pool = TokenPool(
            vault: TokenVault(
                lock: { _ in log.isUsedElsewhere.withLock { $0 } ? nil : TokenVault.Lock {} }, place: { "/vault/\($0)" },
                read: { name in log.entries.withLock { $0[name] } },
                prepare: { _ in log.note("prepare") },
                write: { name, entry in
                    if log.isVaultBroken.withLock({ $0 }) { throw Broken() }
                    log.note("write \(RefreshChain.Entry(entry)?.token.revealed() ?? "?")")
                    log.entries.withLock { $0[name] = entry }
                }))
    }

    /// Who asks for tokens. `secrets` by the name of the credential; any other is called as its reference.
    func issuer(
        _ oauth2: AuthenticationConfiguration.OAuth2, secrets: [String: String] = [:], random: Double = 0,
        _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) throws -> TokenIssuer {
        let resolver = SecretResolver { [log, read] reference, _ in
            guard case .credential(let id) = reference else { throw Broken() }
            read.yield(id)
            return Secret(Array((log.configured.withLock { $0[id] } ?? secrets[id] ?? "secret-\(id)").utf8))
        }
        let resource = Fixture.resource("https://api.example/items") {
            $0.authentication = .oauth2(oauth2)
            change(&$0)
        }
        guard let request = try TokenRequest(resource) else { throw Broken() }
        let service = TokenService(
            pool: pool, transports: TransportPool { [transport] _ in transport }, clock: clock, random: RandomSource { random }
        ) { [weak self] event in
            self?.told.withLock { $0.append(event) }
        }
        return TokenIssuer(
            request, resource: resource, daemon: DaemonConfiguration(), userAgent: "test/1", secrets: resolver, service: service)
    }

    static var client: AuthenticationConfiguration.OAuth2 {
        .init(grant: .clientCredentials, tokenURL: "https://login.example/token", clientID: .text("me"), clientSecret: .credential("client"))
    }

    static var refreshing: AuthenticationConfiguration.OAuth2 {
        var oauth2 = client
        oauth2.grant = .refreshToken
        oauth2.refreshToken = .credential("refresh")
        return oauth2
    }

    static func form(_ request: HTTPRequest) -> [String: String] {
        let fields = (request.body?.revealed() ?? "").split(separator: "&").map { field in
            field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { $0.removingPercentEncoding ?? "" }
        }
        return Dictionary(fields.map { ($0[0], $0.count == 2 ? $0[1] : "") }) { _, last in last }
    }

    static func ok(_ json: String) -> StubTransport.Answer {
        .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(json.utf8))
    }

    static func refused(_ json: String, status: Int = 400) -> StubTransport.Answer {
        .response(status: status, headers: ["Content-Type": "application/json"], body: Array(json.utf8))
    }
}

extension TokenIssuer {
    /// The token, as text.
    func text() async throws -> String { try await token { _ in }.token.value.revealed() }
}
