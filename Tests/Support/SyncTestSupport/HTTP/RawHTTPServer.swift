import Foundation
public import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on the loopback interface that sends exactly the bytes it is told to, with the pauses and breaks it is told to make.
///
/// It reads requests up to their empty line, and as many bytes as they announce after it, and records them; what comes back is a script. It knows
/// nothing of HTTP beyond that, so that it can break every rule of it.
public final class RawHTTPServer: Sendable {
    /// What is done with a connection, in order.
    public enum Step: Sendable {
        /// Sends bytes.
        case send([UInt8])
        /// Sends bytes one at a time, with a pause before each.
        case drip([UInt8], every: TimeAmount)
        /// Sends bytes one at a time, slowly.
        public static func drip(_ bytes: [UInt8]) -> Step { .drip(bytes, every: .milliseconds(100)) }
        /// Sends the same bytes again and again until the other side goes away.
        case flood([UInt8])
        /// Waits until the other side goes away.
        case hang
        /// Closes the connection in the orderly way.
        case close
        /// Breaks the connection off: no end of TCP, no end of TLS.
        case reset
        /// Ends the connection, but not TLS before it.
        case truncate
        /// Goes on with the next request on this connection, or closes it if none comes.
        case keepAlive
    }

    /// A request as it arrived.
    public struct Request: Sendable {
        /// Method, target and version.
        public let line: String
        /// Names in lower case; several values of one name joined by a comma.
        public let headers: [String: String]
        /// What came after the empty line.
        public let body: [UInt8]
        /// Which connection it came on, counted from 0.
        public let connection: Int
        /// The client has shown a certificate.
        public let isIdentified: Bool

        /// The method of the request line.
        public var method: String { line.split(separator: " ").first.map(String.init) ?? "" }
        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
        /// The fields of a body that is a form, decoded.
        public var form: [String: String] {
            let fields = String(decoding: body, as: UTF8.self).split(separator: "&").map { field in
                field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { text in
                    text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
                }
            }
            return Dictionary(fields.map { ($0[0], $0.count == 2 ? $0[1] : "") }) { _, last in last }
        }

