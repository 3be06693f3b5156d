import Foundation
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Statuses that say that what was listed is gone.
@Suite struct GoneStatusTests {
    private let api = ScriptedAPI()

    /// One resource `/NAME/people` with a part for each of some names.
    private static func parts(_ names: String..., deletion: String = "detect = \"gone-status\", confirm_runs = 1", more: String = "") -> String {
        let values = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person", "for_each = { values = [\(values)], as = \"part\" }\ndeletion = { \(deletion) }\n\(more)"
            ).replacing("path = \"/people\"", with: "path = \"/{part}/people\""), defaults: "[defaults.retry]\nattempts = 1")
    }

    private func set(_ part: String, _ body: String) { api.set("/\(part)/people", body, etag: "\"\(BodyDigest(of: body))\"") }
    private func lose(_ part: String, status: Int = 404) { api.set("/\(part)/people", "", status: status) }

    // A few parts had rows, and now nothing is where anything was: that is no news of these parts.
    @Test func aServerThatHasNothingAnyMoreHasLostNoPart() async throws {
        let names = (1...60).map { "p\($0)" }, values = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let toml = Self.parts("a").replacing("[\"a\"]", with: "[\(values)]")
        let fixture = try await api.fixture(toml)
        for (number, name) in names.enumerated() { set(name, number < 5 ? "[{\"id\": \(number)}]" : "[]") }
        try await fixture.sync("api/people")
        for name in names { lose(name) }
        for _ in 1...3 { try await fixture.sync("api/people") }
        #expect(try await fixture.live() == ["0", "1", "2", "3", "4"])
        // Where the others answer it is.
        for name in names.dropFirst(5) { set(name, "[]") }
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == [])
        try await fixture.end()
    }

    @Test func aPartThatIsGoneLosesItsRows() async throws {
        let fixture = try await api.fixture(Self.parts("a", "b", "c"))
        set("a", #"[{"id": 1}, {"id": 2}]"#)
        set("b", #"[{"id": 2}, {"id": 3}]"#)
        set("c", #"[{"id": 4}]"#)
        try await fixture.sync("api/people")
        lose("a")
        let report = try await fixture.sync("api/people")
        // What another part lists stays.
        #expect(report.outcome == .succeeded && report.isComplete && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live() == ["2", "3", "4"])
        // It stays away, and that is no news.
        let again = try await fixture.sync("api/people")
        #expect(again.outcome == .succeeded && again.counts.deleted == 0, "\(again)")
        // As it was.
        set("a", #"[{"id": 1}, {"id": 2}]"#)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        try await fixture.end()
    }

    @Test func itHasToBeSaidAsOftenAsARecordHasToBeMissing() async throws {
        let fixture = try await api.fixture(Self.parts("a", "b", deletion: "detect = \"gone-status\""))
        set("a", #"[{"id": 1}]"#)
        set("b", #"[{"id": 2}]"#)
        try await fixture.sync("api/people")
        lose("a", status: 410)
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        // It was there in between, and begins to be missing anew.
        set("a", #"[{"id": 1}]"#)
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        lose("a", status: 410)
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        #expect(try await fixture.live() == ["2"])
        try await fixture.end()
    }

    // The service may be out of order, or the credential may have lost its rights.
    @Test func whereMostPartsAreGoneNothingIsRemovedUntilItIsAccepted() async throws {
        let fixture = try await api.fixture(Self.parts("a", "b", "c"))
        for (part, id) in [("a", 1), ("b", 2), ("c", 3)] { set(part, "[{\"id\": \(id)}]") }
        try await fixture.sync("api/people")
        lose("a")
        lose("b")
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && report.counts.deleted == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "2", "3"])
        #expect(fixture.events.contains { if case .deletesHeld(_, _, 1, _, "max_fraction = 0.1 of 3 parts") = $0 { true } else { false } })
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 2)
        let ended = fixture.reports.count
        try await fixture.pipeline.acceptDeletes("api/people")
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.finished(ended + 1)
        #expect(try await fixture.live() == ["3"])
        #expect(await fixture.pipeline.status().resources.first?.heldDeletes == 0)
        // Those have nothing to lose any more, and hold no other one.
        lose("c")
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        try await fixture.end()
    }

    // Its address is wrong, more likely.
    @Test func whatWasNeverListedIsNotGone() async throws {
        let fixture = try await api.fixture(Self.parts("a", "b"))
        lose("a")
        lose("b")
        #expect(try await fixture.sync("api/people").outcome == .failed)
        try await fixture.end()
    }

    @Test func anotherStatusOrALaterPageSaysNothing() async throws {
        let fixture = try await api.fixture(Self.parts("a", "b", more: "pages = { kind = \"page\", size_param = \"\" }"))
        for part in ["a", "b"] {
            api.set("/\(part)/people?page=1", "[{\"id\": \(part == "a" ? 1 : 2)}]")
            api.set("/\(part)/people?page=2", "[]")
        }
        try await fixture.sync("api/people")
        api.set("/a/people?page=1", #"[{"id": 5}]"#)
        api.set("/a/people?page=2", "", status: 404)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        api.set("/a/people?page=1", "", status: 403)
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        #expect(try await fixture.live() == ["1", "2", "5"])
        try await fixture.end()
    }

    @Test func anObjectByItselfIsGone() async throws {
        for action in ["tombstone", "delete"] {
            let fixture = try await api.fixture(
                ScriptedAPI.configuration(
                    ScriptedAPI.resource("people", of: "Person", "records = \"$\"\ndeletion = { detect = \"gone-status\", action = \"\(action)\" }")))
            api.set("/people", #"{"id": 1, "name": "Ada"}"#, etag: "\"1\"")
            try await fixture.sync("api/people")
            api.set("/people", "", status: 404)
            #expect(try await fixture.sync("api/people").counts.deleted == 0)
            let report = try await fixture.sync("api/people")
            #expect(report.outcome == .succeeded && report.counts.deleted == 1 && report.httpStatus == 404, "\(report)")
            #expect(try await fixture.live() == [])
            #expect(try await fixture.sync("api/people").outcome == .succeeded)
            api.set("/people", #"{"id": 1, "name": "Ada"}"#, etag: "\"1\"")
            try await fixture.sync("api/people")
            #expect(try await fixture.live() == ["1"], "\(action)")
            try await fixture.end()
        }
    }

    // What the part had is asked for from the beginning when it is there again.
    @Test func aPartThatIsGoneForgetsHowFarItCame() async throws {
        let fixture = try await api.fixture(
            Self.parts("a", "b", more: "incremental = { field = \"$.at\", since = \"since\" }"))
        set("a", #"[{"id": 1, "at": "2024-12-31T00:00:00Z"}]"#)
        set("b", #"[{"id": 2, "at": "2024-12-31T00:00:00Z"}]"#)
        api.set("/b/people?since=2024-12-31T00%3A00%3A00Z", "[]")
        try await fixture.sync("api/people")
        // The script answers 404 to what it has no page for.
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        #expect(try await fixture.live() == ["2"])
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // The answer is another one than its status says, however often it comes.
    @Test(arguments: ["retry_if", "rate_limited_if", "fail_if"]) func whatAConditionTakesForSomethingElseIsNotGone(key: String) async throws {
        let fixture = try await api.fixture(
            Self.parts("a", "b", more: "\(key) = [{ status = [404, 410], path = \"$.code\", equals = \"indexing\" }]"))
        set("a", #"[{"id": 1}]"#)
        set("b", #"[{"id": 2}]"#)
        try await fixture.sync("api/people")
        for status in [404, 410] {
            api.set("/a/people", #"{"code": "indexing"}"#, status: status)
            for _ in 1...2 {
                let report = try await fixture.sync("api/people")
                #expect(report.outcome == .failed && report.counts.deleted == 0, "\(key) \(status): \(report)")
            }
        }
        #expect(try await fixture.live() == ["1", "2"])
        // And what is only gone is.
        lose("a", status: 410)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        try await fixture.end()
    }

    // It may mean where the run begins to ask.
    @Test func anAnswerToAnIncrementMayMeanItsCursor() async throws {
        let incremental = "incremental = { field = \"$.at\", since = \"since\" }"
        for (lines, outcome) in [
            (incremental.replacing(" }", with: ", on_cursor_rejected = \"fail\" }"), RunOutcome.succeeded),
            ("\(incremental)\nfail_if = [{ status = 410, path = \"$.code\", equals = \"expired\" }]", .failed), (incremental, .succeeded),
        ] {
            let api = ScriptedAPI(), fixture = try await api.fixture(Self.parts("a", "b", more: lines))
            api.set("/a/people", #"[{"id": 1, "at": "2024-12-31T00:00:00Z"}]"#)
            api.set("/b/people", #"[{"id": 2, "at": "2024-12-31T00:00:00Z"}]"#)
            api.set("/a/people?since=2024-12-31T00%3A00%3A00Z", #"{"code": "expired"}"#, status: 410)
            api.set("/b/people?since=2024-12-31T00%3A00%3A00Z", "[]")
            try await fixture.sync("api/people")
            let report = try await fixture.sync("api/people")
            #expect(report.outcome == outcome && report.counts.deleted == 0, "\(lines): \(report)")
            #expect(try await fixture.live() == ["1", "2"], "\(lines)")
            try await fixture.end()
        }
    }

    @Test func statusesMayBeNamedBesideAListing() async throws {
        let fixture = try await api.fixture(Self.parts("a", "b", deletion: "detect = \"snapshot\", statuses = [410], confirm_runs = 1"))
        set("a", #"[{"id": 1}, {"id": 2}]"#)
        set("b", #"[{"id": 3}]"#)
        try await fixture.sync("api/people")
        set("a", #"[{"id": 1}]"#)
        lose("b", status: 410)
        #expect(try await fixture.sync("api/people").counts.deleted == 2)
        lose("a", status: 404)
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    // Where a token leads there may be nothing any more, and everything where it is asked for without one.
    @Test(arguments: ["detect = \"snapshot\", confirm_runs = 1", "detect = \"field\", path = \"$['@removed']\""], [404, 410])
    func aTokenThatIsGoneSaysNothingOfTheRows(deletion: String, status: Int) async throws {
        let api = DeltaAPI()
        for id in 1...3 { api.put(id) }
        let fixture = try await api.fixture(api.people(deletion: deletion))
        try await fixture.sync("api/people")
        api.change { state in (state.oldest, state.rejection) = (100, status) }
        _ = api.asked()
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.counts.deleted == 0, "\(report)")
        #expect(api.asked().prefix(2) == ["delta=3", ""])
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }
}
