import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Pages that have other objects beside their records.
@Suite struct MentionTests {
    let api = ScriptedAPI()

    static let users = "also = [{ records = \"$.users\", entity = \"Person\" }]"

    /// Tickets, which name who wrote them, and whom their pages mention.
    static func tickets(_ also: String = users, _ more: String = "", others: String = "", defaults: String = "") -> String {
        let deletion = "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }"
        return ScriptedAPI.configuration(
            ScriptedAPI.resource("tickets", of: "Ticket", "records = \"$.tickets\"\n\(deletion)\n\(also)\n\(more)"), others, defaults: defaults,
            entities: """
                [entity.Ticket]
                key = ["id"]
                [entity.Ticket.attributes]
                id = { type = "int64", optional = false }
                subject = { type = "string" }
                region = { type = "string" }
                [entity.Ticket.relationships]
                author = { to = "Person", match = "key" }
                \(ScriptedAPI.entities())
                """)
    }

    func set(_ tickets: String, users: String, etag: String? = nil, path: String = "/tickets", next: String? = nil) {
        let headers: HTTPHeaders = next.map { ["Link": "<\($0)>; rel=next"] } ?? [:]
        api.set(path, #"{"tickets": [\#(tickets)], "users": \#(users)}"#, etag: etag, headers: headers)
    }

    static func people(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
            return try worker.fetch(request).map { person in
                let isStub = person.value(forKey: "cisternStub") as? Bool == true
                let name = "\(person.value(forKey: "name") ?? "nil")", age = "\(person.value(forKey: "age") ?? "nil")"
                return "\(person.value(forKey: "id") ?? 0) \(name) \(age)\(isStub ? " stub" : "")"
            }.sorted()
        }
    }

