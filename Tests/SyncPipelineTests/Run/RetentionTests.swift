import Foundation
import GRDB
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// How long, and how much of it, things are kept.
@Suite struct RetentionTests {
    private let api = ScriptedAPI()

    // MARK: Tombstones

    @Test func theTombstonesOfAQuietResourceArePurged() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(deletion: "confirm_runs = 1, max_fraction = 1.0, purge_after = \"2d\""))
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"")
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person") == ["1", "2"])
        fixture.clock.advance(by: .seconds(47 * 3600 - 60))
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person") == ["1", "2"])
        let report = try #require(try await fixture.sync().first)
        #expect(report.notModifiedPages == 1)
        #expect(try await fixture.values("id", of: "Person") == ["1"])
        // Then there is nothing to write any more.
        try await fixture.sync()
        #expect(fixture.document.unsavedChangeCount == 0)
        try await fixture.end()
    }

    // Another program left a time that is none: it is kept, and nobody stumbles over it.
    @Test(arguments: ["1e300", "-1e300", "9e999", "9.3e18"]) func aTombstoneWithoutATimeIsKept(_ time: String) async throws {
        let text = ScriptedAPI.people(deletion: "confirm_runs = 1, max_fraction = 1.0, purge_after = \"2d\"")
        var fixture = try await api.fixture(text)
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"")
        try await fixture.sync()
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        let queue = try DatabaseQueue(path: fixture.document.storeURL.path)
        try await queue.write { try $0.execute(sql: "UPDATE ZPERSON SET ZCISTERNDELETEDAT = \(time) WHERE ZID = 2") }
        try queue.close()
        fixture = try await PipelineFixture(text, folder: fixture.folder) { [api] request, _ in api.answer(request) }
        fixture.clock.advance(by: .seconds(90 * 3600))
        for _ in 1...2 { try await fixture.sync() }
        #expect(try await fixture.values("id", of: "Person") == ["1", "2"])
        try await fixture.end()
    }

    private static func deletion(purgeAfter: String) -> String {
        "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0, purge_after = \"\(purgeAfter)\" }"
    }

    @Test func aResourcePurgesItsOwnTombstonesOnly() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("hasty", of: "Person", Self.deletion(purgeAfter: "1h")),
                ScriptedAPI.resource("patient", of: "Person", Self.deletion(purgeAfter: "30d"))))
        api.set("/hasty", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/patient", #"[{"id": 3}, {"id": 4}]"#)
        try await fixture.sync()
        api.set("/hasty", #"[{"id": 1}]"#)
        api.set("/patient", #"[{"id": 3}]"#)
        try await fixture.sync()
        for _ in 1...3 { try await fixture.sync() }
        api.set("/hasty", #"[{"id": 1, "name": "Ada"}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person") == ["1", "3", "4"])
        try await fixture.end()
    }

    @Test func aTombstoneThatCameBackIsNotPurged() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(deletion: "confirm_runs = 1, max_fraction = 1.0, purge_after = \"1d\""))
        for body in [#"[{"id": 1}, {"id": 2}]"#, #"[{"id": 1}]"#, #"[{"id": 1}, {"id": 2}]"#] {
            api.set("/people", body)
            try await fixture.sync()
        }
        fixture.clock.advance(by: .seconds(30 * 3600))
        try await fixture.sync()
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // MARK: Quarantine

    @Test func whatBecameGoodLeavesTheQuarantine() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"link-header\" }"))
        let link = "</people?page=2>; rel=next"
        api.set("/people", #"[{"id": 1}, {"id": 2, "age": "x"}]"#, headers: ["Link": link])
        api.set("/people?page=2", #"[{"id": 3}, {"id": 4, "age": "x"}]"#, etag: "\"1\"")
        try await fixture.sync()
        #expect(try await fixture.pipeline.quarantine().count == 2)
        api.set("/people", #"[{"id": 1}, {"id": 2, "age": 2}]"#, headers: ["Link": link])
        try await fixture.sync()
        // What stands on a page that is as it was is as bad as it was.
        #expect(try await fixture.pipeline.quarantine().map(\.raw) == [#"{"id": 4, "age": "x"}"#])
        api.set("/people", #"[{"id": 1}, {"id": 2, "age": 3}]"#)
        try await fixture.sync()
        #expect(try await fixture.pipeline.quarantine().isEmpty)
        try await fixture.end()
    }

    @Test func theQuarantineOfAResourceIsBounded() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        let good = (10_001...13_000).map { "{\"id\": \($0)}" }
        for name in ["x", "y"] {
            let long = String(repeating: name, count: 20_000)
            let bad = (1...1200).map { "{\"id\": \($0), \"age\": \"\($0 == 1 ? long : name)\"}" }
            api.set("/people", "[" + (good + bad).joined(separator: ", ") + "]")
            #expect(try await fixture.sync().first?.counts.quarantined == 1200)
        }
        let entries = try await fixture.pipeline.quarantine(limit: 10_000)
        #expect(entries.count == 1000)
        #expect(entries.allSatisfy { $0.raw.utf8.count <= 8192 + 3 })
        // In pages, and by how an id begins.
        let pages = [try await fixture.pipeline.quarantine(limit: 600), try await fixture.pipeline.quarantine(limit: 600, skip: 600)]
        #expect(pages.map(\.count) == [600, 400] && pages.joined().map(\.digest) == entries.map(\.digest))
        let id = try #require(entries.last?.digest)
        #expect(try await fixture.pipeline.quarantine(id: String(id.prefix(20))).map(\.digest) == [id])
        try await fixture.end()
    }

    // MARK: Pages

    @Test func thePagesOfAListThatNeverEndsAreBoundedAndTheirRowsAreNotForgotten() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"link-header\" }"))
        for run in 1...8 {
            api.set("/people", "[{\"id\": \(run)}]", headers: ["Link": "</people?cursor=\(run)>; rel=next"])
            api.set("/people?cursor=\(run)", "[{\"id\": \(run)00}]", headers: ["Link": "</people?missing=\(run)>; rel=next"])
            #expect(try await fixture.sync().first?.outcome == .failed)
        }
        #expect(try await fixture.values("request", of: RequestTable.entity).count <= 4)
        #expect(Set(try await fixture.values("request", of: KeysTable.entity)).count <= 5)
        #expect(fixture.pipeline.trust.count <= 4)
        api.set("/people", #"[{"id": 1}, {"id": 100}]"#)
        #expect(try await fixture.sync().first?.counts.deleted == 14)
        #expect(try await fixture.live() == ["1", "100"])
        #expect(try await fixture.values("request", of: RequestTable.entity).count == 1)
        try await fixture.end()
    }

    @Test func nothingIsKnownOfThePagesOfAResourceThatIsGone() async throws {
        let both = ScriptedAPI.configuration(ScriptedAPI.resource("people"), ScriptedAPI.resource("others")), fixture = try await api.fixture(both)
        for path in ["/people", "/others"] { api.set(path, #"[{"id": 1}]"#) }
        try await fixture.sync()
        #expect(fixture.pipeline.trust.count == 2)
        try await fixture.pipeline.reload(PipelineFixture.configuration(ScriptedAPI.configuration(ScriptedAPI.resource("people"))))
        #expect(fixture.pipeline.trust.count == 1)
        try await fixture.end()
    }

    // What was complete once is asked with its validators again, however often runs were cut off since.
    @Test func thePagesOfTheLastCompleteListAreKept() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"link-header\" }"))
        let list = { (status: Int) in
            api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"", headers: ["Link": "</people?page=2>; rel=next"])
            api.set("/people?page=2", #"[{"id": 2}]"#, etag: "\"1\"", status: status)
        }
        list(200)
        #expect(try await fixture.sync().first?.isComplete == true)
        api.set("/people?page=2", "[]", status: 404)
        for _ in 1...8 { #expect(try await fixture.sync().first?.isComplete == false) }
        list(200)
        #expect(try await fixture.sync().first?.notModifiedPages == 2)
        try await fixture.end()
    }

    // MARK: Caps

    @Test func aRunOfTooManyRecordsIsCutAndNotComplete() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people("pages = { kind = \"link-header\" }\nlimits = { max_records = 3 }"))
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#, headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", #"[{"id": 3}, {"id": 4}]"#, headers: ["Link": "</people?page=3>; rel=next"])
        api.set("/people?page=3", #"[{"id": 5}]"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .incomplete && report.error?.contains("max_records") == true, "\(report.error ?? "")")
        #expect(report.pages == 2)
        try await fixture.end()
    }

    @Test func oneRowOfASmallTableMayGo() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people(deletion: "confirm_runs = 1"))
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        #expect(try await fixture.sync().first?.counts.deleted == 1)
        try await fixture.end()
    }

    @Test func aListOfTooManyMembersCostsItsRecord() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.people("limits = { max_members = 3 }")
                + """

                [entity.Person.relationships]
                tags = { to = "Tag", many = true }
                [entity.Tag]
                key = ["name"]
                [entity.Tag.attributes]
                name = { type = "string", optional = false }
                """)
        api.set("/people", #"[{"id": 1, "tags": ["a", "b", "c"]}, {"id": 2, "tags": ["a", "b", "c", "d"]}]"#)
        #expect(try await fixture.sync().first?.counts.quarantined == 1)
        #expect(try await fixture.live() == ["1"])
        #expect(try await fixture.pipeline.quarantine().first?.reason.contains("max_members = 3") == true)
        try await fixture.end()
    }

    @Test func aPageOfTooManyObjectsIsRefused() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people("limits = { max_objects_per_page = 3 }"))
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == .failed && report.error?.contains("max_objects_per_page = 3") == true, "\(report.error ?? "")")
        #expect(try await fixture.live() == [])
        try await fixture.end()
    }
}
