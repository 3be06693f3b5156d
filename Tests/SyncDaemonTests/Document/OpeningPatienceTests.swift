import SyncConfiguration
import Systemd
import Testing

@testable import SyncDaemon

/// How long an opening may say nothing before it counts as one that hangs.
@Suite struct OpeningPatienceTests {
    private let clock = HandClock()

    private func ticks(_ words: OpeningWords) -> [String] {
        var ticks: [String] = []
        words.tick(moves: { ticks.append("moves") }, lasts: { _ in ticks.append("lasts") })
        return ticks
    }

    @Test(arguments: [
        OpeningStep.opening(bytes: 1 << 30), .checking(bytes: 1 << 30), .finishingCopy(bytes: 1 << 30), .migrating(0.4, bytes: 1 << 30),
        .committing(bytes: 1 << 30),
    ]) func whatSaysNothingMovesForAsLongAsASlowDiskMayTake(_ step: OpeningStep) {
        let words = OpeningWords(clock: clock)
        _ = words.hear(step)
        // Ten minutes, and a second for each of 1024 MiB.
        clock.advance(.seconds(600 + 1023))
        #expect(ticks(words) == ["moves", "lasts"])
        clock.advance(.seconds(1))
        #expect(ticks(words) == [])
    }

    @Test func whatTellsHowFarItIsMustTellIt() {
        let words = OpeningWords(clock: clock)
        _ = words.hear(.copying(0.4))
        #expect(ticks(words) == ["lasts"])
        clock.advance(.seconds(599))
        #expect(ticks(words) == ["lasts"])
        clock.advance(.seconds(1))
        #expect(ticks(words) == [])
        _ = words.hear(.copying(0.41))
        #expect(ticks(words) == ["lasts"])
    }

    @Test func anOpeningThatNeverTellsAnythingHangsAfterTenMinutes() {
        let words = OpeningWords(clock: clock)
        clock.advance(.seconds(599))
        #expect(ticks(words) == ["moves", "lasts"])
        clock.advance(.seconds(1))
        #expect(ticks(words) == [])
    }

    @Test func wordsAreSaidOnce() {
        let words = OpeningWords(clock: clock)
        #expect(words.hear(.opening(bytes: 1)) == nil)
        #expect(words.hear(.copying(0.401)) == "Copying the database before the change, 40 %")
        #expect(words.hear(.copying(0.409)) == nil)
        #expect(words.hear(.committing(bytes: 1)) == "Writing the changed database to the disk, which cannot be stopped")
        #expect(words.text == "Writing the changed database to the disk, which cannot be stopped")
    }

    /// A commit that takes longer than the watchdog allows for a step, as the daemon's ticks see it.
    @Test func aLongCommitDoesNotFailTheWatchdogAndAHangDoes() async throws {
        let engine = DaemonEngine(document: FakeDocument(), pipeline: FakePipeline()), slot = EngineSlot(engine), words = OpeningWords(clock: clock)
        let liveness = Liveness(pipeline: slot, document: slot, configuration: CisternConfiguration(), clock: clock)
        let movement = try #require(liveness.checks.first { $0.name == "movement" })
        @Sendable func verdicts(for span: Duration) -> [LivenessCheck.Verdict] {
            (0..<Int(span.components.seconds / 10)).map { _ in
                clock.advance(.seconds(10))
                words.tick(moves: slot.steps) { _ in }
                return movement.verdict()
            }
        }
        try await slot.exchange(
            grace: .zero,
            for: { _ in
                #expect(movement.verdict() == .alive)
                _ = words.hear(.committing(bytes: 1 << 30))
                slot.steps()
                #expect(verdicts(for: .seconds(1600)).allSatisfy { $0 == .alive })
                #expect(verdicts(for: .seconds(1600)).last != .alive)
                return engine
            }, orAgain: { _ in engine })
    }
}
