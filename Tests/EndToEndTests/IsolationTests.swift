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
        /// Breaks off in the middle of a head.
        case resetInHead
        /// Breaks off in the middle of a body.
        case resetInBody
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
            case .resetInHead: [.send(Array(start.utf8)), .reset]
            case .resetInBody: [.send(Array("\(start)Content-Length: 1000\r\n\r\n[{\"id\": 1".utf8)), .reset]
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
        first_byte_timeout = "8s"
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

    /// What a daemon knows of one healthy resource.
    private struct Health {
        let shop: Workshop
        let server: RawHTTPServer
        let daemon: Child
        /// How long `cisternctl status` took, in seconds.
        var answers: [Double] = []

        init(_ hostile: String) async throws {
            server = try await RawHTTPServer { _, index in
                [.send(HostileServerTests.answer("200 OK", #"[{"id": 1, "name": "\#(index)"}]"#)), .close]
            }
            shop = try Workshop()
            try shop.configure(text: IsolationTests.configuration(hostile + IsolationTests.source("good", server)))
            daemon = try await shop.daemon()
        }

        /// Waits for another poll, and asks for the status.
        mutating func look() async throws {
            await server.requests(atLeast: server.requests.count + 1)
            let status = try await shop.timed("status")
            answers.append(status.seconds)
            // 75: something is degraded.
            #expect([0, 75].contains(status.status), "\(status)")
            #expect(status.output.contains { $0.contains("good/list") }, "\(status)")
        }

        /// The times between two polls that follow each other, in seconds, by the daemon's own account; the shortest first.
        func gaps() async throws -> [Double] {
            let rows = try await shop.sql(
                "SELECT (julianday(started_at) - 2440587.5) * 86400 FROM cistern_run WHERE source = 'good' ORDER BY started_at")
            let times = rows.compactMap { Double($0) }
            return zip(times, times.dropFirst()).map { $1 - $0 }.sorted()
        }

        func end() async {
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0, "\(daemon.errors.suffix(5))")
            await server.shutdown()
            shop.close()
        }
    }

    // A daemon beside it that has the healthy resource only says how long things take on this machine at this time: what is compared is how much
    // longer they take among hostile servers.
    @Test(.timeLimit(.minutes(60))) func noServerKeepsAnotherFromBeingPolled() async throws {
        var hostile: [(name: String, server: RawHTTPServer)] = []
        for harm in Harm.allCases {
            for number in 0..<(harm == .silent ? Self.silent : 1) {
                hostile.append(("\(harm.rawValue)\(number)", try await RawHTTPServer { _, _ in harm.steps }))
            }
        }
        var good = try await Health(hostile.map { Self.source($0.name, $0.server) }.joined()), idle = try await Health("")
        // As many as may be under way hang, if they do not hang for the second time already.
        for (_, server) in hostile.prefix(Self.slots - 1) { await server.requests(atLeast: 1) }
        for _ in 1...16 {
            try await good.look()
            try await idle.look()
        }
        #expect(try await good.shop.control("sync", "--wait", "good/list").status == 0)
        #expect(try await idle.shop.control("sync", "--wait", "good/list").status == 0)
        let stored = try #require(try await good.shop.number("SELECT name FROM Item WHERE id = 1"))
        #expect(stored >= 16)

        let gaps = try await good.gaps(), idleGaps = try await idle.gaps(), answers = good.answers.sorted(), idleAnswers = idle.answers.sorted()
        Evidence.note("polls every \(gaps) s, alone \(idleGaps) s; status in \(answers) s, alone \(idleAnswers) s")
        // Within two intervals; at first silent servers have all places, and let go of them one after the other.
        let interval = max(1, try #require(idleGaps.last))
        #expect(gaps[gaps.count * 3 / 4] <= 2 * interval, "polled every \(gaps) s, alone every \(idleGaps) s")
        // Within a second. What one of them takes longer says nothing where hundreds of tests share two processors.
        let answer = max(1, 2 * (idleAnswers.last ?? 0))
        #expect(answers[answers.count * 3 / 4] <= answer, "status in \(answers) s, alone in \(idleAnswers) s")

        // Who resets and who is busy is asked again, too.
        for (name, server) in hostile where name.hasPrefix("reset") || name.hasPrefix("busy") { await server.requests(atLeast: 2) }
        await good.end()
        await idle.end()
        for (_, server) in hostile { await server.shutdown() }
    }
}
