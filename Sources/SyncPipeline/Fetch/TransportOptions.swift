public import SyncConfiguration

/// What connections have in common that may be shared: resources with equal options use one pool.
public struct TransportOptions: Sendable, Hashable {
    /// Whom to trust.
    public var tls: SyncConfiguration.TLSConfiguration
    /// Whether addresses that are not public may be connected to.
    public var allowsPrivateNetworks: Bool
    /// The time for connecting, agreement on TLS included.
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
