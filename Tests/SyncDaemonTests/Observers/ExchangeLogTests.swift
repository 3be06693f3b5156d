import Foundation
import SyncConfiguration
import SyncControl
import SyncReports
import SyncTestSupport
import Synchronization
import Systemd
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

/// The files that exchanges with servers are written to.
@Suite struct ExchangeLogTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-trace-\(UUID().uuidString)").path
    private let said = Said()

    private final class Said: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func log(_ trace: LogConfiguration.HTTPTrace = .headers, most: ByteCount = .mebibytes(16)) -> LogConfiguration {
        var log = LogConfiguration()
        log.traceHTTP = trace
        log.traceHTTPMax = most
        return log
    }

    private func makeLog() -> ExchangeLog {
        let said = said
        return ExchangeLog(folder: folder) { said.add($0) }
    }

    private func exchange(_ number: Int, padding: Int = 0) -> TracedExchange {
        var exchange = TracedExchange(
            time: Date(timeIntervalSince1970: 1_700_000_000.5), scope: ResourceScope(source: "api", resource: "items"), attempt: number,
            method: "GET",
            address: "https://api.example/items?page=\(number)\(String(repeating: "x", count: padding))",
            requestFields: [.init(name: "Accept", value: "application/json")], sent: 0)
        exchange.status = 200
        exchange.received = 10
        exchange.duration = .milliseconds(12)
        return exchange
    }

    private func lines(_ path: String) throws -> [[String: Any]] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }

    @Test func anExchangeIsALineThatOnlyItsOwnerMayRead() throws {
        defer { remove() }
        let exchanges = makeLog()
        exchanges.configure(log())
        for number in 1...3 { exchanges.trace(exchange(number)) }
        exchanges.flush()
        let lines = try lines(exchanges.path)
        #expect(lines.map { $0["attempt"] as? Int } == [1, 2, 3])
        let first = try #require(lines.first)
        #expect(first["time"] as? String == "2023-11-14T22:13:20.500Z" && first["resource"] as? String == "api/items")
        #expect(first["status"] as? Int == 200 && first["received"] as? Int == 10 && first["duration_ms"] as? Double == 12)
        #expect(first["request_headers"] as? [[String]] == [["Accept", "application/json"]])
        #expect(first["dropped"] == nil && first["error"] == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: exchanges.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func nothingIsWrittenUnlessItIsOn() throws {
        defer { remove() }
        let exchanges = makeLog()
        exchanges.trace(exchange(1))
        exchanges.configure(log(.off))
        exchanges.trace(exchange(2))
        exchanges.flush()
        #expect(!exchanges.isTracing && !FileManager.default.fileExists(atPath: folder) && said.all.isEmpty)
        exchanges.configure(log())
        exchanges.trace(exchange(3))
        exchanges.configure(log(.off))
        exchanges.trace(exchange(4))
        exchanges.flush()
        #expect(try lines(exchanges.path).map { $0["attempt"] as? Int } == [3])
        #expect(said.all.count == 2, "\(said.all)")
    }

    @Test func theTwoFilesTakeNoMoreThanIsSaidAndKeepTheNewest() throws {
        defer { remove() }
        let exchanges = makeLog(), most = ByteCount.kibibytes(64)
        exchanges.configure(log(most: most))
        for number in 1...200 {
            exchanges.trace(exchange(number, padding: 2000))
            exchanges.flush()
        }
        let paths = [exchanges.path + ".1", exchanges.path]
        let sizes = try paths.map { try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int ?? 0 }
        #expect(sizes.reduce(0, +) <= most.bytes && sizes.allSatisfy { $0 > 0 })
        let numbers = try paths.flatMap { try lines($0) }.compactMap { $0["attempt"] as? Int }
        let first = try #require(numbers.first)
        #expect(numbers == Array(first...200) && numbers.count > 10)
    }

    @Test func anotherProcessGoesOnWhereTheLastOneEnded() throws {
        defer { remove() }
        for number in 1...2 {
            let exchanges = makeLog()
            exchanges.configure(log())
            exchanges.trace(exchange(number))
            exchanges.flush()
        }
        #expect(try lines(folder + "/http.jsonl").map { $0["attempt"] as? Int } == [1, 2])
    }

    @Test func whatCannotBeWrittenIsCountedAndSaidOnce() throws {
        defer { remove() }
        // A file stands where the folder should be.
        try Data().write(to: URL(fileURLWithPath: folder))
        let exchanges = makeLog()
        exchanges.configure(log())
        for number in 1...3 { exchanges.trace(exchange(number)) }
        exchanges.flush()
        #expect(said.all.filter { $0.contains("cannot be written") && $0.contains(folder) }.count == 1, "\(said.all)")
        try FileManager.default.removeItem(atPath: folder)
        for number in 4...5 { exchanges.trace(exchange(number)) }
        exchanges.flush()
        let lines = try lines(exchanges.path)
        #expect(lines.map { $0["attempt"] as? Int } == [4, 5] && lines.map { $0["dropped"] as? Int } == [3, nil])
    }

    @Test func aReloadTurnsItOnAndOff() async throws {
        let bench = DaemonBench()
        let status = try await bench.run { daemon in
            #expect(!daemon.exchanges.isTracing)
            try await bench.withClient { client in
                bench.write(TestConfiguration.text + "\n[log]\ntrace_http = \"headers\"\n")
                _ = try await client.reload(wait: true)
                #expect(daemon.exchanges.isTracing)
                bench.write(TestConfiguration.text)
                _ = try await client.reload(wait: true)
                #expect(!daemon.exchanges.isTracing)
            }
        }
        #expect(status == .success)
        #expect(bench.entries.all.count { $0.message.contains("exchanges with servers are") } == 2)
    }
}
