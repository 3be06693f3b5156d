import Foundation
import NIOHTTP1
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What `[defaults.parse]` says is done with odd JSON is what a run does.
@Suite struct OddJSONTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let policy: String
        let body: [UInt8]
        /// The names of the rows, or nil: the run fails.
        let names: [String]?
        let isDefault: Bool
        var testDescription: String { policy }

        init(_ policy: String, _ body: String, _ names: [String]?, isDefault: Bool = false) {
            self.init(policy, bytes: Array(body.utf8), names, isDefault: isDefault)
        }

        init(_ policy: String, bytes: [UInt8], _ names: [String]?, isDefault: Bool = false) {
            (self.policy, self.body, self.names, self.isDefault) = (policy, bytes, names, isDefault)
        }
    }

    private static let twice = #"[{"id": 1, "name": "a", "name": "b"}, {"id": 2, "name": "c"}]"#
    private static let broken = Array(#"[{"id": 1, "name": "a"#.utf8) + [0xFF] + Array(#"b"}, {"id": 2, "name": "c"}]"#.utf8)
    private static let half = #"[{"id": 1, "name": "a\uD800b"}, {"id": 2, "name": "c"}]"#
    private static let zero = #"[{"id": 1, "name": "a\u0000b"}, {"id": 2, "name": "c"}]"#
    private static let big = #"[{"id": 1, "name": "a", "size": 99999999999999999999}, {"id": 2, "name": "c"}]"#
    private static let huge = #"[{"id": 1, "name": "a", "size": 1e400}, {"id": 2, "name": "c"}]"#
    private static let marked = [0xEF, 0xBB, 0xBF] + Array(#"[{"id": 1, "name": "a"}]"#.utf8)

    static let cases = [
        Case("duplicate_keys = \"reject-record\"", twice, ["c"], isDefault: true),
        Case("duplicate_keys = \"last\"", twice, ["b", "c"]),
        Case("duplicate_keys = \"first\"", twice, ["a", "c"]),
        Case("invalid_utf8 = \"reject-page\"", bytes: broken, nil, isDefault: true),
        Case("invalid_utf8 = \"replace\"", bytes: broken, ["a\u{FFFD}b", "c"]),
        Case("lone_surrogates = \"replace\"", half, ["a\u{FFFD}b", "c"], isDefault: true),
        Case("lone_surrogates = \"reject-record\"", half, ["c"]),
        Case("nul_in_text = \"keep\"", zero, ["a\0b", "c"], isDefault: true),
        Case("nul_in_text = \"strip\"", zero, ["ab", "c"]),
        Case("nul_in_text = \"reject-record\"", zero, ["c"]),
        Case("big_integers = \"decimal\"", big, ["a", "c"], isDefault: true),
        Case("big_integers = \"reject-record\"", big, ["c"]),
        Case("number_overflow = \"reject-record\"", huge, ["c"], isDefault: true),
        Case("number_overflow = \"decimal\"", huge, ["a", "c"]),
        Case("bom = \"skip\"", bytes: marked, ["a"], isDefault: true),
        Case("bom = \"reject-page\"", bytes: marked, nil),
        Case("empty_body = \"error\"", "", nil, isDefault: true),
        Case("empty_body = \"no-records\"", "", []),
    ]

    @Test(arguments: cases) func oddJSONIsTakenAsTheConfigurationSays(of one: Case) async throws {
        let table = "[defaults.parse]\n\(one.policy)\n"
        for toml in one.isDefault ? [table, ""] : [table] {
            let fixture = try await PipelineFixture(ScriptedAPI.people(defaults: toml)) { _, _ in
                .response(status: 200, headers: ["Content-Type": "application/json"], body: one.body)
            }
            let report = try #require(try await fixture.sync().first)
            #expect(report.outcome == (one.names == nil ? .failed : .succeeded), "\(report)")
            #expect(try await fixture.values("name", of: "Person") == (one.names ?? []))
            try await fixture.end()
        }
    }

    // A policy that changes makes every page be read again.
    @Test func anotherPolicyMakesOtherRowsOfTheSameBody() async throws {
        let api = ScriptedAPI()
        api.set("/people", Self.twice, etag: "\"1\"")
        let fixture = try await api.fixture(ScriptedAPI.people())
        try await fixture.sync()
        #expect(try await fixture.values("name", of: "Person") == ["c"])
        try await fixture.pipeline.reload(
            PipelineFixture.configuration(ScriptedAPI.people(defaults: "[defaults.parse]\nduplicate_keys = \"last\"")))
        try await fixture.sync()
        #expect(try await fixture.values("name", of: "Person") == ["b", "c"])
        try await fixture.end()
    }

    // A server that leaves an empty list out.
    @Test(arguments: [true, false]) func aListThatIsNotThereIsEmptyWhereThatIsSaid(isSaid: Bool) async throws {
        let api = ScriptedAPI(), parse = isSaid ? "parse.records_absent = \"no-records\"" : ""
        api.set("/people", #"{"items": [{"id": 1, "name": "a"}], "more": true}"#)
        let fixture = try await api.fixture(ScriptedAPI.people("records = \"$.items\"\n\(parse)"))
        try await fixture.sync()
        api.set("/people", #"{"more": false}"#)
        let report = try #require(try await fixture.sync().first)
        #expect(report.outcome == (isSaid ? .succeeded : .failed), "\(report)")
        // It is not believed while there are rows.
        #expect(try await fixture.live() == ["1"])
        // What is broken is no list that was left out.
        api.set("/people", #"{"more": false"#)
        #expect(try await fixture.sync().first?.outcome == .failed)
        try await fixture.end()
    }

    // A status that says that there is nothing.
    @Test(arguments: [204, 404]) func aStatusThatMeansNothingIsAnEmptyListWhereThatIsSaid(status: Int) async throws {
        let api = ScriptedAPI()
        for (said, outcome) in [("", RunOutcome.failed), ("empty_statuses = [204, 404]", .succeeded)] {
            let fixture = try await api.fixture(ScriptedAPI.people("pages = { kind = \"page\" }\n\(said)"))
            api.set("/people?page=1&per_page=100", #"[{"id": 1}]"#)
            api.set("/people?page=2&per_page=100", "no such page", status: status, headers: ["Content-Type": "text/html"])
            var report = try #require(try await fixture.sync().first)
            #expect(report.outcome == outcome && report.isComplete == (outcome == .succeeded), "\(report)")
            #expect(try await fixture.live() == ["1"])
            // As a whole it is not believed while there are rows.
            api.set("/people?page=1&per_page=100", "", status: status)
            report = try #require(try await fixture.sync().first)
            #expect(report.outcome == outcome, "\(report)")
            #expect(try await fixture.live() == ["1"])
            try await fixture.end()
        }
    }

    // JSON under another name.
    @Test(arguments: [nil, "[\"text/html\", \"application/*\"]"] as [String?]) func otherMediaTypesAreTakenWhereThatIsSaid(types: String?)
        async throws
    {
        let parse = types.map { "[defaults.parse]\ncontent_types = \($0)" } ?? ""
        for type in ["text/html; charset=utf-8", "application/octet-stream"] {
            let fixture = try await PipelineFixture(ScriptedAPI.people(defaults: parse)) { request, _ in
                #expect(
                    request.headers["Accept"].joined()
                        == (types == nil ? "application/json, application/*+json, text/json" : "text/html, application/*"))
                return .response(status: 200, headers: ["Content-Type": type], body: Array(#"[{"id": 1}]"#.utf8))
            }
            #expect(try await fixture.sync().first?.outcome == (types == nil ? .failed : .succeeded))
            try await fixture.end()
        }
    }

    // Nothing is deleted because a server sent nothing.
    @Test func aBodyOfNothingDeletesNothing() async throws {
        let api = ScriptedAPI()
        api.set("/people", #"[{"id": 1, "name": "a"}]"#)
        let fixture = try await api.fixture(ScriptedAPI.people(defaults: "[defaults.parse]\nempty_body = \"no-records\""))
        try await fixture.sync()
        api.set("/people", "")
        for _ in 1...3 { try await fixture.sync() }
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }
}
