import Foundation
import Synchronization

/// Which servers asked to be left alone, until when, and which resources were not asked for because of it.
final class Patience: Sendable {
    private let state = Mutex((waits: [Origin: Date](), refused: Set<String>()))

    /// Takes in what a server asked for.
    func note(_ origin: Origin, until: Date) {
        state.withLock { state in state.waits[origin] = max(until, state.waits[origin] ?? until) }
    }

    /// Until when a server is left alone; nil: it may be asked.
    func until(_ origin: Origin, now: Date) -> Date? {
        state.withLock { state in state.waits[origin].flatMap { $0 > now ? $0 : nil } }
    }

    /// A resource was not asked for, or not in full.
    func refuse(_ scope: String) { state.withLock { state in _ = state.refused.insert(scope) } }

    func hasRefused(_ scope: String) -> Bool { state.withLock { state in state.refused.contains(scope) } }
}

/// How many requests were made.
final class RequestCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    /// Takes in another request, if there are fewer than so many; otherwise it is not to be made.
    func add(upTo most: Int) -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }
}

/// Counts what goes over a transport: attempts, and what redirects and renewed tokens make of one. Beyond the most that there may be nothing is sent.
final class CountedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let count: RequestCount
    private let denial = Mutex(false)

    init(_ transport: any HTTPTransport, _ count: RequestCount) {
        self.transport = transport
        self.count = count
    }

    /// Whether something was not sent because there were as many requests as there may be.
    var hasDenied: Bool { denial.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard count.add(upTo: ServiceCheck.mostRequests) else {
            denial.withLock { $0 = true }
            throw FetchError(.cancelled, attempts: 0)
        }
        return try await transport.send(request)
    }

    /// It is the pool's.
    func shutdown() async {}
}
