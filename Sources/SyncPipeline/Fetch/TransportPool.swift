import Synchronization

/// The transports of a daemon: one for each set of options, made when it is first needed, all shut down together.
public final class TransportPool: Sendable {
    private let transports = Mutex<[TransportOptions: any HTTPTransport]>([:])
    private let make: @Sendable (TransportOptions) throws -> any HTTPTransport

    /// A pool of transports that open real connections.
    /// - Parameter secrets: reads certificate authorities that are kept as credentials.
    public init(secrets: SecretResolver) {
        make = { try AsyncHTTPClientTransport($0, secrets: secrets) }
    }

    /// A pool that makes its transports otherwise.
    public init(make: @escaping @Sendable (TransportOptions) throws -> any HTTPTransport) {
        self.make = make
    }

    /// The transport for these options.
    /// - Throws: what making it throws.
    public func transport(for options: TransportOptions) throws -> any HTTPTransport {
        try transports.withLock { transports in
            if let transport = transports[options] { return transport }
            let transport = try make(options)
            transports[options] = transport
            return transport
        }
    }

    /// Shuts down every transport whose options are not among `options`, as a reload does once nothing uses them any more.
    public func keep(only options: Set<TransportOptions>) async {
        let leaving = transports.withLock { transports in
            let leaving = transports.filter { !options.contains($0.key) }
            for key in leaving.keys { transports[key] = nil }
            return Array(leaving.values)
        }
        for transport in leaving { await transport.shutdown() }
    }

    /// Shuts all transports down.
    public func shutdown() async {
        await keep(only: [])
    }
}
