import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sits between the client and the encoder of a TLS connection, and lets only requests through for a host that the server's certificate names.
///
/// The library below also accepts a certificate for the address it is connected to. For a host requested by name, that would accept anybody who
/// answers for the name and has a certificate for their own address.
final class RequestHeadCheck: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let names: [String]
    private let serverName: String?
    /// The host field of the last request that was let through: those that follow are for the same host.
    private var known: String?
    /// Nothing more is sent: the connection is being closed.
    private var isOver = false

    /// - Parameters:
    ///   - names: those in the server's certificate.
    ///   - serverName: the one that must be among them; nil: the host of each request.
    init(names: [String], serverName: String? = nil) {
        self.names = names
        self.serverName = serverName
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if !isOver, case .head(let head) = unwrapOutboundIn(data), let failure = judge(head.headers["host"]) {
            isOver = true
            // Once the client has done what it does after a request is sent: it fails the request with the error and closes the connection.
            context.eventLoop.assumeIsolated().execute { context.fireErrorCaught(failure) }
        }
        guard !isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(data, promise: promise)
    }

    /// Why a request with these host fields may not be sent; nil if it may.
    func judge(_ fields: [String]) -> FetchError? {
        guard fields.count == 1, let asked = (try? HTTPAddress("https://\(fields[0])/"))?.origin.host else {
            return FetchError(.tls, detail: "a request names no host")
        }
        if fields[0] == known { return nil }
        let host = serverName ?? asked
        // The library has compared an address with the certificate. An address among the names does not count as a name.
        guard NetworkAddress(host) != nil || names.contains(where: { NetworkAddress($0) == nil && ConnectionCheck.covers($0, host) }) else {
            let sentence = CertificateFault.otherNames(names).sentence(host: host, now: Date(), isHostOfURL: serverName == nil)
            return FetchError(.tls, detail: sentence)
        }
        known = fields[0]
        return nil
    }

    /// Puts the check before the encoder of an open connection if it is one with TLS. Must be called on its event loop.
    static func add(to channel: any Channel, serverName: String?) throws {
        let pipeline = channel.pipeline.syncOperations
        guard let tls = try? pipeline.handler(type: NIOSSLClientHandler.self) else { return }
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        let names = tls.peerCertificate.map(CertificateFacts.names) ?? []
        try pipeline.addHandler(RequestHeadCheck(names: names, serverName: serverName), position: .after(decoder))
    }
}
