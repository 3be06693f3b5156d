import Foundation
import NIOHTTP1
import OpenCoreData
import OpenCoreDataTestSupport
import SyncConfiguration
import SyncTestSupport
import Synchronization

@testable import SyncPipeline

/// One random life of the whole pipeline, in one process: real document and file, a clock that is moved, servers that lie; reloads that change the mapping,
/// pauses, stops, kills, a file that somebody else has locked, a disk that is full or slow. One thing happens at a time, and everything comes to rest
/// before the next, but while the disk is slow: a life is a function of its seed.
final class Simulation: Sendable {
    /// What the pipeline asks and tells, from its threads.
    private struct World {
        var server: SimulatedServer
        var rules = SimulationRules()
        /// Requests that wait for an answer, in the order of their arrival.
        var pending: [Question] = []
        var nextQuestion = 0
        /// Counts processes: what an earlier one tells is not listened to.
        var process = 0
        var history: [String] = []
    }

    private struct Question {
        let id: Int
        let list: SimulatedServer.List
        let request: HTTPRequest
        let continuation: CheckedContinuation<StubTransport.Answer, any Error>
    }

    let clock = ManualClock()
    let folder: URL
    private let world: Mutex<World>

    /// What is wrong with the life of this seed; nil: nothing. A failing one is told with no step that it fails without.
    static func failure(seed: Int) async throws -> String? {
        var random = SeededNumbers(seed)
        var steps = Array(0..<8 + random.next(upTo: 32))
        guard var failure = try await Simulation(seed).live(seed, steps) else { return nil }
        for step in steps.reversed() {
            let fewer = steps.filter { $0 != step }
            guard let other = try await Simulation(seed).live(seed, fewer) else { continue }
            (steps, failure) = (fewer, other)
        }
        return "seed \(seed), steps \(steps): \(failure)"
    }

    private init(_ seed: Int) {
        var random = SeededNumbers(seed)
        world = Mutex(World(server: SimulatedServer(using: &random)))
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-simulation-\(UUID().uuidString)")
    }

    private func live(_ seed: Int, _ steps: [Int]) async throws -> String? {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var life = SimulatedLife(self)
        do {
            var random = SeededNumbers(seed)
            try await life.begin(Plan(using: &random))
            for step in steps {
                random = SeededNumbers((seed + 1) * 1_000 + step)
                try await life.step(&random)
            }
            try await life.settle(&random)
        } catch let failure as Failure {
            world.withLock { $0.rules.fail(failure.words) }
        }
        try await life.end()
        return world.withLock { world in world.rules.failure.map { "\($0)\n  \(world.history.joined(separator: "\n  "))" } }
    }

    struct Failure: Error {
        let words: String
    }

    // MARK: The configuration

    /// What a reload may change.
    struct Plan {
        var every: [ResourceScope: Int] = [:]
        var disabled: Set<ResourceScope> = []
        var removed: Set<ResourceScope> = []
        /// What a thing's name is read from.
        var nameField = "name"
        /// Whether what is gone goes at once, or becomes a tombstone.
        var deletes = false

        /// Everything is polled, every hour.
        init() {}

        init(using random: inout SeededNumbers) {
            for list in SimulatedServer.lists {
                every[list.scope] = [10, 60, 180][random.next(upTo: 3)]
                if random.chance(10) { disabled.insert(list.scope) }
                if random.chance(10) { removed.insert(list.scope) }
            }
            if random.chance(30) { nameField = "title" }
            deletes = random.chance(50)
        }

        var configuration: String {
            let sources = Dictionary(grouping: SimulatedServer.lists.filter { !removed.contains($0.scope) }, by: \.scope.source)
            let tables = sources.sorted { $0.key < $1.key }.map { source, lists in
                "[[source]]\nname = \"\(source)\"\nbase_url = \"https://\(source).example\"\n" + lists.map(resource).joined()
            }
            let entities = SimulatedServer.keys.keys.sorted().map { entity in
                """
                [entity.\(entity)]
                key = ["id"]
                [entity.\(entity).attributes]
                id = { type = "int64", optional = false }
                name = { type = "string", path = "$.\(nameField)" }
                age = { type = "int32" }
                [entity.\(entity).relationships]
                \(relationships[entity] ?? "")

                """
            }
            return """
                version = 1
                [daemon]
                contact = "test@localhost"
                start = "now"
                [defaults.schedule]
                min_interval = "60s"
                [defaults.limits]
                max_bad_fraction = 0.9
                \(tables.joined())
                \(entities.joined())
                """
        }

        private var relationships: [String: String] {
            [
                "Person": "team = { to = \"Team\", match = \"key\", inverse = \"people\" }",
                "Team": "people = { to = \"Person\", many = true, inverse = \"team\" }",
            ]
        }

