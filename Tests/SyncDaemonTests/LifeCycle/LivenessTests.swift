import Dispatch
import SyncConfiguration
import SyncReports
import Synchronization
import Systemd
import Testing

@testable import SyncDaemon

@Suite struct LivenessTests {
    private let clock = HandClock()
    private let pipeline = FakePipeline()
    private let document = FakeDocument()

    private func liveness(_ queue: DispatchQueue = DispatchQueue(label: "test.main")) -> Liveness {
        Liveness(pipeline: pipeline, document: document, configuration: CisternConfiguration(), clock: clock, mainQueue: queue)
    }

    private func verdicts(_ liveness: Liveness) -> [String: LivenessCheck.Verdict] {
        Dictionary(uniqueKeysWithValues: liveness.checks.map { ($0.name, $0.verdict()) })
    }

    @Test func everythingIsAliveAtFirst() {
        let liveness = liveness()
        #expect(verdicts(liveness).values.allSatisfy { $0 == .alive })
        #expect(liveness.failing.isEmpty)
    }

    @Test func aMainQueueThatRunsNothingFailsWhenItIsAskedAgain() {
        let queue = DispatchQueue(label: "test.main")
        queue.suspend()
        let liveness = liveness(queue)
        #expect(verdicts(liveness)["main-queue"] == .alive)
        #expect(verdicts(liveness)["main-queue"] == .failed("the main queue has run nothing since it was last asked"))
        #expect(liveness.failing == ["main-queue: the main queue has run nothing since it was last asked"])
        queue.resume()
        queue.sync {}
        #expect(verdicts(liveness)["main-queue"] == .alive)
        #expect(liveness.failing.isEmpty)
    }

    @Test func aRootContextHasTenSecondsForAnAnswer() {
        document.answersProbes.withLock { $0 = false }
        let liveness = liveness()
        #expect(verdicts(liveness)["root-context"] == .alive)
        clock.advance(.seconds(10))
        #expect(verdicts(liveness)["root-context"] == .alive)
        clock.advance(.seconds(5))
        #expect(verdicts(liveness)["root-context"] == .failed("the root context has not answered for 15s"))
        document.answerProbe()
        #expect(verdicts(liveness)["root-context"] == .alive)
    }

    @Test func aSchedulerMayBeAMinuteLate() {
        pipeline.set(PipelineLiveness(schedulerOverdue: .seconds(60)))
        #expect(verdicts(liveness())["scheduler"] == .alive)
        pipeline.set(PipelineLiveness(schedulerOverdue: .seconds(61)))
        #expect(verdicts(liveness())["scheduler"] == .failed("the next poll is 61s overdue"))
    }

    @Test func aResourceThatNothingWouldPollAgainFailsAtOnce() {
        pipeline.set(PipelineLiveness(forgotten: Example.countries))
        #expect(verdicts(liveness())["scheduler"] == .failed("iso/countries has neither a due time nor a run"))
    }

    @Test func anOperationMayBeAMinuteBeyondItsLimit() {
        pipeline.set(PipelineLiveness(longestOverrun: .seconds(60)))
        #expect(verdicts(liveness())["operations"] == .alive)
        pipeline.set(PipelineLiveness(longestOverrun: .seconds(75)))
        #expect(verdicts(liveness())["operations"] == .failed("a run is 75s over its limit"))
    }

    @Test func workThatStandsStillFailsAfterTheLongestAllowedWait() {
        // No resources: nothing may wait, so a minute is the limit.
        let liveness = liveness()
        pipeline.set(PipelineLiveness(progress: 5, isBusy: true))
        #expect(verdicts(liveness)["movement"] == .alive)
        clock.advance(.seconds(60))
        #expect(verdicts(liveness)["movement"] == .alive)
        clock.advance(.seconds(20))
        #expect(verdicts(liveness)["movement"] == .failed("nothing has finished for 80s"))
        pipeline.set(PipelineLiveness(progress: 6, isBusy: true))
        #expect(verdicts(liveness)["movement"] == .alive)
    }

    @Test func idleWorkIsAliveForever() {
        let liveness = liveness()
        for _ in 0..<100 {
            clock.advance(.seconds(3600))
            #expect(verdicts(liveness)["movement"] == .alive)
        }
    }

    @Test func theLongestWaitOfTheConfigurationIsNoStandstill() {
        var configuration = CisternConfiguration()
        var source = SourceConfiguration(name: "a")
        var resource = ResourceConfiguration(name: "b", source: "a", url: "http://x/", entity: "E", key: [])
        resource.retry.retryAfterPark = .minutes(7)
        source.resources = [resource]
        configuration.sources = [source]
        #expect(Liveness.stallLimit(configuration) == .seconds(7 * 60 + 60))
    }
}

/// A clock turned by hand.
final class HandClock: ServiceClock {
    private let time = Mutex(Duration.zero)

    var now: Duration { time.withLock { $0 } }
    func advance(_ span: Duration) { time.withLock { $0 += span } }
    func schedule(after delay: Duration, on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {}
}
