import Foundation
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

extension PartitionTests {
    // MARK: Parents

    // Polled at once, the parents come first.
    @Test func eachParentIsAListOfItsOwn() async throws {
        let fixture = try await api.fixture(Self.hub())
        serveHub()
        try await fixture.sync()
        #expect(try await Self.issues(fixture) == ["1 a/x ada one 1", "1 b/y bo uno 2", "2 a/x ada two 1"])
        #expect(try report(fixture, "issues").isComplete, "\(fixture.reports) \(fixture.transport.requests.map(\.address.description))")
        try await fixture.sync()
        #expect(try report(fixture, "issues").notModifiedPages == 2)
        #expect(try SQLiteStoreVerification.verify(fixture.document.storeURL).isSound)
        try await fixture.end()
    }

    // What is set of a row may change although its record does not.
    @Test func aPartIsReadAnewWhenItsParentIsCalledOtherwise() async throws {
        let fixture = try await api.fixture(Self.hub(path: "/issues?of={repo.id}"))
        api.set("/repos", Self.repos)
        api.set("/issues?of=1", #"[{"number": 1, "title": "one"}]"#, etag: "\"1\"")
        api.set("/issues?of=2", "[]", etag: "\"1\"")
        try await fixture.sync()
        api.set("/repos", Self.repos.replacing("ada", with: "eve"))
        try await fixture.sync()
        #expect(try await Self.issues(fixture) == ["1 a/x eve one 1"])
        try await fixture.end()
    }

    @Test func onlyParentsThatThePredicateNamesHaveParts() async throws {
        let fixture = try await api.fixture(Self.hub("for_each = { resource = \"repos\", as = \"repo\", where = \"archived == NO\" }\n"))
        serveHub()
        try await fixture.sync()
        #expect(try await Self.issues(fixture).count == 2)
        try await fixture.end()
    }

    @Test(arguments: ["archived ==", "nope == 1", "owner.nope == 1"]) func aPredicateThatIsNoneIsRefusedOrFailsTheRun(filter: String) async throws {
        let configuration = Self.hub("for_each = { resource = \"repos\", as = \"repo\", where = \"\(filter)\" }\n")
        serveHub()
        do {
            let fixture = try await api.fixture(configuration)
            try await fixture.sync()
            let report = try report(fixture, "issues")
            #expect(report.outcome == .failed && report.error?.isEmpty == false, "\(report)")
            try await fixture.end()
        } catch let error as SyncError {
            #expect("\(error)".contains("api/issues: for_each.where: "), "\(error)")
        }
    }

    @Test func withoutParentsThereIsNothingToAskFor() async throws {
        let fixture = try await api.fixture(Self.hub())
        api.set("/repos", "[]", status: 500)
        try await fixture.sync()
        let report = try report(fixture, "issues")
        #expect(
            report.outcome == .failed && report.error == "api/issues: api/repos has not been listed yet, and its objects are what there are parts for"
        )
        // None is something else than not knowing.
        api.set("/repos", "[]")
        try await fixture.sync()
        #expect(try self.report(fixture, "issues").isComplete)
        try await fixture.end()
    }

