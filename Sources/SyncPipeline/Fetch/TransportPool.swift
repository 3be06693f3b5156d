import Synchronization

/// The transports of a daemon: one for each set of options, made when it is first needed, all shut down together.
public final class TransportPool: Sendable {
    private let transports = Mutex<[TransportOptions: any HTTPTransport]>([:])
    private let make: @Sendable (TransportOptions) async throws -> any HTTPTransport

    /// A pool of transports that open real connections.
    /// - Parameter secrets: reads certificate authorities that are kept as credentials.
    public init(secrets: SecretResolver) {
        make = { try await AsyncHTTPClientTransport($0, secrets: secrets) }
    }

    /// A pool that makes its transports otherwise.
    public init(make: @escaping @Sendable (TransportOptions) async throws -> any HTTPTransport) {
        self.make = make
    }

    /// The transport for these options.
    /// - Throws: what making it throws.
    public func transport(for options: TransportOptions) async throws -> any HTTPTransport {
        if let transport = transports.withLock({ $0[options] }) { return transport }
        let made = try await make(options)
        let other: (any HTTPTransport)? = transports.withLock { transports in
            defer { transports[options] = transports[options] ?? made }
            return transports[options]
        }
        guard let other else { return made }
        // Somebody else made it meanwhile, and it is in use.
        await made.shutdown()
        return other
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
