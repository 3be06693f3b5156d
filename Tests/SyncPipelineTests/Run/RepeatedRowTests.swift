import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Rows that several records of one listing are: what is read, and what is left out since it has not changed, makes of them what reading everything in order
/// would.
@Suite struct RepeatedRowTests {
    private let api = ScriptedAPI()

    // MARK: On several pages

    /// A listing whose pages share rows, and change one by one.
    private struct World {
        private struct Record: Equatable {
            let id: Int
            var name: String

            var json: String { #"{"id": \#(id), "name": "\#(name)"}"# }
        }

        var random: SeededNumbers
        private var pages: [[Record]]
        private var before: [[Record]] = []
        /// What rows were whose records are gone: the resource removes none.
        private var rows: [Int: String] = [:]

        init(seed: Int) {
            random = SeededNumbers(seed)
            pages = Array(repeating: [], count: 1 + random.next(upTo: 4))
            for page in pages.indices {
                for _ in 0...random.next(upTo: 4) { pages[page].append(record()) }
            }
        }

        private mutating func record() -> Record { Record(id: 1 + random.next(upTo: 8), name: ["a", "b", "c"][random.next(upTo: 3)]) }

        mutating func change() {
            let page = random.next(upTo: pages.count), place = random.next(upTo: pages[page].count)
            switch random.next(upTo: 10) {
            case 0...3: pages[page][place].name = ["a", "b", "c"][random.next(upTo: 3)]
            case 4: pages[page].insert(record(), at: place)
            case 5: if pages[page].count > 1 { pages[page].remove(at: place) }
            case 6: pages[page].shuffle(using: &random)
            case 7: pages[page][place] = record()
            case 8: if pages.count < 5 { pages.append([record()]) }
            default: if pages.count > 1 { pages.removeLast() }
            }
        }

        /// - Parameter isTagged: whether the server says which pages have changed; otherwise their bytes say it.
        func serve(_ api: ScriptedAPI, isTagged: Bool) {
            for (number, records) in pages.enumerated() {
                let body = #"{"page": \#(number), "items": [\#(records.map(\.json).joined(separator: ", "))]}"#, isLast = number == pages.count - 1
                api.set(
                    number == 0 ? "/people" : "/people?page=\(number)", body, etag: isTagged ? "\"\(BodyDigest(of: body))-\(isLast)\"" : nil,
                    headers: isLast ? [:] : ["Link": "</people?page=\(number + 1)>; rel=next"])
            }
        }

        /// Lets the server fail at one of the pages, until it serves them again.
        mutating func fail(_ api: ScriptedAPI) {
            let page = random.next(upTo: pages.count)
            api.set(page == 0 ? "/people" : "/people?page=\(page)", "", status: 500)
        }

        /// All of it is read, page after page.
        ///
        /// - Returns: the rows that a page lists no more, and another one does still: whoever did not read that one finds it out at the next reading.
        mutating func read() -> Set<Int> {
            for record in pages.joined() { rows[record.id] = record.name }
            let listed = Set(pages.joined().map(\.id))
            let released = before.enumerated().flatMap { number, records in
                let now = number < pages.count ? Set(pages[number].map(\.id)) : []
                return records.map(\.id).filter { !now.contains($0) }
            }
            before = pages
            return listed.intersection(released)
        }

        func expected(besides others: Set<Int> = []) -> [String] {
            rows.filter { !others.contains($0.key) }.map { "\($0.key) \($0.value)" }.sorted()
        }
    }

