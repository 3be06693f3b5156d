import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Runs that ask for what has changed, through the programs.
@Suite struct ChangesTests {
    private static let count = 60
    private static let pageSize = 10

    /// What the server has: when each item was changed, in minutes of a day; and which request it answers with a kill.
    private struct Server {
        var changed = Dictionary(uniqueKeysWithValues: (1...count).map { ($0, $0) })
        var minute = count
        var requests: [String] = []
        var kill: (pid: Int32, request: Int)?

        mutating func change(_ ids: some Sequence<Int>) {
            for id in ids {
                minute += 1
                changed[id] = minute
            }
        }

        /// The oldest first, from a time on.
        func answer(_ target: String) -> String {
            let items = URLComponents(string: target)?.queryItems ?? []
            func item(_ name: String) -> String? { items.first { $0.name == name }?.value }
            let since = item("since") ?? "", first = ((item("page").flatMap { Int($0) } ?? 1) - 1) * pageSize
            let records = changed.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.filter { Self.time($0.value) >= since }
                .dropFirst(first).prefix(pageSize).map { #"{"id": \#($0.key), "changed_at": "\#(Self.time($0.value))"}"# }
            return "[\(records.joined(separator: ","))]"
        }

        static func time(_ minute: Int) -> String {
            func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return "2024-01-01T\(two(minute / 60)):\(two(minute % 60)):00Z"
        }
    }

    private final class SharedServer: Sendable {
        let value = Mutex(Server())
    }

    private static func configuration(_ api: String) -> String {
        """
        version = 1
        [daemon]
        start = "wait"
        [log]
        format = "json"
        [document]
        autosave_interval = "1s"
        [store]
        min_free_disk = "1MiB"
        [defaults.schedule]
        every = "1h"
        min_interval = "1s"
        jitter = "0%"
        [defaults.retry]
        attempts = 1
        [[source]]
        name = "items"
        url = "\(api)/items"
        entity = "Item"
        pages = { kind = "page", size_param = "" }
        incremental = { field = "$.changed_at", since = "since", order = "asc", full_every = "never" }
        [entity.Item]
        key = ["id"]
        [entity.Item.attributes]
        id = { type = "int64", optional = false }
        changedAt = { path = "$.changed_at", type = "string" }
        """
    }

    private func rows(_ shop: Workshop) async throws -> [String] { try await shop.sql("SELECT id, changedAt FROM Item ORDER BY id") }

    // Whenever the process ends, and whatever is changed meanwhile: what was read is asked for no more, and nothing is passed over.
    @Test func noKillLetsAChangeBePassedOver() async throws {
        var random = SeededRandom(state: SeededRandom.seed)
        let shop = try Workshop(), state = SharedServer()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            let answer = state.value.withLock { state in
                state.requests.append(request.target)
                if let kill = state.kill, kill.request == state.requests.count { Glibc.kill(kill.pid, SIGKILL) }
                return state.answer(request.target)
            }
            return [.send(HostileServerTests.answer("200 OK", answer)), .close]
        }
        try shop.configure(text: Self.configuration(server.url("")))
        for _ in 1...6 {
            // Each run asks at least for a page and for the empty one behind it.
            let daemon = try await shop.daemon()
            let request = Int.random(in: 1...2, using: &random), ids = (1...12).map { _ in Int.random(in: 1...Self.count, using: &random) }
            state.value.withLock { state in
                state.change(ids)
                state.requests = []
                state.kill = (daemon.pid, request)
            }
            _ = try await shop.control("sync")
            #expect(await daemon.end() == 128 + SIGKILL)
        }
        state.value.withLock { $0.kill = nil }
        let daemon = try await shop.daemon()
        let run = try #require(try await shop.sync()["items/items"])
        #expect(run.outcome == .succeeded, "\(run)")
        let expected = state.value.withLock { state in state.changed.sorted { $0.key < $1.key }.map { "\($0.key)|\(Server.time($0.value))" } }
        #expect(try await rows(shop) == expected, "seed \(SeededRandom.seed)")
        let newest = state.value.withLock { Server.time($0.minute) }
        #expect(try await shop.sql("SELECT cursor FROM cistern_status") == [newest])
        // Nothing has changed: one record is seen again, which was the last.
        state.value.withLock { $0.requests = [] }
        let quiet = try #require(try await shop.sync()["items/items"])
        #expect(quiet.outcome == .succeeded && quiet.counts.updated == 0 && !quiet.isComplete, "\(quiet)")
        #expect(state.value.withLock { $0.requests.first?.removingPercentEncoding } == "/items?since=\(newest)&page=1")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
        #expect(try await shop.verify().status == 0)
    }
}
