import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Records that are the same as when their page was read last: nothing is made of them, and the rows are what they would be.
@Suite struct RecordComparisonTests {
    static let listing = """
        records = "$.items"
        pages = { kind = "link-header" }
        limits = { max_bad_fraction = 1.0 }
        """

    private static func configuration(_ others: String = "") -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", listing), others,
            entities: """
                \(ScriptedAPI.entities())
                [entity.Team]
                key = ["id"]
                [entity.Team.attributes]
                id = { type = "int64", optional = false }
                [entity.Team.relationships]
                lead = { to = "Person", match = "embedded" }
                """)
    }

    // MARK: The rows are what the records say

    /// A listing in pages that changes at random, and what its rows have to be after each reading.
    private struct World {
        var random: SeededNumbers
        var pages: [[Record]] = []
        var teams: [(id: Int, lead: Record)] = []
        var rows: [Int: Record] = [:]
        private var nextID = 1
        private var readings = 0

        struct Record: Hashable {
            var id: Int
            var name: String
            /// Nil: the record is no good, and is set aside.
            var age: Int?

            var json: String { #"{"id": \#(id), "name": "\#(name)", "age": \#(age.map(String.init) ?? #""old""#)}"# }
            var row: String { "\(id) \(name) \(age.map(String.init) ?? "nil")" }
        }

        init(seed: Int) {
            random = SeededNumbers(seed)
            for _ in 0..<pick(1...3) { pages.append((0..<pick(0...12)).map { _ in make() }) }
        }

        private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

        private mutating func make() -> Record {
            nextID += 1
            return Record(id: nextID, name: "a", age: 1)
        }

        /// A place of a record; nil: there are none.
        private mutating func place() -> (page: Int, at: Int)? {
            let filled = pages.indices.filter { !pages[$0].isEmpty }
            guard let page = filled.randomElement(using: &random) else { return nil }
            return (page, pick(0...pages[page].count - 1))
        }

        mutating func change() {
            let page = pick(0...pages.count - 1)
            guard let (from, at) = place() else { return pages[page].append(make()) }
            let to = pick(0...pages[page].count)
            switch pick(0...11) {
            case 0...2: pages[from][at].name = ["a", "b", "c"][pick(0...2)]
            case 3: pages[from][at].age = pages[from][at].age == nil ? 1 : nil
            case 4: pages[page].insert(make(), at: to)
            case 5: pages[from].remove(at: at)
            case 6: pages[page].shuffle(using: &random)
            case 7:
                let record = pages[from].remove(at: at)
                pages[page].insert(record, at: min(to, pages[page].count))
            case 8: pages[page].insert(pages[from][at], at: to)
            case 9:
                var other = pages[from][at]
                other.name = "d"
                pages[page].insert(other, at: to)
            case 10:
                nextID += 1
                teams.append((nextID, Record(id: pages[from][at].id, name: "e", age: 1)))
            default: if !teams.isEmpty { teams.removeFirst() }
            }
        }

        /// The bodies of the listing, never twice the same, and what its rows are when they have been read.
        mutating func read() -> [(path: String, body: String, next: String?)] {
            readings += 1
            // An empty page is the end of the listing.
            let read = pages.prefix { !$0.isEmpty }
            for record in read.joined() where record.age != nil { rows[record.id] = record }
            return pages.enumerated().map { number, records in
                (
                    number == 0 ? "/people" : "/people?page=\(number)",
                    #"{"reading": \#(readings), "items": [\#(records.map(\.json).joined(separator: ", "))]}"#,
                    number == pages.count - 1 ? nil : "/people?page=\(number + 1)"
                )
            }
        }

        /// The teams, which hold short forms of some people.
        mutating func readTeams() -> String {
            for team in teams { rows[team.lead.id, default: Record(id: team.lead.id, name: "", age: nil)].name = team.lead.name }
            readings += 1
            let items = teams.map { #"{"id": \#($0.id), "lead": {"id": \#($0.lead.id), "name": "\#($0.lead.name)"}}"# }
            return #"{"reading": \#(readings), "items": [\#(items.joined(separator: ", "))]}"#
        }
    }

    static func rows(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { person in
                ["id", "name", "age"].map { key in person.value(forKey: key).map { "\($0)" } ?? "nil" }.joined(separator: " ")
            }.sorted()
        }
    }

    @Test(arguments: 1...24) func whateverBecomesOfAListingItsRowsAreWhatItSaidLast(seed: Int) async throws {
        let api = ScriptedAPI()
        var world = World(seed: seed),
            fixture = try await api.fixture(Self.configuration(ScriptedAPI.resource("teams", of: "Team", "records = \"$.items\"")))
        for step in 0..<14 {
            if step > 0 {
                for _ in 0..<Int.random(in: 1...4, using: &world.random) { world.change() }
            }
            if Int.random(in: 0..<4, using: &world.random) == 0 {
                api.set("/teams", world.readTeams())
                try await fixture.sync("api/teams")
            } else {
                for page in world.read() {
                    api.set(page.path, page.body, headers: page.next.map { ["Link": "<\($0)>; rel=next"] } ?? [:])
                }
                try await fixture.sync("api/people")
            }
            let expected = world.rows.values.map(\.row).sorted(), found = try await Self.rows(fixture)
            #expect(found == expected, "seed \(seed), step \(step)")
            if found != expected { break }
            if step % 5 == 4 {
                // Another process knows nothing of what this one has looked at.
                await fixture.pipeline.stop(grace: .zero)
                try await fixture.document.close()
                fixture = try await PipelineFixture(
                    Self.configuration(ScriptedAPI.resource("teams", of: "Team", "records = \"$.items\"")), folder: fixture.folder,
                    now: fixture.clock.wallTime
                ) { request, _ in api.answer(request) }
            }
        }
        try await fixture.end()
    }

    // MARK: Nothing is made of what is the same

    let api = ScriptedAPI()

    /// Sets what nobody would: the hash of a row, which says nothing of its record from then on.
    func spoil(_ id: Int, in fixture: PipelineFixture) async throws {
        try await fixture.document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "id == %@", id)
            let person = try #require(try worker.fetch(request).first)
            person.setValue("spoilt", forKey: "name")
            person.setValue(Int64(7), forKey: "cisternHash")
            try worker.save()
        }
    }

    func serve(_ records: String, etag: String? = nil) { api.set("/people", #"{"items": [\#(records)]}"#, etag: etag) }

    private static let two = #"{"id": 1, "name": "a"}, {"id": 2, "name": "a"}"#
    private static let changed = #"{"id": 1, "name": "a"}, {"id": 2, "name": "b"}"#

    @Test func theRowOfARecordThatIsTheSameIsNotLookedAt() async throws {
        let fixture = try await api.fixture(Self.configuration())
        serve(Self.two)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.changed)
        let report = try await fixture.sync("api/people")
        #expect(report.counts.unchanged == 1 && report.counts.updated == 1)
        #expect(try await Self.rows(fixture) == ["1 spoilt nil", "2 b nil"])
        // Whoever asks for everything gets everything.
        try await fixture.sync("api/people", full: true)
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil"])
        try await fixture.end()
    }

    // MARK: Nobody else writes the rows

    @Test func whereAnotherResourceHasRecordsOfTheEntityAllAreRead() async throws {
        let fixture = try await api.fixture(Self.configuration(ScriptedAPI.resource("guests")))
        serve(Self.two)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.changed)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil"])
        try await fixture.end()
    }

    @Test func aResourceThatIsAloneAgainReadsWhatAnotherHasWritten() async throws {
        let alone = try PipelineFixture.configuration(Self.configuration())
        let fixture = try await api.fixture(Self.configuration())
        serve(Self.two, etag: "\"1\"")
        try await fixture.sync("api/people")
        try await fixture.pipeline.reload(PipelineFixture.configuration(Self.configuration(ScriptedAPI.resource("guests"))))
        api.set("/guests", #"[{"id": 1, "name": "g"}]"#)
        try await fixture.sync("api/guests")
        try await fixture.pipeline.reload(alone)
        serve(Self.changed, etag: "\"2\"")
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil"])
        try await fixture.end()
    }

    @Test func resourcesThatAReloadBringsForOneEntityAreNotAlone() async throws {
        let entities = """
            \(ScriptedAPI.entities())
            [entity.Guest]
            key = ["id"]
            [entity.Guest.attributes]
            id = { type = "int64", optional = false }
            name = { type = "string" }
            """
        let people = ScriptedAPI.resource("people", of: "Person", Self.listing)
        let fixture = try await api.fixture(ScriptedAPI.configuration(people, entities: entities))
        serve(Self.two, etag: "\"1\"")
        try await fixture.sync("api/people")
        let both = ScriptedAPI.configuration(
            people, ScriptedAPI.resource("guests", of: "Guest"), ScriptedAPI.resource("visitors", of: "Guest"), entities: entities)
        try await fixture.pipeline.reload(PipelineFixture.configuration(both))
        api.set("/guests", #"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#, etag: "\"1\"")
        api.set("/visitors", #"[{"id": 1, "name": "v"}]"#)
        try await fixture.sync("api/guests")
        try await fixture.sync("api/visitors")
        // The first record is as it was, and the row is not.
        api.set("/guests", #"[{"id": 1, "name": "a"}, {"id": 2, "name": "c"}]"#, etag: "\"2\"")
        try await fixture.sync("api/guests")
        #expect(try await fixture.values("name", of: "Guest") == ["a", "c"])
        try await fixture.end()
    }

    @Test func aRecordThatLosesItsTwinIsReadAgain() async throws {
        let fixture = try await api.fixture(Self.configuration())
        serve(#"{"id": 1, "name": "a"}, {"id": 1, "name": "b"}, {"id": 2}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 b nil", "2 nil nil"])
        serve(#"{"id": 1, "name": "a"}, {"id": 2}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 nil nil"])
        // One comes before it that is another.
        serve(#"{"id": 1, "name": "c"}, {"id": 1, "name": "a"}, {"id": 2}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 nil nil"])
        try await fixture.end()
    }

    /// Sets the two pages of the listing.
    private func serve(_ first: String, then second: String) {
        api.set("/people", #"{"items": [\#(first)]}"#, headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", #"{"items": [\#(second)]}"#)
    }

    @Test func aPageWhoseRowAnotherPageHasWrittenIsReadWhenThatNamesItNoMore() async throws {
        let fixture = try await api.fixture(Self.configuration())
        serve(Self.two, then: #"{"id": 1, "name": "b"}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 b nil", "2 a nil"])
        // The first page is as it was, and so nobody looks at it.
        serve(Self.two, then: #"{"id": 3}"#)
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        serve(Self.changed, then: #"{"id": 3}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil", "3 nil nil"])
        try await fixture.end()
    }

    // What was left out of a page cannot be read any more: the page is asked for once more, without conditions.
    @Test func aPageWithARowThatThePageBeforeHasWrittenIsFetchedAsAWhole() async throws {
        let fixture = try await api.fixture(Self.configuration())
        serve(Self.two, then: #"{"id": 3, "name": "a"}, {"id": 4}"#)
        try await fixture.sync("api/people")
        serve(Self.two + #", {"id": 3, "name": "b"}"#, then: #"{"id": 3, "name": "a"}, {"id": 5}"#)
        let before = fixture.transport.requests.count
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 a nil", "3 a nil", "4 nil nil", "5 nil nil"])
        let asked = fixture.transport.requests.dropFirst(before)
        #expect(asked.map { $0.address.url.query ?? "" } == ["", "page=2", "page=2"])
        try await fixture.end()
    }

    // The place of the cursor is in a record, so that the page is read as one.
    @Test func aPageThatIsNotCutIsReadAsAWhole() async throws {
        let fixture = try await api.fixture(
            Self.configuration().replacing("pages = { kind = \"link-header\" }", with: "pages = { kind = \"cursor\", path = \"$.items[9].id\" }"))
        serve(Self.two)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.changed)
        let report = try await fixture.sync("api/people")
        #expect(report.counts.updated == 2)
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil"])
        try await fixture.end()
    }

    // Another program may have written while the page came.
    @Test func whatWasForgottenWhileAPageCameStaysUnknown() async throws {
        let fixture = try await api.fixture(Self.configuration())
        serve(Self.two)
        try await fixture.sync("api/people")
        let trust = fixture.pipeline.trust
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000) { _, stage in if stage == .saving { trust.forgetAll() } } }
        serve(Self.changed)
        try await fixture.sync("api/people")
        #expect(trust.count == 0)
        serve(Self.two)
        try await fixture.sync("api/people", full: true)
        #expect(trust.count == 1)
        try await fixture.end()
    }

    // While the first page is read, the second has been asked for, and then a team's record changes a row of it.
    @Test(.timeLimit(.minutes(60))) func aPageThatWasFetchedAheadIsFetchedAgainWhereItsRowsCameIntoDoubt() async throws {
        let teams = ScriptedAPI.resource("teams", of: "Team", "records = \"$.items\"")
        let fixture = try await api.fixture(Self.configuration(teams))
        serve(Self.two, then: #"{"id": 3, "name": "c"}, {"id": 4}"#)
        try await fixture.sync("api/people")
        serve(Self.changed, then: #"{"id": 3, "name": "c"}, {"id": 5}"#)
        api.set("/teams", #"{"items": [{"id": 9, "lead": {"id": 3, "name": "short"}}]}"#)
        let hold = ParseHold(fixture.pipeline, resource: "people", at: .lookingUp)
        async let people = fixture.sync("api/people")
        await hold.isReached()
        // The clock stands still: the second page may still be under way.
        _ = try await fixture.pipeline.sync("api/teams", cause: .control, wait: true)
        hold.letGo()
        #expect(try await people.isComplete)
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil", "3 c nil", "4 nil nil", "5 nil nil"])
        try await fixture.end()
    }

    @Test func whatIsTheSameCountsTowardTheLimitOfAPage() async throws {
        let fixture = try await api.fixture(
            Self.configuration().replacing("max_bad_fraction = 1.0", with: "max_bad_fraction = 1.0, max_objects_per_page = 2"))
        serve(Self.two)
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        serve(Self.two + #", {"id": 3}"#)
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .failed && report.error?.contains("max_objects_per_page = 2") == true)
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 a nil"])
        try await fixture.end()
    }

    // 0: it is damaged. Otherwise its page says that it has so many records.
    @Test(arguments: [0, 3, Int.max]) func aManifestThatIsDamagedOrNotTheWholeIsNotBelieved(count: Int) async throws {
        let fixture = try await api.fixture(Self.configuration())
        serve(Self.two)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        try await fixture.document.withWorker { worker in
            if count == 0 {
                for var row in try StateRow<ManifestTable>.all(in: worker) {
                    row.records = row.records.map { $0.dropLast() }
                    row.write(in: worker)
                }
            } else {
                for var row in try StateRow<RequestTable>.all(in: worker) {
                    row.manifest = count
                    row.write(in: worker)
                }
            }
            try worker.save()
        }
        serve(Self.changed)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil"])
        try await fixture.end()
    }

    @Test func aPageThatIsForgottenLeavesNoManifest() async throws {
        let fixture = try await api.fixture(Self.configuration())
        func pages() async throws -> [String] { try await fixture.values("request", of: ManifestTable.entity) }
        api.set("/people", #"{"items": [{"id": 1}]}"#, headers: ["Link": "</people?page=2>; rel=next"])
        api.set("/people?page=2", #"{"items": [{"id": 2}]}"#)
        try await fixture.sync("api/people")
        #expect(try await pages().count == 2)
        serve(#"{"id": 1}"#)
        try await fixture.sync("api/people")
        #expect(try await pages().count == 1)
        // A page of two records that are one row has none.
        serve(#"{"id": 1}, {"id": 1, "name": "b"}"#)
        try await fixture.sync("api/people")
        #expect(try await pages() == [])
        try await fixture.end()
    }

    @Test func aLongPageIsStoredInPiecesOfWhichOnlyThoseThatDifferAreWritten() async throws {
        let fixture = try await api.fixture(Self.configuration())
        func versions() async throws -> [Int64] {
            try await fixture.document.withWorker { worker in
                let rows = try worker.fetch(FetchPlan(entity: #require(worker.endOfChain?.managedObjectModel.entitiesByName[ManifestTable.entity])))
                return rows.sorted { $0.id.key < $1.id.key }.compactMap { $0.row?.version }
            }
        }
        let count = 2 * Manifest.pieceSize + 5
        var records = (1...count).map { #"{"id": \#($0)}"# }
        serve(records.joined(separator: ","))
        try await fixture.sync("api/people")
        let before = try await versions()
        records[Manifest.pieceSize] = #"{"id": \#(Manifest.pieceSize + 1), "name": "b"}"#
        serve(records.joined(separator: ","))
        let report = try await fixture.sync("api/people")
        let after = try await versions()
        #expect(report.counts.unchanged == count - 1 && report.counts.updated == 1)
        #expect(before.count == 3 && zip(before, after).map(==) == [true, false, true])
        try await fixture.end()
    }
}
