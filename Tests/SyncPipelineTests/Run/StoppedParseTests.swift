import Dispatch
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// A stop while a page is parsed that names a great many objects in one record.
@Suite struct StoppedParseTests {
    private static let count = 2000

    private static let configuration = ScriptedAPI.configuration(
        ScriptedAPI.resource("teams", of: "Team"),
        entities: """
            [entity.Team]
            key = ["id"]
            [entity.Team.attributes]
            id = { type = "int64", optional = false }
            [entity.Team.relationships]
            people = { to = "Person", many = true, match = "embedded", inverse = "team" }
            \(ScriptedAPI.entities())
            [entity.Person.relationships]
            team = { to = "Team", match = "key", inverse = "people" }
            """)

    @Test(.timeLimit(.minutes(60)), arguments: ParseProbe.Stage.allCases)
    func aStopInTheMiddleOfAPageLeavesAllOfItOrNothing(_ stage: ParseProbe.Stage) async throws {
        let api = ScriptedAPI(), members = (0..<Self.count).map { #"{"id": \#($0), "name": "n"}"# }.joined(separator: ",")
        api.set("/teams", #"[{"id": 1, "people": [\#(members)]}]"#)
        let fixture = try await api.fixture(Self.configuration), pipeline = fixture.pipeline
        let (reached, reach) = AsyncStream.makeStream(of: Void.self), goesOn = DispatchSemaphore(value: 0), isFirst = Atomic(true)
        pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: 500) { _, found in
                guard found == stage, isFirst.exchange(false, ordering: .sequentiallyConsistent) else { return }
                reach.yield()
                goesOn.wait()
            }
        }
        try await pipeline.sync(nil, cause: .signal, wait: false)
        for await _ in reached { break }
        let stop = Task { await pipeline.stop(grace: .zero) }
        // The parse goes on when its run has been cancelled.
        while !pipeline.state.withLock({ $0.runs.values.allSatisfy { $0.task?.isCancelled == true } }) { await Task.yield() }
        goesOn.signal()
        await stop.value
        #expect([0, Self.count].contains(try await fixture.live().count))
        try await fixture.document.close()

        let next = try await PipelineFixture(Self.configuration, folder: fixture.folder) { request, _ in api.answer(request) }
        #expect(try await next.sync().first?.outcome == .succeeded)
        #expect(try await next.live().count == Self.count)
        try await next.end()
    }
}
