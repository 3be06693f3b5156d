import Foundation
import NIOHTTP1
import SyncTestSupport
import Synchronization
import TestTraits
import Testing

@testable import SyncPipeline

/// What servers see of a pipeline over many hours, through stops, kills and reloads: each request is held against what was known by then.
@Suite struct PolitenessTests {
    // Each request that gets its turn waits until the test lets it go.
    @Test(.timeLimit(.minutes(60))) func noOriginIsAskedMoreAtATimeThanConfigured() async throws {
        let names = (1...7).map { "r\($0)" }, open = Mutex<[CheckedContinuation<Void, Never>]>([]), most = Mutex(0)
        let toml = ScriptedAPI.configuration(names.map { ScriptedAPI.resource($0) }.joined())
            .replacing("[daemon]\n", with: "[daemon]\nmax_parallel_requests = 2\n")
        let fixture = try await PipelineFixture(toml, savesAtOnce: true) { _, _ in
            await withCheckedContinuation { continuation in
                let count = open.withLock { open in
                    open.append(continuation)
                    return open.count
                }
                most.withLock { $0 = max($0, count) }
            }
            return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[]".utf8))
        }
        _ = try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        for answered in 1...names.count {
            let wanted = min(2, names.count - answered + 1)
            while open.withLock({ $0.count }) < wanted { await Task.yield() }
            open.withLock { $0.removeFirst() }.resume()
        }
        try await fixture.finished(names.count)
        #expect(most.withLock { $0 } == 2)
        try await fixture.end()
    }

    @Test(.longProcess, .timeLimit(.minutes(60))) func noServerIsAskedSoonerThanItAllowedInRandomLives() async throws {
        await #expect(processExitsWith: .success) { try await PoliteLife.live(2000..<2040) }
    }

    // The second waits for the only slot while the first is answered.
    @Test(.timeLimit(.minutes(60))) func whoWaitsForASlotHearsWhatTheServerSaidMeanwhile() async throws {
        let toml = ScriptedAPI.configuration(["x", "y"].map { ScriptedAPI.resource($0) }.joined())
            .replacing("[daemon]\n", with: "[daemon]\nmax_parallel_requests = 1\n")
        let clock = Mutex<ManualClock?>(nil), isTold = Atomic(false)
        let fixture = try await PipelineFixture(toml, savesAtOnce: true) { _, _ in
            if isTold.exchange(true, ordering: .relaxed) {
                return .response(status: 200, headers: ["Content-Type": "application/json"], body: Array("[]".utf8))
            }
            // Whoever waits for a slot looks again after a while.
            let look = clock.withLock { $0 }?.instant.advanced(by: RequestSlots.patience)
            while let clock = clock.withLock({ $0 }), !clock.deadlines.contains(where: { $0 == look }) { await Task.yield() }
            return .response(status: 429, headers: ["Retry-After": "30"])
        }
        clock.withLock { $0 = fixture.clock }
        _ = try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        while fixture.pipeline.state.withLock({ $0.runs.values.contains { $0.run.progress.waitsUntil == nil } }) { await Task.yield() }
        #expect(fixture.transport.requests.count == 1)
        fixture.clock.advance(by: .seconds(30))
        try await fixture.finished(2)
        #expect(fixture.transport.requests.count == 3)
        #expect(fixture.reports.map(\.outcome) == [.succeeded, .succeeded])
        try await fixture.end()
    }
}

/// Many more random lives: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct PolitenessStress {
    @Test(.longProcess) func noServerIsAskedSoonerInFiveHundredLives() async throws {
        await #expect(processExitsWith: .success) { try await PoliteLife.live(1000..<1500) }
    }
}
