import Foundation
import Glibc
import SyncControl
import SyncTestSupport
import Synchronization
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

    /// A daemon with one row on disk that wants to save more than it may, and what it must end for.
    private func end(_ trouble: (Workshop, Child) async throws -> Child?) async throws -> (Workshop, [String], Int32) {
        let long = String(repeating: "x", count: 500), records = (1...3000).map { "{\"id\": \($0), \"name\": \"\(long)\"}" }
        let asked = Mutex(0)
        let server = try await RawHTTPServer { _, _ in
            let isFirst = asked.withLock { asked in
                asked += 1
                return asked == 1
            }
            return [.send(HostileServerTests.answer("200 OK", isFirst ? "[{\"id\": 1}]" : "[" + records.joined(separator: ",") + "]")), .close]
        }
        let shop = try Workshop()
        try shop.configure(
            text: HostileServerTests.configuration(server, paths: ["good"]).replacingOccurrences(
                of: "[daemon]", with: "level = \"debug\"\n[daemon]\nshutdown_grace = \"1s\""
            ).replacingOccurrences(of: "[store]", with: "[store]\nbusy_timeout = \"10m\""))
        let daemon = try await shop.daemon()
        #expect(try await shop.sync().values.map(\.outcome) == [.succeeded])
        let neighbour = try await trouble(shop, daemon)
        #expect(try await shop.control("sync").status == 0)
        // Fetched, read, and in memory.
        try await daemon.line { $0.contains("shop/good: page 1, 3000 records") }
        daemon.signal(SIGTERM)
        let status = await daemon.end()
        neighbour?.signal(SIGKILL)
        _ = await neighbour?.end()
        await server.shutdown()
        return (shop, daemon.errors, status)
    }

    // The store would wait for the lock for ten minutes.
    @Test(.timeLimit(.minutes(60)), arguments: ["locked", "full"]) func aStopEndsAlsoWhereNothingCanBeSaved(_ way: String) async throws {
        let (shop, errors, status) = try await end { shop, daemon in
            if way == "full" {
                #expect(try await shop.run("prlimit", ["--pid", "\(daemon.pid)", "--fsize=600000:"]).status == 0)
                return nil
            }
            let holding =
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE'); "
                + "print('held', flush=True); sys.stdin.read()"
            let holder = try shop.start(Workshop.python, ["-c", holding, shop.store])
            try await holder.line { $0 == "held" }
            return holder
        }
        defer { shop.close() }
        #expect(status == 74, "\(errors)")
        // On a busy machine the last attempt may end with the grace, before the disk has refused it: what was wrong was said then already.
        let reason = way == "full" ? "The disk is full" : "shutdown_grace is over and the store is still busy"
        #expect(errors.contains { $0.contains(reason) }, "\(errors)")
        #expect(errors.contains { $0.contains("could not be saved: ") && $0.contains("not on disk") }, "\(errors)")
        #expect(try await shop.damage() == [])
        #expect(try await shop.sql("SELECT id FROM Item WHERE id = 1") == ["1"])
        let next = try await shop.daemon()
        next.signal(SIGTERM)
        #expect(await next.end() == 0, "\(next.errors)")
    }

    // What is smaller than that the loader of the system refuses, before any of our own code runs.
    @Test(
        .timeLimit(.minutes(60)),
        arguments: ["-n 5", "-n 8", "-n 12", "-n 16", "-n 24", "-n 32", "-n 40"] + [0, 50, 100, 200].map { "-v +\($0)000" })
    func whereFilesOrMemoryAreTooFewTheStartSaysSo(limit: String) async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let binary = try Workshop.binary("cisternd")
        var limit = limit
        if let more = limit.split(separator: "+").last.flatMap({ Int($0) }) { limit = "-v \(try await leastMemory(binary, shop) + more)" }
        let result = try await shop.run("bash", ["-c", "ulimit \(limit); exec \"$@\"", "-", binary, "--config", "\(shop.folder)/cisternd.toml"])
        #expect(result.status == 71, "\(limit): \(result.errors)")
        #expect(
            result.errors.count == 1 && result.errors.contains { $0.contains("cisternd cannot start: ") && $0.contains("raise ") }, "\(result.errors)"
        )
        await server.shutdown()
    }

    /// With how many KiB of address space the program and its libraries can be loaded at all, in steps of ten thousand.
    private func leastMemory(_ binary: String, _ shop: Workshop) async throws -> Int {
        var (little, enough) = (0, 100)
        while enough - little > 1 {
            let middle = (little + enough) / 2
            let result = try await shop.run("bash", ["-c", "ulimit -v \(middle)0000; exec \"$@\"", "-", binary, "--version"])
            if result.errors.contains(where: { $0.contains("error while loading shared libraries") }) || result.errors.isEmpty && result.status > 100
            {
                little = middle
            } else {
                enough = middle
            }
        }
        return enough * 10_000
    }

    @Test(.enabled(if: geteuid() == 0, "another user is needed"), .timeLimit(.minutes(60)), arguments: [1, 4, 12, 24])
    func whereThreadsAreTooFewTheStartSaysSo(count: Int) async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        // A user that nothing else runs as; root has no such limit.
        let words = ["--reuid=64\(100 + count)", "--clear-groups", "prlimit", "--nproc=\(count)", try Workshop.binary("cisternd"), "--version"]
        let result = try await shop.run("setpriv", words)
        #expect(result.status == 71, "\(result.errors)")
        #expect(result.errors.contains { $0.contains("cisternd cannot start: it needs 24 threads") }, "\(result.errors)")
        await server.shutdown()
    }

    @Test(
        .enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"), .timeLimit(.minutes(60)),
        arguments: [("epoll", 1), ("epoll", 2), ("event", 1), ("event", 2)])
    func whereNothingCanBeWaitedForTheStartSaysSo(family: String, at: Int) async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let daemon = try await FaultShim(in: shop).launch(shop, Fault(family: family, at: at, code: ENOSPC, keeps: true))
        #expect(await daemon.end() == 71)
        #expect(daemon.errors.count == 1 && daemon.errors[0].contains("cisternd cannot start: it cannot wait for events"), "\(daemon.errors)")
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
        #expect(refused.status == 74)
        let sentence = "shop/good: failed: Can't save to \(shop.store). The disk is full: free some space. Nothing was written; saving again is safe."
        #expect(refused.output.contains { $0.hasPrefix(sentence) }, "\(refused)")
        #expect(!(refused.output + refused.errors).contains { $0.contains("Domain=") || $0.contains("UserInfo") }, "\(refused)")
        #expect(try await shop.control("status").output.contains { $0.contains("Degraded") })
        #expect(try await shop.run("prlimit", ["--pid", "\(daemon.pid)", "--fsize=unlimited:"]).status == 0)
        #expect(try await shop.sync().values.map(\.outcome) == [.succeeded])
        #expect(try await shop.number("SELECT count(*) FROM Item") == 3000)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors)")
        await server.shutdown()
    }

    /// A service manager: prints what it is told, a line each.
    private static let manager = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(sys.argv[1])
        print("bound", flush=True)
        while True:
            for line in s.recv(65536).decode().splitlines():
                print(line, flush=True)
        """

    @Test(.enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"), .timeLimit(.minutes(60)))
    func aLowDiskHoldsFetchingUntilThereIsRoom() async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let socket = "\(shop.folder)/notify", space = "\(shop.folder)/full"
        let manager = try shop.start(Workshop.python, ["-c", Self.manager, socket])
        try await manager.line { $0 == "bound" }
        #expect(FileManager.default.createFile(atPath: space, contents: nil))
        let daemon = try await FaultShim(in: shop).launch(
            shop, nil, variables: ["FAULT_SPACE=\(space)", "NOTIFY_SOCKET=\(socket)", "WATCHDOG_USEC=300000"])
        try await manager.line { $0 == "READY=1" }
        let waiting = try shop.start(
            Workshop.binary("cisternctl"), ["sync", "--wait", "--socket", "\(shop.folder)/run/control.sock"])
        try await daemon.line { $0.contains("fetching waits: only 0 MiB are free, less than store.min_free_disk = 1MiB") }
        let status = try await shop.control("status")
        #expect(status.status == 75)
        #expect(status.output.contains { $0.contains("Degraded: only 0 MiB are free") }, "\(status.output)")
        #expect(server.requests.isEmpty)
        // It is alive, and says so to who watches it.
        try await manager.line { $0.hasPrefix("STATUS=Degraded: only 0 MiB are free") }
        for _ in 0..<5 { try await manager.line { $0 == "WATCHDOG=1" } }
        try FileManager.default.removeItem(atPath: space)
        #expect(await waiting.end() == 0, "\(waiting.output + waiting.errors)")
        #expect(try await shop.sql("SELECT id FROM Item") == ["1"])
        #expect(try await shop.control("status").status == 0)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0, "\(daemon.errors)")
        #expect(daemon.errors.contains { $0.contains("fetching resumes") })
        #expect(!daemon.errors.contains { $0.contains("a liveness check failed") }, "\(daemon.errors)")
        manager.signal(SIGKILL)
        await server.shutdown()
    }

    @Test(.timeLimit(.minutes(60)), arguments: ["deleted", "moved", "replaced", "log deleted"])
    func aStoreThatIsTakenAwayEndsTheDaemonAndIsFetchedAnew(_ way: String) async throws {
        let (shop, server) = try await workshop()
        defer { shop.close() }
        let daemon = try await shop.daemon(), files = FileManager.default
        #expect(try await shop.sync().values.map(\.outcome) == [.succeeded])
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
        #expect(try await shop.sync().values.map(\.outcome) == [.succeeded])
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
        #expect(result.errors.contains { $0.contains("it is not a regular file") }, "\(result.errors)")
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
        #expect(daemon.errors.contains { $0.contains("pause of shop/good requested by root (uid 0, process ") })
        await server.shutdown()
    }
}
