import Foundation
import NIOHTTP1
import SyncTestSupport
import Synchronization
import TestTraits
import Testing

@testable import SyncPipeline

/// Who computes, and who has to go on meanwhile.
@Suite struct ParseThreadsTests {
    private final class Turns: Sendable {
        let begun = Atomic(0)
        let isServed = Atomic(false)
    }

    // A task that comes while pages are parsed on all cores does not wait for the end of a page: fetches, and whoever asks the daemon, are such tasks.
    @Test(.longProcess, .timeLimit(.minutes(60))) func pagesThatAreParsedOnAllCoresHoldUpNoTask() async {
        await #expect(processExitsWith: .success) {
            let cores = ProcessInfo.processInfo.activeProcessorCount, names = (0..<cores).map { "list\($0)" }
            let resources = names.map { ScriptedAPI.resource($0) }.joined()
            let toml = ScriptedAPI.configuration(resources).replacing("[daemon]", with: "[daemon]\nmax_parallel_parses = \(cores)")
            let fixture = try await PipelineFixture(toml) { _, _ in
                .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(#"[{"id": 1}]"#.utf8))
            }
            let turns = Turns()
            fixture.pipeline.parseProbe.withLock {
                $0 = ParseProbe(batchSize: 10) { _, stage in
                    guard stage == .saving else { return }
                    if turns.begun.add(1, ordering: .relaxed).newValue == cores { Task.detached { turns.isServed.store(true, ordering: .relaxed) } }
                    // Computes, as a page of a million records does, until the task has had its turn, which all wait for from when the last has begun.
                    while turns.begun.load(ordering: .relaxed) < cores {}
                    let limit = ContinuousClock.now.advanced(by: .seconds(60))
                    while !turns.isServed.load(ordering: .relaxed), ContinuousClock.now < limit {}
                    let wasServed = turns.isServed.load(ordering: .relaxed)
                    #expect(wasServed)
                }
            }
            #expect(try await fixture.sync().count == cores)
            let count = turns.begun.load(ordering: .relaxed)
            #expect(count == cores)
            try await fixture.end()
        }
    }
}
