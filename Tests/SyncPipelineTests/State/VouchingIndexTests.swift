import Foundation
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What is remembered of all that resources and pages vouch for says what reading all of it would.
@Suite struct VouchingIndexTests {
    private static let teams = ResourceScope(source: "api", resource: "teams")
    private static let scopes: [ResourceScope] =
        [ResourceScope(source: "api", resource: "people"), ResourceScope(source: "api", resource: "team"), teams]
        + ["1", "2", "3"].map { ResourceScope(source: "api", resource: "teams", partition: $0) }

    private typealias Write = @Sendable (NSManagedObjectContext) throws -> Void

    /// Something that is written.
    private struct Step {
        let name: String
        let place: VouchingJournal.Place
        let write: Write
    }

    private static func someKeys(_ random: inout SeededNumbers) -> KeyRuns {
        var collector = KeyCollector()
        for _ in 0..<random.next(upTo: 4) {
            let first = Int64(1 + random.next(upTo: random.chance(70) ? 40 : 2000))
            collector.add(first...first + Int64(random.next(upTo: random.chance(80) ? 6 : 900)))
        }
        return collector.keys
    }

    private static func anyStep(_ random: inout SeededNumbers) -> Step {
        let scope = scopes[random.next(upTo: scopes.count)], keys = someKeys(&random), request = "p\(random.next(upTo: 3))"
        let fingerprint = "\(random.chance(75) ? "Person" : "Team") \(random.next(upTo: 2))"
        switch random.next(upTo: 10) {
        case 0...3:
            return Step(name: "\(request) of \(scope)", place: VouchingJournal.Place(scope: scope, page: request)) { worker in
                try StoredRequest(validators: nil, facts: nil, run: 1).store(
                    members: keys, listed: [], manifest: Manifest(), scope: scope, key: request, fingerprint: fingerprint, in: worker)
            }
        case 4...5:
            return Step(name: "the end of \(scope)", place: VouchingJournal.Place(scope: scope)) { worker in
                for entry in try StoredKeys.entries(of: scope, in: worker) where entry.kind == .previous { entry.delete(in: worker) }
                try StoredKeys.set(keys.data, .members, of: scope, in: worker)
                var row = try ResourceTable.row(of: scope, in: worker)
                row.mapping = fingerprint
                row.write(in: worker)
            }
        case 6:
            let isRemoved = random.chance(50)
            return Step(name: "parts \(isRemoved ? "gone" : "there")", place: VouchingJournal.Place(scope: teams)) { worker in
                for var part in try ResourceTable.parts(of: teams, in: worker) where part.isRemoved != isRemoved {
                    part.isRemoved = isRemoved
                    part.write(in: worker)
                    break
                }
            }
        case 7:
            return Step(name: "one list", place: VouchingJournal.Place(scope: teams)) { worker in
                for part in try ResourceTable.parts(of: teams, in: worker) {
                    for entry in try StoredKeys.entries(of: part.scope, in: worker) { entry.delete(in: worker) }
                    for page in try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(part.scope)")], in: worker) { page.delete(in: worker) }
                    part.delete(in: worker)
                }
            }
        case 8:
            return Step(name: "\(request) of \(scope) forgotten", place: VouchingJournal.Place(scope: scope)) { worker in
                for entry in try StoredKeys.entries(of: scope, in: worker) where entry.request == request { entry.delete(in: worker) }
                try RequestTable.existing(of: scope, request, in: worker)?.delete(in: worker)
            }
        default:
            return Step(name: "\(request) of \(scope) damaged", place: VouchingJournal.Place(scope: scope, page: request)) { worker in
                for var row in try StateRow<KeysTable>.all(where: [.isEqual(\.scope, "\(scope)"), .isEqual(\.request, request)], in: worker) {
                    row.keys = Data([0x80])
                    row.write(in: worker)
                }
            }
        }
    }

    /// Whether a memory says of some rows what the store does; how they differ.
    private static func difference(_ memory: VouchingMemory, _ random: inout SeededNumbers, in fixture: PipelineFixture) async throws -> String? {
        let keys = random.chance(10) ? KeyRuns(ascending: [1...Int64.max]) : someKeys(&random), entity = random.chance(75) ? "Person" : "Team"
        let scope = scopes[random.next(upTo: scopes.count)]
        return try await fixture.document.withWorker { worker in
            let known = try memory.vouched(among: keys, of: entity, byOthersThan: scope, in: worker)
            let stored = try RunState.vouched(among: keys, of: entity, byOthersThan: scope, in: worker)
            return known == stored ? nil : "\(known.runs) and not \(stored.runs) of \(entity) besides \(scope)"
        }
    }

