import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Pages that mention what another resource lists, beside a model of what has to come of it: pages change, are read in some order, under one
/// configuration or the other, by one process or the next.
@Suite struct MentionPropertyTests {
    private struct Person: Equatable {
        var name = "nil"
        var age = "nil"
        var isStub = true
    }

    private struct Ticket: Equatable {
        let id: Int
        var subject: String
        var author: Int?

        var json: String { #"{"id": \#(id), "subject": "\#(subject)"\#(author.map { ", \"author\": \($0)" } ?? "")}"# }
    }

    /// What a page, or a record, says of a person.
    private struct Saying: Equatable {
        var id: Int?
        var isMeant = true
        /// Nil: nothing is said of it; "nil": null is.
        var name: String?
        var age: String?

        var json: String {
            var fields = [#""kind": "\#(isMeant ? "u" : "x")""#]
            if let id { fields.append("\"id\": \(id)") }
            if let name { fields.append(name == "nil" ? "\"name\": null" : "\"name\": \"\(name)\"") }
            if let age { fields.append("\"age\": \(age == "nil" ? "null" : age)") }
            return "{\(fields.joined(separator: ", "))}"
        }
    }

    private struct Page: Equatable {
        var tickets: [Ticket] = []
        var mentioned: [Saying] = []
    }

    /// What was read of a page: what it said, and whether anybody asked whom it mentions.
    private struct Reading: Equatable {
        let page: Page
        let takesMentions: Bool
    }

    private struct World {
        var random: SeededNumbers
        var pages: [Page]
        var staff: [Saying] = []
        var takesMentions = true
        private var readings: [Int: Reading] = [:]
        /// What the store has to hold.
        private var people: [Int: Person] = [:]
        private var tickets: [Ticket] = []

        init(seed: Int) {
            random = SeededNumbers(seed)
            pages = Array(repeating: Page(), count: 1 + random.next(upTo: 3))
            // A page without records ends a listing, and an empty listing proves nothing.
            for page in pages.indices { pages[page].tickets = [Ticket(id: 100 + page, subject: "a")] }
            for _ in 0..<12 { change() }
        }

        private mutating func word() -> String { ["a", "b", "c"][random.next(upTo: 3)] }

        private mutating func saying(isRecord: Bool = false) -> Saying {
            var saying = Saying(id: 1 + random.next(upTo: 6))
            if random.chance(70) { saying.name = random.chance(10) ? "nil" : word() }
            if random.chance(50) { saying.age = random.chance(10) ? "nil" : "\(random.next(upTo: 3))" }
            if isRecord { return saying }
            saying.isMeant = !random.chance(15)
            if random.chance(5) { saying.id = nil }
            return saying
        }

        mutating func change() {
            let page = random.next(upTo: pages.count)
            switch random.next(upTo: 8) {
            case 0, 1:
                let id = 2 + random.next(upTo: 9)
                for page in pages.indices { pages[page].tickets.removeAll { $0.id == id } }
                pages[page].tickets.append(Ticket(id: id, subject: word(), author: random.chance(70) ? 1 + random.next(upTo: 8) : nil))
            case 2:
                let id = 2 + random.next(upTo: 9)
                for page in pages.indices { pages[page].tickets.removeAll { $0.id == id } }
            case 3, 4, 5:
                let said = saying()
                pages[page].mentioned.append(said)
                if pages[page].mentioned.count > 5 { pages[page].mentioned.removeFirst(2) }
            case 6: if !pages[page].mentioned.isEmpty { pages[page].mentioned.removeLast() }
            default:
                let said = saying(isRecord: true)
                staff.removeAll { $0.id == said.id }
                if random.chance(20), !staff.isEmpty { staff.removeFirst() }
                staff.append(said)
            }
        }

        func serve(_ api: ScriptedAPI) {
            for (number, page) in pages.enumerated() {
                let tickets = page.tickets.map(\.json).joined(separator: ", "), mentioned = page.mentioned.map(\.json).joined(separator: ", ")
                api.set(
                    number == 0 ? "/tickets" : "/tickets?page=\(number)", #"{"users": [\#(mentioned)], "tickets": [\#(tickets)]}"#,
                    headers: number == pages.count - 1 ? [:] : ["Link": "</tickets?page=\(number + 1)>; rel=next"])
            }
            api.set("/people", "[\(staff.map(\.json).joined(separator: ", "))]")
        }

