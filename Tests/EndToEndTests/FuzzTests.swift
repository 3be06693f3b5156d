import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Answers that are wrong in every way a generator comes upon. CISTERN_ANSWERS says how many, CISTERN_SEED repeats a run.
@Suite struct FuzzTests {
    @Test(.timeLimit(.minutes(60))) func noAnswerEndsTheDaemonOrTouchesAnotherResource() async throws {
        try await fuzz(ProcessInfo.processInfo.environment["CISTERN_ANSWERS"].flatMap { Int($0) } ?? 320)
    }
}

/// The same, a hundred thousand times: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct FuzzStress {
    @Test func norDoHundredThousand() async throws { try await fuzz(100_000) }
}

/// So many resources with wrong answers, of so many servers: a server's wish for patience is heard by all of its resources.
private let resources = 40, servers = 8
private let records = 5

/// Whose request it is, which of its requests, and the truth.
private struct World: Sendable {
    let seed: UInt64
    let packed: [[UInt8]]

    static func body(_ index: Int) -> String {
        let items = (0..<records).map { i in
            "{\"id\": \(index * 100 + i), \"name\": \"n\(i)\", \"count\": \(i), \"price\": \(i).5, \"isOpen\": true, \"at\": \"2024-01-0\(i + 1)T00:00:00Z\"}"
        }
        return index % 4 == 0 ? "[\(items.joined(separator: ","))]" : "{\"next\": null, \"items\": [\(items.joined(separator: ","))]}"
    }

    static func rows(_ index: Int) -> [String] { (0..<records).map { "\(index * 100 + $0)|n\($0)|\($0)|\($0).5|1" } }

    func steps(_ index: Int, _ number: Int) -> [RawHTTPServer.Step] {
        var mutator = AnswerMutator(random: SeededRandom(state: seed &* 1_000_003 &+ UInt64(number * resources + index)))
        return [.send(mutator.answer(Self.body(index), packed: packed[index])), .close]
    }

    static func truth(_ index: Int, _ number: Int) -> [RawHTTPServer.Step] {
        // Bytes that were not sent before: the same answer again is no second listing.
        [.send(HostileServerTests.answer("200 OK", body(index) + String(repeating: " ", count: number + 1), "ETag: \"true\(number)\"")), .close]
    }

    static func configuration(_ hostile: [RawHTTPServer], _ healthy: RawHTTPServer) -> String {
        let start = HostileServerTests.configuration(healthy, paths: ["good"]).replacing(
            "[defaults.retry]", with: "[defaults.deletion]\ndetect = \"snapshot\"\n\(guards)\n[defaults.limits]\nmax_pages = 3\n[defaults.retry]")
        let parts = (0..<resources).map { index in
            """

            [[source]]
            name = "s\(index)"
            base_url = "\(hostile[index % servers].url(""))"
            [[source.resource]]
            name = "f"
            entity = "Item\(index)"
            path = "/\(index)"
            \(reading(index))
            [entity.Item\(index)]
            key = ["id"]
            [entity.Item\(index).attributes]
            id = { type = "int64", optional = false }
            name = { type = "string" }
            count = { type = "int32" }
            price = { type = "double" }
            isOpen = { type = "bool" }
            at = { type = "date" }
            """
        }
        return start + parts.joined()
    }

    private static let guards = "confirm_runs = 1\nmax_fraction = 1.0\nmax_count = 1000000\nmin_expected = 0"

    private static func reading(_ index: Int) -> String {
        switch index % 4 {
        case 0: "pages = { kind = \"link-header\" }"
        case 1: "records = \"$.items\"\npages = { kind = \"cursor\", path = \"$.next\", param = \"after\" }"
        case 2: "records = \"$.items\"\npages = { kind = \"page\", size = \(records * 2), stop = { short_page = true } }"
        default: "records = \"$.items\""
        }
    }
}

private func fuzz(_ answers: Int) async throws {
    let seed = SeededRandom.seed, shop = try Workshop()
    defer { shop.close() }
    var packed: [[UInt8]] = []
    for index in 0..<resources {
        try World.body(index).write(toFile: "\(shop.folder)/body", atomically: true, encoding: .utf8)
        #expect(try await shop.run("sh", ["-c", "gzip -c body > body.gz"]).status == 0)
        packed.append(Array(try Data(contentsOf: URL(fileURLWithPath: "\(shop.folder)/body.gz"))))
    }
    let world = World(seed: seed, packed: packed), isTrue = Mutex(false), counts = Mutex([Int: Int]())
    let script: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { request, _ in
        guard let index = Int(request.target.dropFirst().prefix { $0.isNumber }), index < resources else { return [.close] }
        let number = counts.withLock { counts in
            counts[index, default: 0] += 1
            return counts[index] ?? 0
        }
        return isTrue.withLock { $0 } ? World.truth(index, number) : world.steps(index, number)
    }
    var hostile: [RawHTTPServer] = []
    for _ in 0..<servers { hostile.append(try await RawHTTPServer(script)) }
    let healthy = try await RawHTTPServer { _, index in
        [.send(HostileServerTests.answer("200 OK", "[{\"id\": 1, \"name\": \"good\"}, {\"id\": 2, \"name\": \"\(index)\"}]")), .close]
    }
    try shop.configure(text: World.configuration(hostile, healthy))
    let daemon = try await shop.daemon()

    func asked() -> Int { counts.withLock { $0.values.reduce(0, +) } }
    var rounds = 0
    while asked() < answers, daemon.isRunning {
        rounds += 1
        let before = asked()
        let status = try await shop.run(
            "timeout", ["120", Workshop.binary("cisternctl"), "sync", "--wait", "--socket", "\(shop.folder)/run/control.sock"])
        try #require(daemon.isRunning, "seed \(seed), round \(rounds): \(daemon.errors.suffix(5))")
        try #require(status.status != 124, "seed \(seed), round \(rounds): the sync hangs")
        #expect([0, 75].contains(try await shop.control("status").status), "seed \(seed), round \(rounds)")
        let rows = try await shop.sql("SELECT id, name FROM Item ORDER BY id")
        #expect(rows == ["1|good", "2|\(healthy.requests.count - 1)"], "seed \(seed), round \(rounds)")
        _ = try await shop.control("resume")
        try #require(asked() > before, "seed \(seed), round \(rounds): nobody was asked; \(status)")
    }

    isTrue.withLock { $0 = true }
    var wrong: [Int: [String]] = [:]
    for _ in 1...5 {
        let runs = try await shop.sync()
        wrong = [:]
        for index in 0..<resources {
            let rows = try await shop.sql("SELECT id, name, count, price, isOpen FROM Item\(index) ORDER BY id")
            if rows != World.rows(index) { wrong[index] = rows + ["\(runs["s\(index)/f"].map { "\($0)" } ?? "no run")"] }
        }
        if wrong.isEmpty { break }
        _ = try await shop.control("resume")
    }
    #expect(wrong.isEmpty, "seed \(seed): \(wrong)")
    daemon.signal(SIGTERM)
    #expect(await daemon.end() == 0, "seed \(seed): \(daemon.errors.suffix(5))")
    #expect(try await shop.damage() == [], "seed \(seed)")
    #expect(try await shop.verify().status == 0, "seed \(seed)")
    Evidence.note("answers: \(asked()) in \(rounds) rounds, seed \(seed)")
    for server in hostile + [healthy] { await server.shutdown() }
}
