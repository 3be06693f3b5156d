public import SyncConfiguration
import Synchronization

/// The transports of a daemon: one for each set of options, made when it is first needed.
///
/// A user of a transport keeps it open. A reload drops all of them: later requests go over new ones, for which certificate authorities are read
/// again, and the old ones are shut down when their last requests are answered. A certificate that the client shows is read whenever somebody asks
/// for a transport: another one has a transport of its own, which takes the place of the one before. As long as certificate and key do not belong
/// together, the one before stays, and what it shows is shown after a reload, too.
public final class TransportPool: Sendable {
    private struct Entry {
        let transport: any HTTPTransport
        /// Tells what it shows from others; nil: nothing.
        let identity: String?
        var users = 0
        /// Nobody gets it any more.
        var isLeaving = false
    }

    /// A transport that is handed out.
    private struct Current {
        let number: Int
        /// What it shows; nil: nothing.
        let shown: ClientIdentity?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// Those that are handed out.
        var current: [TransportOptions: Current] = [:]
        /// What those showed that were dropped, until another is handed out.
        var kept: [TransportOptions: ClientIdentity] = [:]
        var count = 0
        /// How often all were dropped: one that was being made at that time may be an old one.
        var generation = 0

        /// A transport that is of no use any more; it leaves the state.
        mutating func takeUnused(_ number: Int) -> (any HTTPTransport)? {
            guard let entry = entries[number], entry.isLeaving, entry.users == 0 else { return nil }
            entries[number] = nil
            return entry.transport
        }

        mutating func letGo() {
            generation += 1
            for (options, known) in current {
                entries[known.number]?.isLeaving = true
                kept[options] = known.shown
            }
            current = [:]
        }
    }

    private let state = Mutex(State())
    private let identify: @Sendable (TransportOptions) async throws -> ClientIdentity.Texts?
    private let make: @Sendable (TransportOptions, ClientIdentity?) async throws -> any HTTPTransport

    /// A pool of transports that open real connections.
    /// - Parameter secrets: reads certificate authorities that are kept as credentials, and certificates that the client shows.
    public init(secrets: SecretResolver) {
        identify = { try await ClientIdentity.Texts($0, secrets) }
        make = { try await AsyncHTTPClientTransport($0, identity: $1, secrets: secrets) }
    }

    /// A pool of transports that open real connections, each behind one that sees what goes through it.
    package init(secrets: SecretResolver, behind wrap: @escaping @Sendable (any HTTPTransport) -> any HTTPTransport) {
        identify = { try await ClientIdentity.Texts($0, secrets) }
        make = { wrap(try await AsyncHTTPClientTransport($0, identity: $1, secrets: secrets)) }
    }

    /// A pool that makes its transports in another way.
    public init(make: @escaping @Sendable (TransportOptions) async throws -> any HTTPTransport) {
        identify = { _ in nil }
        self.make = { options, _ in try await make(options) }
    }

    /// The transport for these options, which stays open for as long as somebody keeps it.
    /// - Throws: what making it throws.
    public func transport(for options: TransportOptions) async throws -> any HTTPTransport { try await lease(for: options) }

    /// The same, with what it shows.
    func lease(for options: TransportOptions) async throws -> Lease {
        while true {
            let identity = try await identify(options)
            let (known, generation) = state.withLock { state in
                (self.current(options, identity?.digest, state).flatMap { self.lease($0, &state) }, state.generation)
            }
            if let known { return known }
            var shown: ClientIdentity?, fault: String?
            do {
                shown = try ClientIdentity(checking: identity)
            } catch let mismatch as ClientIdentity.Mismatch {
                // What was shown until now is as good as it was.
                let (before, kept) = state.withLock { state in
                    (state.current[options].flatMap { self.lease($0.number, &state, mismatch: mismatch.failure.detail) }, state.kept[options])
                }
                if let before { return before }
                guard let kept else { throw mismatch.failure }
                (shown, fault) = (kept, mismatch.failure.detail)
            }
            let made = try await make(options, shown), digest = shown?.digest
            let (lease, unused): (Lease?, (any HTTPTransport)?) = state.withLock { state in
                guard state.generation == generation else { return (nil, nil) }
                // Another caller may have made one meanwhile, and it is in use.
                if let other = self.current(options, digest, state) { return (self.lease(other, &state, mismatch: fault), nil) }
                let before = state.current[options]?.number
                state.count += 1
                state.entries[state.count] = Entry(transport: made, identity: digest)
                state.current[options] = Current(number: state.count, shown: shown)
                state.kept[options] = nil
                if let before { state.entries[before]?.isLeaving = true }
                return (self.lease(state.count, &state, mismatch: fault), before.flatMap { state.takeUnused($0) })
            }
            if let unused { await unused.shutdown() }
            if let lease, lease.isOf(made) { return lease }
            await made.shutdown()
            if let lease { return lease }
        }
    }

