import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization

@testable import SyncPipeline

/// Several polls of several sources that tell of the same things: through the pipeline in an order that a seed decides, and beside it through a
/// ledger that reads the same pages one after the other.
final class ArrivalRun: Sendable {
    enum Order {
        /// All at once, one step at a time, in an order that the seed decides.
        case seeded
        /// One source after the other, and nothing beside it.
        case sequential
        /// All at once, as it comes.
        case free
    }

    /// What the server is asked, beside what it answers.
    private struct Server {
        var world: ArrivalWorld
        var poll = 0
        var failing: Set<String> = []
        /// What the sources vouched for before this poll.
        var vouched: [String: Set<ThingName>] = [:]
        /// The pages after those that were given out with their records, by source, in this poll: each is asked for while the one before it is
        /// parsed, and when it is answered makes no difference.
        var ahead: Set<PageName> = []
        /// The pages that were given out, by source, in this poll.
        var read: [String: [Int: [Saying]]] = [:]
        var seen: [String: Set<ThingName>] = [:]
        var failed: Set<String> = []
        var log: [String] = []
    }

    private struct PageName: Hashable {
        let source: String
        let page: Int
    }

    /// How many pages are parsed at the same time.
    private let workers: Int
    private let plan: ArrivalWorld.Plan
    private let server: Mutex<Server>
    private let order: Order
    private let gate: ArrivalGate?
    private let disk = SimulatedDisk()
    private let batchSize: Int

    /// What the pipeline made of it that it should not have; nil if nothing.
    static func failure(seed: Int, _ order: Order = .seeded) async throws -> String? {
        var random = SeededNumbers(seed)
        let run = ArrivalRun(seed: seed, order, using: &random)
        let difference = try await run.difference(using: &random)
        return difference.map { "seed \(seed): \($0)" }
    }

    private init(seed: Int, _ order: Order, using random: inout SeededNumbers) {
        var all = [("people", "Person"), ("directory", "Person"), ("teams", "Team"), ("tags", "Tag"), ("posts", "Post")]
        all.shuffle(using: &random)
        let sources = all.prefix(2 + random.next(upTo: 3)).map { (name: $0.0, entity: $0.1) }
        var plan = ArrivalWorld.Plan(
            seed: seed, sources: sources, keepsTombstones: random.chance(60), teamsSayMembers: random.chance(60), tagsSayPeople: random.chance(60))
        for (source, _) in sources { plan.pages[source] = 1 + random.next(upTo: 3) }
        self.plan = plan
        server = Mutex(Server(world: ArrivalWorld(plan, using: &random)))
        batchSize = random.chance(50) ? 1 + random.next(upTo: 4) : 1000
        self.order = order
        // A third has to wait for the system to notice that the threads of two cores are taken.
        workers = seed % 8 == 0 ? 3 : 2
        gate = order == .seeded ? ArrivalGate() : nil
    }

    // MARK: The configuration

    private var configuration: String {
        let sources = plan.sources.map { source in
            """
            [[source]]
            name = "\(source.name)"
            base_url = "https://\(source.name).example"
              [[source.resource]]
              name = "list"
              entity = "\(source.entity)"
              path = "/list"
              pages = { kind = "link-header" }
              deletion = { detect = "snapshot", action = "\(plan.keepsTombstones ? "tombstone" : "delete")", confirm_runs = 1, max_fraction = 1.0, min_expected = 0 }

            """
        }
        return """
            version = 1
            [daemon]
            contact = "test@localhost"
            max_parallel_requests = 8
            max_parallel_parses = \(workers)
            [defaults.schedule]
            every = "1h"
            [defaults.limits]
            max_bad_fraction = 0.9
            \(sources.joined())
            [entity.Person]
            key = ["id"]
            [entity.Person.attributes]
            id = { type = "int64", optional = false }
            name = { type = "string" }
            bio = { type = "string" }
            [entity.Person.relationships]
            boss = { to = "Person" }
            team = { to = "Team", inverse = "members" }
            tags = { to = "Tag", many = true, inverse = "people" }
            [entity.Team]
            key = ["id"]
            [entity.Team.attributes]
            id = { type = "int64", optional = false }
            title = { type = "string" }
            motto = { type = "string" }
            [entity.Team.relationships]
            members = { to = "Person", many = true }
            lead = { to = "Person" }
            ranking = { to = "Person", many = true, ordered = true }
            [entity.Tag]
            key = ["id"]
            [entity.Tag.attributes]
            id = { type = "int64", optional = false }
            color = { type = "string" }
            [entity.Tag.relationships]
            people = { to = "Person", many = true }
            [entity.Post]
            key = ["id"]
            [entity.Post.attributes]
            id = { type = "int64", optional = false }
            text = { type = "string" }
            [entity.Post.relationships]
            author = { to = "Person" }
            likers = { to = "Person", many = true }
            """
    }

