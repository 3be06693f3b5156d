import Foundation
import Glibc
import SyncTestSupport
import Synchronization
import Testing

/// One system call after the other fails, once or from then on: the process says so and ends in order, or goes on; the next one has everything.
@Suite struct FaultTests {
    /// One for each family and error: CISTERN_FAULTS says how many of each.
    @Test(.enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"), .timeLimit(.minutes(60)))
    func noFailedSystemCallLosesARowOrEndsTheDaemonWithoutAWord() async throws {
        let environment = ProcessInfo.processInfo.environment
        let world = try await FaultWorld(), each = environment["CISTERN_FAULTS"].flatMap { Int($0) } ?? 1
        let only = environment["CISTERN_FAULT_FAMILY"]
        var lives: [FaultWorld.Life] = []
        for (index, family) in Fault.families.enumerated() where only == nil || only == family.name {
            // With a single error, once and from then on.
            let isSingle = family.codes.count == 1, each = max(each, isSingle ? 2 : 1)
            for (place, code) in family.codes.enumerated() {
                for number in 0..<each {
                    let isFresh = (place + number + index) % 2 == 0, count = isFresh ? world.fresh[index] : world.known[index]
                    guard number < count else { continue }
                    // Evenly over the life, and for each family elsewhere.
                    let share = (Double(index * 7 + place * each + number) * 0.618_034).truncatingRemainder(dividingBy: 1)
                    let keeps = (place + (isSingle ? number : number / 2)) % 2 == 1
                    let fault = Fault(family: family.name, at: 1 + Int(share * Double(count)), code: code, keeps: keeps)
                    lives.append(.init(fault: fault, isFresh: isFresh))
                }
            }
        }
        try await world.live(lives)
        await world.close()
    }

    // The disk could not read once, and can again.
    @Test(.enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"), .timeLimit(.minutes(60)))
    func aReadThatFailsOnceAtTheStartIsNotTakenForDamage() async throws {
        let server = try await RawHTTPServer(.send(HostileServerTests.answer("200 OK", "[{\"id\": 1}]")), .close)
        let shop = try Workshop()
        defer { shop.close() }
        try shop.configure(text: HostileServerTests.configuration(server, paths: ["good"]))
        try await shop.importEverything()
        let shim = try await FaultShim(in: shop)
        var ready = 0, at = 1
        while at <= 60 {
            let fault = Fault(family: "read", at: at, code: EIO, keeps: false)
            let daemon = try shim.launch(shop, fault)
            let isReady = (try? await daemon.line { $0.contains(MessageMark.ready) }) != nil
            daemon.signal(SIGTERM)
            let status = await daemon.end(), said = daemon.errors.joined(separator: "\n")
            if try FaultShim.counts(shop).failed == 0 { break }
            #expect(isReady ? [0, 74].contains(status) : [74, 78].contains(status), "\(fault): \(status), \(said)")
            // Whoever is told of damage is told first that it may be the disk, and nobody who only had to read once more.
            #expect(!said.contains("moved away") || said.contains("disk errors"), "\(fault): \(said)")
            #expect(!said.contains("can't be opened: it is damaged"), "\(fault): \(said)\n\(FaultShim.place(shop))")
            ready += isReady ? 1 : 0
            at += 1
        }
        #expect(at > 20 && ready > 10, "\(ready) of \(at)")
        #expect(try await shop.damage() == [])
        #expect(try await shop.sql("SELECT id FROM Item") == ["1"])
        await server.shutdown()
    }
}

/// Every call, with every error: `make stress`.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "thousands of lives: runs under make stress"),
    .enabled(if: FaultShim.compiler != nil, "\(FaultShim.absent)"))
struct FaultStress {
    @Test(arguments: Fault.families.map(\.name)) func norDoesAnyOther(_ name: String) async throws {
        let world = try await FaultWorld(), index = Fault.families.firstIndex { $0.name == name } ?? 0
        var lives: [FaultWorld.Life] = []
        for (isFresh, count) in [(true, world.fresh[index]), (false, world.known[index])] where count > 0 {
            for at in 1...count {
                for code in Fault.families[index].codes {
                    for keeps in [false, true] {
                        lives.append(.init(fault: Fault(family: name, at: at, code: code, keeps: keeps), isFresh: isFresh))
                    }
                }
            }
        }
        try await world.live(lives)
        await world.close()
    }
}

/// A server with two lists that changed since a first daemon mirrored them, and what that daemon left.
private final class FaultWorld: Sendable {
    struct Life: CustomStringConvertible {
        let fault: Fault
        /// Without a store, not with what the first daemon left.
        let isFresh: Bool

