import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Synchronization
import Testing

/// Answers that are wrong in every way a generator comes upon. CISTERN_ANSWERS says how many, CISTERN_SEED repeats a run.
@Suite struct FuzzTests {
    @Test(.timeLimit(.minutes(60))) func noAnswerEndsTheDaemonOrTouchesAnotherResource() async throws {
        try await fuzz(ProcessInfo.processInfo.environment["CISTERN_ANSWERS"].flatMap { Int($0) } ?? 480)
    }
}

/// The same, a hundred thousand times: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct FuzzStress {
    @Test func norDoHundredThousand() async throws { try await fuzz(100_000) }
}

/// So many resources with wrong answers, two of each kind, of so many servers: a server's wish for patience is heard by all of its resources.
private let resources = FuzzKind.all.count * 2, servers = 8

/// Whose request it is, which of its requests, and the truth.
private struct World: Sendable {
    /// So many packed files of a kind are right, and so many are wrong in what they hold.
    private static let files = 12

    let seed: UInt64
    /// By resource: the body as gzip makes it, or, where it is a packed file itself, files that are right, and files that are not.
    private var packed: [Int: [UInt8]] = [:]
    private var right: [Int: [[UInt8]]] = [:]
    private var wrong: [Int: [[UInt8]]] = [:]

    init(seed: UInt64, in shop: Workshop) async throws {
        self.seed = seed
        let folder = "\(shop.folder)/packed"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for index in 0..<resources {
            let body = Array(Self.kind(index).body(index).utf8)
            var mutator = AnswerMutator(random: SeededRandom(state: seed &+ UInt64(index)))
            for number in 0..<(Self.kind(index).packing == nil ? 1 : Self.files) {
                var spoiled = body
                mutator.spoil(&spoiled)
                // Lines without anything say nothing: these are other bytes.
                let padded = body + Array(repeating: UInt8(ascii: "\n"), count: Self.kind(index).packing == nil ? 0 : number)
                for (name, bytes) in [("right", padded), ("wrong", spoiled)] {
                    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(index)-\(number)-\(name)"))
                }
            }
        }
        #expect(try await shop.run(Workshop.python, [TestData.fixture("pack.py"), folder]).status == 0)
        for index in 0..<resources {
            func file(_ name: String, _ ending: String) throws -> [UInt8] {
                Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(index)-\(name).\(ending)")))
            }
            guard let packing = Self.kind(index).packing else {
                packed[index] = try file("0-right", "gz")
                continue
            }
            let ending = packing == .zip ? "zip" : "gz"
            right[index] = try (0..<Self.files).map { try file("\($0)-right", ending) }
            wrong[index] = try (0..<Self.files).map { try file("\($0)-wrong", ending) }
        }
    }

    static func kind(_ index: Int) -> FuzzKind { FuzzKind.all[index % FuzzKind.all.count] }

    /// - Parameter isOther: it is the list beside that of the records.
    func steps(_ index: Int, _ number: Int, isOther: Bool) -> [RawHTTPServer.Step] {
        var mutator = AnswerMutator(random: SeededRandom(state: seed &* 1_000_003 &+ UInt64(number * resources + index)))
        let kind = Self.kind(index), other = isOther ? kind.other : nil
        let body = wrong[index].map { mutator.random.one(of: $0) } ?? Array((other?.body ?? kind.body)(index).utf8)
        return [.send(mutator.answer(body, contentType: kind.contentType, packed: other == nil ? packed[index] : [])), .close]
    }

    func truth(_ index: Int, _ number: Int, isOther: Bool) -> [RawHTTPServer.Step] {
        // Bytes that were not sent before: the same answer again is no second listing.
        let kind = Self.kind(index), text = (isOther ? kind.other?.body ?? kind.body : kind.body)(index)
        let body = right[index].map { $0[number % $0.count] } ?? Array((text + String(repeating: "\n", count: number + 1)).utf8)
        let head = [
            "HTTP/1.1 200 OK", "Content-Type: \(kind.contentType)", "Content-Length: \(body.count)", "ETag: \"true\(number)\"", "Connection: close",
        ]
        return [.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body), .close]
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
            \(kind(index).lines.replacing("#", with: "\(index)"))
            \(other(index))
            [entity.Item\(index)]
            key = ["id"]
            [entity.Item\(index).attributes]
            id = { type = "int64", optional = false }
            name = { type = "string" }
            count = { type = "int32" }
            price = { type = "double" }
            isOpen = { type = "bool" }
            at = { type = "date" }
            [entity.Other\(index)]
            key = ["id"]
            [entity.Other\(index).attributes]
            id = { type = "int64", optional = false }
            name = { type = "string" }
            """
        }
        return start + parts.joined()
    }

    private static let guards = "confirm_runs = 1\nmax_fraction = 1.0\nmax_count = 1000000\nmin_expected = 0"

    private static func other(_ index: Int) -> String {
        kind(index).other.map { "[[source.resource]]\nname = \"g\"\nentity = \"Item\(index)\"\npath = \"/\(index)/other\"\n\($0.lines)" } ?? ""
    }
}

private func fuzz(_ answers: Int) async throws {
    let seed = SeededRandom.seed, shop = try Workshop()
    defer { shop.close() }
    let world = try await World(seed: seed, in: shop), isTrue = Mutex(false), counts = Mutex([Int: Int]())
    let script: @Sendable (RawHTTPServer.Request, Int) -> [RawHTTPServer.Step] = { request, _ in
        guard let index = Int(request.target.dropFirst().prefix { $0.isNumber }), index < resources else { return [.close] }
        let isOther = request.target.contains("other"),
            number = counts.withLock { counts in
                counts[index, default: 0] += 1
                return counts[index] ?? 0
            }
        return isTrue.withLock { $0 } ? world.truth(index, number, isOther: isOther) : world.steps(index, number, isOther: isOther)
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
        let runs = try await shop.sync(isFull: true)
        wrong = [:]
        for index in 0..<resources {
            let rows = try await shop.sql("SELECT id, name, count, price, isOpen FROM Item\(index) ORDER BY id")
            if rows != FuzzKind.rows(index) {
                wrong[index] = rows + ["\(World.kind(index).name): \(runs["s\(index)/f"].map { "\($0)" } ?? "no run")"]
            }
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
