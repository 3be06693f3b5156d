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
