import NIOCore
public import NIOHTTP1
public import SyncPipeline
import Synchronization

/// A transport without a network: answers each request by a function and writes down what was asked.
public final class StubTransport: HTTPTransport {
    /// What a request is answered with.
    public enum Answer: Sendable {
        /// A complete response.
        case response(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = [])
        /// A response whose body comes in pieces; a piece that is nil breaks the connection.
        case pieces(status: Int, headers: HTTPHeaders = [:], [[UInt8]?])
        /// A head, and then nothing until the task is cancelled.
        case silentBody(status: Int, headers: HTTPHeaders = [:])
        /// Nothing until the task is cancelled.
        case silence
        /// An error in place of a head.
        case failure(FetchError)
    }

    private let answer: @Sendable (HTTPRequest, Int) async throws -> Answer
    private let recorded = Mutex<[HTTPRequest]>([])

    /// Yields whenever somebody begins to wait for what will not come: a head or a body.
    public let silences: AsyncStream<Void>
    private let silence: AsyncStream<Void>.Continuation

    /// Answers by a function of the request and of how many came before it.
    public init(_ answer: @escaping @Sendable (HTTPRequest, Int) async throws -> Answer) {
        self.answer = answer
        (silences, silence) = AsyncStream.makeStream()
    }

    /// Answers in turn; the last answer goes on for ever.
    public convenience init(_ answers: Answer...) {
        self.init { _, index in answers[min(index, answers.count - 1)] }
    }

    /// Everything that was asked, in order.
    public var requests: [HTTPRequest] { recorded.withLock { $0 } }

    /// Answers the request.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let index = recorded.withLock { recorded in
            recorded.append(request)
            return recorded.count - 1
        }
        switch try await answer(request, index) {
        case .response(let status, let headers, let body):
            return HTTPResponse(status: status, headers: headers, body: Self.body([body]))
        case .pieces(let status, let headers, let pieces):
            return HTTPResponse(status: status, headers: headers, body: Self.body(pieces))
        case .silentBody(let status, let headers):
            return HTTPResponse(status: status, headers: headers, body: HTTPBody(Silence(began: silence)))
        case .silence:
            silence.yield()
            try await Self.forever()
        case .failure(let error):
            throw error
        }
    }

    /// Does nothing: there is nothing to close.
    public func shutdown() async {}

    private static func body(_ pieces: [[UInt8]?]) -> HTTPBody {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        for piece in pieces {
            guard let piece else {
                continuation.finish(throwing: FetchError(.reset, detail: "broken by the test"))
                return HTTPBody(stream)
            }
            if !piece.isEmpty { continuation.yield(ByteBuffer(bytes: piece)) }
        }
        continuation.finish()
        return HTTPBody(stream)
    }

    private static func forever() async throws -> Never {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await never in stream { switch never {} }
        withExtendedLifetime(continuation) {}
        throw CancellationError()
    }

    private struct Silence: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        struct AsyncIterator: AsyncIteratorProtocol {
            let began: AsyncStream<Void>.Continuation
            func next() async throws -> ByteBuffer? {
                began.yield()
                try await StubTransport.forever()
            }
        }
        let began: AsyncStream<Void>.Continuation
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(began: began) }
    }
}
