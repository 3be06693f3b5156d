import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

extension RecordComparisonTests {
    // MARK: Records that hold others

    /// People hold their badges, which nobody else says anything of.
    static func badges(_ others: String = "", reads: String = "", maker: Bool = false, more: String = "", ofBadges: String = "") -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", listing), others,
            entities: """
                \(ScriptedAPI.entities())
                [entity.Person.relationships]
                badges = { to = "Badge", many = true, match = "embedded", mode = "replace", inverse = "people" }
                \(more)
                [entity.Badge]
                key = ["id"]
                [entity.Badge.attributes]
                id = { type = "int64", optional = false }
                color = { type = "string" }
                [entity.Badge.relationships]
                people = { to = "Person", many = true, mode = "replace", inverse = "badges"\(reads) }
                \(maker ? Self.maker : ofBadges)
                """)
    }

    /// Badges name who has made them.
    private static let maker = """
        maker = { to = "Maker", match = "key" }
        marks = { to = "Maker", many = true, match = "keys", mode = "replace" }
        [entity.Maker]
        key = ["id"]
        [entity.Maker.attributes]
        id = { type = "int64", optional = false }
        """

    /// The maker of each badge, and whose marks it has.
    private static func makers(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Badge")).map { badge in
                let marks = (badge.value(forKey: "marks") as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "id") as? Int64 }.sorted()
                return "\(badge.value(forKey: "id") ?? 0) by \((badge.value(forKey: "maker") as? NSManagedObject)?.value(forKey: "id") ?? "nobody")"
                    + (marks.isEmpty ? "" : " \(marks)")
            }.sorted()
        }
    }

    // Two records say different things of one badge, of which the later one counts as long as it says so.
    @Test(arguments: [("\"maker\": 5", "\"maker\": 6", "5", "6"), ("\"marks\": [5]", "\"marks\": [6, 8]", "nobody [5]", "nobody [6, 8]")])
    func whatTwoRecordsSayDifferentlyIsNotLeftOut(one: String, other: String, first: String, last: String) async throws {
        let fixture = try await api.fixture(Self.badges(reads: ", read = false", maker: true))
        let record = #"{"id": 1, "badges": [{"id": 7, \#(one)}]}"#
        serve(record + #", {"id": 2, "badges": [{"id": 7, \#(other)}]}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.makers(fixture) == ["7 by \(last)"])
        serve(record + #", {"id": 2, "badges": []}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.makers(fixture) == ["7 by \(first)"])
        try await fixture.end()
    }

    // A badge without its key is set aside at each reading, and so it is told of as long as it is there.
    @Test func whatIsWrongInsideARecordIsToldOfWhenAnotherChanges() async throws {
        let fixture = try await api.fixture(Self.badges(reads: ", read = false"))
        let one = #"{"id": 1, "badges": [{"color": "red"}]}"#
        for name in ["a", "b", "c"] {
            serve(one + #", {"id": 2, "name": "\#(name)"}"#)
            #expect(try await fixture.sync("api/people").counts.quarantined == 1, "\(name)")
        }
        try await fixture.end()
    }

    // A badge that a person holds names a maker that is gone: the person's record brings it back when another one has changed.
    @Test func aRecordHoldsWhatNamesARemovedOneAnew() async throws {
        let makers = ScriptedAPI.resource(
            "makers", of: "Maker", "deletion = { detect = \"snapshot\", action = \"delete\", confirm_runs = 1, max_fraction = 1.0 }")
        let fixture = try await api.fixture(Self.badges(makers, reads: ", read = false", maker: true))
        let one = #"{"id": 1, "badges": [{"id": 7, "maker": 5}]}"#
        api.set("/makers", #"[{"id": 5}, {"id": 6}]"#)
        try await fixture.sync("api/makers")
        serve(one + #", {"id": 2}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.comparedPages(fixture) > 0)
        api.set("/makers", #"[{"id": 6}]"#)
        #expect(try await fixture.sync("api/makers").counts.deleted == 1)
        #expect(try await Self.makers(fixture) == ["7 by nobody"])
        serve(one + #", {"id": 2, "name": "b"}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.makers(fixture) == ["7 by 5"])
        try await fixture.end()
    }

    /// People in pages and the badges that they hold, and what the rows have to be when all of it has been read.
    private struct Wardrobe {
        var random: SeededNumbers
        private var pages: [[Person]]
        private(set) var people: [Int: String] = [:]
        private(set) var colors: [Int: String] = [:]
        private var nextID = 1
        private var readings = 0

        private struct Badge: Hashable {
            /// Nil: nobody can tell which it is.
            var id: Int?
            /// Nil: nothing is said of it.
            var color: String?

            var json: String {
                "{\([id.map { "\"id\": \($0)" }, color.map { "\"color\": \"\($0)\"" }].compactMap(\.self).joined(separator: ", "))}"
            }
        }

        private struct Person: Hashable {
            var id: Int
            var name = "a"
            var badges: [Badge] = []

            var json: String { #"{"id": \#(id), "name": "\#(name)", "badges": [\#(badges.map(\.json).joined(separator: ", "))]}"# }
            var row: String { "\(name) \(Set(badges.compactMap(\.id)).sorted())" }
        }

        init(seed: Int) {
            random = SeededNumbers(seed)
            pages = []
            for _ in 0..<pick(1...3) { pages.append((0..<pick(2...8)).map { _ in make() }) }
        }

        private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

        private mutating func color() -> String { ["red", "blue"][pick(0...1)] }

        private mutating func make() -> Person {
            nextID += 1
            // Mostly all say the same of a badge at first.
            return Person(id: nextID, badges: (0..<pick(0...3)).map { _ in Badge(id: pick(1...5), color: pick(0...14) == 0 ? "red" : "white") })
        }

        mutating func change() {
            let page = pick(0...pages.count - 1)
            guard !pages[page].isEmpty else { return pages[page].append(make()) }
            let at = pick(0...pages[page].count - 1), badge = pick(1...5), color = color()
            switch pick(0...13) {
            case 0...4: pages[page][at].name = ["a", "b", "c"][pick(0...2)]
            case 5:
                for page in pages.indices {
                    for at in pages[page].indices {
                        for number in pages[page][at].badges.indices where pages[page][at].badges[number].id == badge {
                            pages[page][at].badges[number].color = color
                        }
                    }
                }
            case 6: pages[page][at].badges.append(Badge(id: badge, color: color))
            case 7: pages[page][at].badges.append(Badge(id: 5 + pick(1...20), color: "white"))
            case 8: if pick(0...1) == 0 { pages[page][at].badges = [Badge(id: badge, color: nil)] }
            case 9: if !pages[page][at].badges.isEmpty { pages[page][at].badges.removeLast() }
            case 10: pages[page].insert(make(), at: at)
            case 11: pages[page].remove(at: at)
            case 12: pages[page].shuffle(using: &random)
            default: if pick(0...3) == 0 { pages[page][at].badges.append(Badge(id: nil, color: color)) }
            }
        }

        /// The bodies of the listing, never twice the same.
        mutating func read() -> [(path: String, body: String, next: String?)] {
            readings += 1
            for person in pages.prefix(while: { !$0.isEmpty }).joined() {
                // Where it is not known who else is in a list, nobody is taken out of it.
                let before = person.badges.contains { $0.id == nil } ? held[person.id] ?? [] : []
                held[person.id] = before.union(person.badges.compactMap(\.id))
                people[person.id] = "\(person.name) \((held[person.id] ?? []).sorted())"
                for badge in person.badges {
                    guard let id = badge.id else { continue }
                    colors[id] = badge.color ?? colors[id] ?? "nil"
                }
            }
            return pages.enumerated().map { number, records in
                (
                    number == 0 ? "/people" : "/people?page=\(number)",
                    #"{"reading": \#(readings), "items": [\#(records.map(\.json).joined(separator: ", "))]}"#,
                    number == pages.count - 1 ? nil : "/people?page=\(number + 1)"
                )
            }
        }

        private var held: [Int: Set<Int>] = [:]

        var rows: [String] { (people.map { "\($0) \($1)" } + colors.map { "badge \($0) \($1)" }).sorted() }
    }

    private static func wardrobe(_ fixture: PipelineFixture) async throws -> [String] {
        try await fixture.document.withWorker { worker in
            let people = try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { person in
                let badges = (person.value(forKey: "badges") as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "id") as? Int64 }.sorted()
                return "\(person.value(forKey: "id") ?? 0) \(person.value(forKey: "name") ?? "nil") \(badges)"
            }
            let badges = try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Badge")).map { badge in
                "badge \(badge.value(forKey: "id") ?? 0) \(badge.value(forKey: "color") ?? "nil")"
            }
            return (people + badges).sorted()
        }
    }

    /// How many pages there are whose records will be compared.
    static func comparedPages(_ fixture: PipelineFixture) async throws -> Int {
        try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "CisternRequest")).count {
                "\($0.value(forKey: "scope") ?? "")".hasSuffix("people") && ($0.value(forKey: "manifest") as? Int64 ?? 0) > 0
            }
        }
    }

    @Test func whateverRecordsHoldIsWhatItWouldBeIfAllWereRead() async throws {
        var compared = 0
        for seed in 1...24 {
            let api = ScriptedAPI(), configuration = Self.badges(reads: ", read = false")
            var world = Wardrobe(seed: seed), fixture = try await api.fixture(configuration)
            for step in 0..<10 {
                for _ in 0..<(step == 0 ? 0 : Int.random(in: 1...3, using: &world.random)) { world.change() }
                for page in world.read() {
                    api.set(page.path, page.body, headers: page.next.map { ["Link": "<\($0)>; rel=next"] } ?? [:])
                }
                try await fixture.sync("api/people")
                let expected = world.rows, found = try await Self.wardrobe(fixture)
                #expect(found == expected, "seed \(seed), step \(step)")
                if found != expected { return }
                compared += try await Self.comparedPages(fixture)
                if step % 5 == 4 {
                    await fixture.pipeline.stop(grace: .zero)
                    try await fixture.document.close()
                    fixture = try await PipelineFixture(configuration, folder: fixture.folder, now: fixture.clock.wallTime) { request, _ in
                        api.answer(request)
                    }
                }
            }
            try await fixture.end()
        }
        #expect(compared > 50, "\(compared)")
    }

    private static let two = #"{"id": 1, "name": "a", "badges": [{"id": 7, "color": "red"}]}, {"id": 2, "badges": [{"id": 7, "color": "red"}]}"#
    private static let changed =
        #"{"id": 1, "name": "a", "badges": [{"id": 7, "color": "red"}]}, {"id": 2, "name": "b", "badges": [{"id": 7, "color": "red"}]}"#

    /// Whether the first of two records is read when the second has changed.
    private func readsTheSame(_ configuration: String) async throws -> Bool {
        let fixture = try await api.fixture(configuration)
        serve(Self.two)
        try await fixture.sync("api/people")
        try await spoil(1, in: fixture)
        serve(Self.changed)
        try await fixture.sync("api/people")
        let rows = try await Self.rows(fixture)
        try await fixture.end()
        #expect(rows == ["1 a nil", "2 b nil"] || rows == ["1 spoilt nil", "2 b nil"])
        return rows == ["1 a nil", "2 b nil"]
    }

    @Test func recordsThatHoldWhatNobodyElseSaysAnythingOfAreCompared() async throws {
        #expect(try await !readsTheSame(Self.badges(reads: ", read = false")))
    }

    // Badges have records of their own, or list their people; or others hold them; or they say what is whose; or people hold people.
    @Test(arguments: [
        badges(ScriptedAPI.resource("badges", of: "Badge"), reads: ", read = false"), badges(), badges(reads: ", match = \"keys\""),
        badges(reads: ", read = false", more: "boss = { to = \"Person\" }"),
        badges(
            reads: ", read = false",
            ofBadges: """
                pins = { to = "Pin", many = true, match = "keys", mode = "replace", inverse = "badge" }
                [entity.Pin]
                key = ["id"]
                [entity.Pin.attributes]
                id = { type = "int64", optional = false }
                [entity.Pin.relationships]
                badge = { to = "Badge", read = false, inverse = "pins" }
                """),
        badges(ScriptedAPI.resource("teams", of: "Team"), reads: ", read = false") + """

            [entity.Team]
            key = ["id"]
            [entity.Team.attributes]
            id = { type = "int64", optional = false }
            [entity.Team.relationships]
            badge = { to = "Badge" }
            """,
        badges(ScriptedAPI.resource("teams", of: "Team", "also = [{ records = \"$.badges\", entity = \"Badge\" }]"), reads: ", read = false") + """

            [entity.Team]
            key = ["id"]
            [entity.Team.attributes]
            id = { type = "int64", optional = false }
            """,
        badges(reads: ", read = false").replacing(
            "path = \"/people\"", with: "path = \"/people\"\nalso = [{ records = \"$.x\", entity = \"Badge\" }]"),
    ]) func recordsThatHoldWhatOthersWriteAreAllRead(configuration: String) async throws {
        #expect(try await readsTheSame(configuration))
    }

    // Somebody has taken a badge away for good: whoever holds it says so anew.
    @Test func aRecordHoldsAnewWhatWasRemoved() async throws {
        let fixture = try await api.fixture(Self.badges(reads: ", read = false"))
        serve(Self.two + #", {"id": 3}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.comparedPages(fixture) == 1)
        // A page that was read while a badge went is read as a whole when it comes next.
        let document = fixture.document
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: 1000) { _, stage in
                guard stage == .saving else { return }
                let context = document.managedObjectContext
                let delete = { @Sendable in
                    context.performAndWait {
                        for badge in (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Badge"))) ?? [] { context.delete(badge) }
                        try? context.save()
                    }
                }
                delete()
            }
        }
        serve(Self.two + #", {"id": 3, "name": "c", "badges": [{"id": 7, "color": "red"}]}"#)
        try await fixture.sync("api/people")
        fixture.pipeline.parseProbe.withLock { $0 = nil }
        #expect(try await Self.comparedPages(fixture) == 0)
        serve(Self.two + #", {"id": 3, "name": "d", "badges": [{"id": 7, "color": "red"}]}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.wardrobe(fixture).contains("badge 7 red"))
        try await fixture.end()
    }
}
