import SyncConfiguration
import Testing

@testable import SyncPipeline

@Suite struct BackoffTests {
    private func delays(_ jitter: RetryConfiguration.Jitter, random: Double) -> [Duration] {
        let backoff = Backoff(base: .seconds(1), factor: 2, maximum: .seconds(10), jitter: jitter)
        return (1...6).map { backoff.delay(afterAttempt: $0, random: random) }
    }

    @Test func waitsDoubleUpToTheCap() {
        #expect(delays(.none, random: 0.3) == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
    }

    @Test func fullJitterTakesAnyShare() {
        #expect(delays(.full, random: 0) == Array(repeating: .zero, count: 6))
        #expect(delays(.full, random: 0.5) == [0.5, 1, 2, 4, 5, 5].map { .seconds($0) })
    }

    @Test func equalJitterLeavesHalf() {
        #expect(delays(.equal, random: 0) == [0.5, 1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(delays(.equal, random: 0.5) == [0.75, 1.5, 3, 6, 7.5, 7.5].map { .seconds($0) })
    }

    @Test func noInputOverflows() {
        let wild = Backoff(base: .seconds(1), factor: 1e300, maximum: .seconds(60), jitter: .none)
        #expect(wild.delay(afterAttempt: .max, random: 0.5) == .seconds(60))
        let broken = Backoff(base: .seconds(-1), factor: .nan, maximum: .seconds(60), jitter: .none)
        #expect(broken.delay(afterAttempt: -3, random: 0.5) == .zero)
        let flat = Backoff(base: .seconds(1), factor: 1, maximum: .seconds(60), jitter: .none)
        #expect(flat.delay(afterAttempt: .max, random: 0) == .seconds(1))
    }

    @Test func theBuiltInPolicyIsTheConfigurations() {
        #expect(Backoff(RetryConfiguration()) == Backoff(base: .seconds(1), factor: 2, maximum: .seconds(60), jitter: .full))
    }
}
