import Foundation
import Glibc
import SyncConfiguration
import TestTraits
import Testing

@testable import SyncPipeline

/// What happens to one resource costs the same however many there are. In a process of its own, in which nobody else works.
@Suite struct MachineScalingTests {
    // Time of the processor, which others only make longer: what is too long is tried again.
    @Test(.longProcess, .timeLimit(.minutes(60))) func fourTimesAsManyPollsAtOnceAreNotMoreThanSixTimesTheWork() async {
        await #expect(processExitsWith: .success) {
            var ratio = Double.infinity
            for _ in 0..<4 where ratio > 6 { ratio = Self.work(2_000) / Self.work(500) }
            if ratio > 6 {
                Issue.record("four times as much is \(ratio) times the work")
                exit(EXIT_FAILURE)
            }
        }
    }

    @Test(.longProcess, .timeLimit(.minutes(60))) func fourTimesAsManyFailuresOfOneServerAreNotMoreThanSixTimesTheWork() async {
        await #expect(processExitsWith: .success) {
            var ratio = Double.infinity
            for _ in 0..<4 where ratio > 6 { ratio = Self.fail(2_000) / Self.fail(500) }
            if ratio > 6 {
                Issue.record("four times as much is \(ratio) times the work")
                exit(EXIT_FAILURE)
            }
        }
    }

    /// All begin at once, end one after the other, and are due again at the same time, twice.
    private static func work(_ count: Int) -> Double {
        var bench = MachineBench()
        let scopes = (0..<count).map { ResourceScope(source: "api", resource: "r\($0)") }
        bench.configure(scopes.map { MachineBench.plan($0) })
        let start = time()
        bench.tell(.started(isArmed: true))
        for scope in scopes { bench.end(scope) }
        bench.pass(.hours(1))
        for scope in scopes { bench.end(scope) }
        return time() - start
    }

    /// All begin at once, and fail one after the other.
    private static func fail(_ count: Int) -> Double {
        var bench = MachineBench()
        let scopes = (0..<count).map { ResourceScope(source: "api", resource: "r\($0)") }
        bench.configure(scopes.map { MachineBench.plan($0) })
        bench.tell(.started(isArmed: true))
        let start = time()
        for scope in scopes {
            guard let run = bench.run(scope) else { continue }
            var conclusion = bench.conclusion(scope, run, .failed)
            conclusion.evidence = .fails
            bench.tell(.ended(scope, run: run, conclusion))
        }
        return time() - start
    }

    private static func time() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