    // With the parent its list goes, by the model's rules; and what nobody lists any more stays.
    @Test(arguments: [true, false]) func whatAParentHadGoesByTheModelsRules(cascades: Bool) async throws {
        let configuration = Self.hub(Self.deletion, repos: Self.deletion.replacing("confirm_runs", with: "action = \"delete\", confirm_runs"))
        let fixture = try await api.fixture(cascades ? configuration : configuration.replacing("cascade", with: "nullify"))
        serveHub()
        try await fixture.sync()
        api.set("/repos", #"[{"id": 1, "full_name": "a/x", "owner": {"id": 10, "login": "ada"}}]"#)
        for _ in 1...2 { try await fixture.sync() }
        #expect(try await Self.issues(fixture) == ["1 a/x ada one 1"] + (cascades ? [] : ["1 b/y bo uno -"]) + ["2 a/x ada two 1"])
        #expect(try report(fixture, "issues").isComplete)
        try await fixture.end()
    }

    @Test func partsOfPartsAreListedToo() async throws {
        let fixture = try await api.fixture(Self.hub(comments: "for_each = { resource = \"issues\", as = \"issue\", where = \"repoName == 'a/x'\" }"))
        serveHub()
        api.set("/issues/1/comments", #"[{"id": 7}]"#)
        api.set("/issues/2/comments", #"[{"id": 8}, {"id": 9}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Comment") == ["7", "8", "9"])
        try await fixture.end()
    }

    // A record that is set aside is listed all the same; its key has a part that is set.
    @Test func aRecordOfAPartThatIsNoGoodIsNotMissing() async throws {
        let fixture = try await api.fixture(Self.hub(Self.deletion))
        serveHub()
        try await fixture.sync()
        api.set("/repos/a/x/issues", #"[{"number": 1, "title": {}}, {"number": 3, "title": "three"}]"#)
        try await fixture.sync()
        #expect(try report(fixture, "issues").counts.quarantined == 1)
        #expect(try await Self.issues(fixture) == ["1 a/x ada one 1", "1 b/y bo uno 2", "3 a/x ada three 1"])
        try await fixture.end()
    }

    // A parent that leads nowhere is no reason to leave its list out.
    @Test func whatAParentDoesNotHaveIsNothing() async throws {
        let fixture = try await api.fixture(Self.hub())
        api.set("/repos", #"[{"id": 1, "full_name": "a/x", "owner": null}, {"id": 2, "full_name": "b/y", "owner": {"id": 20}}]"#)
        api.set("/repos/a/x/issues", #"[{"number": 1, "login": "lie"}]"#)
        api.set("/repos/b/y/issues", #"[{"number": 1}]"#)
        try await fixture.sync()
        #expect(try await Self.issues(fixture) == ["1 a/x - - 1", "1 b/y - - 2"])
        try await fixture.end()
    }

    // One value names no object whose key has a part that is set.
    @Test func aKeyWithASetPartIsNamedByNoValue() async throws {
        let configuration = Self.hub().replacing("[entity.Comment]", with: "before = { to = \"Issue\" }\n[entity.Comment]")
        for isPacking in [true, false] {
            let fixture = try await api.fixture(configuration)
            fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, isPacking: isPacking) { _, _ in } }
            serveHub()
            api.set("/repos/a/x/issues", #"[{"number": 1}, {"number": 2, "before": 1}]"#)
            try await fixture.sync()
            #expect(try await Self.issues(fixture) == ["1 a/x ada - 1", "1 b/y bo uno 2"])
            #expect(try report(fixture, "issues").counts.quarantined == 1)
            try await fixture.end()
        }
    }

    /// Ideas, which nothing tells apart but what they say, and their comments.
    private static func ideas(_ deletion: String = "", _ more: String = "") -> String {
        let comments = ScriptedAPI.resource("comments", of: "Comment", "for_each = { resource = \"ideas\", as = \"idea\" }\n\(more)")
        return ScriptedAPI.configuration(
            ScriptedAPI.resource("ideas", of: "Idea", deletion),
            comments.replacing("path = \"/comments\"", with: "path = \"/ideas/{idea.number}/comments\""), defaults: once,
            entities: """
                [entity.Idea]
                key = "content"
                attributes = { number = { type = "int64" }, title = { type = "string" } }
                [entity.Comment]
                key = "content"
                attributes = { text = { type = "string" }, about = { type = "string" } }
                """)
    }

    // A changed parent is another row. Whether the old one goes or stays, there is one list, and its rows are what they were.
    @Test(arguments: [true, false]) func aParentWithoutAKeyIsKnownByWhatIsAskedFor(isDeleted: Bool) async throws {
        let fixture = try await api.fixture(Self.ideas(isDeleted ? Self.deletion : ""))
        api.set("/ideas", #"[{"number": 1, "title": "a"}, {"number": 2, "title": "b"}]"#)
        api.set("/ideas/1/comments", #"[{"text": "x"}]"#)
        api.set("/ideas/2/comments", #"[{"text": "x"}, {"text": "y"}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("text", of: "Comment") == ["x", "x", "y"])
        api.set("/ideas", #"[{"number": 1, "title": "changed"}, {"number": 2, "title": "b"}]"#)
        api.set("/ideas/1/comments", #"[{"text": "x"}, {"text": "z"}]"#)
        let before = fixture.transport.requests.count
        try await fixture.sync()
        #expect(
            try await fixture.values("title", of: "Idea", where: "cisternDeletedAt == nil")
                == (isDeleted ? ["b", "changed"] : ["a", "b", "changed"]))
        #expect(try await fixture.values("text", of: "Comment") == ["x", "x", "y", "z"])
        #expect(fixture.transport.requests.dropFirst(before).filter { $0.address.url.path == "/ideas/1/comments" }.count == 1)
        try await fixture.end()
    }

    // One list would leave out what is set of the other's rows.
    @Test func whatIsSetOfAParentWithoutAKeyTellsItsPartsApart() async throws {
        let fixture = try await api.fixture(Self.ideas("", "set = { about = \"{idea.title}\" }"))
        api.set("/ideas", #"[{"number": 1, "title": "a"}, {"number": 1, "title": "b"}, {"number": 1}]"#)
        api.set("/ideas/1/comments", #"[{"text": "x"}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("about", of: "Comment") == ["a", "b", "nil"])
        try await fixture.end()
    }

    // Its issues are not listed any more, and so nobody asks for what they have.
    @Test func whatAParentThatIsGoneHadHasNoPartsItself() async throws {
        let fixture = try await api.fixture(
            Self.hub(
                repos: Self.deletion.replacing("confirm_runs", with: "action = \"delete\", confirm_runs"),
                comments: "for_each = { resource = \"issues\", as = \"issue\" }"
            )
            .replacing("cascade", with: "nullify"))
        serveHub()
        api.set("/repos/b/y/issues", #"[{"number": 9}]"#)
        for number in [1, 2, 9] { api.set("/issues/\(number)/comments", "[]") }
        try await fixture.sync()
        api.set("/repos", #"[{"id": 1, "full_name": "a/x", "owner": {"id": 10, "login": "ada"}}]"#)
        for _ in 1...2 { try await fixture.sync() }
        let before = fixture.transport.requests.count
        try await fixture.sync()
        #expect(!fixture.transport.requests.dropFirst(before).contains { $0.address.url.path == "/issues/9/comments" })
        #expect(try await Self.issues(fixture).count == 3)
        try await fixture.end()
    }

    // An address is made of what a server said.
    @Test(
        arguments: [
            ("a/../b", nil), ("..", nil), ("a//b", nil), ("", nil), ("a?b#c", "/repos/a%3Fb%23c/issues"), ("ä b", "/repos/%C3%A4%20b/issues"),
            ("%2e", "/repos/%252e/issues"),
        ] as [(String, String?)]) func aValueMakesNoOtherAddress(name: String, path: String?) async throws
    {
        let fixture = try await api.fixture(Self.hub())
        api.set(
            "/repos",
            #"[{"id": 1, "full_name": "\#(name)", "owner": {"id": 10, "login": "ada"}}, {"id": 2, "full_name": "b/y", "owner": {"id": 10, "login": "ada"}}]"#
        )
        api.set("/repos/b/y/issues", #"[{"number": 1, "title": "uno"}]"#)
        try await fixture.sync()
        #expect(try await Self.issues(fixture) == ["1 b/y ada uno 2"])
        let asked = fixture.transport.requests.map { $0.address.description.dropFirst("https://api.example".count) }.filter {
            $0 != "/repos" && $0 != "/repos/b/y/issues"
        }
        #expect(asked.map(String.init) == (path.map { [$0] } ?? []))
        if path == nil { #expect(try report(fixture, "issues").error?.hasPrefix("1 of 2 parts failed; 1: ") == true) }
        try await fixture.end()
    }

    @Test func slashesAreEscapedInASegment() async throws {
        let fixture = try await api.fixture(Self.hub(path: "/projects/{repo.fullName:segment}/issues"))
        serveHub()
        try await fixture.sync()
        #expect(fixture.transport.requests.contains { $0.address.description == "https://api.example/projects/a%2Fx/issues" })
        try await fixture.end()
    }

    // Whether records are packed makes no difference.
    @Test(arguments: [true, false]) func rowsOfPackedRecordsAreTheSame(isPacking: Bool) async throws {
        let fixture = try await api.fixture(Self.hub())
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, isPacking: isPacking) { _, _ in } }
        serveHub()
        try await fixture.sync()
        #expect(try await Self.issues(fixture) == ["1 a/x ada one 1", "1 b/y bo uno 2", "2 a/x ada two 1"])
        api.set("/repos/a/x/issues", #"[{"number": 1, "title": "eins"}, {"number": 3, "title": "drei"}]"#)
        try await fixture.sync()
        #expect(try await Self.issues(fixture) == ["1 a/x ada eins 1", "1 b/y bo uno 2", "2 a/x ada two 1", "3 a/x ada drei 1"])
        try await fixture.end()
    }

    @Test func aRestartGoesOnWithWhatEachPartKnew() async throws {
        var fixture = try await api.fixture(Self.hub())
        serveHub()
        try await fixture.sync()
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        fixture = try await PipelineFixture(Self.hub(), folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in api.answer(request)
        }
        try await fixture.sync()
        #expect(try report(fixture, "issues").notModifiedPages == 2)
        #expect(await fixture.pipeline.status().resources.map(\.scope.description) == ["api/issues", "api/repos"])
        try await fixture.end()
    }

    @Test func aTrialAsksForTheFirstPart() async throws {
        serveHub()
        let configuration = try PipelineFixture.configuration(Self.hub()), transport = StubTransport { [api] request, _ in api.answer(request) }
        let pages = try await PageTrial.run(
            try #require(configuration.resource(scope: "api/issues")), configuration: configuration, transports: TransportPool { _ in transport },
            clock: ManualClock(), secrets: .none, version: "test", pages: 1)
        #expect(pages.map(\.url) == ["https://api.example/repos/a/x/issues"])
        #expect(pages.first?.objects.map(\.entity) == ["Issue", "Issue"])
        #expect(pages.first?.objects.first?.values.contains { $0.name == "login" && $0.value == "ada" } == true)
    }
}
