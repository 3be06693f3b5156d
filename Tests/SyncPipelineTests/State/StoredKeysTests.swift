import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// The sets of keys that pages and listings vouch for are read by who needs them, and by nobody else.
@Suite struct StoredKeysTests {
    private let api = ScriptedAPI()

    /// Makes the sets of these kinds unreadable.
    private static func damage(_ kinds: Set<StoredKeys.Kind>, in fixture: PipelineFixture) async throws {
        try await fixture.document.withWorker { worker in
            for var row in try StateRow<KeysTable>.all(in: worker) where row.kind.map(kinds.contains) == true {
                row.keys = Data([0x80])
                row.write(in: worker)
            }
            try worker.save()
        }
    }

    private func pages(_ second: String, etag: String) {
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#, etag: "\"1\"", headers: ["Link": "</people?page=2>; rel=\"next\""])
        api.set("/people?page=2", second, etag: etag)
    }

    private func fixture() async throws -> PipelineFixture {
        try await api.fixture(ScriptedAPI.people("pages = { kind = \"link-header\" }"))
    }

    @Test func aPollThatFindsEverythingAsItWasReadsNone() async throws {
        let fixture = try await fixture()
        pages(#"[{"id": 3}]"#, etag: "\"1\"")
        #expect(try await fixture.sync().first?.counts.inserted == 3)
        try await Self.damage([.members, .previous, .listed], in: fixture)
        for _ in 1...3 {
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == .succeeded && report.isComplete && report.notModifiedPages == 2)
        }
        try await fixture.end()
    }

    @Test func aPollThatFindsEverythingAsItWasAsksTheStoreForNoRow() async throws {
        let fixture = try await fixture()
        pages(#"[{"id": 3}]"#, etag: "\"1\"")
        for _ in 1...2 { try await fixture.sync() }
        let store = try #require(fixture.document.root.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        let before = store.statements.current.selects
        #expect(try await fixture.sync().first?.notModifiedPages == 2)
        #expect(store.statements.current.selects == before)
        try await fixture.end()
    }

    /// What a poll that is answered 304 costs of a resource with so many rows, one of which is missing since the listing before, so that each has
    /// something to conclude: the statements of the store, and the bytes of all sets that it keeps of the resource.
    private static func poll(of rows: Int) async throws -> (statements: StatementCounts, bytes: [String: Int]) {
        let api = ScriptedAPI()
        func list(_ keys: ClosedRange<Int>) -> String { "[" + keys.map { #"{"id": \#($0)}"# }.joined(separator: ",") + "]" }
        let fixture = try await api.fixture(ScriptedAPI.people(deletion: "confirm_runs = 2"))
        api.set("/people", list(1...rows), etag: "\"1\"")
        try await fixture.sync()
        api.set("/people", list(2...rows), etag: "\"2\"")
        for _ in 1...2 { try await fixture.sync() }
        let store = try #require(fixture.document.root.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        let before = store.statements.current
        #expect(try await fixture.sync().first?.notModifiedPages == 1)
        let statements = store.statements.current - before
        let bytes = try await fixture.document.withWorker { worker in
            try StateRow<KeysTable>.all(in: worker).reduce(into: [:]) { bytes, row in
                bytes["\(row.kind?.rawValue ?? "") of \(row.request)", default: 0] += row.keys?.count ?? 0
            }
        }
        #expect(try await fixture.live().count == rows)
        try await fixture.end()
        return (statements, bytes)
    }

    @Test func aPollOfManyRowsReadsAndWritesAsMuchAsOneOfFew() async throws {
        let few = try await Self.poll(of: 300), many = try await Self.poll(of: 12_000)
        #expect(few.statements == many.statements && few.statements.updates + few.statements.inserts > 0)
        #expect(few.bytes == many.bytes && few.bytes.count >= 3)
        #expect(few.bytes.values.reduce(0, +) < 100)
    }

    @Test func setsThatAnEarlierVersionWroteAreReadAndWrittenAnew() async throws {
        let fixture = try await fixture()
        pages(#"[{"id": 3}]"#, etag: "\"1\"")
        try await fixture.sync()
        // Keys one after the other took a byte each.
        try await fixture.document.withWorker { worker in
            for var row in try StateRow<KeysTable>.all(in: worker) where row.kind != .missing {
                let keys = Array(try #require(row.keys.flatMap { KeyRuns($0) }))
                #expect(keys.allSatisfy { $0 > 0 && $0 < 128 })
                row.keys = Data(zip(keys, [0] + keys).map { UInt8($0 - $1) })
                row.write(in: worker)
            }
            try worker.save()
        }
        pages(#"[{"id": 4}]"#, etag: "\"2\"")
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.notModifiedPages == 1 && report.counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2", "4"])
        let resource = try await fixture.document.withWorker { worker in
            try StoredKeys.data(.members, of: ResourceScope(source: "api", resource: "people"), in: worker)
        }
        #expect(resource?.prefix(3) == Data([0x80, 0x00, 0x01]))
        try await fixture.end()
    }

    @Test func aPollThatFindsSomethingNewConcludesNothingFromSetsThatCannotBeRead() async throws {
        let fixture = try await fixture()
        pages(#"[{"id": 3}]"#, etag: "\"1\"")
        try await fixture.sync()
        try await Self.damage([.members], in: fixture)
        pages(#"[{"id": 3}, {"id": 4}]"#, etag: "\"2\"")
        let refused = try #require(try await fixture.sync().first)
        #expect(refused.outcome == .failed && refused.error?.contains("the store cannot tell which rows") == true)
        // The page is read again, and then all is well.
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .succeeded && report.notModifiedPages == 1)
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        pages(#"[{"id": 4}]"#, etag: "\"3\"")
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2", "4"])
        try await fixture.end()
    }

    @Test func aListingWithFewerPagesIsAnotherOneThoughEachPageIsAsItWas() async throws {
        let fixture = try await fixture()
        pages(#"[{"id": 3}]"#, etag: "\"1\"")
        try await fixture.sync()
        // The first page alone; it is read once more, since its next page is another.
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#, etag: "\"2\"")
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2"])
        let stored = try await fixture.document.withWorker { worker in
            try StoredKeys.entries(of: ResourceScope(source: "api", resource: "people"), in: worker).map(\.request)
        }
        #expect(!stored.isEmpty && stored.allSatisfy { !$0.contains("page=2") })
        try await fixture.end()
    }
}
