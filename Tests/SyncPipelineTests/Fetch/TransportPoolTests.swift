import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Whose connections are open, and until when.
@Suite struct TransportPoolTests {
    /// Knows whether it was shut down.
    private final class Counted: HTTPTransport {
        let number: Int
        private let isOpen = Atomic(true)
        private let closed: AsyncStream<Int>.Continuation

        init(_ number: Int, _ closed: AsyncStream<Int>.Continuation) {
            self.number = number
            self.closed = closed
        }

        /// Says which transport was asked, and fails where that was shut down.
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            guard isOpen.load(ordering: .acquiring) else { throw CancellationError() }
            return HTTPResponse(status: 200 + number, headers: [:], body: HTTPBody(AsyncStream { $0.finish() }))
        }

        func shutdown() async {
            let wasOpen = isOpen.exchange(false, ordering: .acquiringAndReleasing)
            #expect(wasOpen, "\(number) was shut down twice")
            closed.yield(number)
        }
    }

    private let pool: TransportPool
    private var closed: AsyncStream<Int>.Iterator

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        closed = stream.makeAsyncIterator()
        let count = Atomic(0)
        pool = TransportPool { _ in Counted(count.add(1, ordering: .relaxed).newValue, continuation) }
    }

    private func options(_ connections: Int = 1) throws -> TransportOptions {
        TransportOptions(
            tls: TLSConfiguration(), allowsPrivateNetworks: true, connectTimeout: try #require(TimeSpan("1s")), connectionsPerHost: connections)
    }

    /// The number of the transport that answers.
    private func number(_ transport: any HTTPTransport) async throws -> Int {
        try await transport.send(HTTPRequest(address: HTTPAddress("http://127.0.0.1/"), headers: [:])).status - 200
    }

    @Test func resourcesWithEqualOptionsShareATransport() async throws {
        let first = try await pool.transport(for: try options()), second = try await pool.transport(for: try options())
        let other = try await pool.transport(for: try options(2))
        #expect(try await [number(first), number(second), number(other)] == [1, 1, 2])
    }

    @Test mutating func aReloadShutsDownWhatNobodyUses() async throws {
        _ = try await pool.transport(for: try options())
        await pool.renew()
        #expect(await closed.next() == 1)
        #expect(try await number(pool.transport(for: try options())) == 2)
    }

    @Test mutating func whatIsInUseIsShutDownWhenItIsNotUsedAnyMore() async throws {
        var first: (any HTTPTransport)? = try await pool.transport(for: try options()), second = first
        await pool.renew()
        let next = try await pool.transport(for: try options())
        #expect(try await number(next) == 2)
        #expect(try await number(#require(first)) == 1)
        first = nil
        #expect(try await number(#require(second)) == 1)
        second = nil
        #expect(await closed.next() == 1)
        #expect(try await number(next) == 2)
    }

    @Test mutating func shutdownWaitsForNobody() async throws {
        let held = try await pool.transport(for: try options())
        await pool.renew()
        let other = try await pool.transport(for: try options())
        await pool.shutdown()
        #expect(await Set([closed.next(), closed.next()]) == [1, 2])
        for transport in [held, other] { await #expect(throws: CancellationError.self) { try await number(transport) } }
    }

    // What it was made of may have been read before.
    @Test mutating func whatAReloadMeetsInTheMakingIsMadeAnew() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self), (going, go) = AsyncStream.makeStream(of: Void.self)
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self), count = Atomic(0)
        let pool = TransportPool { _ in
            let number = count.add(1, ordering: .relaxed).newValue
            if number == 1 {
                begin.yield()
                for await _ in going { break }
            }
            return Counted(number, continuation)
        }
        let options = try options(), making = Task { try await pool.transport(for: options) }
        for await _ in begun { break }
        await pool.renew()
        go.yield()
        #expect(try await number(making.value) == 2)
        var closed = stream.makeAsyncIterator()
        #expect(await closed.next() == 1)
    }
}
