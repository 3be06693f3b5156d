import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// A listing, a list of what was deleted, and pages that mention the same objects, beside a model of who is there: whoever was listed or mentioned, and was not
/// said to be gone since.
@Suite struct DeletionListPropertyTests {
    private struct World {
        var random: SeededNumbers
        private var listed: Set<Int> = [1, 2]
        private var deleted: Set<Int> = []
        private var mentioned: Set<Int> = []
        /// Everybody who has a row, and those of them who are there.
        private var known: Set<Int> = []
        private(set) var alive: Set<Int> = []
        private var readings = 0

        init(seed: Int) { random = SeededNumbers(seed) }

        private mutating func someone() -> Int { 1 + random.next(upTo: 8) }

        mutating func change() {
            let id = someone()
            switch random.next(upTo: 6) {
            case 0: listed.insert(id)
            // A list without records would end the listing before it began.
            case 1: if listed.count > 1 { listed.remove(id) }
            case 2: deleted.insert(id)
            case 3: deleted.remove(id)
            case 4: mentioned.insert(id)
            default: mentioned.remove(id)
            }
        }

        /// The listing is the same as long as nothing changes; the others are never what they were, so that all that they say is said again.
        mutating func serve(_ api: ScriptedAPI) {
            readings += 1
            func records(_ ids: Set<Int>) -> String { ids.sorted().map { "{\"id\": \($0)}" }.joined(separator: ", ") }
            let people = "[\(records(listed))]"
            api.set("/people", people, etag: "\"\(BodyDigest(of: people))\"")
            api.set("/deleted", "{\"reading\": \(readings), \"items\": [\(records(deleted))]}")
            api.set("/tickets", "{\"reading\": \(readings), \"tickets\": [{\"id\": 1}], \"users\": [\(records(mentioned))]}")
        }

        mutating func readPeople() {
            // Its own record brings back whoever was gone.
            known.formUnion(listed)
            alive.formUnion(listed)
        }

        mutating func readDeleted() { alive.subtract(deleted) }

        mutating func readTickets() {
            // Nobody who was said to be gone comes back because he is mentioned; whoever has no row is unknown.
            alive.formUnion(mentioned.subtracting(known))
            known.formUnion(mentioned)
        }

        var expected: [String] { alive.map { "\($0)" }.sorted() }
    }

    private static let configuration = ScriptedAPI.configuration(
        ScriptedAPI.resource("people"),
        ScriptedAPI.resource("deleted", of: "Person", "records = \"$.items\"\ndeletion = { detect = \"records\", max_count = 1000 }"),
        ScriptedAPI.resource("tickets", of: "Ticket", "records = \"$.tickets\"\nalso = [{ records = \"$.users\", entity = \"Person\" }]"),
        defaults: "[defaults.retry]\nattempts = 1",
        entities: """
            [entity.Ticket]
            key = ["id"]
            [entity.Ticket.attributes]
            id = { type = "int64", optional = false }
            \(ScriptedAPI.entities())
            """)

    @Test(arguments: 1...20) func whoWasListedOrMentionedIsThereUntilHeIsSaidToBeGone(seed: Int) async throws {
        let api = ScriptedAPI()
        var world = World(seed: seed), fixture = try await api.fixture(Self.configuration), steps: [String] = []
        for _ in 0..<24 {
            let sizes = [1, 3, 1000], size = sizes[world.random.next(upTo: sizes.count)]
            fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: size) }
            for _ in 0..<world.random.next(upTo: 4) { world.change() }
            world.serve(api)
            let step = world.random.next(upTo: 10)
            switch step {
            case 0...2:
                steps.append("people")
                #expect(try await fixture.sync("api/people").isComplete)
                world.readPeople()
            case 3...5:
                steps.append("deleted")
                #expect(try await fixture.sync("api/deleted").isComplete)
                world.readDeleted()
            case 6...8:
                steps.append("tickets")
                #expect(try await fixture.sync("api/tickets").isComplete)
                world.readTickets()
            default:
                steps.append("restart")
                await fixture.pipeline.stop(grace: .zero)
                try await fixture.document.close()
                fixture = try await PipelineFixture(Self.configuration, folder: fixture.folder, now: fixture.clock.wallTime) { request, _ in
                    api.answer(request)
                }
            }
            let found = try await fixture.live()
            #expect(found == world.expected, "seed \(seed) after \(steps)")
            if found != world.expected { break }
        }
        try await fixture.end()
    }
}
