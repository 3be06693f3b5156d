import Foundation
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What is said to be gone, and mentioned all the same; and lists of what is gone that take back what they said.
extension DeletionRecordTests {
    // MARK: Mentions

    // What a record says of its object counts, whoever mentions that beside it.
    @Test func aMentionTakesNoDeletionBack() async throws {
        let fixture = try await api.fixture(
            Self.people("path = \"$.deleted\"", "records = \"$.items\"\nalso = [{ records = \"$.included\", entity = \"Person\" }]"))
        api.set("/people", #"{"items": [{"id": 1}, {"id": 2}], "included": []}"#)
        try await fixture.sync("api/people")
        api.set("/people", #"{"items": [{"id": 2, "deleted": true}], "included": [{"id": 2, "name": "x"}]}"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    /// People, of whom their own listing says who is gone, and tickets, whose pages mention people.
    private static func staff(_ deletion: String, also: String = "also = [{ records = \"$.users\", entity = \"Person\" }]") -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", "deletion = { \(deletion) }"),
            ScriptedAPI.resource("tickets", of: "Ticket", "records = \"$.tickets\"\n\(also)"), defaults: "[defaults.retry]\nattempts = 1",
            entities: """
                [entity.Ticket]
                key = ["id"]
                [entity.Ticket.attributes]
                id = { type = "int64", optional = false }
                [entity.Ticket.relationships]
                author = { to = "Person" }
                \(ScriptedAPI.entities())
                """)
    }

    // Whoever lists what has changed says it once. Only its own record says that it is there again.
    @Test(arguments: [false, true], [#""users": [{"id": 2, "name": "late"}]"#, #""tickets": [{"id": 10, "author": {"id": 2, "name": "late"}}]"#])
    func aMentionDoesNotBringBackWhatWasSaidToBeGone(isRestarted: Bool, mention: String) async throws {
        let toml = Self.staff("detect = \"field\", path = \"$.deleted\"")
        var fixture = try await api.fixture(toml)
        api.set("/tickets", #"{"tickets": [{"id": 9}]}"#)
        api.set("/people", #"[{"id": 1}, {"id": 2, "name": "Bo"}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 2, "deleted": true}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        if isRestarted {
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
            fixture = try await PipelineFixture(toml, folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in
                api.answer(request)
            }
        }
        api.set("/tickets", "{\(mention.contains("tickets") ? mention : "\"tickets\": [{\"id\": 9}], \(mention)")}")
        #expect(try await fixture.sync("api/tickets").outcome == .succeeded)
        #expect(try await fixture.live() == ["1"])
        #expect(try await fixture.values("name", of: "Person", where: "id == 2") == ["Bo"])
        // The next deltas say nothing of it.
        api.set("/people", #"[{"id": 1, "name": "Ada"}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1"])
        api.set("/people", #"[{"id": 2, "name": "back"}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2"])
        // It is there, and what is mentioned of it counts again.
        api.set("/tickets", #"{"tickets": [{"id": 11}], "users": [{"id": 2, "name": "new"}]}"#)
        try await fixture.sync("api/tickets")
        #expect(try await fixture.values("name", of: "Person", where: "id == 2") == ["new"])
        try await fixture.end()
    }

    // A tombstone that a listing made for want of its record becomes one of those when somebody says it.
    @Test func aTombstoneThatIsSaidToBeGoneStaysOne() async throws {
        let fixture = try await api.fixture(Self.staff("detect = \"snapshot\", path = \"$.deleted\", confirm_runs = 1, max_fraction = 1.0"))
        api.set("/tickets", #"{"tickets": [{"id": 9}]}"#)
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 2)
        api.set("/people", #"[{"id": 1}, {"id": 2, "deleted": true}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        api.set("/tickets", #"{"tickets": [{"id": 9}], "users": [{"id": 2}, {"id": 3}, {"id": 4}]}"#)
        try await fixture.sync("api/tickets")
        #expect(try await fixture.live() == ["1", "3", "4"])
        try await fixture.end()
    }

    // A row that is purged is unknown from then on.
    @Test func whatWasPurgedIsMadeAnewWhereItIsMentioned() async throws {
        let fixture = try await api.fixture(Self.staff("detect = \"field\", path = \"$.deleted\", purge_after = \"2h\""))
        api.set("/tickets", #"{"tickets": [{"id": 9}]}"#)
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1}, {"id": 2, "deleted": true}]"#)
        for _ in 1...4 { try await fixture.sync("api/people") }
        #expect(try await fixture.values("id", of: "Person") == ["1"])
        api.set("/tickets", #"{"tickets": [{"id": 9}], "users": [{"id": 2}]}"#)
        try await fixture.sync("api/tickets")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func aMentionThatSaysThatItIsGoneMakesNoRow() async throws {
        let fixture = try await api.fixture(
            Self.people("path = \"$.deleted\"", "records = \"$.items\"\nalso = [{ records = \"$.included\", entity = \"Person\" }]"))
        api.set("/people", #"{"items": [{"id": 1}, {"id": 2, "name": "Bo"}], "included": [{"id": 7, "deleted": true}, {"id": 8, "deleted": false}]}"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.values("id", of: "Person") == ["1", "2", "8"])
        // It changes and removes none, either: its own listing is who says that.
        api.set("/people", #"{"items": [{"id": 1}], "included": [{"id": 2, "name": "x", "deleted": true}]}"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2", "8"])
        #expect(try await fixture.values("name", of: "Person", where: "id == 2") == ["Bo"])
        try await fixture.end()
    }

    // As one that is mentioned beside the records.
    @Test(arguments: [1, 1000]) func anObjectInsideARecordThatSaysThatItIsGoneMakesNoRow(batch: Int) async throws {
        let relationships = """
            [entity.Person.relationships]
            boss = { to = "Person", match = "embedded" }
            aides = { to = "Person", many = true, match = "embedded" }
            """
        let fixture = try await api.fixture(Self.people(attributes: relationships))
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch) }
        func bosses() async throws -> [String] {
            try await fixture.document.withWorker { worker in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
                return try worker.fetch(request).map { person in
                    let boss = person.value(forKey: "boss") as? NSManagedObject
                    return "\(person.value(forKey: "id") ?? "nil") under \(boss?.value(forKey: "id") ?? "nobody")"
                }.sorted()
            }
        }
        try await list(
            #"""
            [{"id": 1, "name": "Ada"}, {"id": 2, "boss": {"id": 7, "deleted": true}, "aides": [{"id": 8, "deleted": true}, {"id": 9}]},
             {"id": 3, "boss": {"id": 1, "deleted": false}}]
            """#, fixture)
        #expect(try await fixture.values("id", of: "Person") == ["1", "2", "3", "9"])
        #expect(try await bosses() == ["1 under nobody", "2 under nobody", "3 under 1", "9 under nobody"])
        // It changes and removes none, either: its own record is what says that. It is nobody's boss any more.
        let report = try await list(#"[{"id": 3, "boss": {"id": 1, "name": "x", "deleted": true}}]"#, fixture)
        #expect(report.counts.deleted == 0 && report.counts.quarantined == 0, "\(report)")
        #expect(try await bosses() == ["1 under nobody", "2 under nobody", "3 under nobody", "9 under nobody"])
        #expect(try await fixture.values("name", of: "Person", where: "id == 1") == ["Ada"])
        try await fixture.end()
    }

    // Every record of a list of what is gone says so; what it holds beside that does not.
    @Test func whatAListOfWhatIsGoneMentionsIsThere() async throws {
        let also = "records = \"$.items\"\nalso = [{ records = \"$.tickets\", entity = \"Ticket\" }]"
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "deletion = { detect = \"records\" }\n\(also)"),
                entities: """
                    [entity.Ticket]
                    key = ["id"]
                    [entity.Ticket.attributes]
                    id = { type = "int64", optional = false }
                    [entity.Ticket.relationships]
                    author = { to = "Person" }
                    \(ScriptedAPI.entities())
                    """))
        try await list(#"{"items": [{"id": 1}], "tickets": [{"id": 5, "author": {"id": 2, "name": "Bo"}}]}"#, fixture)
        #expect(try await fixture.live() == ["2"])
        try await fixture.end()
    }

    // MARK: Lists of what is gone

    // A service that took everything for deleted, and says so no more.
    @Test func heldDeletionsAreTakenBackWithTheirList() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people"), ScriptedAPI.resource("deleted", of: "Person", "deletion = { detect = \"records\", max_count = 1 }")))
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        api.set("/deleted", "[]")
        try await fixture.sync()
        api.set("/deleted", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        #expect(try await fixture.sync("api/deleted").counts.deleted == 0)
        func held() async -> Int? { await fixture.pipeline.status().resources.first { $0.scope.resource == "deleted" }?.heldDeletes }
        #expect(await held() == 3)
        // One of them is few enough.
        api.set("/deleted", #"[{"id": 3}]"#, etag: "\"1\"")
        #expect(try await fixture.sync("api/deleted").counts.deleted == 1)
        #expect(await held() == 0)
        try await fixture.sync("api/deleted")
        api.set("/deleted", "[]")
        #expect(try await fixture.sync("api/deleted").counts.deleted == 0)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // What has changed does not say what was said before, nor does all that such a list still has.
    @Test func anIncrementOfAListOfWhatIsGoneTakesNothingBack() async throws {
        let keys = "incremental = { kind = \"token\", path = \"$.token\", param = \"token\" }\nrecords = \"$.items\""
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people"),
                ScriptedAPI.resource("deleted", of: "Person", "deletion = { detect = \"records\", max_count = 1 }\n\(keys)")))
        api.set("/people", #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        api.set("/deleted", #"{"items": [], "token": "a"}"#)
        try await fixture.sync()
        api.set("/deleted?token=a", #"{"items": [{"id": 1}, {"id": 2}], "token": "b"}"#)
        try await fixture.sync("api/deleted")
        api.set("/deleted?token=b", #"{"items": [], "token": "c"}"#)
        try await fixture.sync("api/deleted")
        func held() async -> Int? { await fixture.pipeline.status().resources.first { $0.scope.resource == "deleted" }?.heldDeletes }
        #expect(await held() == 2)
        let report = try await fixture.sync("api/deleted", full: true)
        #expect(report.isComplete && report.counts.deleted == 0, "\(report)")
        #expect(await held() == 2)
        #expect(try await fixture.live() == ["1", "2", "3"])
        let ended = fixture.reports.count
        try await fixture.pipeline.acceptDeletes("api/deleted")
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.finished(ended + 1)
        #expect(try await fixture.live() == ["3"])
        try await fixture.end()
    }
}