    // MARK: The server

    private func answer(_ request: HTTPRequest) async -> StubTransport.Answer {
        let url = request.address.url
        let source = url.host.map { String($0.prefix { $0 != "." }) } ?? ""
        let page = url.query.flatMap { Int($0.dropFirst("page=".count)) } ?? 0
        let isAhead = server.withLock { $0.ahead.remove(PageName(source: source, page: page)) != nil }
        if !isAhead { await gate?.fetch(source) }
        let validator = request.headers.first(name: "If-None-Match")
        return server.withLock { server in
            let entity = plan.sources.first { $0.name == source }?.entity ?? ""
            let pages = server.world.pages(source, entity, vouched: server.vouched[source] ?? [])
            let isLast = page + 1 >= pages.count
            if server.failing.contains(source) && isLast {
                server.failed.insert(source)
                server.log.append("\(source) \(page): 404")
                return .response(status: 404)
            }
            let records = page < pages.count ? pages[page] : []
            let body = "[\(records.map(\.json).joined(separator: ",\n"))]"
            let tag = "\"\(BodyDigest(of: body))\(isLast)\""
            server.seen[source, default: []].formUnion(records.map(\.name))
            if validator == tag {
                server.log.append("\(source) \(page): 304")
                // What is answered depends on who asks for what, not on when.
                var random = SeededNumbers(plan.seed + 1_000_000 + server.poll * 1000 + page * 100 + source.utf8.reduce(0) { $0 &+ Int($1) } % 100)
                if random.chance(70) { return .response(status: 304) }
            } else {
                server.read[source, default: [:]][page] = records
                server.log.append("\(source) \(page): \(body)")
            }
            var headers: HTTPHeaders = ["Content-Type": "application/json", "ETag": tag]
            if !isLast {
                server.ahead.insert(PageName(source: source, page: page + 1))
                headers.add(name: "Link", value: "<https://\(source).example/list?page=\(page + 1)>; rel=\"next\"")
            }
            return .response(status: 200, headers: headers, body: Array(body.utf8))
        }
    }

    // MARK: The polls