        private func resource(_ list: SimulatedServer.List) -> String {
            let pages =
                switch list.kind {
                case .link: "pages = { kind = \"link-header\" }"
                case .number: "records = \"$.items\"\n  pages = { kind = \"page\", size_param = \"\", stop = { total_pages = \"$.pages\" } }"
                case .cursor: "records = \"$.items\"\n  pages = { kind = \"cursor\", path = \"$.next\" }"
                case .keyset: "records = \"$.items\"\n  pages = { kind = \"keyset\", from = \"$.key\" }"
                }
            let action = deletes ? "delete" : "tombstone"
            let deletion =
                list.kind == .keyset
                ? "detect = \"field\", path = \"$.gone\", action = \"\(action)\""
                : "detect = \"snapshot\", action = \"\(action)\", confirm_runs = \(SimulationRules.confirmRuns), max_fraction = 1.0, min_expected = 0"
            return """
                  [[source.resource]]
                  name = "\(list.scope.resource)"
                  entity = "\(list.entity)"
                  path = "/\(list.scope.resource)"
                  enabled = \(!disabled.contains(list.scope))
                  \(pages)
                  schedule = { every = "\(every[list.scope] ?? 60)m" }
                  deletion = { \(deletion) }

                """
        }
    }

    // MARK: The servers' side

    /// A request comes in, and waits until the life lets it be answered.
    func ask(_ request: HTTPRequest, by process: Int) async throws -> StubTransport.Answer {
        let url = request.address.url
        let scope = ResourceScope(source: url.host.map { String($0.prefix { $0 != "." }) } ?? "", resource: String(url.path.dropFirst()))
        guard let list = SimulatedServer.list(scope) else { return .response(status: 404) }
        let id = world.withLock { world in
            world.nextQuestion += 1
            return world.nextQuestion
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = Task.isCancelled
                world.withLock { world in
                    guard !isCancelled, world.process == process else { return continuation.resume(throwing: CancellationError()) }
                    world.rules.request(scope, "\(url)", at: clock.instant)
                    world.pending.append(Question(id: id, list: list, request: request, continuation: continuation))
                }
            }
        } onCancel: {
            let question = world.withLock { world in
                world.pending.firstIndex { $0.id == id }.map { world.pending.remove(at: $0) }
            }
            question?.continuation.resume(throwing: CancellationError())
        }
    }

    func heard(_ event: SyncEvent, from process: Int) {
        world.withLock { world in
            guard world.process == process else { return }
            if case .runFinished(let report) = event {
                world.history.append("    \(report.scope) ended: \(report.outcome)\(report.isComplete ? ", complete" : "") \(report.error ?? "")")
            }
            world.rules.happened(event, at: clock.instant)
        }
    }

    var pendingScopes: [ResourceScope] { world.withLock { $0.pending.map(\.list.scope) } }
    func pagesAsked(_ scope: ResourceScope) -> Int { world.withLock { $0.rules.pagesAsked(scope) } }
    var failure: String? { world.withLock { $0.rules.failure } }

    /// Answers one of the requests that wait; nothing where none does.
    func answer(_ lie: SimulatedServer.Lie?, using random: inout SeededNumbers) {
        var numbers = random
        let answered: (Question, SimulatedServer.Reply)? = world.withLock { world in
            // In an order that does not depend on which thread was first.
            let waiting = world.pending.sorted { ($0.list.scope, $0.id) < ($1.list.scope, $1.id) }
            guard let question = numbers.element(waiting) else { return nil }
            world.pending.removeAll { $0.id == question.id }
            let reply = world.server.reply(to: question.request, of: question.list, lie, using: &numbers)
            world.rules.answer(question.list.scope, "\(question.request.address.url)", reply, at: clock.instant)
            world.history.append("\(question.list.scope) \(reply.page): \(reply.words)")
            return (question, reply)
        }
        random = numbers
        if let (question, reply) = answered { question.continuation.resume(returning: reply.answer) }
    }

    func change(using random: inout SeededNumbers) {
        var numbers = random
        world.withLock { world in
            world.server.change(using: &numbers)
            world.history.append("the world changes: \(world.server.names.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.keys.sorted())" })")
        }
        random = numbers
    }

    func tell(_ words: String, _ change: @Sendable (inout SimulationRules) -> Void = { _ in }) {
        world.withLock { world in
            if !words.isEmpty { world.history.append(words) }
            change(&world.rules)
        }
    }

    /// Nobody listens to the process before any more.
    ///
    /// - Parameter prepare: done while nobody asks.
    func nextProcess(_ prepare: () -> Void = {}) -> Int {
        let (number, abandoned) = world.withLock { world in
            prepare()
            world.process += 1
            defer { world.pending = [] }
            return (world.process, world.pending)
        }
        for question in abandoned { question.continuation.resume(throwing: CancellationError()) }
        return number
    }

    func ask<T: Sendable>(_ question: @Sendable (SimulatedServer, SimulationRules) -> T) -> T {
        world.withLock { question($0.server, $0.rules) }
    }
}
