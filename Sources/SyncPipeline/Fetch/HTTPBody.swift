public import NIOCore

/// The bytes of a body as they arrive. It can be read once. Whoever stops reading before the end gives the connection up.
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