        /// The listing of tickets is read: those of its pages that are not as they were.
        mutating func readTickets() {
            for (number, page) in pages.enumerated() {
                let reading = Reading(page: page, takesMentions: takesMentions)
                if readings[number] == reading { continue }
                readings[number] = reading
                for case let author? in page.tickets.map(\.author) where people[author] == nil { people[author] = Person() }
                for saying in page.mentioned where takesMentions && saying.isMeant { take(saying) }
            }
            tickets = pages.flatMap(\.tickets)
        }

        private mutating func take(_ saying: Saying) {
            guard let id = saying.id else { return }
            var person = people[id] ?? Person()
            person.name = saying.name ?? person.name
            person.age = saying.age ?? person.age
            person.isStub = false
            people[id] = person
        }

        /// The people's own listing is read: they are what it says.
        mutating func readStaff() {
            for saying in staff {
                guard let id = saying.id else { continue }
                people[id] = Person(name: saying.name ?? "nil", age: saying.age ?? "nil", isStub: false)
            }
        }

        var rows: [String] {
            let people = people.map { "\($0) \($1.name) \($1.age)\($1.isStub ? " stub" : "")" }
            let tickets = tickets.map { "ticket \($0.id) \($0.subject) by \($0.author.map { "\($0)" } ?? "nobody")" }
            return people.sorted() + tickets.sorted()
        }
    }

    private static func rows(_ fixture: PipelineFixture) async throws -> [String] {
        let tickets = try await fixture.document.withWorker { worker in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Ticket")
            request.predicate = NSPredicate(format: "cisternDeletedAt == nil")
            return try worker.fetch(request).map { ticket in
                let author = ticket.value(forKey: "author") as? NSManagedObject
                return
                    "ticket \(ticket.value(forKey: "id") ?? 0) \(ticket.value(forKey: "subject") ?? "nil") by \(author?.value(forKey: "id") ?? "nobody")"
            }.sorted()
        }
        return try await MentionTests.people(fixture) + tickets
    }

    private static func configuration(takesMentions: Bool) -> String {
        let also = "also = [{ records = \"$.users\", entity = \"Person\", where = { path = \"$.kind\", equals = \"u\" } }]"
        return MentionTests.tickets(
            takesMentions ? also : "", "pages = { kind = \"link-header\" }", others: ScriptedAPI.resource("people"))
    }

    @Test(arguments: 1...20) func theStoreHoldsWhatWasReadLast(seed: Int) async throws {
        let api = ScriptedAPI()
        var world = World(seed: seed), fixture = try await api.fixture(Self.configuration(takesMentions: true)), steps: [String] = []
        for _ in 0..<24 {
            let sizes = [1, 3, 1000], size = sizes[world.random.next(upTo: sizes.count)]
            fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: size) }
            for _ in 0..<world.random.next(upTo: 4) { world.change() }
            world.serve(api)
            let step: String
            switch world.random.next(upTo: 10) {
            case 0...5:
                step = "tickets by \(size)"
                let report = try await fixture.sync("api/tickets")
                #expect(report.isComplete, "seed \(seed): \(report)")
                world.readTickets()
            case 6...7:
                step = "people"
                let report = try await fixture.sync("api/people")
                #expect(report.isComplete, "seed \(seed): \(report)")
                world.readStaff()
            case 8:
                step = "restart"
                await fixture.pipeline.stop(grace: .zero)
                try await fixture.document.close()
                let toml = Self.configuration(takesMentions: world.takesMentions)
                fixture = try await PipelineFixture(toml, folder: fixture.folder, now: fixture.clock.wallTime) { request, _ in api.answer(request) }
            default:
                world.takesMentions.toggle()
                step = "reload, \(world.takesMentions ? "with" : "without") mentions"
                try await MentionTests.reload(fixture, Self.configuration(takesMentions: world.takesMentions))
            }
            steps.append(step)
            let expected = world.rows, found = try await Self.rows(fixture)
            #expect(found == expected, "seed \(seed) after \(steps)")
            if found != expected { break }
        }
        try await fixture.end()
    }
}
