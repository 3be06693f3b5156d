import Foundation
import Glibc
import SyncTestSupport
import Synchronization
import Testing

/// What fails again and again, each time in other words, leaves no more behind the longer it goes on: rows, lines of the log, bytes of file and memory.
@Suite struct GrowthTests {
    @Test(.timeLimit(.minutes(60))) func whatFailsAgainAndAgainLeavesNoMoreBehind() async throws { try await Growth().grow(16) }
}

/// The same for many more runs: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "a run a second: runs under make stress"))
struct GrowthStress {
    @Test(.timeLimit(.minutes(60))) func whatFailsForHoursLeavesNoMoreBehind() async throws {
        try await Growth().grow(ProcessInfo.processInfo.environment["CISTERN_RUNS"].flatMap(Int.init) ?? 200)
    }
}

/// A daemon with a resource for each way to fail.
private struct Growth {
    /// Nothing of what an answer says is what the one before said: `n` counts.
    enum Kind: String, CaseIterable {
        case status, reason, type, broken, html, redirect, aside, allAside, noKey, cut, pages, link, refusedLink, cursor, etag, wait, drop

        private var json: String { "Content-Type: application/json" }

        func steps(_ target: String, _ n: Int) -> [RawHTTPServer.Step] {
            let word = "w\(n)x\(n * 7919)", long = String(repeating: word, count: 300)
            func answer(_ status: String, _ body: String, _ headers: String...) -> [RawHTTPServer.Step] {
                let lines = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "Connection: close", "", body]
                return [.send(Array(lines.joined(separator: "\r\n").utf8)), .close]
            }
            let first = !target.contains("?"), next = "Link: <\(path)?\(word)>; rel=\"next\"", good = #"{"id": 1, "name": "a"}"#
            return switch self {
            case .status: answer("\(400 + n % 100) No", "{\"error\": \"request \(word)\"}", json)
            case .reason: answer("500 \(word)", "<p>\(long)</p>", "Content-Type: text/html")
            case .type: answer("200 OK", "[]", "Content-Type: \(long)/\(word)")
            case .broken: answer("200 OK", "[\(String(repeating: " ", count: n)){\"\(word)\": ]", json)
            case .html: answer("200 OK", "<p>\(word)</p>", "Content-Type: text/html; \(word)=1")
            case .redirect: answer("302 Found", "", "Location: http://127.0.0.2:1/\(word)")
            case .aside: answer("200 OK", "[\(good), {\"id\": 2, \"\(word)\": 1, \"name\": {\"\(word)\": \"\(long)\"}}]", json)
            case .allAside: answer("200 OK", "[{\"id\": \"\(word)\", \"name\": \"\(long)\"}]", json)
            case .noKey: answer("200 OK", "[\(good), {\"\(word)\": \"\(long)\"}]", json)
            // Nobody can know that it is the same page.
            case .cut: first ? answer("200 OK", "[\(good)]", json, next) : answer("500 \(word)", long, json)
            case .pages:
                target.contains("_")
                    ? answer("404 \(word)", "", json)
                    : answer("200 OK", "[\(good)]", json, "Link: <\(path)?\(word)\(first ? "" : "_")>; rel=\"next\"")
            case .link: answer("200 OK", "[\(good)]", json, "Link: <\(path)?\(word); rel=next")
            case .refusedLink: answer("200 OK", "[\(good)]", json, "Link: <http://127.0.0.2:1/\(word)>; rel=\"next\"")
            case .cursor: answer("200 OK", "[\(good)]", json, "Link: <\(path)?\(word)>; rel=\"next\", <\(path)?\(long)>; rel=\"next\"")
            case .etag: answer("200 OK", "[\(good)]\(String(repeating: " ", count: n))", json, "ETag: \"\(word)\"")
            case .wait: answer("503 \(word)", word, json, "Retry-After: \(n % 2)")
            case .drop: [.send(Array("HTTP/1.1 200 OK\r\n\(json)\r\nX-\(word): 1\r\nContent-Length: \(1000 + n)\r\n\r\n[".utf8)), .close]
            }
        }

