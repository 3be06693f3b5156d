import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// The files of archived bodies, and which of them there are.
@Suite final class BodyArchiveTests {
    private let package = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-archive-\(UUID().uuidString)")
    private let scope = ResourceScope(source: "api", resource: "people")
    private let told: Told

    init() throws {
        told = Told()
        try FileManager.default.createDirectory(at: package.appendingPathComponent("StoreContent"), withIntermediateDirectories: true)
        let store = package.path + "/StoreContent/persistentStore"
        #expect(FileManager.default.createFile(atPath: store, contents: Data(), attributes: [.posixPermissions: 0o640]))
    }

    deinit { try? FileManager.default.removeItem(at: package) }

    private final class Told: Sendable {
        private let events = Mutex<[SyncEvent]>([])
        var reasons: [String] { events.withLock { $0 }.compactMap { if case .archiveFailed(_, let reason) = $0 { reason } else { nil } } }
        func add(_ event: SyncEvent) { events.withLock { $0.append(event) } }
    }

    private static let nobody = HTTPBody(AsyncStream<ByteBuffer> { $0.finish() })

    private func rule(_ raw: SchemaConfiguration.KeptBodies, most: ByteCount = .mebibytes(256)) -> SchemaConfiguration {
        var rule = SchemaConfiguration()
        rule.raw = raw
        rule.rawMax = most
        return rule
    }

    /// An archive as a process finds it at its start.
    private func archive(_ rule: SchemaConfiguration?, runs: Int64 = 100) -> BodyArchive {
        let archive = BodyArchive(package: package) { [told] in told.add($0) }
        archive.dropArrivals()
        archive.keep(rule.map { [scope: $0] } ?? [:], runs: [scope: runs], leavesFree: 0)
        return archive
    }

    private func request(_ page: String) throws -> PageRequest {
        PageRequest(address: try HTTPAddress("https://api.example/people?page=\(page)"))
    }

    private func writer(
        _ archive: BodyArchive, _ page: String, run: Int64, number: Int = 1, part: String? = nil, headers: HTTPHeaders = [:], repetition: Int = 0,
        after seconds: Double = 1
    ) throws -> BodyWriter {
        let whole = self.scope, scope = part.map { ResourceScope(source: whole.source, resource: whole.resource, partition: $0) } ?? whole
        let recorder = BodyRecorder(
            archive: archive, scope: scope, run: run, page: number, repetition: repetition, now: Date(timeIntervalSince1970: 1_800_000_000),
            named: ["x-total"])
        let asked = try request(page), head = HTTPResponse(status: 200, headers: headers, body: Self.nobody)
        let time = Date(timeIntervalSince1970: 1_800_000_000 + seconds)
        return try #require(recorder.begin(asked, head, from: asked.address, Redactor(), at: time))
    }

    /// Has a body arrive, and mapped unless said otherwise.
    private func add(
        _ archive: BodyArchive, _ page: String, _ body: String, run: Int64, number: Int = 1, part: String? = nil, isMapped: Bool = true,
        after seconds: Double = 1
    ) throws {
        let writer = try writer(archive, page, run: run, number: number, part: part, after: seconds)
        Array(body.utf8).withUnsafeBytes { writer.append($0) }
        let arrived = try #require(writer.finish()), entry = arrived.keep()
        #expect(entry != nil)
        if isMapped { arrived.settle(entry) }
    }

    private func pages(_ archive: BodyArchive) throws -> [String] {
        try archive.bodies(of: [scope]).map { body in
            let head = try ArchivedBody(body.path).head
            return "\(head.run) \(head.request.split(separator: "=").last ?? "")\(body.entry.isSaved ? "" : " new")"
        }
    }

