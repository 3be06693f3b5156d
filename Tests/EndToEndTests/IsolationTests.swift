import Foundation
import Glibc
import SyncTestSupport
import Testing

/// One healthy resource among many whose servers mean harm, each of an origin of its own.
@Suite struct IsolationTests {
    /// More are silent than requests may be under way at once (`max_parallel_requests`).
    private static let slots = 8, silent = 12

    enum Harm: String, CaseIterable {
        /// Accepts, and says nothing.
        case silent
        /// A head, and then a byte now and then, for ever.
        case drip
        /// A body without an end.
        case flood
        case reset
        /// 429 for ever; with a wait that is as short as can be, so that it is asked again and again.
        case busy
        /// A head without an end.
        case head

        var steps: [RawHTTPServer.Step] {
            let start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            return switch self {
            case .silent: [.hang]
            case .drip: [.send(Array("\(start)\r\n[".utf8)), .drip([UInt8](repeating: 0x20, count: 1_000_000))]
            case .flood: [.send(Array("\(start)\r\n[".utf8)), .flood([0x20])]
            case .reset: [.reset]
            case .busy: [.send(HostileServerTests.answer("429 No", "{}", "Retry-After: 1")), .close]
            case .head: [.send(Array(start.utf8)), .flood(Array("X-A: b\r\n".utf8))]
            }
        }
    }

    private static func source(_ name: String, _ server: RawHTTPServer) -> String {
        """
        [[source]]
        name = "\(name)"
        base_url = "\(server.url(""))"
        [[source.resource]]
        name = "list"
        entity = "Item"
        path = "/list"

        """
    }

    private static func configuration(_ sources: String) -> String {
        """
        version = 1
        [log]
        format = "json"
        [daemon]
        start = "now"
        shutdown_grace = "1s"
        max_parallel_requests = \(slots)
        [store]
        min_free_disk = "1MiB"
        [defaults.http]
        first_byte_timeout = "1h"
        idle_timeout = "1h"
        total_timeout = "1h"
        min_speed = "off"
        [defaults.retry]
        attempts = 1
        [defaults.schedule]
        every = "1s"
        min_interval = "1s"
        \(sources)
        [entity.Item]
        key = ["id"]
        [entity.Item.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        """
    }

    @Test(.timeLimit(.minutes(60))) func noServerKeepsAnotherFromBeingPolled() async throws {
        let healthy = try await RawHTTPServer { _, index in
            [.send(HostileServerTests.answer("200 OK", #"[{"id": 1, "name": "\#(index)"}]"#)), .close]
        }
        var hostile: [(name: String, server: RawHTTPServer)] = []
        for harm in Harm.allCases {
            for number in 0..<(harm == .silent ? Self.silent : 1) {
                hostile.append(("\(harm.rawValue)\(number)", try await RawHTTPServer { _, _ in harm.steps }))
            }
        }
        let shop = try Workshop()
        defer { shop.close() }
        let sources = hostile.map { Self.source($0.name, $0.server) } + [Self.source("good", healthy)]
        try shop.configure(text: Self.configuration(sources.joined()))
        let daemon = try await shop.daemon()
        // As many as may be under way hang.
        while hostile.filter({ $0.name.hasPrefix("silent") && !$0.server.requests.isEmpty }).count < Self.slots - 1 { await Task.yield() }
        for _ in 1...4 {
            let asked = healthy.requests.count
            await healthy.requests(atLeast: asked + 1)
            let status = try await shop.control("status")
            // 75: something is degraded.
            #expect([0, 75].contains(status.status), "\(status)")
            #expect(status.output.contains { $0.contains("good/list") }, "\(status)")
        }
        #expect(try await shop.control("sync", "--wait", "good/list").status == 0)
        let stored = try #require(try await shop.number("SELECT name FROM Item WHERE id = 1"))
        #expect(stored >= 4)
        // Who resets and who is busy is asked again, too.
        for (name, server) in hostile where name.hasPrefix("reset") || name.hasPrefix("busy") { await server.requests(atLeast: 2) }
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors.suffix(5))")
        for (_, server) in hostile { await server.shutdown() }
        await healthy.shutdown()
    }
}
