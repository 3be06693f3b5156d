public import NIOCore
public import NIOHTTP1
public import Secrets
public import SyncConfiguration

/// One request as it goes on the wire: address and headers include the credentials.
///
/// Printing it shows the method and the origin only.
public struct HTTPRequest: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How it is asked.
    public let method: RequestMethod
    /// Where it goes, credentials in the query included.
    public var address: HTTPAddress
    /// All headers except those that the transport sets itself (`Host`, `Connection`, `Content-Length`).
    public var headers: HTTPHeaders
    /// What follows the head; it may hold secrets. Nil for nothing.
    public let body: Secret?

    /// A request; a GET without a body unless said otherwise.
    public init(method: RequestMethod = .get, address: HTTPAddress, headers: HTTPHeaders, body: Secret? = nil) {
        self.method = method
        self.address = address
        self.headers = headers
        self.body = body
    }

    /// Method and origin.
    public var description: String { "\(method.rawValue) \(address.origin)" }

    /// Method and origin.
    public var debugDescription: String { description }

    /// Nothing, so that a dump shows no credential.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The head of a response, and its body still to be read.
public struct HTTPResponse: Sendable {
    /// The status code.
    public let status: Int
    /// All headers, in the order they came.
    public let headers: HTTPHeaders
    /// The body as it comes off the wire, still encoded.
    public let body: HTTPBody

    /// A response from its parts.
    public init(status: Int, headers: HTTPHeaders, body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The bytes of a body as they arrive. It can be read once. A reader that stops before the end gives up the connection.
public struct HTTPBody: AsyncSequence, Sendable {
    /// Reads the buffers one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let nextBuffer: () async throws -> ByteBuffer?

        fileprivate init(_ nextBuffer: @escaping () async throws -> ByteBuffer?) {
            self.nextBuffer = nextBuffer
        }

        /// The next bytes, or nil at the end of a body that is complete as far as its framing tells.
        /// - Throws: what ended the body before its end, and `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> ByteBuffer? {
            let buffer = try await nextBuffer()
            // Some sequences answer cancellation by ending; that must never look like the end of the body.
            if buffer == nil { try Task.checkCancellation() }
            return buffer
        }
    }

    private let makeIterator: @Sendable () -> AsyncIterator

    /// A body made of a sequence of buffers.
    public init<Buffers: AsyncSequence & Sendable>(_ buffers: Buffers) where Buffers.Element == ByteBuffer {
        makeIterator = {
            var iterator = buffers.makeAsyncIterator()
            return AsyncIterator { try await iterator.next() }
        }
    }

    /// A reader of the body.
    public func makeAsyncIterator() -> AsyncIterator {
        makeIterator()
    }
}
