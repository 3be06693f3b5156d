import NIOCore
import NIOHTTP1
import SyncPipeline
import Synchronization

/// A transport without a network: each request is answered by the first exchange that means it and has not answered yet.
final class ExchangeTransport: HTTPTransport {
    /// What was asked, and what became of it.
    struct Asked: Sendable {
        let request: AskedRequest
        /// Which exchange answered; nil: none.
        let exchange: Int?
    }

    private struct State {
        var exchanges: [RecordedExchange] = []
        var isUsed: [Bool] = []
        var asked: [Asked] = []
    }

    private let secrets: TestSecrets
    private let state = Mutex(State())

    init(secrets: TestSecrets) {
        self.secrets = secrets
    }

    /// Puts the exchanges of a run into the place of those of the run before.
    func begin(_ exchanges: [RecordedExchange]) {
        state.withLock { $0 = State(exchanges: exchanges, isUsed: exchanges.map { _ in false }) }
    }

    /// What was asked since the run began, in order.
    var asked: [Asked] { state.withLock { $0.asked } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let asked = AskedRequest(request)
        let answer = state.withLock { state -> RecordedExchange.Answer? in
            let found = state.exchanges.indices.first { index in
                !state.isUsed[index] && (state.exchanges[index].request.map { asked.isMeant(by: $0, secrets: secrets) } ?? true)
            }
            state.asked.append(Asked(request: asked, exchange: found))
            guard let found else { return nil }
            state.isUsed[found] = true
            return state.exchanges[found].answer
        }
        switch answer {
        case .response(let status, let headers, let body)?:
            return HTTPResponse(status: status, headers: HTTPHeaders(headers.map { ($0.name, $0.value) }), body: HTTPBody(bytes: body))
        case .failure(let kind)?: throw FetchError(kind, detail: "as the test says")
        // Nothing that would be tried again.
        case nil: throw FetchError(.malformed, detail: "no exchange of the test answers this request")
        }
    }

    /// There is nothing to close.
    func shutdown() async {}
}

extension HTTPBody {
    /// A body that is there as a whole.
    init(bytes: [UInt8]) {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        if !bytes.isEmpty { continuation.yield(ByteBuffer(bytes: bytes)) }
        continuation.finish()
        self.init(stream)
    }
}