        private var path: String { "/\(rawValue)" }
    }

    /// What there is of everything that must not grow.
    private struct Size {
        var rows: [String: Int] = [:]
        /// Lines of the log that name a resource, and those of no resource under "".
        var lines: [String: Int] = [:]
        var lastLine: [String: String] = [:]
        var logBytes = 0
        var storeBytes = 0
        /// What the process has of memory that is in no file.
        var memoryBytes = 0
    }

    /// Runs, all told; a quarter of them come before the first look, half of them before the second.
    func grow(_ runs: Int) async throws {
        let counts = Mutex<[String: Int]>([:])
        let server = try await RawHTTPServer { request, _ in
            let path = String(request.target.dropFirst().prefix { $0 != "?" })
            // A page that is another each time, within a run too.
            let n = counts.withLock { counts in
                counts[path, default: 0] += 1
                return counts[path] ?? 0
            }
            return Kind(rawValue: path)?.steps(request.target, n) ?? [.close]
        }
        let shop = try Workshop()
        defer { shop.close() }
        let names = Kind.allCases.map(\.rawValue)
        let text = HostileServerTests.configuration(server, paths: names)
            .replacingOccurrences(of: "[[source.resource]]\n", with: "[[source.resource]]\npages = { kind = \"link-header\" }\n")
            .replacingOccurrences(
                of: "[defaults.retry]", with: "[defaults.deletion]\ndetect = \"snapshot\"\n[defaults.limits]\nmax_pages = 3\n[defaults.retry]")
        try shop.configure(text: text)
        let daemon = try await shop.daemon()
        var sizes: [Size] = []
        for _ in 1...4 {
            for _ in 0..<runs / 4 { _ = try await shop.control("sync", "--wait") }
            sizes.append(try await size(shop, daemon, names))
        }
        for name in names { #expect((counts.withLock { $0[name] } ?? 0) >= runs, "\(name) was not asked") }
        let (quarter, half, all) = (sizes[0], sizes[1], sizes[3])
        // Each run has its row, up to a number of them.
        for (table, count) in all.rows where !table.hasPrefix("ZCISTERNRUN ") {
            #expect(count <= half.rows[table, default: 0] + 3, "\(table): \(half.rows[table, default: 0]) rows, then \(count)")
        }
        for (table, count) in all.rows where table.hasPrefix("ZCISTERNRUN ") { #expect(count <= 500, "\(table)") }
        for (name, count) in all.lines {
            #expect(
                count <= half.lines[name, default: 0] + 5,
                "\(name): \(half.lines[name, default: 0]) lines of the log, then \(count): \(all.lastLine[name] ?? "")")
        }
        #expect(all.logBytes <= half.logBytes + names.count * 3 * 4096, "\(half.logBytes) bytes of the log, then \(all.logBytes)")
        #expect(all.storeBytes <= half.storeBytes + (2 << 20), "\(half.storeBytes) bytes of the store, then \(all.storeBytes)")
        Evidence.note(
            "\(runs) runs of \(names.count) kinds: memory \(sizes.map { $0.memoryBytes >> 10 }) KiB, store \(sizes.map { $0.storeBytes >> 10 }) KiB")
        // Four times as many runs; what is made once is made in the first ones.
        #expect(
            all.memoryBytes <= quarter.memoryBytes + quarter.memoryBytes / 2 + (16 << 20),
            "\(quarter.memoryBytes) bytes of memory, then \(all.memoryBytes)")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.damage() == [])
        await server.shutdown()
    }

    private func size(_ shop: Workshop, _ daemon: Child, _ names: [String]) async throws -> Size {
        var size = Size()
        let tables = try await shop.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
        for table in tables { size.rows[table] = try await shop.number("SELECT count(*) FROM \"\(table)\"") }
        size.rows["ZCISTERNRUN"] = nil
        for line in try await shop.sql("SELECT resource, count(*) FROM cistern_run GROUP BY resource") {
            let parts = line.split(separator: "|")
            size.rows["ZCISTERNRUN \(parts[0])"] = Int(parts[1])
        }
        for name in names {
            size.rows["quarantine \(name)"] = try await shop.number("SELECT count(*) FROM cistern_quarantine WHERE resource = '\(name)'")
        }
        let log = daemon.output + daemon.errors
        // Who steers is told each time.
        for line in log where !line.contains("requested by") {
            let name = names.first { line.contains("shop/\($0):") || line.contains("shop\\/\($0):") } ?? ""
            size.lines[name, default: 0] += 1
            size.lastLine[name] = String(line.prefix(200))
        }
        size.logBytes = log.reduce(0) { $0 + $1.utf8.count }
        size.memoryBytes = try daemon.anonymousMemory()
        size.storeBytes = (try await shop.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")) ?? 0
        return size
    }
}