        var description: String { "\(isFresh ? "new" : "known"): \(fault)" }
    }

    private static let rows = "SELECT _pk, id, name FROM Item ORDER BY id"

    private let server: RawHTTPServer
    private let seed: Workshop
    private let shim: FaultShim
    /// The rows that the first daemon left.
    private let before: [String]
    /// How many calls of each family a life makes.
    let fresh: [Int], known: [Int]

    /// What is listed in which version: something changes, comes and goes.
    private static func records(_ path: String, _ version: Int) -> [Int: String] {
        let ids = path == "/a" ? Array(1...12) : Array(10...20)
        let listed = version == 1 ? ids : path == "/a" ? ids.filter { $0 != 3 } : ids.filter { $0 != 11 } + [21]
        return Dictionary(uniqueKeysWithValues: listed.map { ($0, $0 % 2 == 0 ? "v\(version)" : "v1") })
    }

    private static func names(_ version: Int) -> [Int: String] {
        records("/a", version).merging(records("/b", version)) { a, _ in a }
    }

    init() async throws {
        let version = Mutex(1)
        server = try await RawHTTPServer { request, _ in
            let version = version.withLock { $0 }, etag = "\"v\(version)\""
            if request.headers["if-none-match"] == etag {
                return [.send(Array("HTTP/1.1 304 Not Modified\r\nETag: \(etag)\r\nConnection: close\r\n\r\n".utf8)), .close]
            }
            let items = Self.records(request.target, version).sorted { $0.key < $1.key }.map { "{\"id\": \($0.key), \"name\": \"\($0.value)\"}" }
            return [.send(HostileServerTests.answer("200 OK", "[\(items.joined(separator: ","))]", "ETag: \(etag)")), .close]
        }
        seed = try Workshop()
        shim = try await FaultShim(in: seed)
        try Self.configure(seed, server)
        try await seed.importEverything()
        before = try await seed.sql(Self.rows)
        version.withLock { $0 = 2 }
        var counts: [[Int]] = []
        for isFresh in [true, false] {
            let shop = try await Self.workshop(server, isFresh ? nil : seed)
            defer { shop.close() }
            #expect(try await Self.live(shop, shim, nil) == 0)
            counts.append(try FaultShim.counts(shop).calls)
        }
        (fresh, known) = (counts[0], counts[1])
    }

    func close() async {
        seed.close()
        await server.shutdown()
    }

    private static func configure(_ shop: Workshop, _ server: RawHTTPServer) throws {
        let text = HostileServerTests.configuration(server, paths: ["a", "b"])
        try shop.configure(
            text: text.replacing("[daemon]", with: "[daemon]\nshutdown_grace = \"1s\"").replacing(
                "first_byte_timeout = \"1h\"", with: "first_byte_timeout = \"5s\""
            )
            .replacing("[defaults.retry]", with: "[defaults.deletion]\ndetect = \"snapshot\"\nconfirm_runs = 1\n[defaults.retry]"))
    }

    private static func workshop(_ server: RawHTTPServer, _ seed: Workshop?) async throws -> Workshop {
        let shop = try Workshop()
        try configure(shop, server)
        if let seed { _ = try await shop.run("cp", ["-a", "\(seed.folder)/state/.", "\(shop.folder)/state/"]) }
        return shop
    }

    /// Where no connection is accepted any more, nobody answers at all.
    private static func sync(_ shop: Workshop, seconds: Int) async throws -> (status: Int32, output: [String], errors: [String]) {
        let words = ["\(seconds)", try Workshop.binary("cisternctl"), "sync", "--wait", "--socket", "\(shop.folder)/run/control.sock"]
        return try await shop.run("timeout", words)
    }

    /// A daemon under a fault, from its start to its end: its status.
    private static func live(_ shop: Workshop, _ shim: FaultShim, _ fault: Fault?) async throws -> Int32 {
        let daemon = try shim.launch(shop, fault)
        // A line may be what gets lost.
        if fault?.family != "log" { _ = try? await daemon.line { $0.contains(MessageMark.ready) } }
        for _ in 1...50 where daemon.isRunning {
            let result = try await sync(shop, seconds: 10)
            if result.status != 69 || !result.output.isEmpty { break }
        }
        daemon.signal(SIGTERM)
        let status = await daemon.end()
        try? (daemon.output + daemon.errors).joined(separator: "\n").write(toFile: "\(shop.folder)/first.log", atomically: true, encoding: .utf8)
        return status
    }

