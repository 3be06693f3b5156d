import Foundation
import GRDB
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Resources that are one list for each of many things.
@Suite struct PartitionTests {
    let api = ScriptedAPI()

    static let regions = ScriptedAPI.configuration(
        ScriptedAPI.resource(
            "people", of: "Person", "for_each = { values = [\"eu\", \"us\"], as = \"region\" }\nset = { region = \"{region}\" }\n\(deletion)"
        )
        .replacing("path = \"/people\"", with: "path = \"/{region}/people\""),
        defaults: once, entities: ScriptedAPI.entities("region = { type = \"string\" }"))

    /// Nothing is asked for again.
    static let once = "[defaults.retry]\nattempts = 1"

    static let deletion = "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }"

    /// Repositories, their issues, and the comments of these.
    static func hub(_ issues: String = "", repos: String = "", comments: String? = nil, path: String = "/repos/{repo.fullName}/issues") -> String {
        let resources =
            ScriptedAPI.resource("repos", of: "Repo", repos)
            + ScriptedAPI.resource(
                "issues", of: "Issue",
                (issues.contains("for_each") ? "" : "for_each = { resource = \"repos\", as = \"repo\" }\n")
                    + "set = { repo = \"{repo}\", repoName = \"{repo.fullName}\", login = \"{repo.owner.login}\" }\n" + issues
            ).replacing("path = \"/issues\"", with: "path = \"\(path)\"")
            + (comments.map {
                ScriptedAPI.resource("comments", of: "Comment", $0).replacing(
                    "path = \"/comments\"", with: "path = \"/issues/{issue.number}/comments\"")
            } ?? "")
        return ScriptedAPI.configuration(
            resources, defaults: once,
            entities: """
                [entity.Owner]
                key = ["id"]
                attributes = { id = { type = "int64", optional = false }, login = { type = "string" } }
                [entity.Repo]
                key = ["id"]
                [entity.Repo.attributes]
                id = { type = "int64", optional = false }
                fullName = { path = "$.full_name", type = "string" }
                archived = { type = "bool", default = false }
                [entity.Repo.relationships]
                owner = { to = "Owner" }
                issues = { to = "Issue", many = true, read = false, inverse = "repo", on_delete = "cascade" }
                [entity.Issue]
                key = ["number", "repoName"]
                [entity.Issue.attributes]
                number = { type = "int64", optional = false }
                repoName = { type = "string", optional = false }
                login = { type = "string" }
                title = { type = "string" }
                [entity.Issue.relationships]
                repo = { to = "Repo", inverse = "issues" }
                [entity.Comment]
                key = ["id"]
                attributes = { id = { type = "int64", optional = false } }
                """)
    }

    static let repos = """
        [{"id": 1, "full_name": "a/x", "owner": {"id": 10, "login": "ada"}}, {"id": 2, "full_name": "b/y", "archived": true, "owner": {"id": 20, "login": "bo"}}]
        """

