import SyncConfiguration
import Testing

@testable import SyncPipeline

// N2
@Suite struct ExchangeWatchTests {
    private func at(_ seconds: Double) -> SyncInstant { SyncInstant(sinceOrigin: .seconds(seconds)) }

    private func watch(_ change: (inout HTTPConfiguration) -> Void = { _ in }) -> ExchangeWatch {
        var limits = HTTPConfiguration()
        change(&limits)
        return ExchangeWatch(limits: limits, start: at(0))
    }

    /// Plays a server that sends `count` bytes every `pause` seconds, and returns when and why it is given up.
    private func play(_ watch: ExchangeWatch, bytes count: Int, every pause: Double) -> (Double, FetchError.Kind)? {
        watch.sent(at: at(0))
        watch.receivedHead(at: at(0))
        var next = pause
        var check = watch.nextCheck(after: at(0)).sinceOrigin.inSeconds
        while next < 200 {
            if check <= next {
                if let error = watch.violation(at: at(check)) { return (check, error.kind) }
                check = watch.nextCheck(after: at(check)).sinceOrigin.inSeconds
            } else {
                watch.received(count, at: at(next))
                next += pause
            }
        }
        return nil
    }

    @Test func oneBytePerSecondIsTooSlow() throws {
        let (time, kind) = try #require(play(watch(), bytes: 1, every: 1))
        #expect(kind == .timeout(.speed))
        #expect(time == 30)
    }

    @Test func oneByteJustBeforeEachSilenceIsOverIsTooSlow() throws {
        let (time, kind) = try #require(play(watch(), bytes: 1, every: 14))
        #expect(kind == .timeout(.speed))
        #expect(time <= 37.5)
    }

    // A disk that takes its time is not the server's silence, nor makes it slow.
    @Test func theTimeOurOwnWorkTakesIsNotTheServers() {
        let watch = watch { $0.totalTimeout = .hours(1) }
        watch.sent(at: at(0))
        watch.receivedHead(at: at(0))
        var now = 0.0
        for _ in 0..<10 {
            watch.received(1000, at: at(now))
            watch.suspend(at: at(now))
            now += 100
            #expect(watch.violation(at: at(now)) == nil)
            watch.resume(at: at(now))
            now += 1
            #expect(watch.violation(at: at(now)) == nil)
        }
        // From then on it is waited for.
        #expect(watch.violation(at: at(now + 14))?.kind == .timeout(.idle))
        let stopped = self.watch()
        stopped.receivedHead(at: at(0))
        stopped.suspend(at: at(0))
        #expect(stopped.violation(at: at(120))?.kind == .timeout(.total))
    }

    @Test func withoutAMinimumSpeedTheTotalHolds() throws {
        let (time, kind) = try #require(play(watch { $0.minSpeed = nil }, bytes: 1, every: 14))
        #expect(kind == .timeout(.total))
        #expect(time == 120)
    }

    @Test func aFastStartDoesNotExcuseASlowRest() throws {
        let watch = watch()
        watch.sent(at: at(0))
        watch.receivedHead(at: at(0))
        watch.received(1_000_000, at: at(1))
        for second in stride(from: 2.0, through: 60, by: 1) {
            watch.received(1, at: at(second))
            if let error = watch.violation(at: at(second)) {
                #expect(error.kind == .timeout(.speed))
                #expect(second <= 40)
                return
            }
        }
        Issue.record("never given up")
    }

    @Test func aFastServerIsLeftAlone() throws {
        let (time, kind) = try #require(play(watch(), bytes: 300, every: 1))
        #expect(kind == .timeout(.total))
        #expect(time == 120)
    }

    @Test func silenceIsGivenUp() throws {
        let (time, kind) = try #require(play(watch { $0.minSpeed = nil }, bytes: 1, every: 15.5))
        #expect(kind == .timeout(.idle))
        #expect(time == 15)
    }

    @Test func aLimitThatBeginsDuringASleepIsNotOverslept() {
        let watch = watch { $0.minSpeed = nil }
        watch.sent(at: at(0))
        let wake = watch.nextCheck(after: at(0))
        watch.receivedHead(at: at(1))
        #expect(wake <= at(16))
        #expect(watch.nextCheck(after: wake) == at(16))
        #expect(watch.violation(at: at(16))?.kind == .timeout(.idle))
    }

    @Test func nothingIsAwaitedBetweenTheHops() {
        let watch = watch()
        watch.sent(at: at(0))
        watch.receivedHead(at: at(1))
        watch.ended()
        #expect(watch.violation(at: at(100)) == nil)
        #expect(watch.nextCheck(after: at(100)) == at(107.5))
        #expect(watch.nextCheck(after: at(119)) == at(120))
        #expect(watch.violation(at: at(120))?.kind == .timeout(.total))
    }
}