    private func files() -> [String] {
        let walk = FileManager.default.enumerator(atPath: package.path + "/Archive")
        return (walk?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".body") || $0.hasSuffix(".new") }
    }

    private func settings() throws -> FetchSettings {
        var resource = ResourceConfiguration(
            name: "people", source: "api", url: "https://api.example/people", entity: "Person", key: ["id"])
        resource.parse.contentTypes = ["application/json"]
        return try FetchSettings(resource: resource, daemon: DaemonConfiguration(), version: "test", secrets: .none)
    }

    // MARK: Files

    @Test func aBodyComesBackAsItCame() async throws {
        let archive = archive(rule(.last))
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "ETag": "\"1\"", "X-Total": "7", "Set-Cookie": "session=1", "X-Other": "unasked",
        ]
        let writer = try writer(archive, "1", run: 3, number: 2, headers: headers)
        for piece in ["[{\"id\": 1},", " {\"id\": 2}]"] { Array(piece.utf8).withUnsafeBytes { writer.append($0) } }
        let arrived = try #require(writer.finish())
        arrived.settle(arrived.keep())
        let body = try ArchivedBody(try #require(archive.bodies(of: [scope]).first).path)
        #expect(body.head.isDeflated && body.head.run == 3 && body.head.page == 2 && body.head.status == 200)
        #expect(body.head.fields.map(\.name) == ["Content-Type", "ETag", "X-Total"])
        let page = try await body.page(settings(), clock: ManualClock(), spool: SpoolPlace())
        let asked = try request("1")
        #expect(page.validators?.etag == "\"1\"" && page.address == asked.address)
        #expect(page.content.isWhole && page.received == 22)
        let mode = try FileManager.default.attributesOfItem(atPath: body.path)[.posixPermissions] as? Int
        #expect(mode == 0o640)
    }

    // What a server has compressed is not compressed again.
    @Test func anEncodedBodyIsKeptAsItIs() throws {
        let archive = archive(rule(.last)), bytes = Array("as it is".utf8)
        let writer = try writer(archive, "1", run: 1, headers: ["Content-Encoding": "gzip"])
        bytes.withUnsafeBytes { writer.append($0) }
        let arrived = try #require(writer.finish())
        arrived.settle(arrived.keep())
        let path = try #require(archive.bodies(of: [scope]).first).path, file = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try ArchivedBody(path).head.isDeflated == false && file.range(of: Data(bytes)) != nil)
    }

    @Test func nothingIsLeftOfABodyThatDoesNotArrive() throws {
        let archive = archive(rule(.last))
        do {
            let writer = try writer(archive, "1", run: 1)
            Array("[".utf8).withUnsafeBytes { writer.append($0) }
        }
        // It arrives, and nobody takes it.
        _ = try writer(archive, "2", run: 1).finish()
        let arriving = try FileManager.default.contentsOfDirectory(atPath: package.path + "/Archive/.arriving")
        #expect(arriving.isEmpty && files().isEmpty && told.reasons.isEmpty)
    }

    // A kill leaves half a file, and one that is whole and was never mapped.
    @Test func theNextStartDropsWhatIsHalfWrittenAndKeepsWhatIsWhole() throws {
        let before = archive(rule(.last))
        let half = try writer(before, "1", run: 2)
        Array("[{".utf8).withUnsafeBytes { half.append($0) }
        try add(before, "2", "[]", run: 1)
        try add(before, "2", "[{}]", run: 2, isMapped: false)
        let after = archive(rule(.last))
        #expect(!FileManager.default.fileExists(atPath: package.path + "/Archive/.arriving"))
        #expect(try pages(after) == ["1 2", "2 2 new"])
        withExtendedLifetime(half) {}
    }

    @Test(arguments: [0.2, 0.6, 0.9]) func aDamagedFileIsNamed(place: Double) async throws {
        let archive = archive(rule(.last))
        try add(archive, "1", "[" + String(repeating: "{\"id\": 1234567}, ", count: 100) + "{}]", run: 1)
        let path = try #require(archive.bodies(of: [scope]).first).path
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        file[Int(Double(file.count) * place)] ^= 0x10
        try file.write(to: URL(fileURLWithPath: path))
        let damage = await #expect(throws: DamagedBody.self) {
            _ = try await ArchivedBody(path).page(self.settings(), clock: ManualClock(), spool: SpoolPlace())
        }
        #expect(damage?.path == path)
        try file.prefix(file.count / 2).write(to: URL(fileURLWithPath: path))
        #expect(throws: DamagedBody.self) { try ArchivedBody(path) }
    }

    // MARK: Which there are

    @Test func ofEachPageTheLastIsKept() throws {
        let archive = archive(rule(.last))
        try add(archive, "1", "[1]", run: 1, number: 1)
        try add(archive, "2", "[2]", run: 1, number: 2)
        try add(archive, "1", "[3]", run: 2, number: 1)
        // In the order in which they came.
        #expect(try pages(archive) == ["1 2", "2 1"])
        #expect(files().count == 2)
    }

    @Test func whereAllAreKeptTheNewestStandsForItsPage() throws {
        let archive = archive(rule(.all))
        for run in 1...3 { try add(archive, "1", "[\(run)]", run: Int64(run)) }
        #expect(try pages(archive) == ["3 1"])
        #expect(files().count == 3)
        archive.forget([try request("1").key], of: scope)
        #expect(files().count == 3)
    }

    @Test func whatCouldNotBeMappedComesAfterWhatCould() throws {
        let archive = archive(rule(.last))
        try add(archive, "1", "[1]", run: 1)
        try add(archive, "1", "<html>", run: 2, isMapped: false)
        try add(archive, "1", "<body>", run: 3, isMapped: false)
        #expect(try pages(archive) == ["1 1", "3 1 new"])
        // The server says that the page is what it was.
        archive.confirm(ArchivedHead.slot(try request("1").key), of: scope)
        #expect(try pages(archive) == ["1 1"])
    }

    @Test func whatIsTooMuchGoesTheOldestFirst() throws {
        let archive = archive(rule(.last, most: .mebibytes(1)))
        var random = SeededNumbers(1)
        // Nothing that could be compressed.
        func body() -> String { String((0..<300_000).map { _ in Character(UnicodeScalar(UInt8(33 + random.next(upTo: 90)))) }) }
        for number in 1...6 { try add(archive, "\(number)", body(), run: 1, number: number) }
        let left = try pages(archive)
        #expect(left.last == "1 6" && !left.contains("1 1") && left.count >= 2)
        let sizes = try archive.bodies(of: [scope]).map { try FileManager.default.attributesOfItem(atPath: $0.path)[.size] as? Int ?? 0 }
        #expect(sizes.reduce(0, +) <= 1 << 20)
        #expect(told.reasons == ["the bodies of one listing need more room than schema.raw_max: the first of them are not kept"])
    }

    @Test func aListingThatIsCompleteDropsTheOthers() throws {
        let archive = archive(rule(.last))
        for number in 1...3 { try add(archive, "\(number)", "[]", run: 1, number: number) }
        archive.retain([ArchivedHead.slot(try request("2").key)], of: scope)
        #expect(try pages(archive) == ["1 2"])
    }

    // A run begins with the part that the one before did not come to.
    @Test func theBodiesOfPartsComeInTheOrderInWhichTheyWereRead() throws {
        let archive = archive(rule(.last)), names = ["a", "b", "c"]
        try add(archive, "1", "[]", run: 1, number: 1, part: "b", after: 1)
        try add(archive, "2", "[]", run: 1, number: 2, part: "b", after: 2)
        try add(archive, "1", "[]", run: 1, number: 1, part: "c", after: 3)
        try add(archive, "1", "[]", run: 1, number: 1, part: "a", after: 4)
        try add(archive, "2", "[]", run: 2, number: 2, part: "c", after: 5)
        try add(archive, "3", "[]", run: 2, number: 3, part: "d", after: 6)
        let scopes = names.map { ResourceScope(source: "api", resource: "people", partition: $0) }
        let order = archive.bodies(of: scopes).map { "\($0.entry.run) \(names[$0.part]) \($0.entry.page)" }
        #expect(order == ["1 b 1", "1 b 2", "1 c 1", "1 a 1", "2 c 2"])
    }

    @Test func partsThatAreNoMoreGo() throws {
        let archive = archive(rule(.last))
        for part in ["a", "b"] { try add(archive, "1", "[]", run: 1, part: part) }
        try add(archive, "1", "[]", run: 1)
        archive.retain(parts: ["b"], of: scope)
        #expect(files().count == 1)
        #expect(archive.bodies(of: [ResourceScope(source: "api", resource: "people", partition: "b")]).count == 1)
    }

    @Test func whatNobodyKeepsAnyMoreGoes() throws {
        try add(archive(rule(.last)), "1", "[]", run: 1)
        #expect(files().count == 1)
        let other = archive(nil)
        #expect(files().isEmpty && !other.isKept(scope))
        #expect(!FileManager.default.fileExists(atPath: package.path + "/Archive/api"))
    }

    @Test func bodiesThatAreNewerThanTheStoreAreDroppedAndNoOthers() throws {
        let before = archive(rule(.all))
        for run in 5...9 { try add(before, "1", "[\(run)]", run: Int64(run)) }
        try add(before, "2", "[]", run: 3, number: 2)
        // The run that was open at a kill is the one after the last that the store knows.
        #expect(try pages(archive(rule(.all), runs: 8)) == ["3 2", "9 1"])
        #expect(files().count == 6)
        #expect(try pages(archive(rule(.all), runs: 6)) == ["3 2", "7 1"])
        #expect(files().count == 4)
    }

    // What is made in a folder of a group is the group's.
    @Test func theFoldersAreTheGroupsWhereTheDocumentsIs() throws {
        #expect(chmod(package.path, 0o2750) == 0)
        try add(archive(rule(.last)), "1", "[]", run: 1, part: "a")
        for folder in ["Archive", "Archive/api", "Archive/api/people"] {
            var facts = stat()
            #expect(stat("\(package.path)/\(folder)", &facts) == 0 && facts.st_mode & S_ISGID != 0, "\(folder)")
        }
    }

    // What could never be mapped is of its time: nobody keeps it to look at.
    @Test func whatWasNotMappedGoesWithItsPageAlsoWhereAllAreKept() throws {
        let archive = archive(rule(.all))
        for number in 1...2 {
            try add(archive, "\(number)", "[]", run: 1, number: number)
            try add(archive, "\(number)", "<html>", run: 2, number: number, isMapped: false)
        }
        archive.forget([try request("1").key], of: scope)
        #expect(try pages(archive) == ["1 1", "1 2", "2 2 new"])
        archive.retain([], of: scope)
        #expect(try pages(archive) == ["1 1", "1 2"])
    }

    @Test func aFullDiskTakesTheArchiveFirst() throws {
        let archive = archive(rule(.last))
        for number in 1...3 { try add(archive, "\(number)", "[]", run: 1, number: number) }
        archive.makeRoom(.max)
        #expect(files().isEmpty && told.reasons == ["bodies go, since the disk has less room than store.min_free_disk"])
        archive.keep([scope: rule(.last)], runs: [:], leavesFree: .max)
        let recorder = BodyRecorder(archive: archive, scope: scope, run: 1, page: 1, repetition: 0, now: Date(), named: [])
        let asked = try request("1"), head = HTTPResponse(status: 200, headers: [:], body: Self.nobody)
        #expect(recorder.begin(asked, head, from: asked.address, Redactor(), at: Date()) == nil)
        #expect(told.reasons.last == "no body is kept while the disk has less room than store.min_free_disk")
    }

    // What a redirect leads to may be opened by whoever has its query.
    @Test func theQueryOfARedirectIsNotKept() throws {
        let archive = archive(rule(.last)), asked = try request("1")
        let recorder = BodyRecorder(archive: archive, scope: scope, run: 1, page: 1, repetition: 0, now: Date(), named: [])
        let redactor = Redactor(), head = HTTPResponse(status: 200, headers: [:], body: Self.nobody)
        let target = try HTTPAddress("https://files.example/1?signature=abc")
        let arrivedWriter = try #require(recorder.begin(asked, head, from: target, redactor, at: Date()))
        let arrived = try #require(arrivedWriter.finish())
        #expect(arrived.head.address == "https://files.example/1")
        let directWriter = try #require(recorder.begin(asked, head, from: asked.address, redactor, at: Date()))
        let direct = try #require(directWriter.finish())
        #expect(direct.head.address == "https://api.example/people?page=1")
    }
}