    /// Drops all transports: those that nobody uses are shut down now, the others when they are no longer used.
    public func renew() async {
        let unused = state.withLock { state in
            state.letGo()
            return state.entries.keys.compactMap { state.takeUnused($0) }
        }
        for transport in unused { await transport.shutdown() }
    }

    /// Shuts all transports down, whoever uses them.
    public func shutdown() async {
        let all = state.withLock { state in
            state.letGo()
            state.kept = [:]
            defer { state.entries = [:] }
            return state.entries.values.map(\.transport)
        }
        for transport in all { await transport.shutdown() }
    }

    /// The one that is handed out for these options and this identity.
    private func current(_ options: TransportOptions, _ digest: String?, _ state: State) -> Int? {
        guard let known = state.current[options], known.shown?.digest == digest else { return nil }
        return known.number
    }

    private func lease(_ number: Int, _ state: inout State, mismatch: String? = nil) -> Lease? {
        guard let entry = state.entries[number] else { return nil }
        state.entries[number]?.users += 1
        return Lease(entry.transport, identity: entry.identity, mismatch: mismatch) { [weak self] in self?.release(number) }
    }

    private func release(_ number: Int) {
        let unused = state.withLock { state in
            state.entries[number]?.users -= 1
            return state.takeUnused(number)
        }
        if let unused { Task { await unused.shutdown() } }
    }

    /// A transport of the pool while a user holds it.
    final class Lease: HTTPTransport {
        /// Tells the certificate that the client shows, and its key, from others; nil: it shows none.
        let identity: String?
        /// Why that is not what is there now, in a sentence; nil: it is.
        let mismatch: String?
        private let transport: any HTTPTransport
        private let release: @Sendable () -> Void

        fileprivate init(_ transport: any HTTPTransport, identity: String?, mismatch: String?, release: @escaping @Sendable () -> Void) {
            self.transport = transport
            self.identity = identity
            self.mismatch = mismatch
            self.release = release
        }

        deinit {
            release()
        }

        fileprivate func isOf(_ other: any HTTPTransport) -> Bool { transport as AnyObject === other as AnyObject }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await transport.send(request) }

        /// It is the pool's.
        func shutdown() async {}
    }
}

/// What connections have in common that may be shared: resources with equal options use one pool.
public struct TransportOptions: Sendable, Hashable {
    /// Whom to trust.
    public var tls: SyncConfiguration.TLSConfiguration
    /// Whether addresses that are not public may be connected to.
    public var allowsPrivateNetworks: Bool
    /// The time for connecting, TLS handshake included.
    public var connectTimeout: TimeSpan
    /// How many connections to one host may be open at once.
    public var connectionsPerHost: Int
    /// The only server that the client's certificate is shown to, and that has the name and the keys that `tls` says; nil: `tls` says none of that.
    public var ownOrigin: Origin?
    /// What the configuration calls the table that this is in.
    public var tlsTable = "tls"

    /// Options from their parts. Without anything that is said of one server it does not matter whose they are.
    public init(
        tls: SyncConfiguration.TLSConfiguration, allowsPrivateNetworks: Bool, connectTimeout: TimeSpan, connectionsPerHost: Int,
        ownOrigin: Origin? = nil, tlsTable: String = "tls"
    ) {
        if tls.isOfOneServer {
            self.ownOrigin = ownOrigin
            self.tlsTable = tlsTable
        }
        self.tls = tls
        self.allowsPrivateNetworks = allowsPrivateNetworks
        self.connectTimeout = connectTimeout
        self.connectionsPerHost = connectionsPerHost
    }

    /// The name that the own server's certificate must be for; nil: that of its address.
    var serverName: String? {
        guard let ownOrigin, ownOrigin.scheme == "https", !tls.serverName.isEmpty else { return nil }
        let name = tls.serverName.lowercased()
        return name == ownOrigin.host ? nil : name
    }

    /// The options of a resource.
    public init(resource: ResourceConfiguration, settings: FetchSettings, daemon: DaemonConfiguration) {
        self.init(
            tls: resource.tls, allowsPrivateNetworks: settings.allowsPrivateNetworks, connectTimeout: resource.http.connectTimeout,
            connectionsPerHost: daemon.maxParallelRequests, ownOrigin: settings.first.origin)
    }
}