    static func authors(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Ticket")
            request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
            return try worker.fetch(request).map { ticket in
                let author = ticket.value(forKey: "author") as? NSManagedObject
                return "\(ticket.value(forKey: "id") ?? 0) by \(author?.value(forKey: "id") ?? "nobody")"
            }.sorted()
        }
    }

    static func reload(_ fixture: PipelineFixture, _ toml: String) async throws {
        try await fixture.pipeline.reload(try PipelineFixture.configuration(toml))
    }

    /// The same store in another process.
    func restarted(_ fixture: PipelineFixture, _ toml: String) async throws -> PipelineFixture {
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        return try await PipelineFixture(toml, folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in api.answer(request) }
    }

    // MARK: What a page says

    // Wherever the list stands, and however many objects are written at once.
    @Test(arguments: [true, false], [1, 2, 1000]) func whatAPageMentionsIsSavedWithItsRecords(isFirst: Bool, batch: Int) async throws {
        let tickets = #""tickets": [{"id": 1, "author": 7}, {"id": 2, "author": 8}, {"id": 3}]"#
        let users = #""users": [{"id": 9, "name": "Cy"}, {"id": 7, "name": "Ada", "age": 40}]"#
        api.set("/tickets", isFirst ? "{\(users), \(tickets)}" : "{\(tickets), \(users)}")
        let fixture = try await api.fixture(Self.tickets())
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch) }
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.inserted == 3 && report.counts.updated == 0 && report.counts.quarantined == 0, "\(report)")
        // Whom nobody mentions is only named.
        #expect(try await Self.people(fixture) == ["7 Ada 40", "8 nil nil stub", "9 Cy nil"])
        #expect(try await Self.authors(fixture) == ["1 by 7", "2 by 8", "3 by nobody"])
        // Of whom a later page says more.
        set(#"{"id": 1, "author": 7}, {"id": 2, "author": 8}, {"id": 3}"#, users: #"[{"id": 8, "name": "Bo"}]"#)
        let again = try await fixture.sync("api/tickets")
        #expect(again.counts.unchanged == 3 && again.counts.inserted == 0 && again.counts.updated == 0, "\(again)")
        #expect(try await Self.people(fixture) == ["7 Ada 40", "8 Bo nil", "9 Cy nil"])
        try await fixture.end()
    }

    @Test(arguments: [true, false]) func aPageOfWhichOnlyAMentionedObjectChangedIsRead(hasTag: Bool) async throws {
        func tag(_ number: Int) -> String? { hasTag ? "\"\(number)\"" : nil }
        let fixture = try await api.fixture(Self.tickets())
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "Ada", "age": 40}]"#, etag: tag(1))
        try await fixture.sync("api/tickets")
        let same = try await fixture.sync("api/tickets")
        #expect(same.notModifiedPages == 1 && same.isComplete, "\(same)")
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "Eve"}]"#, etag: tag(2))
        let report = try await fixture.sync("api/tickets")
        #expect(report.notModifiedPages == 0 && report.counts.unchanged == 1 && report.counts.updated == 0, "\(report)")
        // What is not said stays; null is said.
        #expect(try await Self.people(fixture) == ["7 Eve 40"])
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "age": null}]"#, etag: tag(3))
        try await fixture.sync("api/tickets")
        #expect(try await Self.people(fixture) == ["7 Eve nil"])
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 1)
        try await fixture.end()
    }

    @Test func whatWasMentionedStaysWhenItsRecordsAreGone() async throws {
        let fixture = try await api.fixture(Self.tickets())
        set(#"{"id": 1, "author": 7}, {"id": 2, "author": 7}"#, users: #"[{"id": 7, "name": "Ada"}, {"id": 8}]"#)
        try await fixture.sync("api/tickets")
        set(#"{"id": 2, "author": 7}"#, users: "[]")
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.deleted == 1, "\(report)")
        for _ in 1...2 { try await fixture.sync("api/tickets") }
        #expect(try await fixture.live("Ticket") == ["2"])
        #expect(try await Self.people(fixture) == ["7 Ada nil", "8 nil nil"])
        try await fixture.end()
    }

    // An answer need not have any, and one object is a list of one.
    @Test(arguments: [
        (#"{"tickets": [{"id": 1}]}"#, [String]()), (#"{"tickets": [{"id": 1}], "users": null}"#, []),
        (#"{"users": [], "tickets": [{"id": 1}]}"#, []), (#"{"users": {"id": 7}, "tickets": [{"id": 1}]}"#, ["7 nil nil"]),
    ])
    func aPageWithoutTheListMentionsNothing(body: String, people: [String]) async throws {
        api.set("/tickets", body, etag: "\"1\"")
        let fixture = try await api.fixture(Self.tickets())
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.inserted == 1 && report.counts.quarantined == 0, "\(report)")
        #expect(try await Self.people(fixture) == people)
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 1)
        try await fixture.end()
    }

    // Nothing of such a page is kept.
    @Test(arguments: [
        #"{"tickets": [{"id": 1}], "users": 5}"#, #"{"tickets": [{"id": 1}], "users": "none"}"#,
        #"{"tickets": [{"id": 1}], "users": [{"id": 7}], "users": [{"id": 8}]}"#, #"{"tickets": [{"id": 1}], "users": [{"id": 7}"#,
    ])
    func aPageWhoseListIsNoneFails(body: String) async throws {
        let fixture = try await api.fixture(Self.tickets(defaults: "[defaults.retry]\nattempts = 1"))
        api.set("/tickets", body)
        let report = try await fixture.sync("api/tickets")
        #expect(report.outcome == .failed && report.failure == .page, "\(report)")
        #expect(try await fixture.live("Ticket").isEmpty)
        #expect(try await Self.people(fixture).isEmpty)
        try await fixture.end()
    }

    @Test func aResponseThatSaysThatThereIsNothingMentionsNothing() async throws {
        let fixture = try await api.fixture(Self.tickets(Self.users, "empty_statuses = [404]"))
        api.set("/tickets", "nothing here", status: 404)
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.inserted == 0, "\(report)")
        try await fixture.end()
    }

    // MARK: Bad ones

    @Test(arguments: [1, 1000]) func aBadObjectIsSetAsideByItself(batch: Int) async throws {
        let fixture = try await api.fixture(Self.tickets())
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch) }
        set(
            #"{"id": 1, "author": 8}"#,
            users: #"[{"id": 7}, {"name": "x"}, 5, {"id": "q"}, {"id": 8, "age": "many"}, {"id": 9, "id": 9}, {"id": 10, "name": "Di"}]"#)
        let report = try await fixture.sync("api/tickets")
        // However many they are: of the records none is bad.
        #expect(report.isComplete && report.counts.quarantined == 5 && report.counts.inserted == 1, "\(report)")
        #expect(try await Self.people(fixture) == ["10 Di nil", "7 nil nil", "8 nil nil stub"])
        #expect(try await fixture.values("record", of: "CisternQuarantine") == ["1", "2", "3", "4", "5"])
        let reasons = try await fixture.values("reason", of: "CisternQuarantine")
        #expect(reasons.allSatisfy { $0.hasPrefix("in $.users: ") }, "\(reasons)")
        #expect(reasons.contains("in $.users: Person has no id, which is its key"), "\(reasons)")
        #expect(try await fixture.values("path", of: "CisternQuarantine").contains("$.age"))
        // As it was, nothing is counted anew; once they are good, they are set aside no more.
        let again = try await fixture.sync("api/tickets")
        #expect(again.notModifiedPages == 1 && again.isComplete, "\(again)")
        set(#"{"id": 1, "author": 8}"#, users: #"[{"id": 8, "age": 9}]"#)
        #expect(try await fixture.sync("api/tickets").counts.quarantined == 0)
        #expect(try await fixture.values("record", of: "CisternQuarantine").isEmpty)
        #expect(try await Self.people(fixture).contains("8 nil 9"))
        try await fixture.end()
    }

    // The same text as a record and beside them is two things.
    @Test func aRecordAndAnObjectBesideItAreSetAsideEach() async throws {
        let fixture = try await api.fixture(Self.tickets(Self.users, "limits = { max_bad_fraction = 1.0 }"))
        set(#"{"name": "x"}, {"id": 1}"#, users: #"[{"name": "x"}]"#)
        #expect(try await fixture.sync("api/tickets").counts.quarantined == 2)
        let reasons = try await fixture.values("reason", of: "CisternQuarantine")
        #expect(reasons == ["Ticket has no id, which is its key", "in $.users: Person has no id, which is its key"])
        try await fixture.end()
    }

    // MARK: Limits

    @Test func limitsCountWhatIsMeantOfAllLists() async throws {
        let limits = "limits = { max_records_per_page = 3 }"
        let fixture = try await api.fixture(Self.tickets(Self.users, limits))
        func set(_ users: String) { api.set("/tickets", #"{"tickets": [{"id": 1}, {"id": 2}], "users": [\#(users)]}"#) }
        set(#"{"id": 7, "kind": "a"}, {"id": 8, "kind": "b"}"#)
        let report = try await fixture.sync("api/tickets")
        #expect(report.outcome == .failed && report.error?.contains("max_records_per_page = 3") == true, "\(report)")
        #expect(try await fixture.live("Ticket").isEmpty)
        #expect(try await Self.people(fixture).isEmpty)
        // Of a mixed list only what is meant counts, but no list is longer.
        let mixed = Self.users.replacing("\"Person\"", with: "\"Person\", where = { path = \"$.kind\", equals = \"a\" }")
        try await Self.reload(fixture, Self.tickets(mixed, limits))
        #expect(try await fixture.sync("api/tickets").isComplete)
        #expect(try await Self.people(fixture) == ["7 nil nil"])
        set(#"{"id": 7, "kind": "b"}, {"id": 8, "kind": "b"}, {"id": 9, "kind": "b"}, {"id": 10, "kind": "b"}"#)
        let long = try await fixture.sync("api/tickets")
        #expect(long.outcome == .failed && long.error?.contains("max_records_per_page") == true, "\(long)")
        try await fixture.end()
    }

    @Test func whatIsMentionedCountsAsObjectsOfThePage() async throws {
        let fixture = try await api.fixture(Self.tickets(Self.users, "limits = { max_objects_per_page = 3 }"))
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7}, {"id": 8}, {"id": 9}]"#)
        let report = try await fixture.sync("api/tickets")
        #expect(report.outcome == .failed && report.error?.contains("max_objects_per_page = 3") == true, "\(report)")
        try await fixture.end()
    }

    // MARK: Several lists

    private static let mixed = """
        also = [
          { records = "$.users", entity = "Person", where = { path = "$.meta.kind", equals = ["user", "agent"] } },
          { records = "$.users", entity = "Ticket", where = { path = "$.meta.kind", equals = 7 } },
        ]
        """

    @Test func ofAMixedListEachElementTakesWhatItMeans() async throws {
        let fixture = try await api.fixture(Self.tickets(Self.mixed))
        set(
            #"{"id": 1, "author": 7}"#,
            users: """
                [{"id": 7, "name": "Ada", "meta": {"kind": "user"}}, {"id": 8, "meta": {"kind": "agent"}}, {"id": 9, "meta": {"kind": "User"}}, {"id": 10},
                {"id": 11, "meta": "user"}, {"id": "no key", "meta": {"kind": null}}, {"id": 50, "subject": "s", "author": 8, "meta": {"kind": 7.0}},
                {"id": 51, "meta": {"kind": "7"}}, {"id": 12, "meta": {"kind": true}}]
                """)
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.quarantined == 0 && report.counts.inserted == 1, "\(report)")
        #expect(try await Self.people(fixture) == ["7 Ada nil", "8 nil nil"])
        #expect(try await Self.authors(fixture) == ["1 by 7", "50 by 8"])
        try await fixture.end()
    }

    // What is asked of an object may depend on the time: then its page is read each time, and what says no time is set aside.
    @Test func whichObjectsAreMeantMayDependOnTheTime() async throws {
        let old = "also = [{ records = \"$.users\", entity = \"Person\", where = { path = \"$.at\", before = \"-2h\" } }]"
        let fixture = try await api.fixture(Self.tickets(old))
        let now = fixture.clock.wallTime
        func time(_ hours: Double) -> String { "\"\(now.addingTimeInterval(hours * 3600).formatted(.iso8601))\"" }
        set(
            #"{"id": 1}"#, users: #"[{"id": 7, "at": \#(time(-2.5))}, {"id": 8, "at": \#(time(-0.5))}, {"id": 9, "at": "soon"}, {"id": 10}]"#,
            etag: "\"1\"")
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.quarantined == 1, "\(report)")
        #expect(try await Self.people(fixture) == ["7 nil nil"])
        let again = try await fixture.sync("api/tickets")
        #expect(again.notModifiedPages == 0, "\(again)")
        try await fixture.sync("api/tickets")
        #expect(try await Self.people(fixture) == ["7 nil nil", "8 nil nil"])
        try await fixture.end()
    }

    // A ticket that is mentioned is none of the listing: it does not go with it, and says no key of it either.
    @Test func anObjectOfTheRecordsEntityIsNotListed() async throws {
        let fixture = try await api.fixture(Self.tickets("also = [{ records = \"$.parents\", entity = \"Ticket\" }]"))
        api.set("/tickets", #"{"tickets": [{"id": 1}, {"id": 2}], "parents": [{"id": 50, "subject": "p"}]}"#)
        try await fixture.sync("api/tickets")
        #expect(try await fixture.live("Ticket") == ["1", "2", "50"])
        api.set("/tickets", #"{"tickets": [{"id": 1}]}"#)
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live("Ticket") == ["1", "50"])
        // Once it was listed, it goes when it is listed no more.
        api.set("/tickets", #"{"tickets": [{"id": 1}, {"id": 50}]}"#)
        try await fixture.sync("api/tickets")
        api.set("/tickets", #"{"tickets": [{"id": 1}], "parents": [{"id": 51}]}"#)
        #expect(try await fixture.sync("api/tickets").counts.deleted == 1)
        #expect(try await fixture.live("Ticket") == ["1", "51"])
        try await fixture.end()
    }

    // Both on one page: what the record says is so, however much is written at once; the page is believed when it comes again as it was.
    @Test(arguments: [1, 1000]) func ofOneOfThePagesRecordsTheRecordSaysWhatItIs(batch: Int) async throws {
        let fixture = try await api.fixture(Self.tickets("also = [{ records = \"$.parents\", entity = \"Ticket\" }]"))
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch) }
        for (number, other) in ["x", "y"].enumerated() {
            api.set(
                "/tickets", #"{"parents": [{"id": 1, "subject": "\#(other)", "region": "eu"}], "tickets": [{"id": 1, "subject": "s"}, {"id": 2}]}"#,
                etag: "\"\(number)\"")
            for isAgain in [false, true] {
                let report = try await fixture.sync("api/tickets")
                #expect(report.notModifiedPages == (isAgain ? 1 : 0), "\(report)")
                #expect(try await fixture.values("subject", of: "Ticket") == ["nil", "s"])
                #expect(try await fixture.values("region", of: "Ticket") == ["nil", "nil"])
            }
        }
        try await fixture.end()
    }

    @Test func objectsOfAMapAreToldByTheirNames() async throws {
        let fixture = try await api.fixture(Self.tickets("also = [{ records = \"$.users.*\", entity = \"Person\", map_key = \"id\" }]"))
        set(
            #"{"id": 1, "author": 7}, {"id": 2, "author": 8}"#,
            users: #"{"7": {"name": "Ada", "id": 99}, "x": {"name": "Cy"}, "8": {"name": "Ada"}}"#)
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.quarantined == 1, "\(report)")
        #expect(try await Self.people(fixture) == ["7 Ada nil", "8 Ada nil"])
        #expect(try await fixture.values("reason", of: "CisternQuarantine") == ["in $.users[*], \"x\": id: the name \"x\" is not an integer"])
        try await fixture.end()
    }

    // MARK: Pages

    @Test func ofWhatTwoPagesSayTheLaterReadingCounts() async throws {
        let fixture = try await api.fixture(Self.tickets(Self.users, "pages = { kind = \"link-header\" }"))
        func set(_ first: String, _ second: String, _ tag: Int) {
            self.set(#"{"id": 1}"#, users: "[\(first)]", etag: "\"a\(tag)\"", next: "/tickets?page=2")
            self.set(#"{"id": 2}"#, users: "[\(second)]", etag: "\"b\"", path: "/tickets?page=2")
        }
        set(#"{"id": 7, "name": "A", "age": 1}"#, #"{"id": 7, "name": "B"}"#, 1)
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.pages == 2 && report.counts.inserted == 2, "\(report)")
        #expect(try await Self.people(fixture) == ["7 B 1"])
        // Neither is read, and nothing changes.
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 2)
        #expect(try await Self.people(fixture) == ["7 B 1"])
        // One is.
        set(#"{"id": 7, "name": "C", "age": 2}"#, #"{"id": 7, "name": "B"}"#, 2)
        #expect(try await fixture.sync("api/tickets").notModifiedPages == 1)
        #expect(try await Self.people(fixture) == ["7 C 2"])
        // Both are.
        try await fixture.sync("api/tickets", full: true)
        #expect(try await Self.people(fixture) == ["7 B 2"])
        try await fixture.end()
    }

    // What came before the failure is there, with what it mentioned.
    @Test func aRunThatFailsKeepsWhatItsPagesMentioned() async throws {
        let toml = Self.tickets(Self.users, "pages = { kind = \"link-header\" }", defaults: "[defaults.retry]\nattempts = 1")
        var fixture = try await api.fixture(toml)
        set(#"{"id": 1, "author": 7}"#, users: #"[{"id": 7, "name": "A"}]"#, etag: "\"1\"", next: "/tickets?page=2")
        api.set("/tickets?page=2", "", status: 500)
        #expect(try await fixture.sync("api/tickets").outcome == .failed)
        #expect(try await Self.people(fixture) == ["7 A nil"])
        fixture = try await restarted(fixture, toml)
        set(#"{"id": 2, "author": 8}"#, users: #"[{"id": 8, "name": "B"}]"#, path: "/tickets?page=2")
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.notModifiedPages == 1, "\(report)")
        #expect(try await Self.people(fixture) == ["7 A nil", "8 B nil"])
        #expect(try await Self.authors(fixture) == ["1 by 7", "2 by 8"])
        try await fixture.end()
    }

    // MARK: Parts

    @Test func eachPartMentionsWhatItDoes() async throws {
        let fixture = try await api.fixture(
            Self.tickets(
                "also = [{ records = \"$.users\", entity = \"Person\" }, { records = \"$.parents\", entity = \"Ticket\" }]",
                "for_each = { values = [\"eu\", \"us\"], as = \"region\" }\nparams = { region = \"{region}\" }\nset = { region = \"{region}\" }"))
        let eu = #""users": [{"id": 7, "name": "A"}], "parents": [{"id": 50}]"#
        api.set("/tickets?region=eu", #"{"tickets": [{"id": 1, "author": 7}, {"id": 3}], \#(eu)}"#, etag: "\"1\"")
        api.set("/tickets?region=us", #"{"tickets": [{"id": 2, "author": 7}], "users": [{"id": 7, "name": "B"}, {"id": 8}]}"#, etag: "\"1\"")
        let report = try await fixture.sync("api/tickets")
        #expect(report.isComplete && report.counts.inserted == 3, "\(report)")
        #expect(try await Self.people(fixture) == ["7 B nil", "8 nil nil"])
        // What is set is set of the part's own records.
        #expect(try await fixture.values("region", of: "Ticket") == ["eu", "eu", "nil", "us"])
        // What a part mentions no more stays.
        api.set("/tickets?region=eu", #"{"tickets": [{"id": 3}], "users": []}"#)
        #expect(try await fixture.sync("api/tickets").counts.deleted == 1)
        #expect(try await fixture.live("Ticket") == ["2", "3", "50"])
        #expect(try await Self.people(fixture) == ["7 B nil", "8 nil nil"])
        try await fixture.end()
    }
}
