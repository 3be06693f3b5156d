import Foundation
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Runs that ask for what has changed.
@Suite struct IncrementRunTests {
    let api = ChangingAPI()
    /// 2025-01-01, when the clock of a fixture starts.
    let begin = 1_735_689_600.0

    func cursor(_ fixture: PipelineFixture) async throws -> String? {
        try await fixture.document.withWorker { worker in
            try ResourceTable.row(of: ResourceScope(source: "api", resource: "people"), in: worker).cursor
        }
    }

    // The first run asks for everything, and says nothing of a time. Of the second only what has changed since the newest record is asked for.
    @Test func aRunAsksForWhatHasChangedSinceTheNewestThatWasSeen() async throws {
        api.put(1, 2, at: begin - 100)
        api.put(3, at: begin - 50.5)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(api.asked() == ["page=1", "page=2"])
        #expect(try await cursor(fixture) == "2024-12-31T23:59:09.5Z")
        api.put(2, at: begin - 10, name: "new")
        let second = try await fixture.sync("api/people")
        #expect(second.outcome == .succeeded && !second.isComplete && second.counts.updated == 1 && second.counts.unchanged == 1, "\(second)")
        #expect(api.asked().first == "since=2024-12-31T23:59:09.5Z&page=1")
        #expect(try await fixture.values("name", of: "Person") == ["new", "x", "x"])
        #expect(try await cursor(fixture) == "2024-12-31T23:59:50Z")
        // Nothing is new: the same is asked for again, and the server says that it has not changed.
        api.put(9, at: begin - 200)
        try await fixture.sync("api/people")
        _ = api.asked()
        let quiet = try await fixture.sync("api/people")
        #expect(quiet.notModifiedPages == 2 && quiet.outcome == .succeeded, "\(quiet)")
        #expect(api.asked() == ["since=2024-12-31T23:59:50Z&page=1", "since=2024-12-31T23:59:50Z&page=2"])
        try await fixture.end()
    }

