import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What is remembered of tombstones whose objects were said to be gone.
@Suite struct SaidTombstonesTests {
    private let api = ScriptedAPI()

    @Test func theStoreIsReadOnceUntilSomebodyHasWrittenOthers() async throws {
        let fixture = try await api.fixture(ScriptedAPI.people()), tombstones = SaidTombstones()
        func reads(_ count: Int) async throws -> Int {
            let before = tombstones.reads
            try await fixture.document.withWorker { worker in
                for _ in 0..<count {
                    let said = try tombstones.said(of: "Person", in: worker)
                    #expect(said.isEmpty)
                }
            }
            return tombstones.reads - before
        }
        #expect(try await reads(3) == 1)
        tombstones.begin()
        tombstones.end(isOther: false)
        #expect(try await reads(3) == 0)
        // While somebody writes, it may be of before or after.
        tombstones.begin()
        #expect(try await reads(2) == 2)
        tombstones.end(isOther: true)
        #expect(try await reads(3) == 1)
        tombstones.forget()
        #expect(try await reads(3) == 1)
        try await fixture.end()
    }

    // Pages that mention what was said to be gone, one after the other and run after run; and what is said meanwhile counts.
    @Test func pagesThatMentionTombstonesReadThemTogether() async throws {
        let mentions = "also = [{ records = \"$.users\", entity = \"Person\" }]\npages = { kind = \"page\", size_param = \"\" }"
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "deletion = { detect = \"field\", path = \"$.deleted\" }"),
                ScriptedAPI.resource("tickets", of: "Ticket", "records = \"$.tickets\"\n\(mentions)"),
                entities: """
                    [entity.Ticket]
                    key = ["id"]
                    [entity.Ticket.attributes]
                    id = { type = "int64", optional = false }
                    \(ScriptedAPI.entities())
                    """))
        func tickets(_ user: Int) {
            for page in 1...5 { api.set("/tickets?page=\(page)", #"{"tickets": [{"id": \#(page)}], "users": [{"id": \#(user)}]}"#) }
            api.set("/tickets?page=6", #"{"tickets": [], "users": []}"#)
        }
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        try await fixture.sync("api/people")
        api.set("/people", #"[{"id": 1}, {"id": 2, "deleted": true}, {"id": 3}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        let before = fixture.pipeline.trust.tombstones.reads
        tickets(2)
        #expect(try await fixture.sync("api/tickets").isComplete)
        #expect(try await fixture.live() == ["1", "3"])
        #expect(fixture.pipeline.trust.tombstones.reads == before + 1)
        // Another one is said to be gone: the next page that mentions it knows.
        api.set("/people", #"[{"id": 1}, {"id": 3, "deleted": true}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        tickets(3)
        #expect(try await fixture.sync("api/tickets").isComplete)
        #expect(try await fixture.live() == ["1"])
        #expect(fixture.pipeline.trust.tombstones.reads == before + 2)
        try await fixture.end()
    }
}
