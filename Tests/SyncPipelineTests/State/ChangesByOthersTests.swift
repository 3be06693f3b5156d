import Foundation
import GRDB
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What another program does to rows of the mirror does not last.
@Suite struct ChangesByOthersTests {
    private static let people = #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}, {"id": 3, "name": "Cy"}]"#

    private static func fixture(folder: URL? = nil) async throws -> PipelineFixture {
        try await PipelineFixture(
            ScriptedAPI.configuration(ScriptedAPI.resource("people"), entities: entities), folder: folder
        ) { request, _ in
            if request.headers.first(name: "If-None-Match") == "\"1\"" { return .response(status: 304) }
            return .response(status: 200, headers: ["Content-Type": "application/json", "ETag": "\"1\""], body: Array(people.utf8))
        }
    }

    private static let entities = """
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        """

    /// A program that knows nothing of sums.
    private static func meddle(_ sql: String, _ folder: URL) throws {
        let queue = try DatabaseQueue(path: folder.appendingPathComponent("StoreContent/persistentStore").path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    private static func changes(_ events: [SyncEvent]) -> [Int] {
        events.compactMap { if case .rowsChangedElsewhere(_, let count) = $0 { count } else { nil } }
    }

    private static let changes: [(sql: String, told: [Int])] = [
        ("UPDATE ZPERSON SET ZNAME = 'Eve' WHERE ZID <> 2", [2]), ("UPDATE ZPERSON SET ZNAME = NULL", [3]),
        ("DELETE FROM ZPERSON WHERE ZID = 2", []), ("UPDATE ZPERSON SET ZCISTERNSTUB = 1 WHERE ZID = 3", [1]),
        ("UPDATE ZPERSON SET ZCISTERNDELETEDAT = 5 WHERE ZID = 3", [1]),
    ]

    @Test(arguments: 0..<5) func whatOthersChangedWhileNobodyRanIsReadAnew(_ number: Int) async throws {
        let change = Self.changes[number]
        var fixture = try await Self.fixture()
        try await fixture.sync()
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        try Self.meddle(change.sql, fixture.folder)
        fixture = try await Self.fixture(folder: fixture.folder)
        try await fixture.sync()
        #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil AND cisternStub == NO") == ["Ada", "Bo", "Cy"])
        #expect(Self.changes(fixture.events) == change.told)
        // And that is that.
        let report = try #require(try await fixture.sync().first)
        #expect(report.notModifiedPages == 1 && Self.changes(fixture.events) == change.told)
        #expect(try SQLiteStoreVerification.verify(fixture.document.storeURL).isSound)
        try await fixture.end()
    }

    @Test(arguments: 0..<5) func whatOthersChangeWhileItRunsIsReadAnew(_ number: Int) async throws {
        let change = Self.changes[number]
        let fixture = try await Self.fixture()
        for _ in 1...2 { try await fixture.sync() }
        try Self.meddle(change.sql, fixture.folder)
        // The answer whether somebody else has written comes beside the first run that asks, or before the second.
        for _ in 0..<20 where try await fixture.sync().first?.notModifiedPages == 0 { break }
        #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil AND cisternStub == NO") == ["Ada", "Bo", "Cy"])
        #expect(Self.changes(fixture.events) == change.told)
        #expect(try SQLiteStoreVerification.verify(fixture.document.storeURL).isSound)
        try await fixture.end()
    }

    // A page that is read whatever is known of it replaces what others changed, too.
    @Test func aFullPollReadsAnewWhatOthersChanged() async throws {
        var fixture = try await Self.fixture()
        try await fixture.sync()
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        try Self.meddle("UPDATE ZPERSON SET ZNAME = 'Eve'", fixture.folder)
        fixture = try await Self.fixture(folder: fixture.folder)
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.sync(nil, cause: .control, full: true, wait: true)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "Bo", "Cy"])
        try await fixture.end()
    }
}
