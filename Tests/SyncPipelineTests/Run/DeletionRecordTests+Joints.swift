import Foundation
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Where records that say that their objects are gone meet other things.
extension DeletionRecordTests {
    // MARK: Other listings

    // As with what a listing lacks: it goes when nobody lists it.
    @Test func whatAnotherResourceListsStays() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "deletion = { detect = \"field\", path = \"$.deleted\" }"),
                ScriptedAPI.resource("team", of: "Person", "deletion = { detect = \"field\", path = \"$.deleted\" }")))
        api.set("/people", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/team", #"[{"id": 1}]"#)
        try await fixture.sync()
        api.set("/people", #"[{"id": 1, "deleted": true}, {"id": 2, "deleted": true}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        #expect(try await fixture.live() == ["1"])
        // It lets go of it, too, and so it does not depend on what the first one says again.
        api.set("/people", "[]")
        api.set("/team", #"[{"id": 1, "deleted": true}]"#)
        #expect(try await fixture.sync("api/team").counts.deleted == 1)
        #expect(try await fixture.live() == [])
        try await fixture.end()
    }

    @Test func aListOfWhatIsGoneSpeaksForAll() async throws {
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "records = \"$.items\""),
                ScriptedAPI.resource("deleted", of: "Person", "deletion = { detect = \"records\" }")))
        api.set("/people", #"{"items": [{"id": 1, "name": "Ada"}, {"id": 2}]}"#, etag: "\"1\"")
        api.set("/deleted", #"[{"id": 7, "name": "Zoe"}]"#)
        try await fixture.sync()
        #expect(try await fixture.values("id", of: "Person") == ["1", "2"])
        api.set("/deleted", #"[{"id": 7, "name": "Zoe"}, {"id": 1}]"#)
        #expect(try await fixture.sync("api/deleted").counts.deleted == 1)
        #expect(try await fixture.live() == ["2"])
        // A page that lists it must not be believed to be as it was: here it is, and so is the object.
        #expect(try await fixture.sync("api/people").notModifiedPages == 0)
        #expect(try await fixture.values("name", of: "Person", where: "cisternDeletedAt == nil") == ["Ada", "nil"])
        // Nothing is new in the list of what is gone.
        #expect(try await fixture.sync("api/deleted").counts.deleted == 0)
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    @Test func partsSpeakForThemselves() async throws {
        let fixture = try await api.fixture(
            Self.people("path = \"$.deleted\"", "for_each = { values = [\"a\", \"b\"], as = \"part\" }").replacing(
                "path = \"/people\"", with: "path = \"/{part}/people\""))
        api.set("/a/people", #"[{"id": 1}, {"id": 2}]"#)
        api.set("/b/people", #"[{"id": 2}]"#)
        try await fixture.sync("api/people")
        api.set("/a/people", #"[{"id": 1, "deleted": true}, {"id": 2, "deleted": true}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 1)
        #expect(try await fixture.live() == ["2"])
        // The other part fails; what this one says counts.
        api.set("/a/people", "[]", status: 500)
        api.set("/b/people", #"[{"id": 2, "deleted": true}]"#)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live() == [])
        try await fixture.end()
    }

    // MARK: Complete listings

    @Test func aListingMayBeSweptByAndRecordsSayItAsWell() async throws {
        let fixture = try await api.fixture(
            Self.people("path = \"$.deleted\", confirm_runs = 2, max_fraction = 0.5", detect: "snapshot"))
        try await list(#"[{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]"#, fixture)
        // One says it, and goes at once; one is missing, and has to be missing twice.
        #expect(try await list(#"[{"id": 1}, {"id": 2}, {"id": 3, "deleted": true}]"#, fixture).counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2", "4"])
        #expect(try await list(#"[{"id": 1, "name": "x"}, {"id": 2}]"#, fixture).counts.deleted == 1)
        #expect(try await fixture.live() == ["1", "2"])
        // A list of nothing but deletions is an empty list: what it does not name is not believed to be missing.
        #expect(try await list(#"[{"id": 1, "deleted": true}]"#, fixture).counts.deleted == 1)
        #expect(try await list(#"[{"id": 1, "deleted": true}, {"id": 9, "deleted": true}]"#, fixture).counts.deleted == 0)
        #expect(try await fixture.live() == ["2"])
        try await fixture.end()
    }

    // Which row it means nobody knows, and a sweep could take that one.
    @Test func aRecordWhoseKeyCannotBeReadIsSetAside() async throws {
        let fixture = try await api.fixture(
            Self.people("path = \"$.deleted\", confirm_runs = 1, max_fraction = 1.0", detect: "snapshot"))
        try await list(#"[{"id": 1}, {"id": 2}]"#, fixture)
        let report = try await list(#"[{"id": 1}, {"id": "x", "deleted": true}]"#, fixture)
        #expect(report.counts.quarantined == 1 && report.counts.deleted == 0, "\(report)")
        #expect(try await fixture.live() == ["1", "2"])
        try await fixture.end()
    }

    // MARK: Runs that end early

    @Test func whatARunHasReadCountsAlsoIfItFails() async throws {
        let fixture = try await api.fixture(Self.people("path = \"$.deleted\"", "pages = { kind = \"page\", size_param = \"\" }"))
        api.set("/people?page=1", #"[{"id": 1}]"#)
        api.set("/people?page=2", #"[{"id": 2}]"#)
        api.set("/people?page=3", "[]")
        try await fixture.sync("api/people")
        api.set("/people?page=1", #"[{"id": 1, "deleted": true}]"#, etag: "\"1\"")
        api.set("/people?page=2", "", status: 500)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.counts.deleted == 1, "\(report)")
        #expect(try await fixture.live() == ["2"])
        api.set("/people?page=2", #"[{"id": 2}]"#)
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        #expect(try await fixture.live() == ["2"])
        try await fixture.end()
    }

    // MARK: The configuration changes

    // The page is what it was, and its tag says so; what its records mean is something else now.
    @Test func anotherConditionIsAskedOfEveryRecord() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("deletions-\(UUID().uuidString)")
        api.set("/people", #"[{"id": 1, "state": "active"}, {"id": 2, "state": "removed"}, {"id": 3, "state": null}]"#, etag: "\"1\"")
        let steps: [(keys: String, detect: String, live: [String])] = [
            ("", "none", ["1", "2", "3"]), ("path = \"$.state\", equals = \"removed\"", "field", ["1", "3"]),
            ("path = \"$.state\", in = [\"active\", \"removed\"]", "field", ["3"]), ("path = \"$.state\", exists = true", "field", []),
            ("path = \"$.state\", exists = false", "field", ["1", "2", "3"]), ("path = \"$.state\"", "field", ["3"]), ("", "none", ["1", "2", "3"]),
        ]
        for (number, step) in steps.enumerated() {
            let now = Date(timeIntervalSince1970: 1_735_689_600 + Double(number) * 86_400)
            let fixture = try await PipelineFixture(Self.people(step.keys, detect: step.detect), folder: folder, now: now) { [api] request, _ in
                api.answer(request)
            }
            #expect(try await fixture.sync("api/people").notModifiedPages == 0, "\(step.keys)")
            #expect(try await fixture.live() == step.live, "\(step.keys)")
            #expect(try await fixture.sync("api/people").outcome == .succeeded)
            #expect(try await fixture.live() == step.live, "\(step.keys)")
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    // MARK: Increments

    @Test func anIncrementSaysWhatIsGone() async throws {
        let api = ChangingAPI(), begin = 1_735_689_600.0
        for id in 1...3 { api.put(id, at: begin - 100) }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\"", deletion: "field\", path = \"$.deleted"))
        try await fixture.sync("api/people")
        api.delete(2, at: begin)
        api.delete(9, at: begin)
        let report = try await fixture.sync("api/people")
        #expect(report.counts.deleted == 1 && !report.isComplete && report.outcome == .succeeded, "\(report)")
        #expect(try await fixture.live() == ["1", "3"])
        // It is nobody's any more: what lists it must list it again.
        let rows = try await fixture.document.withWorker { try ResourceTable.row(of: ResourceScope(source: "api", resource: "people"), in: $0).rows }
        #expect(rows == 2)
        // And comes back as it was.
        api.put(2, at: begin + 3600)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2", "3"])
        // A listing of everything reads the page that had it, whatever its tag says.
        api.delete(2, at: begin + 7200)
        try await fixture.sync("api/people")
        #expect(try await fixture.sync("api/people", full: true).outcome == .succeeded)
        #expect(try await fixture.live() == ["1", "3"])
        try await fixture.end()
    }

    // It is not the server that was asked wrongly: what is gone need not say when.
    @Test func aRecordOfWhatIsGoneNeedNotSayHowNewItIs() async throws {
        let fixture = try await api.fixture(
            Self.people("path = \"$.deleted\"", "incremental = { field = \"$.at\", since = \"since\", on_missing = \"fail\" }"))
        api.set("/people", #"[{"id": 1, "at": "2024-12-31T00:00:00Z"}, {"id": 2, "at": "2024-12-31T00:00:00Z"}]"#)
        try await fixture.sync("api/people")
        api.set("/people?since=2024-12-31T00%3A00%3A00Z", #"[{"id": 2, "deleted": true}]"#)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && report.counts.deleted == 1, "\(report)")
        #expect(!fixture.events.contains { if case .cursorMissing = $0 { true } else { false } })
        api.set("/people?since=2024-12-31T00%3A00%3A00Z", #"[{"id": 1}]"#)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        try await fixture.end()
    }

    /// Whatever becomes of a listing, and whichever requests fail: after a run that succeeds the store is what the server has, also where it asked for
    /// what has changed only.
    @Test(arguments: 1...12)
    func whateverIsDeletedIsGoneAfterTheNextRun(seed: Int) async throws {
        var random = SeededNumbers(seed)
        let api = ChangingAPI(), order = ["unsorted", "asc", "desc"].randomElement(using: &random)!
        let action = ["tombstone", "delete"].randomElement(using: &random)!
        api.change { state in
            state.pageSize = 3
            switch order {
            case "asc": state.order = { ($0.changed ?? 0, $0.id) < ($1.changed ?? 0, $1.id) }
            case "desc": state.order = { ($0.changed ?? 0, $0.id) > ($1.changed ?? 0, $1.id) }
            default: state.order = nil
            }
        }
        let deletion = "field\", path = \"$.deleted\", action = \"\(action)"
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", order = \"\(order)\", full_every = \"12h\"", deletion: deletion))
        var known: Set<Int> = []
        for round in 1...30 {
            let now = fixture.clock.wallTime.timeIntervalSince1970
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let id = Int.random(in: 1...15, using: &random), time = (now + Double(Int.random(in: 0...3, using: &random))).rounded(.down)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: api.delete(id, at: time)
                // As it was once before.
                case 1: api.put(id, at: time, name: "same")
                default: api.put(id, at: time, name: "n\(round)")
                }
                known.insert(id)
            }
            let count = fixture.transport.requests.count, isBroken = Int.random(in: 0..<4, using: &random) == 0
            let broken = count + Int.random(in: 0..<3, using: &random)
            api.change { $0.broken = isBroken ? [broken] : [] }
            let isFull = Int.random(in: 0..<8, using: &random) == 0
            let report = try await fixture.sync("api/people", full: isFull)
            guard report.outcome == .succeeded else { continue }
            let stored = try await fixture.document.withWorker { worker in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
                return try worker.fetch(request).map { "\($0.value(forKey: "id") ?? "")=\($0.value(forKey: "name") ?? "")" }.sorted()
            }
            #expect(stored == api.names, "round \(round), \(order), \(action)")
        }
        #expect(known.count > 5)
        try await fixture.end()
    }

    // A rule that was wrong takes everything for gone, and that is held. The first run under the right one reads one page of two.
    @Test func whatAnotherRuleTookForGoneIsNotRemoved() async throws {
        let pages = "pages = { kind = \"page\", size_param = \"\" }"
        func set(_ more: String) {
            api.set("/people?page=1", "[{\"id\": 1\(more)}, {\"id\": 2\(more)}]")
            api.set("/people?page=2", "[{\"id\": 3\(more)}]")
            api.set("/people?page=3", "[]")
        }
        let wrong = Self.people("path = \"$.state\", max_count = 1", pages)
        let fixture = try await api.fixture(wrong)
        set("")
        try await fixture.sync("api/people")
        set(", \"state\": \"active\"")
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        let right = Self.people("path = \"$.state\", equals = \"removed\", max_count = 1", pages)
        try await fixture.pipeline.reload(try PipelineFixture.configuration(right))
        api.set("/people?page=2", "", status: 500)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await fixture.live() == ["1", "2", "3"])
        set(", \"state\": \"active\"")
        #expect(try await fixture.sync("api/people").counts.deleted == 0)
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }
}
