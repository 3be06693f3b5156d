import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Records that do not match their entity (`schema`).
@Suite struct SchemaRuleTests {
    private let api = ScriptedAPI()

    private static let entities = """
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        age = { type = "int32" }
        rank = { type = "int32", default = 7 }
        mail = { type = "string", optional = false, default = "none" }
        born = { type = "date" }
        [entity.Person.relationships]
        team = { to = "Team", match = "auto" }
        [entity.Team]
        key = ["id"]
        [entity.Team.attributes]
        id = { type = "int64", optional = false }
        size = { type = "int32" }
        """

    private func fixture(_ schema: String) async throws -> PipelineFixture {
        try await api.fixture(Self.toml(schema))
    }

    private static func toml(_ schema: String) -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", schema.isEmpty ? "" : "schema = { \(schema) }"),
            defaults: "[defaults.retry]\nattempts = 1", entities: entities)
    }

    @discardableResult
    private func list(_ body: String, _ fixture: PipelineFixture, etag: String? = nil) async throws -> RunReport {
        api.set("/people", body, etag: etag)
        return try await fixture.sync("api/people")
    }

    // MARK: What is missing

    @Test func whatIsMissingIsTheDefaultOrNull() async throws {
        let fixture = try await fixture("missing_field = \"null\"")
        try await list(#"[{"id": 1, "name": "Ada", "rank": 1, "team": 5}]"#, fixture)
        try await list(#"[{"id": 1, "age": 3}]"#, fixture)
        #expect(try await fixture.values("name", of: "Person") == ["nil"])
        #expect(try await fixture.values("rank", of: "Person") == ["7"])
        #expect(try await fixture.values("id", of: "Person", where: "team != nil") == [])
        try await fixture.end()
    }

    @Test func whatIsMissingMayStayAsItIs() async throws {
        let fixture = try await fixture("missing_field = \"keep\"")
        let whole = #"[{"id": 1, "name": "Ada", "rank": 1, "team": 5}]"#
        try await list(whole, fixture)
        #expect(try await fixture.values("mail", of: "Person") == ["none"])
        try await list(#"[{"id": 1, "age": 3, "mail": "a"}, {"id": 2}]"#, fixture)
        #expect(try await fixture.values("name", of: "Person") == ["Ada", "nil"])
        #expect(try await fixture.values("rank", of: "Person") == ["1", "7"])
        #expect(try await fixture.values("mail", of: "Person") == ["a", "none"])
        #expect(try await fixture.values("id", of: "Person", where: "team.id == 5") == ["1"])
        // Null is said.
        try await list(#"[{"id": 1, "name": null, "team": null}]"#, fixture)
        #expect(try await fixture.values("name", of: "Person", where: "id == 1") == ["nil"])
        #expect(try await fixture.values("id", of: "Person", where: "team != nil") == [])
        // The record that it was first is another one than its row by now.
        try await list(whole, fixture)
        #expect(try await fixture.values("name", of: "Person", where: "id == 1") == ["Ada"])
        #expect(try await fixture.values("age", of: "Person", where: "id == 1") == ["3"])
        try await fixture.end()
    }

    @Test func nullMayBeTheDefault() async throws {
        let fixture = try await fixture("missing_field = \"default\"")
        let report = try await list(#"[{"id": 1, "name": null, "rank": null, "mail": null}, {"id": 2}]"#, fixture)
        #expect(report.counts.inserted == 2 && report.counts.quarantined == 0, "\(report)")
        #expect(try await fixture.values("rank", of: "Person") == ["7", "7"])
        #expect(try await fixture.values("mail", of: "Person") == ["none", "none"])
        #expect(try await fixture.values("name", of: "Person") == ["nil", "nil"])
        try await fixture.end()
    }

    @Test func whatIsMissingMayFailThePage() async throws {
        let fixture = try await fixture("missing_field = \"fail\"")
        let whole = #"{"id": 1, "name": null, "age": 1, "born": null}"#
        #expect(try await list("[\(whole)]", fixture).outcome == .succeeded)
        let report = try await list("[\(whole), {\"id\": 2, \"name\": \"Bo\", \"born\": null}]", fixture)
        #expect(report.outcome == .failed)
        #expect(report.error?.contains("record 1, $.age: Person has no age (schema.missing_field = \"fail\")") == true, "\(report.error ?? "")")
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    // MARK: What is of another type

    @Test func aValueOfAnotherTypeMayBeNullAndIsToldOnce() async throws {
        let fixture = try await fixture("type_mismatch = \"null\"")
        let report = try await list(
            #"[{"id": 1, "age": "x", "team": {"id": 5, "size": {}}}, {"id": 2, "age": [], "mail": {}}, {"id": "y"}, {"id": 3, "age": 4}]"#, fixture)
        #expect(report.counts.inserted == 2 && report.counts.quarantined == 2, "\(report)")
        #expect(try await fixture.values("age", of: "Person") == ["4", "nil"])
        #expect(try await fixture.values("id", of: "Team") == ["5"])
        let told = fixture.events.compactMap { event -> String? in
            if case .valuesNulled(_, report.run, 1, let attribute, let count, _) = event { "\(attribute) \(count)" } else { nil }
        }
        #expect(told == ["Person.age 1", "Team.size 1"])
        try await fixture.end()
    }

    @Test func ofSeveralPagesTheFirstTellsOfIt() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "schema = { type_mismatch = \"null\" }\npages = { kind = \"page\", size_param = \"\" }"),
                entities: Self.entities))
        for page in 1...3 { api.set("/people?page=\(page)", "[{\"id\": \(page), \"age\": \"x\"}]") }
        api.set("/people?page=4", "[]")
        #expect(try await fixture.sync("api/people").counts.inserted == 3)
        #expect(fixture.events.count { if case .valuesNulled = $0 { true } else { false } } == 1)
        try await fixture.end()
    }

    @Test(arguments: [#""age": "x""#, #""team": [5]"#, #""team": {"id": 5, "size": "x"}"#])
    func aValueOfAnotherTypeMayFailThePage(member: String) async throws {
        let fixture = try await fixture("type_mismatch = \"fail\"")
        // What is required and missing is not of another type.
        #expect(try await list(#"[{"id": 1}, {"name": "no key"}]"#, fixture).counts.quarantined == 1)
        let report = try await list("[{\"id\": 1, \"name\": \"Ada\"}, {\"id\": 2, \(member)}]", fixture)
        #expect(report.outcome == .failed)
        #expect(
            report.error?.contains("record 1, $.") == true && report.error?.contains("(schema.type_mismatch = \"fail\")") == true,
            "\(report.error ?? "")")
        #expect(try await fixture.values("name", of: "Person") == ["nil"])
        try await fixture.end()
    }

    // MARK: What is made to fit

    @Test func nothingIsMadeToFitWhereThatIsNotWanted() async throws {
        let fixture = try await fixture("coerce = \"none\"")
        let good = #"{"id": 1, "name": "12", "age": 12, "rank": 1.0, "born": "2026-01-01T00:00:00Z", "team": 5}"#
        let bad = [#""name": 12"#, #""name": true"#, #""age": "12""#, #""born": 12"#, #""team": "5""#, #""mail": 1"#]
        let records = bad.enumerated().map { "{\"id\": \($0.offset + 2), \($0.element)}" }
        let report = try await list("[\(([good] + records).joined(separator: ", "))]", fixture)
        #expect(report.counts.inserted == 1 && report.counts.quarantined == bad.count, "\(report)")
        #expect(try await fixture.live() == ["1"])
        let reasons = fixture.events.compactMap { if case .quarantined(_, _, _, _, let first) = $0 { first } else { nil } }
        #expect(reasons.first?.contains("name: 12 is not of the type string (schema.coerce = \"none\")") == true, "\(reasons)")
        try await fixture.end()
    }

    // MARK: What nothing is made of

    private func unknown(_ fixture: PipelineFixture) -> [[String]] {
        fixture.events.compactMap { if case .fieldsUnknown(_, _, _, let names) = $0 { names } else { nil } }
    }

    @Test func whatNothingIsMadeOfIsToldOnceInARun() async throws {
        let fixture = try await fixture(
            "unknown_fields = \"warn\" }\nfilter = [{ path = \"$.state\", in = [\"on\"] }]\nset = { rank = \"3\"")
        let report = try await list(
            #"[{"id": 1, "state": "on", "rank": 1, "flag": {"a": 1}, "team": {"id": 5, "colour": "red"}}, {"id": 2, "state": "on", "flag": 2, "king": 3}]"#,
            fixture)
        #expect(report.counts.inserted == 2, "\(report)")
        // What is filtered by, and what is set, is not unknown.
        #expect(unknown(fixture).map { $0.sorted() } == [["Person.flag", "Person.king", "Team.colour"]])
        try await fixture.end()
    }

    @Test func noMoreThanTenNamesAreTold() async throws {
        let fixture = try await fixture("unknown_fields = \"warn\"")
        let records = (1...20).map { "{\"id\": \($0), \"x\($0)\": 1}" }.joined(separator: ", ")
        try await list("[\(records)]", fixture)
        #expect(unknown(fixture) == [(1...10).map { "Person.x\($0)" }])
        try await fixture.end()
    }

    @Test func whatNothingIsMadeOfMayFailThePage() async throws {
        let fixture = try await fixture("unknown_fields = \"fail\"")
        #expect(try await list(#"[{"id": 1, "name": "Ada"}]"#, fixture).outcome == .succeeded)
        let report = try await list(#"[{"id": 1, "name": "Bo"}, {"id": 2, "flag": 1}]"#, fixture)
        #expect(report.outcome == .failed)
        #expect(
            report.error?.contains("record 1: nothing is made of Person.flag (schema.unknown_fields = \"fail\")") == true, "\(report.error ?? "")")
        #expect(try await fixture.values("name", of: "Person") == ["Ada"])
        try await fixture.end()
    }

    // MARK: Another configuration

    @Test func pagesAreReadAgainUnderOtherRulesAndOnlyThen() async throws {
        let body = #"[{"id": 1, "rank": null}]"#, fixture = try await fixture("")
        try await list(body, fixture, etag: "\"1\"")
        // What is built in may be written down.
        try await reload(fixture, #"missing_field = "null", type_mismatch = "quarantine", coerce = "safe""#)
        #expect(try await list(body, fixture, etag: "\"1\"").notModifiedPages == 1)
        #expect(try await fixture.values("rank", of: "Person") == ["nil"])
        // Its bytes are the same, and mean something else.
        try await reload(fixture, #"missing_field = "default""#)
        #expect(try await list(body, fixture, etag: "\"1\"").notModifiedPages == 0)
        #expect(try await fixture.values("rank", of: "Person") == ["7"])
        try await fixture.end()
    }

    private func reload(_ fixture: PipelineFixture, _ schema: String) async throws {
        let texts = ConfigurationTexts(["/cisternd.toml": Self.toml(schema)])
        try await fixture.pipeline.reload(try ConfigurationReader(path: "/cisternd.toml", files: texts).configuration())
    }
}
