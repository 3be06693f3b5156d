import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Testing

/// Limits and neighbours that a daemon may meet, against the daemon as it ships.
@Suite(.serialized) struct HostileSurroundingsTests {
    private func workshop() async throws -> (Workshop, RawHTTPServer) {
        let server = try await RawHTTPServer(.send(HostileServerTests.answer("200 OK", "[{\"id\": 1}]")), .close)
        let shop = try Workshop()
        try shop.configure(text: HostileServerTests.configuration(server, paths: ["good"]))
        return (shop, server)
    }

    @Test(.timeLimit(.minutes(60))) func aLimitOnTheSizeOfFilesIsAnErrorOfTheDiskAndNoSignal() async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let words = ["-c", "ulimit -f 8; exec \"$@\"", "-", try Workshop.binary("cisternd"), "--config", "\(shop.folder)/cisternd.toml"]
        let result = try await shop.run("bash", words)
        #expect(result.status == 74, "\(result.errors)")
        await server.shutdown()
    }

    // As where a quota is used up: the system does not say that the disk is full.
    @Test(.timeLimit(.minutes(60))) func whereFilesMayNotGrowAnyMoreTheDaemonWaitsForRoom() async throws {
        let long = String(repeating: "x", count: 500), records = (1...3000).map { "{\"id\": \($0), \"name\": \"\(long)\"}" }
        let server = try await RawHTTPServer(.send(HostileServerTests.answer("200 OK", "[" + records.joined(separator: ",") + "]")), .close)
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(text: HostileServerTests.configuration(server, paths: ["good"]))
        let daemon = try await shop.daemon()
        #expect(try await shop.run("prlimit", ["--pid", "\(daemon.pid)", "--fsize=600000:"]).status == 0)
        let refused = try await shop.control("sync", "--wait")
        #expect(refused.status != 0 && (refused.output + refused.errors).contains { $0.contains("full") }, "\(refused)")
        #expect(try await shop.control("status").output.contains { $0.contains("Degraded") })
        #expect(try await shop.run("prlimit", ["--pid", "\(daemon.pid)", "--fsize=unlimited:"]).status == 0)
        #expect(try await shop.sync().values.map(\.outcome) == ["succeeded"])
        #expect(try await shop.number("SELECT count(*) FROM Item") == 3000)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors)")
        await server.shutdown()
    }

    @Test(.timeLimit(.minutes(60)), arguments: ["deleted", "moved", "replaced", "log deleted"])
    func aStoreThatIsTakenAwayEndsTheDaemonAndIsFetchedAnew(_ way: String) async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let daemon = try await shop.daemon(), files = FileManager.default
        #expect(try await shop.sync().values.map(\.outcome) == ["succeeded"])
        switch way {
        case "deleted": try files.removeItem(atPath: shop.store)
        case "log deleted": try files.removeItem(atPath: "\(shop.store)-wal")
        default: try files.moveItem(atPath: shop.store, toPath: "\(shop.store).old")
        }
        if way == "replaced" { try files.copyItem(atPath: "\(shop.store).old", toPath: shop.store) }
        _ = try await shop.control("sync", "--wait")
        #expect(await daemon.end() == 74)
        let place = way == "log deleted" ? "\(shop.store)-wal" : shop.store
        #expect(daemon.errors.contains { $0.contains("\(place) was moved, deleted or replaced since it was opened") }, "\(daemon.errors)")
        for name in ["persistentStore", "persistentStore-wal", "persistentStore-shm"] {
            try? files.removeItem(atPath: "\(shop.folder)/state/StoreContent/\(name)")
        }
        let next = try await shop.daemon()
        #expect(try await shop.sync().values.map(\.outcome) == ["succeeded"])
        #expect(try await shop.sql("SELECT id FROM Item") == ["1"])
        next.signal(SIGTERM)
        #expect(await next.end() == 0)
        await server.shutdown()
    }

    @Test(.timeLimit(.minutes(60))) func aNamedPipeAsConfigurationIsRefused() async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let path = "\(shop.folder)/pipe.toml"
        #expect(mkfifo(path, 0o600) == 0)
        let result = try await shop.run(Workshop.binary("cisternd"), ["--check-config", "--config", path])
        #expect(result.status == 78)
        #expect(result.errors.contains { $0.contains("it is no regular file") }, "\(result.errors)")
        await server.shutdown()
    }

    @Test(.enabled(if: geteuid() == 0, "another user is needed"), .timeLimit(.minutes(60)))
    func whoMayReadMayNotSteer() async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        chmod(shop.folder, 0o755)
        chmod("\(shop.folder)/run", 0o755)
        let daemon = try await shop.daemon()
        let asking = """
            import os, socket, sys
            os.setgroups([]); os.setgid(0); os.setuid(65534)
            s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
            s.sendall((sys.argv[2] + " HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n").encode())
            print(s.makefile().readline().split()[1])
            """
        for (target, status) in [("GET /v1/status", "200"), ("POST /v1/pause", "403"), ("POST /v1/sync", "403"), ("POST /v1/reload", "403")] {
            let result = try await shop.run(Workshop.python, ["-c", asking, "\(shop.folder)/run/control.sock", target])
            #expect(result.output == [status], "\(target): \(result.errors)")
        }
        #expect(try await shop.control("pause", "shop/good").status == 0)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(daemon.errors.contains { $0.contains("pause of shop/good asked for by root (uid 0, process ") })
        await server.shutdown()
    }
}
