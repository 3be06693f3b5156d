import AsyncHTTPClient
import Synchronization

/// The HTTP clients of a transport: one for each of a few event loops, made when it is first needed. Requests to one origin go through one of them,
/// so that a request's work on its loop wakes one thread, not two.
///
/// A client has one TLS context for all its connections: reading the system's authorities for it costs more than a poll. It also keeps something of
/// each origin for as long as it lives: a server that redirects to ever new ones must not fill the memory, so a client that has seen too many is
/// replaced, and shut down when its last requests are answered.
final class EventLoopClients: Sendable {
    /// A client is not shut down for as long as somebody has a lease of it.
    final class Lease: Sendable {
        let client: HTTPClient
        private let release: @Sendable () -> Void

        fileprivate init(_ client: HTTPClient, release: @escaping @Sendable () -> Void) {
            self.client = client
            self.release = release
        }

        deinit {
            release()
        }
    }

    private struct Entry {
        let client: HTTPClient
        var origins: Set<Origin> = []
        var users = 0
        /// Another has taken its place.
        var isLeaving = false
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// The client of each loop.
        var current: [Int: Int] = [:]
        var count = 0
        var isShutDown = false

        /// A client that is of no use any more; it leaves the state.
        mutating func takeUnused(_ number: Int) -> HTTPClient? {
            guard let entry = entries[number], entry.isLeaving, entry.users == 0 else { return nil }
            entries[number] = nil
            return entry.client
        }
    }

    /// More than a daemon of a thousand servers has on a loop, and a few MiB.
    static let mostOrigins = 1_024

    private let state = Mutex(State())
    private let loops: Int
    private let make: @Sendable (Int) -> HTTPClient

    /// - Parameter make: makes the client of a loop, counted from 0.
    init(loops: Int, make: @escaping @Sendable (Int) -> HTTPClient) {
        self.loops = loops
        self.make = make
    }

    /// How many are open.
    var count: Int { state.withLock { $0.entries.count } }

    /// The client for an origin; nil after the shutdown.
    func lease(_ origin: Origin) -> Lease? {
        let loop = Int(UInt(bitPattern: origin.hashValue) % UInt(loops))
        let (found, unused): ((number: Int, client: HTTPClient)?, HTTPClient?) = state.withLock { state in
            guard !state.isShutDown else { return (nil, nil) }
            let full = state.current[loop].flatMap { number in
                state.entries[number].flatMap { $0.origins.count >= Self.mostOrigins && !$0.origins.contains(origin) ? number : nil }
            }
            if let full {
                state.entries[full]?.isLeaving = true
                state.current[loop] = nil
            }
            return (enter(origin, loop, &state), full.flatMap { state.takeUnused($0) })
        }
        if let unused { Task { try? await unused.shutdown() } }
        return found.map { number, client in Lease(client) { [weak self] in self?.release(number) } }
    }

    /// Counts a user of the loop's client.
    private func enter(_ origin: Origin, _ loop: Int, _ state: inout State) -> (number: Int, client: HTTPClient)? {
        let number = state.current[loop] ?? state.count
        if state.current[loop] == nil {
            state.entries[number] = Entry(client: make(loop))
            state.current[loop] = number
            state.count += 1
        }
        state.entries[number]?.origins.insert(origin)
        state.entries[number]?.users += 1
        return state.entries[number].map { (number, $0.client) }
    }

    private func release(_ number: Int) {
        let unused = state.withLock { state in
            state.entries[number]?.users -= 1
            return state.takeUnused(number)
        }
        if let unused { Task { try? await unused.shutdown() } }
    }

    /// Shuts all clients down; leases that somebody still has do not prevent it.
    func shutdown() async {
        let clients = state.withLock { state in
            state.isShutDown = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.client)
        }
        for client in clients {
            // Fails only if it was shut down before.
            try? await client.shutdown()
        }
    }
}