    /// Lives all of these lives, some at a time, and records what went wrong in them.
    func live(_ lives: [Life]) async throws {
        var ends: [End] = []
        try await withThrowingTaskGroup(of: End.self) { group in
            for (index, life) in lives.enumerated() {
                if index >= 4, let end = try await group.next() { ends.append(end) }
                group.addTask { try await self.end(life) }
            }
            for try await end in group { ends.append(end) }
        }
        let failed = ends.count { $0.isMet }, problems = ends.compactMap(\.problem)
        let statuses = Dictionary(grouping: ends, by: \.status).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.count)" }
        Evidence.note(
            "faults: \(lives.count) lives, \(failed) with a call that failed, \(problems.count) that went wrong; ends by status: "
                + statuses.joined(separator: ", "))
        #expect(failed >= lives.count / 2, "of \(lives.count) lives \(failed) met their fault")
        #expect(problems.isEmpty, "\(problems.count) of \(lives.count) lives:\n\(problems.joined(separator: "\n"))")
    }

    private struct End {
        let status: Int32
        let isMet: Bool
        let problem: String?
    }

    private func end(_ life: Life) async throws -> End {
        let shop = try await Self.workshop(server, life.isFresh ? nil : seed)
        defer { shop.close() }
        let (problems, status) = try await examine(shop, life), isMet = try FaultShim.counts(shop).failed > 0
        guard !problems.isEmpty else { return End(status: status, isMet: isMet, problem: nil) }
        let lines = ((try? String(contentsOfFile: "\(shop.folder)/first.log", encoding: .utf8)) ?? "").split(separator: "\n")
        let log = lines.filter { $0.contains("atal error") || $0.contains("BUG IN") } + lines.suffix(3)
        let text = "\(life): \(problems.joined(separator: "; "))\n    \(log.joined(separator: "\n    "))\n    at \(FaultShim.place(shop))"
        Evidence.note(text)
        return End(status: status, isMet: isMet, problem: text)
    }

    /// What is wrong after a life under a fault, and after one without in the same folder.
    private func examine(_ shop: Workshop, _ life: Life) async throws -> (problems: [String], status: Int32) {
        let status = try await Self.live(shop, shim, life.fault)
        var problems: [String] = []
        let said = (try? String(contentsOfFile: "\(shop.folder)/first.log", encoding: .utf8)) ?? ""
        let isTrap = Fault.trapping.contains(life.fault.family) && [SIGILL, SIGTRAP].contains(status - 128)
        if status == 128 + SIGALRM { problems.append("it hung") } else if status > 128, !isTrap { problems.append("signal \(status - 128)") }
        if status < 128, ![0, 71, 73, 74, 75, 78].contains(status) { problems.append("it ended with \(status)") }
        if status != 0, !isTrap, said.isEmpty, life.fault.family != "log" { problems.append("it ended with \(status) without a word") }

        // A new store may not be there yet.
        let middle = (try? await shop.sql(Self.rows)) ?? []
        if !life.isFresh { problems += Self.lost(before, middle, "after the first").filter { !$0.hasSuffix(" 3") } }
        let daemon = try shop.launch()
        do { try await daemon.line { $0.contains(MessageMark.ready) } } catch { return (problems + ["the next does not start: \(error)"], status) }
        let wanted = Self.names(2).sorted { $0.key < $1.key }.map { "\($0.key)|\($0.value)" }
        var rows: [String] = []
        for _ in 1...5 {
            _ = try await Self.sync(shop, seconds: 60)
            rows = try await shop.sql(Self.rows)
            if rows.map({ String($0.drop { $0 != "|" }.dropFirst()) }) == wanted { break }
        }
        daemon.signal(SIGTERM)
        let end = await daemon.end()
        if end != 0 { problems.append("the next ended with \(end): \(daemon.errors.suffix(3))") }
        if rows.map({ String($0.drop { $0 != "|" }.dropFirst()) }) != wanted { problems.append("rows are \(rows); last: \(daemon.errors.suffix(3))") }
        problems += Self.lost(middle, rows, "after the next").filter { !$0.hasSuffix(" 3") }
        if !life.isFresh { problems += Self.lost(before, rows, "in the end").filter { !$0.hasSuffix(" 3") } }
        problems += try await shop.damage()
        let verification = try await shop.verify()
        if verification.status != 0 {
            problems.append("verify: \(verification.status) \(verification.output.suffix(3)) \(verification.errors.suffix(3))")
        }
        return (problems, status)
    }

    /// Rows that had a key and have it no more; row 3 may go.
    private static func lost(_ before: [String], _ after: [String], _ when: String) -> [String] {
        func key(_ row: String) -> String { row.split(separator: "|").prefix(2).joined(separator: "|") }
        let keys = Set(after.map(key))
        return before.filter { !keys.contains(key($0)) }.map { "\(when) there is no row \($0.split(separator: "|")[1])" }
    }
}