    private func open(_ folder: URL?) async throws -> PipelineFixture {
        let fixture = try await PipelineFixture(configuration, folder: folder) { [weak self] request, _ in
            await self?.answer(request) ?? .response(status: 500)
        }
        try disk.stand(under: fixture.document)
        let gate = gate
        // Who waits at the gate holds a thread. Nobody else's pages are parsed on these.
        fixture.pipeline.parseQueue.qualityOfService = .userInitiated
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: batchSize, listSize: 40) { scope, _ in gate?.parse(scope.source) }
        }
        return fixture
    }

    private func difference(using random: inout SeededNumbers) async throws -> String? {
        var fixture = try await open(nil)
        var ledger = ArrivalLedger()
        var earlier: [ArrivalWorld] = []
        var result: String?
        let polls = 3 + random.next(upTo: 3)
        for poll in 1...polls where result == nil {
            if poll > 1 {
                earlier.append(server.withLock { $0.world })
                server.withLock { $0.world.change(using: &random, earlier: earlier) }
                if random.chance(15) {
                    await fixture.pipeline.stop(grace: .zero)
                    try await fixture.document.close()
                    fixture = try await open(fixture.folder)
                }
            }
            // The last poll is one of everything, and nothing fails.
            let isLast = poll == polls
            let asked = isLast || random.chance(60) ? plan.sources.map(\.name) : plan.sources.map(\.name).filter { _ in random.chance(60) }
            let failing = isLast ? [] : Set(asked.filter { _ in random.chance(7) })
            server.withLock { server in
                (server.read, server.seen, server.failed, server.ahead, server.poll) = ([:], [:], [], [], poll)
                server.failing = failing
                server.vouched = ledger.known
                server.log.append("-- poll \(poll)")
            }
            let reports = try await sync(asked, fixture, using: &random)
            result = try await judge(reports, asked: asked, isLast: isLast, fixture, &ledger).map { "poll \(poll): \($0)" }
        }
        try await fixture.end()
        return result.map { "\($0)\n\(server.withLock { $0.log }.joined(separator: "\n"))" }
    }

    private func sync(_ asked: [String], _ fixture: PipelineFixture, using random: inout SeededNumbers) async throws -> [RunReport] {
        fixture.clock.advance(by: .seconds(3600))
        if order == .sequential {
            var reports: [RunReport] = []
            for source in asked { reports += try await fixture.pipeline.sync(source, cause: .control, wait: true) }
            return reports
        }
        let gate = gate
        gate?.begin(asked.count)
        let all = Task {
            try await withThrowingTaskGroup(of: [RunReport].self) { group in
                for source in asked {
                    group.addTask {
                        defer { gate?.end() }
                        return try await fixture.pipeline.sync(source, cause: .control, wait: true)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
        guard let gate else { return try await all.value }
        var numbers = random
        var isGoingOn = true
        while isGoingOn {
            let saves = numbers.chance(5), isFull = numbers.chance(30)
            isGoingOn = try await gate.step(workers: workers) {
                numbers.next(upTo: $0)
            } between: {
                guard saves else { return }
                guard isFull else { return try await fixture.document.save() }
                disk.isFull = true
                try? await fixture.document.save()
                disk.isFull = false
            }
        }
        random = numbers
        return try await all.value
    }

    // MARK: The judgement

    private func judge(
        _ reports: [RunReport], asked: [String], isLast: Bool, _ fixture: PipelineFixture, _ ledger: inout ArrivalLedger
    ) async throws -> String? {
        let (read, seen, failed) = server.withLock { ($0.read, $0.seen, $0.failed) }
        if let report = reports.first(where: { !failed.contains($0.scope.source) && $0.outcome != .succeeded }) {
            return "\(report.scope): \(report.outcome), \(report.error ?? "")"
        }
        for source in asked {
            for (_, records) in (read[source] ?? [:]).sorted(by: { $0.key < $1.key }) { ledger.read(records, of: source) }
        }
        var removed = 0
        for source in asked where !failed.contains(source) {
            removed += ledger.conclude(source, seen: seen[source] ?? [], keepsTombstones: plan.keepsTombstones)
        }
        let found = try await contents(fixture)
        let wanted = ledger.lines
        if found.lines != wanted {
            let missing = wanted.filter { !found.lines.contains($0) }, wrong = found.lines.filter { !wanted.contains($0) }
            return "\nrows that should be there:\n\(missing.joined(separator: "\n"))\nand those that are:\n\(wrong.joined(separator: "\n"))"
        }
        let deleted = reports.map(\.counts.deleted).reduce(0, +)
        // Two runs that remove one row at the same time may both count it.
        if order != .free && deleted != removed { return "\(deleted) rows were removed and not \(removed)" }
        for source in asked where !failed.contains(source) {
            let names = (seen[source] ?? []).sorted()
            if found.members[source] != names { return "\(source) vouches for \(found.members[source] ?? []) and not \(names)" }
        }
        return isLast ? staleRecord(ledger) : nil
    }

    /// After a poll of everything each record that is listed is what its row is, whatever came before.
    private func staleRecord(_ ledger: ArrivalLedger) -> String? {
        let (world, vouched) = server.withLock { ($0.world, $0.vouched) }
        for (source, entity) in plan.sources {
            for record in world.pages(source, entity, vouched: vouched[source] ?? []).joined() where !record.isBroken && !record.isOld {
                guard let row = ledger.rows[record.name] else { return "\(record.name) is listed and has no row" }
                for (name, value) in record.values where row.values[name] != value { return "\(record.name).\(name) is stale" }
                for (name, target) in record.ones where row.ones[name] != target?.name { return "\(record.name).\(name) is stale" }
                if row.isStub || row.isTombstone || !row.hasHash { return "\(record.name) is not complete" }
            }
        }
        return nil
    }

    /// The rows of all entities, and what each source's rows are, by key.
    private func contents(_ fixture: PipelineFixture) async throws -> (lines: [String], members: [String: [ThingName]]) {
        let sources = plan.sources
        return try await fixture.document.withWorker { worker in
            guard let model = worker.endOfChain?.managedObjectModel else { return ([], [:]) }
            var names: [NSManagedObjectID: ThingName] = [:]
            var rows: [(id: NSManagedObjectID, row: RowSnapshot)] = []
            for entity in ArrivalWorld.attributes.keys.sorted() {
                guard let description = model.entitiesByName[entity] else { continue }
                for found in try worker.fetch(FetchPlan(entity: description)) {
                    guard let row = found.row, case .int64(let key) = row["id"] else { continue }
                    names[found.id] = ThingName(entity: entity, key: Int(key))
                    rows.append((found.id, row))
                }
            }
            var lines: [(ThingName, String)] = []
            for (id, row) in rows {
                guard let name = names[id] else { continue }
                lines.append((name, ArrivalLedger.line(name, try Self.read(row, id, names: names, in: worker))))
            }
            var members: [String: [ThingName]] = [:]
            for row in try StateRow<ResourceTable>.all(in: worker) {
                let source = row.source
                guard let entity = sources.first(where: { $0.name == source })?.entity else { continue }
                let keys = try StoredKeys.keys(.members, of: row.scope, in: worker) ?? []
                let known = Dictionary(uniqueKeysWithValues: names.filter { $0.value.entity == entity }.map { ($0.key.key, $0.value) })
                members[source] = keys.map { known[$0] ?? ThingName(entity: "nothing", key: Int($0)) }.sorted()
            }
            return (lines.sorted { $0.0 < $1.0 }.map(\.1), members)
        }
    }

    private static func read(
        _ row: RowSnapshot, _ id: NSManagedObjectID, names: [NSManagedObjectID: ThingName], in worker: NSManagedObjectContext
    ) throws -> ArrivalLedger.Row {
        var result = ArrivalLedger.Row()
        let entity = names[id]?.entity ?? ""
        for attribute in ArrivalWorld.attributes[entity] ?? [] {
            if case .string(let value) = row[attribute] { result.values[attribute] = value }
        }
        for (one, target) in ArrivalWorld.ones[entity] ?? [] {
            result.ones[one] = row[one].objectID.map { names[$0] ?? ThingName(entity: "no \(target)", key: Int($0.key)) }
        }
        for (list, _) in ArrivalWorld.lists[entity] ?? [] {
            guard let number = id.layout.toManys.firstIndex(where: { $0.name == list }) else { continue }
            let members = try worker.members(of: RelationshipKey(owner: id, toMany: number))
            result.lists[list] = members.map { names[$0] ?? ThingName(entity: "nothing", key: Int($0.key)) }
        }
        result.isStub = row[ModelBuilder.Bookkeeping.stub.rawValue] == .bool(true)
        result.hasHash = !row[ModelBuilder.Bookkeeping.hash.rawValue].isNull
        result.isTombstone = !row[ModelBuilder.Bookkeeping.deletedAt.rawValue].isNull
        return result
    }
}