    // What a run does not list may be there all the same: only a listing of everything shows what is gone.
    @Test func onlyARunThatAsksForEverythingFindsWhatIsGone() async throws {
        api.put(1, 2, 3, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\"", deletion: "snapshot"))
        try await fixture.sync("api/people")
        api.remove(3)
        api.put(4, at: begin)
        let increment = try await fixture.sync("api/people")
        #expect(increment.counts.deleted == 0 && increment.counts.inserted == 1, "\(increment)")
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        // 24 h after the last one another run asks for everything.
        fixture.clock.advance(by: .seconds(86_400))
        _ = api.asked()
        let full = try await fixture.sync("api/people")
        #expect(full.isComplete && full.counts.deleted == 1, "\(full)")
        #expect(api.asked().first == "page=1")
        #expect(try await fixture.live() == ["1", "2", "4"])
        // What only a run of changes has seen is missed, too.
        api.put(5, at: begin + 90_000)
        try await fixture.sync("api/people")
        api.remove(5)
        #expect(try await fixture.sync("api/people", full: true).counts.deleted == 1)
        #expect(try await fixture.live() == api.live)
        try await fixture.end()
    }

    @Test func aRunThatFailsComesNoFurther() async throws {
        api.put(1, 2, 3, 4, at: begin - 100)
        api.change { $0.pageSize = 2 }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.sync("api/people")
        let before = try await cursor(fixture), count = fixture.transport.requests.count
        api.put(1, 2, 3, at: begin + 10, name: "new")
        api.change { $0.broken = [count + 1] }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == before)
        let again = try await fixture.sync("api/people")
        #expect(again.outcome == .succeeded && again.counts.updated == 1, "\(again)")
        #expect(try await fixture.values("name", of: "Person") == ["new", "new", "new", "x"])
        try await fixture.end()
    }

    // The oldest come first: what has been read is behind the run.
    @Test func aRunInOrderGoesOnFromWhereItWasCutOff() async throws {
        for id in 1...6 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { state in
            state.pageSize = 2
            state.order = { ($0.changed ?? 0, $0.id) < ($1.changed ?? 0, $1.id) }
            state.broken = [2]
        }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", order = \"asc\""))
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == "2024-12-31T23:43:24Z")
        _ = api.asked()
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        #expect(api.asked().first == "since=2024-12-31T23:43:24Z&page=1")
        #expect(try await fixture.live() == api.live)
        try await fixture.end()
    }

    @Test(arguments: ["asc", "desc"])
    func anOrderThatIsNotKeptFailsTheRunAndItComesNoFurther(order: String) async throws {
        for id in 1...6 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { state in
            state.pageSize = 2
            let isAscending = order == "asc"
            state.order = { isAscending ? ($0.changed ?? 0) < ($1.changed ?? 0) : ($0.changed ?? 0) > ($1.changed ?? 0) }
        }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", order = \"\(order)\""))
        try await fixture.sync("api/people")
        let before = try await cursor(fixture)
        for id in 1...6 { api.put(id, at: begin + (id == 4 ? 100 : Double(id)), name: "new") }
        api.change { state in state.order = { $0.id < $1.id } }
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.contains("incremental.order = \"\(order)\"") == true, "\(report)")
        #expect(try await cursor(fixture) == before)
        try await fixture.end()
    }

    // The newest come first, and the server knows no parameter: a run ends where it meets what it knows.
    @Test func aRunOfTheNewestFirstEndsWithWhatIsKnown() async throws {
        for id in 1...10 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { state in
            state.pageSize = 2
            state.order = { ($0.changed ?? 0) > ($1.changed ?? 0) }
        }
        let fixture = try await api.fixture(ChangingAPI.people("order = \"desc\""))
        #expect(try await fixture.sync("api/people").pages == 6)
        api.put(11, 3, at: begin + 5, name: "new")
        _ = api.asked()
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && report.pages <= 3, "\(report)")
        #expect(api.asked().count <= 4)
        #expect(try await fixture.values("name", of: "Person", where: "name == 'new'").count == 2)
        #expect(try await cursor(fixture) == "2025-01-01T00:00:05Z")
        try await fixture.end()
    }

    // MARK: Ranges

    @Test func aLongRangeIsAskedForInSteps() async throws {
        api.put(1, at: begin - 250_000)
        api.put(2, at: begin - 100_000)
        api.put(3, at: begin - 10)
        let fixture = try await api.fixture(
            ChangingAPI.people("since = \"since\", until = \"until\", window = \"1d\", start = \"-3d\", request_format = \"unix\"", ""))
        let first = try await fixture.sync("api/people")
        #expect(first.outcome == .succeeded && first.pages == 3 && first.counts.inserted == 3, "\(first)")
        let day = 86_400, now = Int(begin) + 3600
        #expect(
            api.asked() == (0..<3).map { "since=\(now - (3 - $0) * day)&until=\(now - (2 - $0) * day)" })
        // The next run begins with the newest that was seen.
        let second = try await fixture.sync("api/people")
        #expect(second.outcome == .succeeded, "\(second)")
        #expect(api.asked() == ["since=\(Int(begin) - 10)&until=\(now + 3600)"])
        try await fixture.end()
    }

    // Without a record in the last step the next run begins with it, and not with the newest of all.
    @Test func stepsThatAreReadNeedNotBeAskedForAgain() async throws {
        api.put(1, at: begin - 250_000)
        let fixture = try await api.fixture(
            ChangingAPI.people("since = \"since\", until = \"until\", window = \"1d\", start = \"-3d\", request_format = \"unix\"", ""))
        try await fixture.sync("api/people")
        _ = api.asked()
        try await fixture.sync("api/people")
        let now = Int(begin) + 3600
        #expect(api.asked() == ["since=\(now - 86_400)&until=\(now)", "since=\(now)&until=\(now + 3600)"])
        try await fixture.end()
    }

    @Test func stepsThatWereReadCountAlsoWhereTheRunFails() async throws {
        api.put(1, at: begin - 250_000)
        api.change { $0.broken = [2] }
        let fixture = try await api.fixture(
            ChangingAPI.people("since = \"since\", until = \"until\", window = \"1d\", start = \"-3d\", request_format = \"unix\"", ""))
        #expect(try await fixture.sync("api/people").outcome == .failed)
        _ = api.asked()
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        #expect(api.asked().first == "since=\(Int(begin) + 3600 - 86_400)&until=\(Int(begin) + 3600)")
        try await fixture.end()
    }

    // A report has no field that says when it was changed: the next run begins where this one ended.
    @Test func withoutAFieldARunGoesOnFromTheEndOfTheLast() async throws {
        api.put(1, at: begin - 100)
        let toml = ChangingAPI.people(
            "since = \"since\", until = \"until\", start = \"-3d\", request_format = \"unix\", lookback = \"1h\"", "")
        let fixture = try await api.fixture(toml.replacingOccurrences(of: "field = \"$.at\", ", with: ""))
        try await fixture.sync("api/people")
        _ = api.asked()
        try await fixture.sync("api/people")
        #expect(api.asked() == ["since=\(Int(begin))&until=\(Int(begin) + 7200)"])
        try await fixture.end()
    }

    // A report says nothing of its day, which only the request does.
    @Test func eachStepMaySayWhenItsRecordsAreOf() async throws {
        let pages = ScriptedAPI()
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person",
                """
                params = { day = "{since:%F}" }
                set = { name = "{since:%F}" }
                incremental = { until = "u", window = "1d", start = "2024-12-29" }
                """), entities: ScriptedAPI.entities().replacingOccurrences(of: "key = [\"id\"]", with: "key = [\"id\", \"name\"]"))
        let days = ["2024-12-29", "2024-12-30", "2024-12-31", "2025-01-01"]
        for (day, next) in zip(days, ["2024-12-30T00", "2024-12-31T00", "2025-01-01T00", "2025-01-01T01"]) {
            pages.set("/people?day=\(day)&u=\(next)%3A00%3A00Z", #"[{"id": 1, "age": \#(Int(day.suffix(2)) ?? 0)}]"#)
        }
        let fixture = try await pages.fixture(toml)
        let report = try await fixture.sync("api/people")
        #expect(report.counts.inserted == 4, "\(report)")
        #expect(try await fixture.values("name", of: "Person") == days)
        try await fixture.end()
    }

    // MARK: What servers do

    @Test(arguments: [400, 410, 422])
    func aServerThatDoesNotTakeTheTimeIsAskedForEverything(status: Int) async throws {
        api.put(1, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.sync("api/people")
        api.change { $0.rejection = status }
        api.put(2, at: begin)
        _ = api.asked()
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.counts.inserted == 1, "\(report)")
        #expect(api.asked() == ["since=2024-12-31T23:58:20Z&page=1", "page=1", "page=2"])
        #expect(fixture.events.contains { if case .cursorRejected(_, _, "2024-12-31T23:58:20Z", status) = $0 { true } else { false } })
        try await fixture.end()
    }

    @Test func aServerThatDoesNotTakeTheTimeFailsTheRunIfThatIsSaid() async throws {
        api.put(1, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", on_cursor_rejected = \"fail\""))
        try await fixture.sync("api/people")
        api.change { $0.rejection = 400 }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        try await fixture.end()
    }

    // Once in a run, however many pages there are.
    @Test func aServerThatDoesNotKnowTheParameterIsSaid() async throws {
        api.put(1, 2, 3, at: begin - 1_000_000)
        api.put(4, at: begin)
        api.change { state in
            state.ignoresSince = true
            state.pageSize = 2
        }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"from\""))
        try await fixture.sync("api/people")
        func told() -> Int { fixture.events.count { if case .sinceIgnored = $0 { true } else { false } } }
        #expect(told() == 0)
        try await fixture.sync("api/people")
        #expect(told() == 1)
        try await fixture.end()
    }

    // A clock that is ahead would hide everything that is changed until then.
    @Test func aRecordOfTheFutureDoesNotLeadRunsAhead() async throws {
        api.put(1, at: begin + 10_000_000)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.sync("api/people")
        #expect(try await cursor(fixture) == "2025-01-01T01:00:00Z")
        try await fixture.end()
    }

    @Test func recordsWithoutTheFieldAreTakenAndSaid() async throws {
        api.put(1, at: nil)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(try await cursor(fixture) == nil)
        #expect(fixture.events.contains { if case .cursorMissing(_, _, 1, "$.at") = $0 { true } else { false } })
        #expect(try await fixture.live() == ["1"])
        try await fixture.end()
    }

    @Test func recordsWithoutTheFieldFailTheRunIfThatIsSaid() async throws {
        api.put(1, at: begin)
        api.put(2, at: nil)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", on_missing = \"fail\""))
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.contains("1 of 2 records have no $.at") == true, "\(report)")
        try await fixture.end()
    }

    // MARK: Configuration

    @Test func whatIsKnownIsAskedForOnceMore() async throws {
        api.put(1, at: begin - 100)
        let fixture = try await api.fixture(
            ChangingAPI.people("lookback = \"1m\", start = \"2024-12-31\"", "params = { since = \"{since:%Y-%m-%dT%H:%M:%SZ}\" }"))
        try await fixture.sync("api/people")
        try await fixture.sync("api/people")
        #expect(api.asked() == ["since=2024-12-31T00:00:00Z", "since=2024-12-31T23:57:20Z"])
        try await fixture.end()
    }

    // A parameter that says from where on is left out where nobody knows.
    @Test func aTimeStandsWhereverATemplateHasIt() async throws {
        api.put(1, at: begin - 100)
        let fixture = try await api.fixture(
            ChangingAPI.people("", "params = { q = \"updated>{since:%Y-%m-%d}\", day = \"{now:%F}\" }"))
        try await fixture.sync("api/people")
        try await fixture.sync("api/people")
        #expect(api.asked() == ["day=2025-01-01", "day=2025-01-01&q=updated>2024-12-31"])
        try await fixture.end()
    }

    // A column that is new stands in no row until its record is read once more.
    @Test func aChangedMappingLetsARunAskForEverything() async throws {
        api.put(1, at: begin - 100)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("increment-\(UUID().uuidString)")
        let toml = ChangingAPI.people("since = \"since\"")
        var fixture = try await api.fixture(toml, folder: folder)
        try await fixture.sync("api/people")
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        let changed = toml.replacingOccurrences(of: "name = { type = \"string\" }", with: "name = { type = \"string\", path = \"$.at\" }")
        _ = api.asked()
        fixture = try await api.fixture(changed, folder: folder)
        // It fails: then the next one asks for everything, too.
        api.change { $0.broken = [0] }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        let report = try await fixture.sync("api/people")
        #expect(report.isComplete && report.counts.updated == 1, "\(report)")
        #expect(api.asked() == ["page=1", "page=1", "page=2"])
        try await fixture.end()
    }

    @Test func partsComeForwardEachForItself() async throws {
        api.put(1, 2, at: begin - 100)
        let toml = ChangingAPI.people(
            "since = \"since\"",
            "for_each = { values = [\"a\", \"b\"], as = \"part\" }\nparams = { part = \"{part}\" }")
        let fixture = try await api.fixture(toml)
        try await fixture.sync("api/people")
        _ = api.asked()
        api.put(2, at: begin)
        let count = fixture.transport.requests.count
        api.change { $0.broken = [count + 1] }
        try await fixture.sync("api/people")
        #expect(api.asked() == ["part=a&since=2024-12-31T23:58:20Z", "part=b&since=2024-12-31T23:58:20Z"])
        try await fixture.sync("api/people")
        #expect(api.asked() == ["part=a&since=2025-01-01T00:00:00Z", "part=b&since=2024-12-31T23:58:20Z"])
        try await fixture.end()
    }

    // MARK: A model of all of it

    /// Whatever becomes of a listing, and whichever requests fail: after a run that succeeds nothing that was changed before is missing, and after one
    /// that asked for everything the store is what the server has.
    @Test(arguments: 1...12)
    func whateverChangesIsThereAfterTheNextRun(seed: Int) async throws {
        var random = SeededNumbers(seed)
        let order = ["unsorted", "asc", "desc"].randomElement(using: &random)!
        let lookback = Bool.random(using: &random) ? ", lookback = \"10s\"" : ""
        api.change { state in
            state.pageSize = 3
            switch order {
            case "asc": state.order = { ($0.changed ?? 0, $0.id) < ($1.changed ?? 0, $1.id) }
            case "desc": state.order = { ($0.changed ?? 0, $0.id) > ($1.changed ?? 0, $1.id) }
            default: state.order = nil
            }
        }
        let fixture = try await api.fixture(
            ChangingAPI.people("since = \"since\", order = \"\(order)\", full_every = \"12h\"\(lookback)", deletion: "snapshot"))
        var names: [Int: String] = [:]
        for round in 1...30 {
            let now = fixture.clock.wallTime.timeIntervalSince1970
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let id = Int.random(in: 1...20, using: &random)
                if Int.random(in: 0..<6, using: &random) == 0 {
                    api.remove(id)
                    names[id] = nil
                } else {
                    let name = "n\(round)"
                    api.put(id, at: (now + Double(Int.random(in: 0...3, using: &random))).rounded(.down), name: name)
                    names[id] = name
                }
            }
            let count = fixture.transport.requests.count, isBroken = Int.random(in: 0..<4, using: &random) == 0
            let broken = count + Int.random(in: 0..<3, using: &random)
            api.change { $0.broken = isBroken ? [broken] : [] }
            let report = try await fixture.sync("api/people")
            guard report.outcome == .succeeded else { continue }
            let stored = try await fixture.document.withWorker { worker in
                try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).reduce(into: [Int: String]()) { stored, person in
                    guard person.value(forKey: "cisternDeletedAt") == nil else { return }
                    stored[person.value(forKey: "id") as? Int ?? 0] = person.value(forKey: "name") as? String
                }
            }
            for (id, name) in names { #expect(stored[id] == name, "\(id) in round \(round), \(order)") }
            if report.isComplete { #expect(stored == names, "round \(round), \(order)") }
        }
        try await fixture.end()
    }
}