    @Test(arguments: 1...20) func whatIsRememberedIsWhatIsStored(seed: Int) async throws {
        var random = SeededNumbers(seed), steps: [String] = []
        let fixture = try await ScriptedAPI().fixture(ScriptedAPI.people())
        // Who asks seldom hears that he has missed something.
        let journal = VouchingJournal(most: random.chance(30) ? 3 : 1000)
        var memories = (1...2).map { _ in VouchingMemory(journal) }
        for _ in 0..<120 {
            let step = Self.anyStep(&random), isSaved = !random.chance(10)
            steps.append(step.name + (isSaved ? "" : ", not saved"))
            journal.begin(step.place)
            // Before it is written, after it is saved and before anybody says so, and after that.
            if random.chance(20), let wrong = try await Self.difference(memories[0], &random, in: fixture) {
                Issue.record("seed \(seed), during \(steps.suffix(12)): \(wrong)")
                break
            }
            try await fixture.document.withWorker { worker in
                try step.write(worker)
                if isSaved { try worker.save() }
            }
            if random.chance(40), let wrong = try await Self.difference(memories[random.next(upTo: 2)], &random, in: fixture) {
                Issue.record("seed \(seed), at the end of \(steps.suffix(12)): \(wrong)")
                break
            }
            journal.end(step.place)
            if random.chance(60), let wrong = try await Self.difference(memories[random.next(upTo: 2)], &random, in: fixture) {
                Issue.record("seed \(seed), after \(steps.suffix(12)): \(wrong)")
                break
            }
            if random.chance(4) { memories[random.next(upTo: 2)] = VouchingMemory(journal) }
        }
        try await fixture.end()
    }

    // MARK: How much is read

    /// How many rows of the pipeline's tables a run reads for what others vouch for, in which each of so many parts has lost a row of its own, and one that the
    /// next part has as well.
    private static func rowsRead(parts count: Int) async throws -> Int {
        let api = ScriptedAPI(), names = (1...count).map { "\"\($0)\"" }.joined(separator: ", ")
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person",
                "for_each = { values = [\(names)], as = \"part\" }\ndeletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }"
            ).replacing("path = \"/people\"", with: "path = \"/{part}/people\""))
        let fixture = try await api.fixture(toml)
        for part in 1...count { api.set("/\(part)/people", "[{\"id\": \(part)}, {\"id\": \(10_000 + part)}, {\"id\": \(part % count + 1)}]") }
        #expect(try await fixture.sync("api/people").counts.inserted == 2 * count)
        for part in 1...count { api.set("/\(part)/people", "[{\"id\": \(part)}]") }
        let read = Mutex(0)
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, vouched: { rows in read.withLock { $0 += rows } }) }
        let report = try await fixture.sync("api/people")
        #expect(report.counts.deleted == count && report.isComplete, "\(report)")
        #expect(try await fixture.live() == (1...count).map { "\($0)" }.sorted())
        try await fixture.end()
        return read.withLock { $0 }
    }

    @Test func aRunOfManyPartsReadsWhatOthersVouchForOnce() async throws {
        let few = try await Self.rowsRead(parts: 20), many = try await Self.rowsRead(parts: 80)
        // A few rows for each part, however many parts there are; each part that read all the others' would read 80 times 80.
        #expect(few > 0 && few <= 20 * 24, "\(few)")
        #expect(many > few && many <= 80 * 24, "\(many)")
    }

    @Test func aReaderWhoHasMissedSomethingBeginsAnew() {
        let journal = VouchingJournal(most: 2), scope = Self.scopes[0]
        let places = (0..<4).map { VouchingJournal.Place(scope: scope, page: "\($0)") }
        let reader = journal.open()
        journal.begin(places[0])
        #expect(journal.changes(for: reader) == [places[0]])
        journal.end(places[0])
        #expect(journal.changes(for: reader) == [places[0]])
        #expect(journal.changes(for: reader) == [])
        for place in places {
            journal.begin(place)
            journal.end(place)
        }
        #expect(journal.changes(for: reader) == nil)
        #expect(journal.changes(for: reader) == [])
        // Two of one page are under way, and one of them ends.
        for _ in 1...2 { journal.begin(places[1]) }
        journal.end(places[1])
        #expect(journal.changes(for: reader) == [places[1]])
        #expect(journal.changes(for: reader) == [places[1]])
        journal.close(reader)
        #expect(journal.changes(for: reader) == nil)
    }
}
