import Foundation
import Glibc
import SyncTestSupport
import Testing

/// Servers that mean harm, against the daemon as it ships.
@Suite(.serialized) struct HostileServerTests {
    /// A daemon with a resource for each path, all of one server; nothing is polled until it is asked for.
    static func configuration(_ server: RawHTTPServer, paths: [String], log: String = "json") -> String {
        let resources = paths.map { "[[source.resource]]\nname = \"\($0)\"\nentity = \"Item\"\npath = \"/\($0)\"\n" }
        return configuration(server.url(""), resources: resources.joined(), log: log)
    }

    static func configuration(_ base: String, resources: String, log: String = "json") -> String {
        """
        version = 1
        [log]
        format = "\(log)"
        [daemon]
        start = "wait"
        [store]
        min_free_disk = "1MiB"
        [defaults.http]
        first_byte_timeout = "1h"
        idle_timeout = "1h"
        total_timeout = "1h"
        [defaults.retry]
        attempts = 1
        [defaults.schedule]
        every = "1h"
        min_interval = "1s"
        [[source]]
        name = "shop"
        base_url = "\(base)"
        \(resources)
        [entity.Item]
        key = ["id"]
        [entity.Item.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        """
    }

    static func answer(_ status: String, _ body: String, _ headers: String...) -> [UInt8] {
        let head = ["HTTP/1.1 \(status)", "Content-Type: application/json", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    /// A server of one record; who has it is told that it is as it was.
    static func unchanging() async throws -> RawHTTPServer {
        try await RawHTTPServer { request, _ in
            request.headers["if-none-match"] != nil
                ? [.send(answer("304 Not Modified", "", "ETag: \"1\"")), .close]
                : [.send(answer("200 OK", "[{\"id\": 1}]", "ETag: \"1\"")), .close]
        }
    }

    // N8
    @Test(.timeLimit(.minutes(60))) func noStatusLineEndsTheDaemon() async throws {
        let statuses = ["000", "001", "042", "099", "100", "101", "199", "600", "999"]
        let server = try await RawHTTPServer { request, _ in
            let path = String(request.target.dropFirst())
            return [.send(path == "good" ? Self.answer("200 OK", "[{\"id\": 1}]") : Self.answer("\(path) x", "[]")), .close]
        }
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(text: Self.configuration(server, paths: statuses + ["good"]))
        let daemon = try await shop.daemon()
        _ = try await shop.sync()
        #expect(daemon.isRunning, "\(daemon.errors)")
        #expect(try await shop.number("SELECT count(*) FROM Item") == 1)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors)")
        await server.shutdown()
    }

    /// Lines of text on standard error, as the manager reads them: `<priority>` and the message.
    @Test(.timeLimit(.minutes(60))) func noAnswerForgesALineOfTheLog() async throws {
        let forged = "x\r\n<0>the building is on fire\r\n\u{1B}[2J\u{9B}31m"
        let server = try await RawHTTPServer { _, _ in [.send(Self.answer("500 No", forged)), .close] }
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(text: Self.configuration(server, paths: ["bad"], log: "text"))
        let daemon = try shop.launch()
        try await daemon.line { $0.contains("Ready: ") }
        let result = try await shop.control("sync", "--wait", "shop/bad")
        #expect(result.status == 69)
        let status = try await shop.control("status")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(daemon.errors.contains { $0.contains("the building is on fire") })
        for line in daemon.errors + result.output + result.errors + status.output {
            #expect(!line.hasPrefix("<0>"), "\(line)")
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }, "\(line)")
        }
        let stored = try await shop.sql("SELECT error FROM cistern_run UNION ALL SELECT hex(error) FROM cistern_run")
        #expect(stored.count == 2 && !stored[1].contains("0D") && !stored[1].contains("1B"), "\(stored)")
        await server.shutdown()
    }

    @Test(.timeLimit(.minutes(60))) func aTrialLeavesNothingBehindWhateverEndsIt() async throws {
        let server = try await RawHTTPServer { request, _ in
            request.target == "/hang"
                ? [.hang] : [.send(Self.answer("200 OK", "[{\"id\": 1, \"name\": \"a\\u001b[2J\"}]", "X-Note: \u{9B}31m")), .close]
        }
        let shop = try Workshop()
        defer { shop.close() }
        try FileManager.default.createDirectory(atPath: "\(shop.folder)/tmp", withIntermediateDirectories: true)
        try shop.configure(text: Self.configuration(server, paths: ["good", "hang"]))
        for (path, signal, status) in [("good", nil as Int32?, Int32(0)), ("hang", SIGINT, 130), ("hang", SIGKILL, 137)] {
            // Whoever runs the tests in the background may ignore SIGINT, which a child inherits.
            let arguments = [
                "--default-signal=INT", "TMPDIR=\(shop.folder)/tmp", try Workshop.binary("cisternctl"), "try", "shop/\(path)", "--config",
                "\(shop.folder)/cisternd.toml",
            ]
            let child = try shop.start("env", arguments)
            if let signal {
                await server.requests(atLeast: signal == SIGINT ? 2 : 3)
                child.signal(signal)
            }
            #expect(await child.end() == status, "\(child.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(shop.folder)/tmp") == [])
            let lines = child.output
            #expect(signal != nil || lines.contains { $0.contains("name") && $0.contains("a\u{FFFD}[2J") }, "\(lines)")
            #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) } }, "\(lines)")
        }
        await server.shutdown()
    }
}
