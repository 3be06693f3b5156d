import Foundation
import GRDB
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Pages that are as they were, over rows that are not.
@Suite struct PageTrustTests {
    private static let configuration = """
        version = 1
        [daemon]
        contact = "test@localhost"
        [defaults.schedule]
        every = "1h"
        [defaults.deletion]
        detect = "snapshot"
        confirm_runs = 1
        max_fraction = 0.5
        [[source]]
        name = "people"
        base_url = "https://people.example"
          [[source.resource]]
          name = "list"
          entity = "Person"
          path = "/list"
        [[source]]
        name = "posts"
        base_url = "https://posts.example"
          [[source.resource]]
          name = "list"
          entity = "Post"
          path = "/list"
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        [entity.Post]
        key = ["id"]
        [entity.Post.attributes]
        id = { type = "int64", optional = false }
        [entity.Post.relationships]
        author = { to = "Person", match = "embedded" }
        """

    /// A server whose bodies a test sets.
    private final class Server: Sendable {
        private let bodies: Mutex<[String: String]>

        init(people: String, posts: String = "[]") { bodies = Mutex(["people": people, "posts": posts]) }

        func set(_ source: String, _ body: String) { bodies.withLock { $0[source] = body } }

        func answer(_ request: HTTPRequest) -> StubTransport.Answer {
            let source = request.address.url.host?.split(separator: ".").first.map(String.init) ?? ""
            let body = bodies.withLock { $0[source] ?? "" }, tag = "\"\(BodyDigest(of: body))\""
            if request.headers.first(name: "If-None-Match") == tag { return .response(status: 304) }
            return .response(status: 200, headers: ["Content-Type": "application/json", "ETag": tag], body: Array(body.utf8))
        }
    }

    private static func fixture(_ server: Server, folder: URL? = nil) async throws -> PipelineFixture {
        try await PipelineFixture(configuration, folder: folder) { request, _ in server.answer(request) }
    }

