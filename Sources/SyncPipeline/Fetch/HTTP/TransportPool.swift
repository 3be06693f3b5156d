public import SyncConfiguration
import Synchronization

/// The transports of a daemon: one for each set of options, made when it is first needed.
///
/// A user of a transport keeps it open. A reload drops all of them: later requests go over new ones, for which certificate authorities are read
/// again, and the old ones are shut down when their last requests are answered.
public final class TransportPool: Sendable {
    private struct Entry {
        let transport: any HTTPTransport
        var users = 0
        /// Nobody gets it any more.
        var isLeaving = false
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// Those that are handed out.
        var current: [TransportOptions: Int] = [:]
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
            for number in current.values { entries[number]?.isLeaving = true }
            current = [:]
        }
    }

    private let state = Mutex(State())
    private let make: @Sendable (TransportOptions) async throws -> any HTTPTransport

    /// A pool of transports that open real connections.
    /// - Parameter secrets: reads certificate authorities that are kept as credentials.
    public init(secrets: SecretResolver) {
        make = { try await AsyncHTTPClientTransport($0, secrets: secrets) }
    }

    /// A pool that makes its transports in another way.
    public init(make: @escaping @Sendable (TransportOptions) async throws -> any HTTPTransport) {
        self.make = make
    }

    /// The transport for these options, which stays open for as long as somebody keeps it.
    /// - Throws: what making it throws.
    public func transport(for options: TransportOptions) async throws -> any HTTPTransport {
        while true {
            let (known, generation) = state.withLock { state in (state.current[options].flatMap { self.lease($0, &state) }, state.generation) }
            if let known { return known }
            let made = try await make(options)
            let lease: Lease? = state.withLock { state in
                guard state.generation == generation else { return nil }
                // Another caller may have made one meanwhile, and it is in use.
                if let other = state.current[options] { return self.lease(other, &state) }
                state.count += 1
                state.entries[state.count] = Entry(transport: made)
                state.current[options] = state.count
                return self.lease(state.count, &state)
            }
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
            defer { state.entries = [:] }
            return state.entries.values.map(\.transport)
        }
        for transport in all { await transport.shutdown() }
    }

    private func lease(_ number: Int, _ state: inout State) -> Lease? {
        guard let transport = state.entries[number]?.transport else { return nil }
        state.entries[number]?.users += 1
        return Lease(transport) { [weak self] in self?.release(number) }
    }

    private func release(_ number: Int) {
        let unused = state.withLock { state in
            state.entries[number]?.users -= 1
            return state.takeUnused(number)
        }
        if let unused { Task { await unused.shutdown() } }
    }

    /// A transport of the pool while a user holds it.
    private final class Lease: HTTPTransport {
        private let transport: any HTTPTransport
        private let release: @Sendable () -> Void

        init(_ transport: any HTTPTransport, release: @escaping @Sendable () -> Void) {
            self.transport = transport
            self.release = release
        }

        deinit {
            release()
        }

        func isOf(_ other: any HTTPTransport) -> Bool { transport as AnyObject === other as AnyObject }

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

    /// Options from their parts.
    public init(tls: SyncConfiguration.TLSConfiguration, allowsPrivateNetworks: Bool, connectTimeout: TimeSpan, connectionsPerHost: Int) {
        self.tls = tls
        self.allowsPrivateNetworks = allowsPrivateNetworks
        self.connectTimeout = connectTimeout
        self.connectionsPerHost = connectionsPerHost
    }

    /// The options of a resource.
    public init(resource: ResourceConfiguration, settings: FetchSettings, daemon: DaemonConfiguration) {
        self.init(
            tls: resource.tls, allowsPrivateNetworks: settings.allowsPrivateNetworks, connectTimeout: resource.http.connectTimeout,
            connectionsPerHost: daemon.maxParallelRequests)
    }
}
