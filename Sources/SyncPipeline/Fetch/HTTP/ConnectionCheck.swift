import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Judges a connection once it is open and, under TLS, the handshake is complete, before the first byte of a request.
struct ConnectionCheck: Sendable {
    /// Whether the address must be one of the public internet.
    let refusesPrivateAddresses: Bool
    /// Whether certificates are verified at all.
    let verifiesCertificates: Bool
    /// The name that the server's certificate must be for; nil: the host of each request.
    var serverName: String?
    /// The keys that the server may have; nil: any.
    var pins: CertificatePins?

    /// Makes the connection ready for its first request. Fails if nothing may be sent over it.
    func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
        do {
            try checkAddress(channel)
            try pins?.check(channel)
            try ResponseHeadCheck.add(to: channel)
            if verifiesCertificates { try RequestHeadCheck.add(to: channel, serverName: serverName) }
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            // The pool must learn of the failure before it learns of the end of a connection that it does not count yet.
            channel.eventLoop.execute { channel.close(promise: nil) }
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// Looks at the address a connection really leads to, whatever the name said when it was looked up.
    func checkAddress(_ channel: any Channel) throws {
        guard refusesPrivateAddresses else { return }
        let text = channel.remoteAddress?.ipAddress
        guard let address = text.flatMap(NetworkAddress.init), address.isPublic else {
            throw FetchError(.refused(.privateAddress(text ?? "an unknown address")))
        }
    }

    /// Whether a name in a certificate matches a host: exactly, or with a star for exactly the first label (RFC 6125, 6.4.3).
    static func covers(_ name: String, _ host: String) -> Bool {
        var name = name.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        let host = host.lowercased()
        guard name.hasPrefix("*.") else { return !name.isEmpty && name == host }
        guard let dot = host.firstIndex(of: "."), dot != host.startIndex, name.dropFirst(2).contains(".") else { return false }
        return host[host.index(after: dot)...] == name.dropFirst(2)
    }
}

/// Sits between the decoder and the client, and lets only those heads through that the client can handle.
///
/// The client skips every head below 200. The decoder counts 000 to 099 as final and sends their body and their end, for which the client,
/// still waiting for a head, ends the process. It also waits for as many interim heads as a server cares to send, and knows no other
/// protocol that a connection could switch to.
final class ResponseHeadCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// More interim heads before one response than any server needs.
    static let mostInterimHeads = 16

    private var interimHeads = 0
    /// Nothing more is passed on: the connection is being closed.
    private var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        if case .head(let head) = unwrapInboundIn(data), let problem = judge(Int(head.status.code)) {
            isOver = true
            // The client fails the request with it and closes the connection.
            context.fireErrorCaught(FetchError(.malformed, detail: problem))
            return
        }
        context.fireChannelRead(data)
    }

    /// What is wrong with a head of this status; nil if nothing is.
    private func judge(_ status: Int) -> String? {
        switch status {
        case 200...:
            interimHeads = 0
            return nil
        case 101: return "status 101, but no other protocol was requested"
        case 100...:
            interimHeads += 1
            return interimHeads > Self.mostInterimHeads ? "more than \(Self.mostInterimHeads) interim responses" : nil
        default: return "status \(status) is not an HTTP status"
        }
    }

    /// Puts the check after the decoder of an open connection. Must be called on its event loop.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(ResponseHeadCheck(), position: .after(decoder))
    }
}
