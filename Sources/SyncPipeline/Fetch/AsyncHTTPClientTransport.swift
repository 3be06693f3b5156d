import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SyncConfiguration

/// The transport of the daemon, on AsyncHTTPClient: HTTP/1.1 and, where the server offers it under TLS, HTTP/2.
///
/// Connections are pooled. Nothing is decompressed, no redirect is followed, no attempt is repeated, no proxy is used and the environment
/// is not read. An address that may not be connected to is refused when the connection stands, before the first byte of a request.
public final class AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient

    /// A transport with its own pool. It must be shut down.
    /// - Parameters:
    ///   - options: what all its connections have in common.
    ///   - secrets: reads the certificate authority if it is kept as a credential.
    /// - Throws: `FetchError` of the class `tls` if the certificate authority cannot be read.
    public init(_ options: TransportOptions, secrets: SecretResolver = .none) throws {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try Self.tls(options.tls, secrets: secrets)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.httpVersion = .automatic
        configuration.proxy = nil
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: .milliseconds(options.connectTimeout.milliseconds))
        configuration.connectionPool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: max(options.connectionsPerHost, 1))
        // A refused connection is known at once and repeated under our own rules; the pool would try until the time is up.
        configuration.connectionPool.retryConnectionEstablishment = false
        if !options.allowsPrivateNetworks {
            configuration.http1_1ConnectionDebugInitializer = Self.refusePrivateAddress
            configuration.http2ConnectionDebugInitializer = Self.refusePrivateAddress
        }
        client = HTTPClient(eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }

    /// Sends `request` and returns once the head of the response is there.
    /// - Throws: `FetchError`, or `CancellationError`.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var outgoing = HTTPClientRequest(url: request.address.url.absoluteString)
        outgoing.method = HTTPMethod(rawValue: request.method)
        outgoing.headers = request.headers
        do {
            // The exchange above keeps the time; this deadline lies behind every limit that can be configured.
            let response = try await client.execute(outgoing, deadline: .now() + .hours(24))
            return HTTPResponse(
                status: Int(response.status.code), headers: response.headers, body: HTTPBody(ClassifiedBody(body: response.body)))
        } catch {
            try Task.checkCancellation()
            throw await TransportFailure.classify(error, host: request.address.origin.host)
        }
    }

    /// Closes all connections.
    public func shutdown() async {
        // Fails only if it was shut down before.
        try? await client.shutdown()
    }

    // MARK: Connections

    /// Looks at the address a connection really leads to, whatever the name said when it was looked up.
    @Sendable
    private static func refusePrivateAddress(_ channel: any Channel) -> EventLoopFuture<Void> {
        if let address = channel.remoteAddress?.ipAddress.flatMap(NetworkAddress.init), address.isPublic {
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        let address = channel.remoteAddress?.ipAddress ?? "an unknown address"
        // The pool has to hear of the failure before it hears of the end of a connection that it does not count yet.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return channel.eventLoop.makeFailedFuture(FetchError(.refused(.privateAddress(address))))
    }

    private static func tls(_ options: SyncConfiguration.TLSConfiguration, secrets: SecretResolver) throws -> NIOSSL.TLSConfiguration {
        var configuration = NIOSSL.TLSConfiguration.makeClientConfiguration()
        switch options.minVersion {
        case .tls12: configuration.minimumTLSVersion = .tlsv12
        }
        if !options.verify { configuration.certificateVerification = .none }
        do {
            switch options.ca {
            case .system: configuration.trustRoots = .default
            case .file(let path): configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
            case .credential(let id):
                let text = try secrets.secret(.credential(id))
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)))
            }
        } catch let error as FetchError {
            throw error
        } catch {
            throw FetchError(.tls, detail: "tls.ca cannot be read: \(error)", attempts: 0)
        }
        return configuration
    }

    /// A body whose errors have their class.
    private struct ClassifiedBody: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        struct AsyncIterator: AsyncIteratorProtocol {
            var base: HTTPClientResponse.Body.AsyncIterator

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

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: body.makeAsyncIterator())
        }
    }
}