        /// The target of the request line.
        public var target: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    private struct State {
        var requests: [Request] = []
        var connections: [any Channel] = []
        var opened = 0
        var watchers: [(test: @Sendable (Counts) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func satisfied() -> [CheckedContinuation<Void, Never>] {
            let counts = Counts(requests: requests.count, opened: opened, open: connections.count)
            let ready = watchers.filter { $0.test(counts) }.map(\.continuation)
            watchers.removeAll { $0.test(counts) }
            return ready
        }
    }

    private struct Counts {
        let requests: Int
        let opened: Int
        let open: Int
    }

    /// Servers have a thread of their own: one that floods must not keep the client under test from its work.
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let listener: any Channel
    private let state = SharedState()

    private final class SharedState: Sendable {
        let mutex = Mutex(State())

        func update(_ change: (inout State) -> Void) {
            let ready = mutex.withLock { state in
                change(&state)
                return state.satisfied()
            }
            for continuation in ready { continuation.resume() }
        }
    }

    /// Listens on a free port of 127.0.0.1 and answers each request by a function of it and of how many came before it.
    /// - Parameters:
    ///   - greeting: bytes that are sent on each connection before anything is asked.
    ///   - identity: the certificate of a server that speaks TLS.
    ///   - clients: whose certificates clients are asked for; nil: nobody's.
    public init(
        greeting: [UInt8] = [], identity: TestIdentity? = nil, clients: ClientDemand? = nil,
        _ script: @escaping @Sendable (Request, Int) -> [Step] = { _, _ in [] }
    ) async throws {
        let state = state
        let context = try identity.map { try $0.serverContext(clients) }
        listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                var number = 0
                state.update { state in
                    number = state.opened
                    state.opened += 1
                    state.connections.append(channel)
                }
                channel.closeFuture.whenComplete { _ in
                    state.update { state in state.connections.removeAll { $0 === channel } }
                }
                let record: @Sendable (Request) -> Int = { request in
                    var index = 0
                    state.update { state in
                        index = state.requests.count
                        state.requests.append(request)
                    }
                    return index
                }
                return channel.eventLoop.makeCompletedFuture {
                    let handler = Handler(connection: number, greeting: greeting, record: record, script: script)
                    if let context { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context)) }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Answers every request with the same steps.
    public convenience init(_ steps: Step...) async throws {
        try await self.init { _, _ in steps }
    }

    /// The port it listens on.
    public var port: Int { listener.localAddress?.port ?? 0 }

    /// `http://127.0.0.1:PORT` and the path.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// All requests so far.
    public var requests: [Request] { state.mutex.withLock { $0.requests } }

    /// How many connections were opened so far.
    public var connectionCount: Int { state.mutex.withLock { $0.opened } }

    /// Waits until at least `count` requests have arrived.
    public func requests(atLeast count: Int) async {
        await wait { $0.requests >= count }
    }

    /// Waits until at least `count` connections have been opened.
    public func connections(atLeast count: Int) async {
        await wait { $0.opened >= count }
    }

    /// Waits until no connection is open any more.
    public func allConnectionsClosed() async {
        await wait { $0.open == 0 }
    }

    private func wait(_ test: @escaping @Sendable (Counts) -> Bool) async {
        await withCheckedContinuation { continuation in
            state.update { $0.watchers.append((test, continuation)) }
        }
    }

    /// Stops listening and closes every connection.
    public func shutdown() async {
        try? await listener.close()
        for channel in state.mutex.withLock({ $0.connections }) { try? await channel.close() }
        try? await group.shutdownGracefully()
    }

    // MARK: One connection

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let connection: Int
        private let greeting: [UInt8]
        private let record: @Sendable (Request) -> Int
        private let script: @Sendable (Request, Int) -> [Step]
        private var received: [UInt8] = []
        private var isAnswering = false
        private var steps: ArraySlice<Step> = []

        init(
            connection: Int, greeting: [UInt8], record: @escaping @Sendable (Request) -> Int,
            script: @escaping @Sendable (Request, Int) -> [Step]
        ) {
            self.connection = connection
            self.greeting = greeting
            self.record = record
            self.script = script
        }

        func channelActive(context: ChannelHandlerContext) {
            if !greeting.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: greeting)), promise: nil) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += unwrapInboundIn(data).readableBytesView
            answerNext(context)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            // The client closed its half: nobody reads any more what a script may still want to send.
            if let event = event as? ChannelEvent, event == .inputClosed { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        private func answerNext(_ context: ChannelHandlerContext) {
            guard !isAnswering, let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
            let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let name = line[..<colon].lowercased()
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                headers[name] = headers[name].map { "\($0), \(value)" } ?? value
            }
            let length = headers["content-length"].flatMap { Int($0) } ?? 0
            // What is announced and has not arrived yet does later.
            guard received.count - end.upperBound >= length else { return }
            let body = Array(received[end.upperBound..<end.upperBound + length])
            received.removeSubrange(..<(end.upperBound + length))
            let tls = try? context.channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
            let request = Request(
                line: lines[0], headers: headers, body: body, connection: connection, isIdentified: tls?.peerCertificate != nil)
            isAnswering = true
            steps = script(request, record(request))[...]
            runNext(context)
        }

        private func runNext(_ context: ChannelHandlerContext) {
            guard context.channel.isActive, let step = steps.popFirst() else { return }
            switch step {
            case .send(let bytes):
                write(bytes, context) { self.runNext($0) }
            case .drip(let bytes, let pause):
                drip(bytes[...], pause, context)
            case .flood(let bytes):
                // Small pieces would make it a test of the sender.
                let copies = max(65_536 / max(bytes.count, 1), 1)
                flood(ByteBuffer(bytes: Array(repeatElement(bytes, count: copies).joined())), context)
            case .hang:
                break
            case .close:
                context.close(promise: nil)
            case .reset:
                // No lingering: the other side sees the connection break, not end.
                guard let options = context.channel as? any SocketOptionProvider else { return context.close(promise: nil) }
                let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
                options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in bound.value.close(promise: nil) }
            case .truncate:
                // Closed from behind the TLS handler, which would say goodbye.
                let tls = try? context.channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                (tls ?? context).close(promise: nil)
            case .keepAlive:
                isAnswering = false
                answerNext(context)
            }
        }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext, then next: @escaping (ChannelHandlerContext) -> Void) {
            let bound = NIOLoopBound((context, next), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes))).whenSuccess {
                let (context, next) = bound.value
                next(context)
            }
        }

        private func drip(_ bytes: ArraySlice<UInt8>, _ pause: TimeAmount, _ context: ChannelHandlerContext) {
            guard let first = bytes.first else { return runNext(context) }
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: pause) {
                let (handler, context) = bound.value
                guard context.channel.isActive else { return }
                handler.write([first], context) { handler.drip(bytes.dropFirst(), pause, $0) }
            }
        }

        private func flood(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let eventLoop = context.eventLoop
            context.writeAndFlush(wrapOutboundOut(buffer)).whenSuccess {
                // Not called at once: writes that succeed at once would pile up on the stack.
                eventLoop.execute {
                    let (handler, context) = bound.value
                    if context.channel.isActive { handler.flood(buffer, context) }
                }
            }
        }
    }
}