    func serveHub() {
        api.set("/repos", Self.repos, etag: "\"1\"")
        api.set("/repos/a/x/issues", #"[{"number": 1, "title": "one"}, {"number": 2, "title": "two", "repoName": "lie"}]"#, etag: "\"1\"")
        api.set("/repos/b/y/issues", #"[{"number": 1, "title": "uno"}]"#, etag: "\"1\"")
    }

    /// What is stored of issues: number, name of the repository, its owner, and the repository itself.
    static func issues(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Issue")
            request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
            return try worker.fetch(request).map { issue in
                let repo = (issue.value(forKey: "repo") as? NSManagedObject)?.value(forKey: "id")
                return ["number", "repoName", "login", "title"].map { "\(issue.value(forKey: $0) ?? "-")" }.joined(separator: " ") + " \(repo ?? "-")"
            }.sorted()
        }
    }

    func report(_ fixture: PipelineFixture, _ resource: String) throws -> RunReport {
        try #require(fixture.reports.last { $0.scope.resource == resource })
    }

    /// What is in the file.
    private static func rows(_ sql: String, in url: URL) throws -> [String] {
        let queue = try DatabaseQueue(path: url.path)
        defer { try? queue.close() }
        return try queue.read {
            try Row.fetchAll($0, sql: sql).map { row in row.databaseValues.map { "\($0)".replacing("\"", with: "") }.joined(separator: "|") }
        }
    }

    // MARK: Values

    @Test func eachValueIsAListOfItsOwn() async throws {
        let fixture = try await api.fixture(Self.regions)
        api.set("/eu/people", #"[{"id": 1, "name": "Ada"}]"#, etag: "\"1\"")
        api.set("/us/people", #"[{"id": 2, "name": "Bo", "region": "nowhere"}]"#, etag: "\"1\"")
        var report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && report.isComplete && report.counts.inserted == 2 && report.pages == 2)
        #expect(try await fixture.values("region", of: "Person") == ["eu", "us"])
        // The next poll of each knows what its last reading was.
        report = try await fixture.sync("api/people")
        #expect(report.notModifiedPages == 2 && report.isComplete && report.counts.unchanged == 2)
        #expect(fixture.events.filter { if case .runStarted = $0 { true } else { false } }.count == 2)
        try await fixture.end()
    }

    // A part's rows are missing only from its own list.
    @Test func aPartIsSweptByItself() async throws {
        let fixture = try await api.fixture(Self.regions)
        api.set("/eu/people", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/us/people", #"[{"id": 3}, {"id": 4}]"#)
        try await fixture.sync("api/people")
        api.set("/eu/people", #"[{"id": 1}]"#)
        api.set("/us/people", "[]", status: 500)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.counts.deleted == 1 && report.error?.hasPrefix("1 of 2 parts failed; us: ") == true, "\(report)")
        #expect(try await fixture.live() == ["1", "3", "4"])
        #expect(await fixture.pipeline.status().resources.first?.error == report.error)
        try await fixture.end()
    }

    // Two parts list one object: it goes when none of them does.
    @Test func aRowBelongsToEveryPartThatListsIt() async throws {
        let fixture = try await api.fixture(Self.regions.replacing("set = { region = \"{region}\" }", with: ""))
        api.set("/eu/people", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/us/people", #"[{"id": 2}, {"id": 3}]"#)
        try await fixture.sync("api/people")
        api.set("/eu/people", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2", "3"])
        api.set("/us/people", #"[{"id": 3}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    @Test func theStatusShowsEachPart() async throws {
        let fixture = try await api.fixture(Self.regions)
        api.set("/eu/people", #"[{"id": 1}]"#)
        api.set("/us/people", "[]", status: 404)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && report.isComplete)
        let rows = try Self.rows("SELECT partition, state, rows, http_status FROM cistern_status ORDER BY partition", in: fixture.document.storeURL)
        #expect(rows.dropFirst() == ["eu|ok|1|200", "us|degraded|NULL|404"] && rows.first?.hasSuffix("|1|404") == true, "\(rows)")
        #expect(try Self.rows("SELECT count(*) FROM cistern_run", in: fixture.document.storeURL) == ["1"])
        try await fixture.end()
    }

    // That one thing has no list, or nobody may see it, is that thing's business; where all say so, something is wrong.
    @Test(arguments: [403, 404, 410]) func aPartThatIsNotThereIsNoFailure(status: Int) async throws {
        let fixture = try await api.fixture(Self.regions)
        api.set("/eu/people", #"[{"id": 1}]"#)
        api.set("/us/people", "[]", status: status)
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        api.set("/eu/people", "[]", status: status)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.hasPrefix("2 of 2 parts failed; eu: ") == true, "\(report)")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    private static func many(_ count: Int) -> String {
        regions.replacing("[\"eu\", \"us\"]", with: "[\((0..<count).map { "\"r\($0)\"" }.joined(separator: ", "))]")
    }

    // Such a status may mean something else.
    @Test func aPartThatMayNotBeSeenNowIsAFailure() async throws {
        let fixture = try await api.fixture(Self.many(9))
        for number in 0..<9 { api.set("/r\(number)/people", #"[{"id": \#(number)}]"#) }
        // A limit, said with a time: the rest would meet it, too.
        api.set("/r1/people", "", status: 403, headers: ["Retry-After": "60"])
        var report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && !report.isComplete && report.error?.contains("and 7 were not tried") == true, "\(report)")
        // Also where no other is left to try.
        api.set("/r1/people", #"[{"id": 1}]"#)
        let alone = try await api.fixture(Self.regions)
        api.set("/eu/people", #"[{"id": 1}]"#)
        api.set("/us/people", "", status: 403, headers: ["Retry-After": "60"])
        #expect(try await alone.sync("api/people").outcome == .failed)
        try await alone.end()
        // Without one, five times.
        for number in 0..<9 { api.set("/r\(number)/people", "", status: 403) }
        report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.hasPrefix("5 of 9 parts failed, and 4 were not tried; r1: ") == true, "\(report)")
        // What was listed in part is there.
        for number in 0..<9 { api.set("/r\(number)/people", #"[{"id": \#(number)}]"#, headers: number == 8 ? ["Link": "</more>; rel=next"] : [:]) }
        api.set("/more", "", status: 404)
        try await fixture.pipeline.reload(
            PipelineFixture.configuration(Self.many(9).replacing("for_each", with: "pages = { kind = \"link-header\" }\nfor_each")))
        report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.hasPrefix("1 of 9 parts failed; r8: ") == true, "\(report)")
        try await fixture.end()
    }

    // The last part is cut off by the time of the run: the next one begins with it.
    @Test func thePartThatTimeCutOffIsFirstTheNextTime() async throws {
        let clock = Mutex<ManualClock?>(nil)
        let fixture = try await PipelineFixture(Self.regions.replacing("for_each", with: "pages = { kind = \"link-header\" }\nfor_each")) {
            [api] request, _ in
            // The page that is fetched ahead comes at any time, and takes none.
            if request.address.url.path != "/us/more" { clock.withLock { $0 }?.advance(by: .seconds(1805)) }
            return api.answer(request)
        }
        clock.withLock { $0 = fixture.clock }
        api.set("/eu/people", #"[{"id": 1}]"#)
        api.set("/us/people", #"[{"id": 2}]"#, headers: ["Link": "</us/more>; rel=next"])
        api.set("/us/more", #"[{"id": 3}]"#)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    // A part that ends each run leaves the others their turn.
    @Test func aPartThatAsksToWaitStarvesNoOther() async throws {
        let fixture = try await api.fixture(Self.many(3))
        api.set("/r0/people", "", status: 429, headers: ["Retry-After": "600"])
        for number in 1..<3 { api.set("/r\(number)/people", #"[{"id": \#(number)}]"#) }
        for _ in 1...3 { try await fixture.sync("api/people") }
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // What the server asks of one part counts for the resource, and so does when the first was asked for.
    @Test func aRunOfPartsIsPacedAsOne() async throws {
        let clock = Mutex<ManualClock?>(nil)
        let fixture = try await PipelineFixture(Self.regions) { [api] request, _ in
            clock.withLock { $0 }?.advance(by: .seconds(600))
            return api.answer(request)
        }
        api.set("/eu/people", "[]")
        api.set("/us/people", "[]")
        clock.withLock { $0 = fixture.clock }
        var report = try await fixture.sync("api/people")
        #expect(report.nextPollAt.map { report.startedAt.duration(to: $0) } == .seconds(3600))
        api.set("/eu/people", "[]", headers: ["X-Poll-Interval": "7200"])
        report = try await fixture.sync("api/people")
        #expect(report.nextPollAt.map { report.startedAt.duration(to: $0) } == .seconds(7200))
        try await fixture.end()
    }

    // Rows say which run wrote them, whichever part it was.
    @Test func rowsHaveTheNumberOfTheRun() async throws {
        let fixture = try await api.fixture(Self.regions)
        api.set("/eu/people", #"[{"id": 1}]"#)
        for name in ["a", "b"] {
            api.set("/us/people", #"[{"id": 2, "name": "\#(name)"}]"#)
            try await fixture.sync("api/people")
        }
        api.set("/eu/people", #"[{"id": 1, "name": "c"}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.values("cisternRun", of: "Person", where: "id == 1") == ["3"])
        #expect(try Self.rows("SELECT max(run) FROM cistern_run", in: fixture.document.storeURL) == ["3"])
        try await fixture.end()
    }

    // The process may end at any moment.
    @Test func howFarARunHasComeIsRemembered() async throws {
        let clock = Mutex<ManualClock?>(nil)
        let fixture = try await PipelineFixture(Self.many(8)) { [api] request, _ in
            clock.withLock { $0 }?.advance(by: .seconds(25))
            return request.address.url.path == "/r7/people" ? .silence : api.answer(request)
        }
        clock.withLock { $0 = fixture.clock }
        for number in 0..<8 { api.set("/r\(number)/people", "[]") }
        fixture.pipeline.handle(.asked(ResourceScope(source: "api", resource: "people"), .control))
        for await _ in fixture.transport.silences { break }
        let state = try await fixture.document.withWorker { try RunState.load(scope: ResourceScope(source: "api", resource: "people"), in: $0) }
        // Each takes 25 seconds: it was remembered before the fourth and before the seventh.
        #expect(state.resumeAt == "r6")
        try await fixture.end()
    }

    // An accepted loss is that of one part.
    @Test func whatIsAcceptedOfOnePartIsNotAcceptedOfAnother() async throws {
        let fixture = try await PipelineFixture(Self.regions.replacing("max_fraction = 1.0", with: "max_fraction = 0.1"), savesAtOnce: true) {
            [api] request, _ in
            api.answer(request)
        }
        func people(_ range: Range<Int>) -> String { "[\(range.map { #"{"id": \#($0)}"# }.joined(separator: ","))]" }
        api.set("/eu/people", people(0..<30))
        api.set("/us/people", people(30..<60))
        try await fixture.sync("api/people")
        api.set("/eu/people", people(0..<1))
        try await fixture.sync("api/people")
        api.set("/us/people", "", status: 500)
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.acceptDeletes("api/people")
        try await fixture.finished(3)
        #expect(try await fixture.live().count == 31)
        api.set("/us/people", people(30..<31))
        try await fixture.sync("api/people")
        #expect(try await fixture.live().count == 31)
        try await fixture.end()
    }

    // A server that is down is not asked for all the others.
    @Test func fiveFailuresInARowEndTheRun() async throws {
        let fixture = try await api.fixture(Self.many(9))
        for number in 0..<9 { api.set("/r\(number)/people", number == 0 ? #"[{"id": 1}]"# : "[]", status: number == 0 ? 200 : 500) }
        var report = try await fixture.sync("api/people")
        #expect(report.error?.hasPrefix("5 of 9 parts failed, and 3 were not tried; r1: ") == true, "\(report)")
        // The next run begins where this one has ended.
        for number in 0..<9 { api.set("/r\(number)/people", #"[{"id": \#(number)}]"#) }
        let before = fixture.transport.requests.count
        report = try await fixture.sync("api/people")
        #expect(report.isComplete && fixture.transport.requests.dropFirst(before).map(\.address.url.path).first == "/r5/people")
        #expect(try await fixture.live().count == 9)
        try await fixture.end()
    }

    // What the time of one run is not enough for is read by the next.
    @Test func aRunThatTakesTooLongIsContinued() async throws {
        let clock = Mutex<ManualClock?>(nil)
        let fixture = try await PipelineFixture(Self.many(5)) { [api] request, _ in
            clock.withLock { $0 }?.advance(by: .seconds(1205))
            return api.answer(request)
        }
        clock.withLock { $0 = fixture.clock }
        for number in 0..<5 { api.set("/r\(number)/people", #"[{"id": \#(number)}]"#) }
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.contains("it came to 3 of 5 parts") == true, "\(report)")
        #expect(try await fixture.live().count == 3)
        clock.withLock { $0 = nil }
        let before = fixture.transport.requests.count
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(fixture.transport.requests.dropFirst(before).map(\.address.url.path).first == "/r3/people")
        try await fixture.end()
    }

    @Test func heldDeletionsOfAPartAreAccepted() async throws {
        let fixture = try await PipelineFixture(Self.regions.replacing("max_fraction = 1.0", with: "max_fraction = 0.1"), savesAtOnce: true) {
            [api] request, _ in
            api.answer(request)
        }
        api.set("/eu/people", "[\((0..<30).map { #"{"id": \#($0)}"# }.joined(separator: ","))]")
        api.set("/us/people", #"[{"id": 103}, {"id": 104}]"#)
        try await fixture.sync("api/people")
        api.set("/eu/people", #"[{"id": 1}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live().count == 32)
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 29)
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.acceptDeletes("api/people")
        try await fixture.finished(3)
        #expect(try await fixture.live() == ["1", "103", "104"])
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 0)
        try await fixture.end()
    }

    // MARK: Without parts

    @Test func aPropertyIsSetForAllRecords() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "set = { region = \"eu\", age = \"7\" }"),
                entities: ScriptedAPI.entities("region = { type = \"string\" }")))
        api.set("/people", #"[{"id": 1, "age": 3}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.values("region", of: "Person") == ["eu"])
        #expect(try await fixture.values("age", of: "Person") == ["7"])
        try await fixture.end()
    }

    @Test func aTextThatIsNoValueOfItsAttributeFailsTheRun() async throws {
        let fixture = try await api.fixture(ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", "set = { age = \"old\" }")))
        api.set("/people", #"[{"id": 1}]"#)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.hasPrefix("set.age: ") == true, "\(report)")
        try await fixture.end()
    }

    @Test func doubledBracesAreSentAsText() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(ScriptedAPI.resource("people", of: "Person", "params = { q = \"{{id}}\", j = \"{\\\"a\\\": 1}\" }")))
        api.set("/people?j=%7B%22a%22%3A%201%7D&q=%7Bid%7D", #"[{"id": 1}]"#)
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        try await fixture.end()
    }

    @Test func everyHeaderIsATemplate() async throws {
        let fixture = try await api.fixture(
            Self.regions.replacing("set = {", with: "headers = { X-Region = \"r-{region}\" }\nhttp.headers = { X-Own = \"{region}\" }\nset = {"))
        api.set("/eu/people", "[]")
        api.set("/us/people", "[]")
        try await fixture.sync("api/people")
        #expect(fixture.transport.requests.map { $0.headers["X-Region"] + $0.headers["X-Own"] } == [["r-eu", "eu"], ["r-us", "us"]])
        try await fixture.end()
    }
}
