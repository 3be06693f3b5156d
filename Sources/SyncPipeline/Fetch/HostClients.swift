import AsyncHTTPClient
import Synchronization

/// One client for each host, so that a connection can be judged by the host it was opened for.
///
/// Clients of hosts that nobody asks for are shut down when there are too many: a server that redirects to ever new hosts must not fill
/// the memory.
final class HostClients: Sendable {
    /// Keeps a client from being shut down for as long as it is held.
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
        var users = 0
        var lastUse = 0
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var uses = 0
        var isShutDown = false
    }

    private static let mostIdleHosts = 32

    private let state = Mutex(State())
    private let make: @Sendable (String) -> HTTPClient

    init(make: @escaping @Sendable (String) -> HTTPClient) {
        self.make = make
    }

    /// The client for a host; nil after the shutdown.
    func lease(_ host: String) -> Lease? {
        let (client, leaving): (HTTPClient?, HTTPClient?) = state.withLock { state in
            guard !state.isShutDown else { return (nil, nil) }
            state.uses += 1
            var entry = state.entries[host] ?? Entry(client: make(host))
            entry.users += 1
            entry.lastUse = state.uses
            state.entries[host] = entry
            return (entry.client, Self.evict(&state))
        }
        if let leaving { Task { try? await leaving.shutdown() } }
        return client.map { client in Lease(client) { [weak self] in self?.release(host) } }
    }

    private func release(_ host: String) {
        state.withLock { $0.entries[host]?.users -= 1 }
    }

    private static func evict(_ state: inout State) -> HTTPClient? {
        guard state.entries.count > mostIdleHosts,
            let idle = state.entries.filter({ $0.value.users == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return nil }
        state.entries[idle.key] = nil
        return idle.value.client
    }

    /// Shuts all clients down; leases that are still held do not keep them.
    func shutdown() async {
        let clients = state.withLock { state in
            state.isShutDown = true
            let clients = state.entries.values.map(\.client)
            state.entries = [:]
            return clients
        }
        for client in clients {
            // Fails only if it was shut down before.
            try? await client.shutdown()
        }
    }
}