    private static func rows(_ fixture: PipelineFixture, besides others: Set<Int> = []) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).compactMap { person in
                guard let id = person.value(forKey: "id") as? Int64, !others.contains(Int(id)) else { return nil }
                return "\(id) \(person.value(forKey: "name") ?? "nil")"
            }.sorted()
        }
    }

    @Test(arguments: 1...30) func whateverBecomesOfTheirPagesRowsAreWhatTheirLastRecordsSay(seed: Int) async throws {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", "records = \"$.items\"\npages = { kind = \"link-header\" }"),
            defaults: "[defaults.retry]\nattempts = 1")
        var world = World(seed: seed), fixture = try await api.fixture(toml)
        let isTagged = world.random.chance(50)
        for step in 0..<12 {
            if step > 0 {
                for _ in 0...world.random.next(upTo: 3) { world.change() }
            }
            let sizes = [1, 3, 1000], size = sizes[world.random.next(upTo: sizes.count)]
            fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: size) }
            world.serve(api, isTagged: isTagged)
            if world.random.chance(30) {
                world.fail(api)
                #expect(try await fixture.sync("api/people").outcome == .failed)
                world.serve(api, isTagged: isTagged)
            }
            try await fixture.sync("api/people")
            let late = world.read(), found = try await Self.rows(fixture, besides: late)
            #expect(found == world.expected(besides: late), "seed \(seed), step \(step)")
            try await fixture.sync("api/people")
            let settled = try await Self.rows(fixture)
            #expect(settled == world.expected(), "seed \(seed), step \(step), once more")
            if settled != world.expected() { break }
            guard world.random.chance(20) else { continue }
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
            fixture = try await PipelineFixture(toml, folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in api.answer(request) }
        }
        try await fixture.end()
    }

    /// Two pages of people, each with its tag.
    private func serve(_ first: String, _ second: String) {
        api.set("/people", "[\(first)]", etag: "\"\(BodyDigest(of: first))\"", headers: ["Link": "</people?page=1>; rel=next"])
        api.set("/people?page=1", "[\(second)]", etag: "\"\(BodyDigest(of: second))\"")
    }

    private func twoPages() async throws -> PipelineFixture {
        try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "pages = { kind = \"link-header\" }"), defaults: "[defaults.retry]\nattempts = 1"))
    }

    @Test func theLaterPageCountsAlsoWhereOnlyTheEarlierOneHasChanged() async throws {
        let fixture = try await twoPages(), later = #"{"id": 1, "name": "later"}"#
        serve(#"{"id": 1, "name": "earlier"}"#, later)
        try await fixture.sync("api/people")
        serve(#"{"id": 1, "name": "changed"}"#, later)
        #expect(try await fixture.sync("api/people").notModifiedPages == 0)
        #expect(try await Self.rows(fixture) == ["1 later"])
        // Neither has changed.
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        // What both have is written by neither: nobody need ask for all of it.
        serve(#"{"id": 1, "name": "later"}, {"id": 2, "name": "new"}"#, later)
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        #expect(try await Self.rows(fixture) == ["1 later", "2 new"])
        try await fixture.end()
    }

    // What the run before wrote it had no time to put right.
    @Test func theLaterPageCountsAlsoWhereARunEndedBetweenThem() async throws {
        let fixture = try await twoPages(), later = #"{"id": 1, "name": "later"}"#
        serve(#"{"id": 1, "name": "earlier"}"#, later)
        try await fixture.sync("api/people")
        serve(#"{"id": 1, "name": "changed"}"#, later)
        api.set("/people?page=1", "", status: 500)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await Self.rows(fixture) == ["1 changed"])
        serve(#"{"id": 1, "name": "changed"}"#, later)
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        #expect(try await Self.rows(fixture) == ["1 later"])
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        try await fixture.end()
    }

    // Also where the page that it was on is read once more, and finds its rows as they should be by what it says.
    @Test func theLaterPageCountsAlsoWhereTheEarlierOneHasChangedOnceMoreSinceARunEndedBetweenThem() async throws {
        let fixture = try await twoPages(), later = #"{"id": 1, "name": "later"}"#, changed = #"{"id": 1, "name": "changed"}"#
        serve(#"{"id": 1, "name": "earlier"}"#, later)
        try await fixture.sync("api/people")
        serve(changed, later)
        api.set("/people?page=1", "", status: 500)
        #expect(try await fixture.sync("api/people").outcome == .failed)
        serve(#"\#(changed), {"id": 2, "name": "new"}"#, later)
        #expect(try await fixture.sync("api/people").notModifiedPages == 0)
        #expect(try await Self.rows(fixture) == ["1 later", "2 new"])
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        try await fixture.end()
    }

    @Test func whenTheLaterPageLetsGoOfARowItIsWhatTheEarlierOneSays() async throws {
        let fixture = try await twoPages(), earlier = #"{"id": 1, "name": "earlier"}"#
        serve(earlier, #"{"id": 1, "name": "later"}, {"id": 2, "name": "two"}"#)
        try await fixture.sync("api/people")
        serve(earlier, #"{"id": 2, "name": "two"}"#)
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        #expect(try await fixture.sync("api/people").notModifiedPages == 1)
        #expect(try await Self.rows(fixture) == ["1 earlier", "2 two"])
        #expect(try await fixture.sync("api/people").notModifiedPages == 2)
        try await fixture.end()
    }

    // MARK: On one page

    /// What a record says of a person, or one in another record's place of a boss; nil: nothing.
    private struct Saying {
        var id: Int
        var name: String?
        var tags: [Int]?

        var fields: String {
            let name = name.map { #", "name": "\#($0)""# } ?? "", tags = tags.map { ", \"tags\": \($0)" } ?? ""
            return "\"id\": \(id)\(name)\(tags)"
        }
    }

    /// A page of people that repeats them, and what has to come of it.
    private struct Page {
        private struct Person {
            var name: String?
            var boss: Int?
            var tags: [Int] = []
        }

        var random: SeededNumbers
        private var records: [(own: Saying, boss: Saying?)] = []
        private var people: [Int: Person] = [:]

        init(seed: Int) {
            random = SeededNumbers(seed)
            for _ in 0..<4 { records.append(record()) }
        }

        private mutating func saying() -> Saying {
            var saying = Saying(id: 1 + random.next(upTo: 4))
            if random.chance(60) { saying.name = ["a", "b", "c"][random.next(upTo: 3)] }
            if random.chance(40) { saying.tags = [[], [1], [2], [1, 2]][random.next(upTo: 4)] }
            return saying
        }

        private mutating func record() -> (own: Saying, boss: Saying?) {
            let own = saying()
            return (own, random.chance(40) ? saying() : nil)
        }

        mutating func change() {
            let place = random.next(upTo: records.count)
            switch random.next(upTo: 6) {
            case 0: records[place] = record()
            case 1: if records.count < 8 { records.insert(record(), at: place) }
            case 2: if records.count > 1 { records.remove(at: place) }
            case 3: records[place].boss = random.chance(50) ? saying() : nil
            case 4: records[place].own.name = ["a", "b", "c"][random.next(upTo: 3)]
            default: records[place].own.tags = random.chance(30) ? nil : [1 + random.next(upTo: 2)]
            }
        }

        var body: String {
            "[\(records.map { "{\($0.own.fields)\($0.boss.map { ", \"boss\": {\($0.fields)}" } ?? "")}" }.joined(separator: ", "))]"
        }

        mutating func read() {
            for (own, boss) in records {
                if let boss {
                    if let name = boss.name { people[boss.id, default: Person()].name = name }
                    people[boss.id, default: Person()].tags = boss.tags ?? people[boss.id]?.tags ?? []
                }
                people[own.id, default: Person()].name = own.name
                people[own.id]?.boss = boss?.id
                if let tags = own.tags { people[own.id]?.tags = tags }
            }
        }

        var expected: [String] {
            people.map { id, person in
                "\(id) \(person.name ?? "nil") under \(person.boss.map { "\($0)" } ?? "nobody") \(person.tags)"
            }.sorted()
        }
    }

    private static func people(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { person in
                let boss = person.value(forKey: "boss") as? NSManagedObject, tags = person.value(forKey: "tags") as? Set<NSManagedObject> ?? []
                let numbers = tags.compactMap { $0.value(forKey: "id") as? Int64 }.sorted()
                let words: [Any] = [
                    person.value(forKey: "id") ?? "nil", person.value(forKey: "name") ?? "nil", "under", boss?.value(forKey: "id") ?? "nobody",
                ]
                return words.map { "\($0)" }.joined(separator: " ") + " \(numbers)"
            }.sorted()
        }
    }

    private func fixtureOfOnePage() async throws -> PipelineFixture {
        let entities = """
            [entity.Person.relationships]
            boss = { to = "Person", match = "embedded" }
            tags = { to = "Tag", many = true }
            [entity.Tag]
            key = ["id"]
            [entity.Tag.attributes]
            id = { type = "int64", optional = false }
            """
        return try await api.fixture(
            ScriptedAPI.configuration(ScriptedAPI.resource("people"), entities: ScriptedAPI.entities(entities)))
    }

    @Test(arguments: 1...30) func whateverAPageSaysTwiceTheLaterCounts(seed: Int) async throws {
        let fixture = try await fixtureOfOnePage()
        var page = Page(seed: seed), bodies: [String] = []
        for _ in 0..<12 {
            let sizes = [1, 3, 1000], size = sizes[page.random.next(upTo: sizes.count)]
            fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: size) }
            api.set("/people", page.body)
            bodies.append(page.body)
            try await fixture.sync("api/people")
            // The same body says nothing anew.
            if bodies.dropLast().last != page.body { page.read() }
            let found = try await Self.people(fixture)
            #expect(found == page.expected, "seed \(seed) after \(bodies.joined(separator: "\n"))")
            if found != page.expected { break }
            for _ in 0...page.random.next(upTo: 2) { page.change() }
        }
        try await fixture.end()
    }

    @Test(arguments: [1, 1000]) func whatOnlyTheEarlierRecordSaysIsTakenWhenItChanges(batch: Int) async throws {
        let fixture = try await fixtureOfOnePage(), later = #"{"id": 1, "name": "a"}"#
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch) }
        for tag in 1...3 {
            api.set("/people", #"[{"id": 1, "name": "x", "tags": [\#(tag)]}, \#(later)]"#)
            try await fixture.sync("api/people")
            #expect(try await Self.people(fixture) == ["1 a under nobody [\(tag)]"])
        }
        try await fixture.end()
    }

    @Test(arguments: [1, 1000]) func aShortFormAfterItsRecordCountsWhenOnlyTheShortFormChanges(batch: Int) async throws {
        let fixture = try await fixtureOfOnePage(), record = #"{"id": 1, "name": "a"}"#
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch) }
        for name in ["b", "c", "a", "d"] {
            api.set("/people", #"[\#(record), {"id": 2, "boss": {"id": 1, "name": "\#(name)"}}]"#)
            try await fixture.sync("api/people")
            #expect(try await Self.people(fixture) == ["1 \(name) under nobody []", "2 nil under 1 []"])
        }
        // And where there is none any more, the record counts, which is the same as ever.
        api.set("/people", #"[\#(record), {"id": 2}]"#)
        try await fixture.sync("api/people")
        #expect(try await Self.people(fixture) == ["1 a under nobody []", "2 nil under nobody []"])
        try await fixture.end()
    }
}
