import NIOCore
import NIOHTTP1

/// Stands between the decoder and the client, and lets only those heads through that the client can take.
///
/// The client skips every head below 200. The decoder counts 000 to 099 as final and sends their body and their end, for which the client,
/// still waiting for a head, ends the process. It also waits for as many interim heads as a server cares to send, and knows no other
/// protocol that a connection could switch to.
final class ResponseHeadCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// More interim heads before one answer than any server has a use for.
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
        case 101: return "status 101, but no other protocol was asked for"
        case 100...:
            interimHeads += 1
            return interimHeads > Self.mostInterimHeads ? "more than \(Self.mostInterimHeads) interim responses" : nil
        default: return "status \(status) is none of HTTP"
        }
    }

    /// Puts the check behind the decoder of a connection that stands. To be called on its event loop.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(ResponseHeadCheck(), position: .after(decoder))
    }
}