    @Test func aRecordThatAShortFormHasChangedIsReadAgainThoughItsPageIsAsItWas() async throws {
        let server = Server(people: #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#)
        let fixture = try await Self.fixture(server)
        try await fixture.sync()
        server.set("posts", #"[{"id": 1, "author": {"id": 1, "name": "A."}}]"#)
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.sync("posts", cause: .control, wait: true)
        #expect(try await fixture.values("name", of: "Person") == ["A.", "Bo"])
        let report = try #require(try await fixture.sync().first { $0.scope.source == "people" })
        #expect(report.notModifiedPages == 0 && report.counts.updated == 1)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "Bo"])
        // From then on the page vouches for its rows again.
        #expect(try await fixture.sync().map(\.notModifiedPages) == [1, 1])
        try await fixture.end()
    }

    /// Changes rows past the pipeline and begins anew.
    private static func damaging(
        _ fixture: PipelineFixture, _ server: Server, _ damage: @escaping @Sendable (NSManagedObjectContext) throws -> Void
    ) async throws -> PipelineFixture {
        try await fixture.document.withWorker { worker in
            try damage(worker)
            try worker.save()
        }
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        return try await Self.fixture(server, folder: fixture.folder)
    }

    @Test func aRowThatNeverGotTheValuesOfItsRecordGetsThemAfterARestart() async throws {
        let server = Server(people: #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#)
        var fixture = try await Self.fixture(server)
        try await fixture.sync()
        // What an earlier version left behind.
        fixture = try await Self.damaging(fixture, server) { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "id == 2")
            for person in try worker.fetch(request) {
                person.setValue(nil, forKey: "name")
                person.setValue(nil, forKey: "cisternHash")
                person.setValue(true, forKey: "cisternStub")
            }
        }
        try await fixture.sync()
        #expect(try await fixture.values("name", of: "Person", where: "cisternStub == NO") == ["Ada", "Bo"])
        try await fixture.end()
    }

    // More than are looked at in one go, and the last of them is the one that is not as it was.
    @Test func everyRowOfALargePageIsLookedAtAfterARestart() async throws {
        let server = Server(people: "[" + (1...10_050).map { #"{"id": \#($0), "name": "n\#($0)"}"# }.joined(separator: ",") + "]")
        var fixture = try await Self.fixture(server)
        try await fixture.sync()
        fixture = try await Self.damaging(fixture, server) { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "id == 10050")
            for person in try worker.fetch(request) {
                person.setValue(nil, forKey: "name")
                person.setValue(nil, forKey: "cisternHash")
            }
        }
        let report = try #require(try await fixture.sync().first { $0.scope.source == "people" })
        #expect(report.notModifiedPages == 0 && report.counts.updated == 1)
        #expect(try await fixture.values("name", of: "Person", where: "id == 10050") == ["n10050"])
        #expect(try await fixture.sync().allSatisfy { $0.notModifiedPages == 1 })
        try await fixture.end()
    }

    @Test func keysThatAreNoRowsHoldNoDeletionBack() async throws {
        let server = Server(people: #"[{"id": 1}, {"id": 2}, {"id": 3}]"#)
        var fixture = try await Self.fixture(server)
        try await fixture.sync()
        fixture = try await Self.damaging(fixture, server) { worker in
            for var row in try StateRow<KeysTable>.all(in: worker) where row.kind == .members {
                guard let data = row.keys, let set = KeyRuns(data), !set.isEmpty else { continue }
                row.keys = set.union(KeyRuns(1000..<1100)).data
                row.write(in: worker)
            }
        }
        let report = try #require(try await fixture.sync().first { $0.scope.source == "people" })
        #expect(report.outcome == .succeeded)
        #expect(await fixture.pipeline.status().resources.allSatisfy { $0.heldDeletes == 0 })
        server.set("people", #"[{"id": 1}, {"id": 2}]"#)
        #expect(try await fixture.sync().map(\.counts.deleted).reduce(0, +) == 1)
        try await fixture.end()
    }

    private static let scope = ResourceScope(source: "people", resource: "list")

    private static func person(of fixture: PipelineFixture) throws -> EntityMapping {
        let model = try PipelineFixture.configuration(configuration).model
        return try #require(fixture.document.mapping(model).entities["Person"])
    }

    private static func keys(in fixture: PipelineFixture) async throws -> KeyRuns {
        try await fixture.document.withWorker { worker in
            KeyRuns(try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0.objectID.key })
        }
    }

    @Test func aPageStaysUnknownIfAnotherProgramHasWrittenWhileItsRowsWereLookedAt() async throws {
        let fixture = try await Self.fixture(Server(people: #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#))
        try await fixture.sync()
        let person = try Self.person(of: fixture), keys = try await Self.keys(in: fixture), trust = PageTrust()
        let asked = try await fixture.document.withWorker { worker in
            var asked: [Bool] = []
            for isDisturbed in [true, false, false] {
                var isAsked = false
                let isWhole = try trust.holds(
                    ["page"], of: Self.scope, entity: person, in: worker,
                    members: {
                        isAsked = true
                        if isDisturbed { trust.forgetAll() }
                        return keys
                    })
                #expect(isWhole)
                asked.append(isAsked)
            }
            return asked
        }
        #expect(asked == [true, true, false])
        try await fixture.end()
    }

    // Both have the row, and one of them is being looked at.
    @Test func aPageIsNotBelievedWhileAnotherOneIsLookedAt() async throws {
        let fixture = try await Self.fixture(Server(people: #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#))
        try await fixture.sync()
        let person = try Self.person(of: fixture), keys = try await Self.keys(in: fixture), trust = PageTrust()
        try Self.execute("UPDATE ZPERSON SET ZNAME = 'Eve' WHERE ZID = 2", in: fixture)
        trust.note([:], readingPage: "read", of: Self.scope)
        trust.doubt(["Person": Set(keys)])
        let (unread, read) = try await fixture.document.withWorker { worker in
            var read: Bool?
            let unread = try trust.holds(
                ["unread"], of: Self.scope, entity: person, in: worker,
                found: { _ in read = try? trust.holds(["read"], of: Self.scope, entity: person, in: worker, members: { keys }) },
                members: { keys })
            return (unread, read)
        }
        #expect(!unread && read == false)
        #expect(!trust.isKnown("read", of: Self.scope, entity: "Person"))
        try await fixture.end()
    }

    private static func execute(_ sql: String, in fixture: PipelineFixture) throws {
        var configuration = Configuration()
        // The pipeline commits its schedule when it wants to.
        configuration.busyMode = .timeout(60)
        let queue = try DatabaseQueue(path: fixture.document.storeURL.path, configuration: configuration)
        try queue.write { try $0.execute(sql: "PRAGMA legacy_alter_table = ON; \(sql)") }
        try queue.close()
    }

    @Test func rowsInDoubtThatCouldNotBeReadStayInDoubt() async throws {
        let server = Server(people: #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#)
        var fixture = try await Self.fixture(server)
        try await fixture.sync()
        fixture = try await Self.damaging(fixture, server) { worker in
            for person in try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) { person.setValue(nil, forKey: "cisternHash") }
        }
        let person = try Self.person(of: fixture), keys = try await Self.keys(in: fixture), trust = PageTrust(), document = fixture.document
        func holds() async throws -> Bool {
            try await document.withWorker { try trust.holds(["page"], of: Self.scope, entity: person, in: $0, members: { keys }) }
        }
        trust.doubt(["Person": Set(keys)])
        try Self.execute("ALTER TABLE ZPERSON RENAME TO ZAWAY", in: fixture)
        let answer = try? await holds()
        #expect(answer == nil)
        try Self.execute("ALTER TABLE ZAWAY RENAME TO ZPERSON", in: fixture)
        // Only those in doubt are looked at from now on.
        trust.note([:], readingPage: "page", of: Self.scope)
        #expect(try await !holds())
        try await fixture.end()
    }

    @Test func aPageThatWasComparedIsKnownOnlyIfItsRowsStillAre() {
        let trust = PageTrust(), scope = ResourceScope(source: "api", resource: "people")
        trust.note([:], readingPage: "page", of: scope)
        trust.note([:], readingPage: "page", of: scope, comparing: true)
        #expect(trust.count == 1)
        // Another program has written while the page was on its way.
        trust.forgetAll()
        trust.note([:], readingPage: "page", of: scope, comparing: true)
        #expect(trust.count == 0)
        trust.note([:], readingPage: "page", of: scope)
        #expect(trust.count == 1)
    }

    @Test func runsThatAreDueAskForOthersOnceInAFewSecondsAndThoseAskedForAlways() {
        let trust = PageTrust(), begin = SyncInstant(sinceOrigin: .seconds(100))
        func asks(_ seconds: Int, isDue: Bool) -> Bool { trust.asksForOthers(at: begin.advanced(by: .seconds(seconds)), isDue: isDue) }
        #expect(asks(0, isDue: true))
        #expect(!asks(9, isDue: true))
        #expect(asks(10, isDue: true))
        #expect(asks(15, isDue: false))
        #expect(asks(15, isDue: false))
        #expect(!asks(24, isDue: true))
        #expect(asks(25, isDue: true))
    }
}
