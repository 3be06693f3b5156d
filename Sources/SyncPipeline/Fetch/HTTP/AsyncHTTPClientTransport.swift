import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Secrets
import SyncConfiguration

/// The transport of the daemon, on AsyncHTTPClient: HTTP/1.1.
///
/// Connections are pooled. Nothing is decompressed, no redirect is followed, no attempt is repeated, no proxy is used and the environment is not
/// read. An address that may not be connected to is refused once the connection is open, before the first byte of a request.
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// What is received on so many loops is more than can be parsed meanwhile; each costs a client of its own.
    static let mostLoops = 4

    let clients: EventLoopClients
    /// Those for the one server of which the configuration says more; nil: it does not.
    private let own: EventLoopClients?
    private let identity: ClientIdentity?
    private let options: TransportOptions

    /// A transport with its own pool. It must be shut down.
    /// - Parameters:
    ///   - options: what all its connections have in common.
    ///   - secrets: reads the certificate authority if it is kept as a credential, and the certificate that the client shows.
    /// - Throws: `FetchError` of the class `tls` if the certificate authority cannot be read, `credential` if there is no such credential, or what it
    ///   holds cannot be shown; `CancellationError`.
    public convenience init(_ options: TransportOptions, secrets: SecretResolver = .none) async throws {
        try await self.init(options, identity: try ClientIdentity(try await ClientIdentity.Texts(options, secrets)), secrets: secrets)
    }

    /// A transport that shows this identity to the one server that it is for.
    init(_ options: TransportOptions, identity: ClientIdentity?, secrets: SecretResolver) async throws {
        var shared = HTTPClient.Configuration()
        shared.tlsConfiguration = try await Self.tls(options.tls, secrets: secrets)
        shared.redirectConfiguration = .disallow
        shared.decompression = .disabled
        // HTTP/2 is left out of this version: an exchange over it was seen to stall, and a stalled mirror is worse than a second connection.
        shared.httpVersion = .http1Only
        shared.proxy = nil
        shared.timeout = HTTPClient.Configuration.Timeout(connect: .milliseconds(options.connectTimeout.milliseconds))
        shared.connectionPool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: max(options.connectionsPerHost, 1))
        // A refused connection is noticed at once and retried under our own rules; the pool would retry until the time is up.
        shared.connectionPool.retryConnectionEstablishment = false
        var check = ConnectionCheck(refusesPrivateAddresses: !options.allowsPrivateNetworks, verifiesCertificates: options.tls.verify)
        shared.http1_1ConnectionDebugInitializer = { [check] in check.prepare($0) }
        self.options = options
        self.identity = identity
        clients = Self.clients(shared)
        guard let origin = options.ownOrigin else {
            own = nil
            return
        }
        if let identity { shared.tlsConfiguration = shared.tlsConfiguration.map { identity.shown(in: $0) } }
        if let name = options.serverName {
            // A request under that name is led to the host, and the handshake is about the name.
            shared.dnsOverride = [name: origin.host]
            check.serverName = name
        }
        check.pins = CertificatePins(options.tls.pinSHA256, table: options.tlsTable)
        shared.http1_1ConnectionDebugInitializer = { [check] in check.prepare($0) }
        own = Self.clients(shared)
    }

    private static func clients(_ configuration: HTTPClient.Configuration) -> EventLoopClients {
        let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator().prefix(mostLoops))
        return EventLoopClients(loops: loops.count) { HTTPClient(eventLoopGroupProvider: .shared(loops[$0]), configuration: configuration) }
    }

    /// Sends `request` and returns once the head of the response is there.
    /// - Throws: `FetchError`, or `CancellationError`.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let origin = request.address.origin
        // Whoever else a redirect or a link leads to learns nothing of who asks, and has a name and a key of its own.
        let isOwn = origin == options.ownOrigin, shown = isOwn ? identity : nil
        guard let lease = (isOwn ? own ?? clients : clients).lease(origin) else { throw CancellationError() }
        let name = isOwn ? options.serverName : nil
        var outgoing = HTTPClientRequest(url: name.map(request.address.text(at:)) ?? request.address.url.absoluteString)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.headers = request.headers
        if name != nil { outgoing.headers.replaceOrAdd(name: "Host", value: request.address.authority) }
        if let body = request.body { outgoing.body = .bytes(body.withUnsafeBytes { ByteBuffer(bytes: $0) }) }
        do {
            // The exchange above enforces the limits; this deadline is later than any limit that can be configured.
            let response = try await lease.client.execute(outgoing, deadline: .now() + .hours(24))
            return HTTPResponse(
                status: Int(response.status.code), headers: response.headers,
                body: HTTPBody(ClassifiedBody(body: response.body, lease: lease)))
        } catch {
            try Task.checkCancellation()
            let failure = await TransportFailure.classify(error, host: origin.host)
            guard failure.kind == .tls else { throw failure }
            var withheld: (identity: ClientIdentity, origin: Origin)?
            if shown == nil, let identity, let owner = options.ownOrigin { withheld = (identity, owner) }
            if let detail = ClientIdentity.explanation(of: error, shown: shown, withheld: withheld, now: Date()) {
                throw FetchError(.tls, detail: detail)
            }
            guard let detail = await explanation(of: error, for: origin, serverName: name) else { throw failure }
            try Task.checkCancellation()
            throw FetchError(.tls, detail: detail)
        }
    }

    /// Why the certificate was not trusted; nil if that is not what failed, or the reason cannot be found.
    private func explanation(of error: any Error, for origin: Origin, serverName: String?) async -> String? {
        let isOtherName = (error as? NIOSSLExtraError) == .failedToValidateHostname
        guard isOtherName || "\(error)".contains("CERTIFICATE_VERIFY_FAILED") else { return nil }
        let chain = await CertificateInspection(
            host: origin.host, port: origin.port, serverName: serverName, refusesPrivateAddresses: !options.allowsPrivateNetworks,
            timeout: .milliseconds(min(options.connectTimeout.milliseconds, 10_000))
        ).chain()
        guard let leaf = chain.first else { return nil }
        let now = Date()
        let fault =
            isOtherName ? .otherNames(CertificateFacts.names(of: leaf)) : CertificateFault(refused: chain.map(CertificateFacts.init), now: now)
        return fault.sentence(host: serverName ?? origin.host, now: now, authority: options.tls.ca, isHostOfURL: serverName == nil)
    }

    /// Closes all connections.
    public func shutdown() async {
        await clients.shutdown()
        await own?.shutdown()
    }

    private static func tls(_ options: SyncConfiguration.TLSConfiguration, secrets: SecretResolver) async throws -> NIOSSL.TLSConfiguration {
        var configuration = NIOSSL.TLSConfiguration.makeClientConfiguration()
        // How long to wait for the closing handshake; nothing depends on it.
        configuration.shutdownTimeout = .seconds(1)
        switch options.minVersion {
        case .tls12: configuration.minimumTLSVersion = .tlsv12
        case .tls13: configuration.minimumTLSVersion = .tlsv13
        }
        if !options.verify { configuration.certificateVerification = .none }
        do {
            switch options.ca {
            case .system: configuration.trustRoots = .default
            case .file(let path): configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
            case .credential(let id):
                let text = try await secrets.secret(.credential(id), form: .lines)
                configuration.trustRoots = .certificates(try text.withUnsafeBytes { try NIOSSLCertificate.fromPEMBytes(Array($0)) })
            }
        } catch let error as FetchError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw FetchError(.tls, detail: "tls.ca cannot be read: \(error)", attempts: 0)
        }
        return configuration
    }

    /// A body whose errors carry their class.
    private struct ClassifiedBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        struct AsyncIterator: AsyncIteratorProtocol {
            var base: HTTPClientResponse.Body.AsyncIterator
            let lease: EventLoopClients.Lease

            mutating func next() async throws -> ByteBuffer? {
                do {
                    return try await base.next()
                } catch {
                    try Task.checkCancellation()
                    throw TransportFailure.classifyBody(error)
                }
            }
        }

        let body: HTTPClientResponse.Body
        let lease: EventLoopClients.Lease

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: body.makeAsyncIterator(), lease: lease)
        }
    }
}

/// Makes one exchange: sends a request and hands over the response while it arrives.
///
/// A transport follows no redirect, decodes no body, keeps no cookie and repeats nothing: all of that is decided above it. It responds to
/// cancellation of the task at any time. What it throws is a `FetchError` or any other error, which counts as a broken connection.
public protocol HTTPTransport: Sendable {
    /// Sends `request` and returns once the head of the response is there.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Closes all connections. Nothing may be sent afterwards.
    func shutdown() async
}
