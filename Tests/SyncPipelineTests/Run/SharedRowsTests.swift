import NIOHTTP1
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Rows that more than one resource lists.
@Suite struct SharedRowsTests {
    private let api = ScriptedAPI()

    private static let configuration = ScriptedAPI.configuration(
        ScriptedAPI.resource("staff"), ScriptedAPI.resource("guests"),
        defaults: """
            [defaults.deletion]
            detect = "snapshot"
            confirm_runs = 1
            max_fraction = 1.0
            """)

    @Test func aRowDiesWhenNoResourceVouchesForItAnyMore() async throws {
        let fixture = try await api.fixture(Self.configuration)
        api.set("/staff", #"[{"id": 1}, {"id": 2}]"#, etag: "\"1\"")
        api.set("/guests", #"[{"id": 2}, {"id": 3}]"#, etag: "\"1\"")
        try await fixture.sync("api/staff")
        try await fixture.sync("api/guests")
        api.set("/staff", #"[{"id": 1}]"#, etag: "\"2\"")
        #expect(try await fixture.sync("api/staff").counts.deleted == 0)
        #expect(try await fixture.live() == ["1", "2", "3"])
        // The other one's page is as it was, and its row is there.
        #expect(try await fixture.sync("api/guests").notModifiedPages == 1)
        api.set("/guests", #"[{"id": 3}]"#, etag: "\"2\"")
        #expect(try await fixture.sync("api/guests").counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    @Test func resourcesThatLetGoOfARowAtTheSameTimeLeaveNoneBehind() async throws {
        for _ in 1...5 {
            let api = ScriptedAPI()
            let fixture = try await api.fixture(Self.configuration)
            for list in ["/staff", "/guests"] { api.set(list, #"[{"id": 1}, {"id": 2}]"#) }
            try await fixture.sync()
            for list in ["/staff", "/guests"] { api.set(list, #"[{"id": 1}]"#) }
            try await fixture.sync()
            #expect(try await fixture.live() == ["1"])
            try await fixture.end()
        }
    }

    @Test func aPageIsNotBelievedAsItWasWhereItsRowsWentByTheModelsRules() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource(
                    "teams", of: "Team", #"deletion = { detect = "snapshot", action = "delete", confirm_runs = 1, max_fraction = 1.0 }"#),
                ScriptedAPI.resource("people"), entities: ScriptedAPI.teams(onDelete: "cascade")))
        api.set("/teams", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/people", #"[{"id": 5, "team": 1}, {"id": 6, "team": 2}]"#, etag: "\"1\"")
        try await fixture.sync("api/teams")
        try await fixture.sync("api/people")
        api.set("/teams", #"[{"id": 1}]"#)
        #expect(try await fixture.sync("api/teams").counts.deleted == 1)
        #expect(try await fixture.live() == ["5"])
        #expect(try await fixture.sync("api/people").notModifiedPages == 0)
        #expect(try await fixture.live() == ["5", "6"])
        try await fixture.end()
    }

    @Test func anETagThatChangesWhileTheBodyStaysIsTakenOver() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people())
        api.set("/people", #"[{"id": 1}]"#, etag: "\"1\"")
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}]"#, etag: "\"2\"")
        try await fixture.sync()
        try await fixture.sync()
        #expect(fixture.transport.requests.map { $0.headers.first(name: "If-None-Match") } == [nil, "\"1\"", "\"2\""])
        try await fixture.end()
    }

    @Test func anUpdateWithinTheSecondOfItsLastModifiedIsNotLost() async throws {  // R7
        let fixture = try await api.fixture(ScriptedAPI.people())
        // As a server with times in whole seconds does it.
        let date = "Wed, 01 Jan 2025 00:59:59 GMT"
        let transport = fixture.transport
        api.set("/people", #"[{"id": 1, "name": "Ada"}]"#, headers: ["Last-Modified": date, "Date": date])
        try await fixture.sync()
        api.set("/people", #"[{"id": 1, "name": "Bo"}]"#, headers: ["Last-Modified": date, "Date": "Wed, 01 Jan 2025 02:00:00 GMT"])
        try await fixture.sync()
        #expect(transport.requests.last?.headers.first(name: "If-Modified-Since") == nil)
        #expect(try await fixture.values("name", of: "Person") == ["Bo"])
        // From then on it is older than any second version could be.
        try await fixture.sync()
        #expect(transport.requests.last?.headers.first(name: "If-Modified-Since") == date)
        try await fixture.end()
    }
}
