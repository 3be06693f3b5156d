import Dispatch
import Foundation
import NIOHTTP1
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// How many worker contexts are in use at once, and who gets the next one.
@Suite struct WorkersTests {
    private struct Refused: Error {}

    /// Keeps workers until it is opened, and knows how many it keeps.
    private final class Hold: Sendable {
        private let state = Mutex((now: 0, most: 0))
        private let mayGo = DispatchSemaphore(value: 0)

        var now: Int { state.withLock { $0.now } }
        var most: Int { state.withLock { $0.most } }

        func pass() {
            state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            mayGo.wait()
            state.withLock { $0.now -= 1 }
        }

        func letGo(_ count: Int) { for _ in 0..<count { mayGo.signal() } }
    }

    private static func resources(_ count: Int) -> String {
        let resources = (0..<count).map { "[[source.resource]]\nname = \"r\($0)\"\nentity = \"Thing\"\npath = \"/\($0)\"\n" }
        let head = """
            version = 1
            [daemon]
            contact = "test@localhost"
            [entity.Thing]
            key = ["id"]
            [entity.Thing.attributes]
            id = { type = "int64", optional = false }
            [[source]]
            name = "api"
            base_url = "https://api.example"

            """
        return head + resources.joined()
    }

    @Test(.timeLimit(.minutes(60))) func threeHundredPollsUseAtMostFourWorkers() async throws {
        let count = 300, isGone = Atomic(true), hold = Hold()
        let fixture = try await PipelineFixture(Self.resources(count)) { request, _ in
            if isGone.load(ordering: .relaxed) { return .response(status: 404) }
            let id = request.address.url.lastPathComponent
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[{\"id\": \(id)}]".utf8))
        }
        // Runs that fail do not wait for each other's conclusions.
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, concludes: { _ in hold.pass() }) }
        async let failing = fixture.sync()
        let workers = fixture.pipeline.workers
        while hold.now <= Workers.most, hold.now + workers.counts.waiting < count { await Task.yield() }
        #expect(hold.now == Workers.most)
        #expect(workers.counts == (Workers.most, count - Workers.most))
        hold.letGo(count)
        let failed = try await failing
        #expect(failed.count == count && failed.allSatisfy { $0.outcome == .failed })
        #expect(hold.most == Workers.most)
        fixture.pipeline.parseProbe.withLock { $0 = nil }
        isGone.store(false, ordering: .relaxed)
        let reports = try await fixture.sync()
        #expect(reports.count == count && reports.allSatisfy { $0.outcome == .succeeded })
        #expect(try await fixture.values("id", of: "Thing").count == count)
        #expect(workers.counts == (0, 0))
        try await fixture.end()
    }

    @Test(.timeLimit(.minutes(60))) func aStopEndsRunsThatWaitForAWorker() async throws {
        let count = 40, hold = Hold()
        let fixture = try await PipelineFixture(Self.resources(count)) { _, _ in .response(status: 404) }
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, concludes: { _ in hold.pass() }) }
        let pipeline = fixture.pipeline, workers = pipeline.workers
        async let reports = fixture.sync()
        while hold.now + workers.counts.waiting < count { await Task.yield() }
        async let stopped: Void = pipeline.stop(grace: .zero)
        while !pipeline.state.withLock({ $0.runs.values.allSatisfy { $0.task?.isCancelled == true } }) { await Task.yield() }
        #expect(workers.counts == (Workers.most, count - Workers.most))
        hold.letGo(count)
        await pipeline.ended()
        _ = try await reports
        await stopped
        #expect(workers.counts == (0, 0))
        try await fixture.end()
    }

    @Test(.timeLimit(.minutes(60))) func whoCameFirstIsServedFirstCancelledOrNot() async throws {
        let fixture = try await PipelineFixture(Self.resources(1)) { _, _ in .response(status: 404) }
        let workers = Workers(fixture.document), held = Hold(), gate = Hold(), order = Mutex<[Int]>([])
        async let others: Void = withTaskGroup(of: Void.self) { group in
            for _ in 1..<Workers.most { group.addTask { try? await workers.run { _ in held.pass() } } }
        }
        while held.now < Workers.most - 1 { await Task.yield() }
        var tasks: [Task<Int, any Error>] = []
        for number in 0..<20 {
            tasks.append(
                Task { @Sendable in
                    try await workers.run { _ in
                        order.withLock { $0.append(number) }
                        if number == 0 { gate.pass() }
                        if number == 7 { throw Refused() }
                        return number
                    }
                })
            while workers.counts != (Workers.most, number) { await Task.yield() }
        }
        for number in stride(from: 1, to: 20, by: 2) { tasks[number].cancel() }
        gate.letGo(1)
        for (number, task) in tasks.enumerated() {
            if number == 7 {
                await #expect(throws: Refused.self) { try await task.value }
            } else {
                #expect(try await task.value == number)
            }
        }
        #expect(order.withLock { $0 } == Array(0..<20))
        held.letGo(Workers.most)
        await others
        #expect(workers.counts == (0, 0))
        try await fixture.end()
    }

    // Conclusions wait for a worker while they have their turn; nobody who has a worker waits for a conclusion.
    @Test(.timeLimit(.minutes(60))) func conclusionsInTurnAndOthersDoNotWaitForEachOther() async throws {
        let fixture = try await PipelineFixture(Self.resources(1)) { _, _ in .response(status: 404) }
        let workers = Workers(fixture.document), turns = SerialTurns(), ended = Atomic(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { @Sendable in
                    let work = { @Sendable in try await workers.run { _ in _ = ended.add(1, ordering: .relaxed) } }
                    if number.isMultiple(of: 2) { try await turns.run(work) } else { try await work() }
                    try await work()
                }
            }
            try await group.waitForAll()
        }
        #expect(ended.load(ordering: .relaxed) == 400)
        #expect(workers.counts == (0, 0))
        try await fixture.end()
    }
}
