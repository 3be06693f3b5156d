import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What the machine decides, carried out by the pipeline over a real document.
@Suite(.timeLimit(.minutes(60))) struct PipelineScheduleTests {
    private static func toml(daemon: String = "", resource: String = "", more: String = "") -> String {
        """
        version = 1
        [daemon]
        contact = "test@localhost"
        start = "now"
        \(daemon)
        [defaults.schedule]
        every = "1h"
        jitter = "0%"
        [defaults.http]
        first_byte_timeout = "24h"
        idle_timeout = "24h"
        total_timeout = "24h"
        min_speed = "off"
        [[source]]
        name = "api"
        base_url = "https://api.example"
          [[source.resource]]
          name = "people"
          entity = "Person"
          path = "/people"
          \(resource)
        \(more)
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        """
    }

    private static func source(_ name: String) -> String {
        """
        [[source]]
        name = "\(name)"
        base_url = "https://\(name).example"
          [[source.resource]]
          name = "list"
          entity = "Person"
          path = "/list"

        """
    }

    private static let json: HTTPHeaders = ["Content-Type": "application/json"]
    private static let list = StubTransport.Answer.response(status: 200, headers: json, body: Array(#"[{"id": 1}]"#.utf8))

    private static func asked(_ fixture: PipelineFixture, _ host: String) -> Int {
        fixture.transport.requests.count { $0.address.origin.host == host }
    }

    private static func status(_ fixture: PipelineFixture) async -> ResourceStatus? { await fixture.pipeline.status().resources.first }

    // MARK: Restarts

    // R9
    @Test func aKilledDaemonPollsNoSoonerThanItWouldHave() async throws {
        let first = try await PipelineFixture(Self.toml(), isArmed: true, savesAtOnce: true) { _, _ in Self.list }
        try await first.finished(1)
        // Nothing is stopped and nothing closed: what the next process finds was committed.
        let next = first.clock.wallTime.addingTimeInterval(3600)
        let second = try await PipelineFixture(
            Self.toml(), folder: first.folder, now: first.clock.wallTime.addingTimeInterval(14), isArmed: true, savesAtOnce: true
        ) { _, _ in Self.list }
        #expect(await Self.status(second)?.nextPollAt == next)
        #expect(second.transport.requests.isEmpty)
        second.clock.advance(by: .seconds(3586))
        try await second.finished(1)
        #expect(second.transport.requests.count == 1)
        await first.pipeline.stop(grace: .zero)
        try await second.end()
    }

    // R9
    @Test func aWaitThatAServerAskedForSurvivesAKill() async throws {
        let toml = Self.toml(daemon: "restart_guard = false")
        let first = try await PipelineFixture(toml, isArmed: true) { _, _ in .response(status: 429, headers: ["Retry-After": "120"]) }
        // The wait begins when it is stored.
        await first.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(120))) }
        let until = first.clock.wallTime.addingTimeInterval(120)
        let other = """
              [[source.resource]]
              name = "teams"
              entity = "Person"
              path = "/teams"
            """
        let second = try await PipelineFixture(
            Self.toml(daemon: "restart_guard = false", more: other), folder: first.folder, now: first.clock.wallTime, isArmed: true
        ) { _, _ in Self.list }
        #expect(await second.pipeline.status().resources.map(\.nextPollAt) == [until, until])
        #expect(second.transport.requests.isEmpty)
        await first.pipeline.stop(grace: .zero)
        try await second.end()
    }

    // R9
    @Test func anotherResourceOfTheOriginDoesNotAskMeanwhile() async throws {
        let other = """
              [[source.resource]]
              name = "teams"
              entity = "Person"
              path = "/teams"
              pages = { kind = "link-header" }
            """
        let asked = Gate(), release = Gate(), isTold = Atomic(false)
        let fixture = try await PipelineFixture(Self.toml(more: other), isArmed: true) { request, _ in
            switch request.address.url.path {
            case "/people":
                if isTold.exchange(true, ordering: .relaxed) { return Self.list }
                await asked.wait()
                return .response(status: 503, headers: ["Retry-After": "120"])
            default:
                if request.address.url.query != nil { return Self.list }
                asked.open()
                await release.wait()
                var headers = Self.json
                headers.add(name: "Link", value: "<https://api.example/teams?page=2>; rel=\"next\"")
                return .response(status: 200, headers: headers, body: Array(#"[{"id": 7}]"#.utf8))
            }
        }
        await fixture.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(120))) }
        release.open()
        // Both wait for the same moment now: one for its next attempt, one for its second page.
        await fixture.clock.deadlines { $0.count { $0 == SyncInstant(sinceOrigin: .seconds(120)) } == 2 }
        #expect(fixture.transport.requests.count == 2)
        fixture.clock.advance(by: .seconds(120))
        await fixture.told { $0.contains { if case .pageSaved(let page) = $0 { page.page == 2 } else { false } } }
        try await fixture.end()
    }

    // MARK: Asking

    @Test func whatIsParkedAnswersAtOnceWithTheTime() async throws {
        let fixture = try await PipelineFixture(Self.toml()) { _, _ in .response(status: 429, headers: ["Retry-After": "7200"]) }
        try await fixture.sync()
        let until = fixture.clock.wallTime.addingTimeInterval(7200)
        let report = try #require(try await fixture.pipeline.sync("api/people", cause: .control, wait: true).first)
        #expect(report.outcome == .parked)
        #expect(report.nextPollAt == until)
        #expect(fixture.transport.requests.count == 1)
        try await fixture.end()
    }

    @Test func whatIsDisabledIsNotPolledByItsNameEither() async throws {
        let fixture = try await PipelineFixture(Self.toml(resource: "enabled = false")) { _, _ in Self.list }
        #expect(try await fixture.pipeline.sync("api/people", cause: .control, wait: true).isEmpty)
        #expect(fixture.transport.requests.isEmpty)
        try await fixture.end()
    }

    @Test func whoAsksDuringARunWaitsForNoAutosaveAndGetsANewerRun() async throws {
        let release = Gate()
        let fixture = try await PipelineFixture(Self.toml()) { _, index in
            if index == 0 { await release.wait() }
            return .response(status: 200, headers: Self.json, body: Array(#"[{"id": \#(index)}]"#.utf8))
        }
        try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        async let answer = fixture.pipeline.sync("api/people", cause: .control, wait: true)
        // Asked, while the first run is open.
        while fixture.pipeline.state.withLock({ $0.machine.resources.values.allSatisfy(\.waiters.isEmpty) }) { await Task.yield() }
        release.open()
        try await fixture.finished(1)
        fixture.clock.advance(by: .seconds(60))
        let report = try #require(try await answer.first)
        #expect(report.run != fixture.reports.first?.run)
        #expect(report.counts.inserted == 1)
        #expect(try await fixture.values("id", of: "Person") == ["0", "1"])
        try await fixture.end()
    }

    // MARK: Liveness

    @Test func runsThatEndDuringReloadsArePolledAgain() async throws {
        let names = (0..<12).map { "s\($0)" }
        let toml = Self.toml(more: names.map(Self.source).joined())
        let fixture = try await PipelineFixture(toml, isArmed: true, savesAtOnce: true) { _, _ in Self.list }
        let configuration = try PipelineFixture.configuration(toml)
        for round in 0..<12 {
            // The runs of this round end while states are loaded.
            try await fixture.pipeline.reload(configuration)
            #expect(fixture.pipeline.liveness.forgotten == nil)
            try await fixture.finished((round + 1) * 13)
            fixture.clock.advance(by: .seconds(3600))
        }
        try await fixture.finished(13 * 13)
        try await fixture.end()
    }

    @Test func whoWaitsForAServerIsNeitherBusyNorLate() async throws {
        let fixture = try await PipelineFixture(Self.toml(), isArmed: true, savesAtOnce: true) { _, _ in
            .response(status: 503, headers: ["Retry-After": "290"])
        }
        var progress = -1
        for attempt in 1...3 {
            let end = SyncInstant(sinceOrigin: .seconds(290 * attempt))
            await fixture.clock.deadlines { $0.contains(end) }
            let liveness = fixture.pipeline.liveness
            #expect(!liveness.isBusy)
            #expect(liveness.progress > progress)
            progress = liveness.progress
            fixture.clock.advance(by: .seconds(290))
        }
        try await fixture.finished(1)
        #expect(fixture.transport.requests.count == 4)
        try await fixture.end()
    }

    // No disk has so much room.
    @Test func whoWaitsForRoomOnTheDiskIsNeitherBusyNorLate() async throws {
        let fixture = try await PipelineFixture(Self.toml(daemon: "[store]\nmin_free_disk = \"1048576GiB\""), isArmed: true) { _, _ in Self.list }
        for turn in 1...30 {
            await fixture.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(10 * turn))) }
            let liveness = fixture.pipeline.liveness
            #expect(!liveness.isBusy && liveness.longestOverrun == nil && liveness.schedulerOverdue == .zero && liveness.forgotten == nil)
            fixture.clock.advance(by: .seconds(10))
        }
        #expect(fixture.transport.requests.isEmpty)
        let held = fixture.events.filter { if case .held(let cause) = $0 { cause.isLowDisk } else { false } }
        #expect(held.count == 1)
        try await fixture.end()
    }

    @Test func aRunThatWaitsBeyondItsTimeIsEnded() async throws {
        let limits = #"limits = { max_run_time = "5m" }"#
        let fixture = try await PipelineFixture(Self.toml(resource: limits), isArmed: true) { _, _ in
            .response(status: 503, headers: ["Retry-After": "290"])
        }
        await fixture.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(290))) }
        fixture.clock.advance(by: .seconds(290))
        await fixture.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(580))) }
        fixture.clock.advance(by: .seconds(40))
        await fixture.told { $0.reports.count == 1 }
        #expect(fixture.reports.map(\.outcome) == [.cancelled])
        try await fixture.end()
    }

    // R15
    @Test func whatIsTooOldSaysSoWhileARunIsOpen() async throws {
        let toml = Self.toml(resource: #"limits = { max_run_time = "48h" }"#)
        let fixture = try await PipelineFixture(toml, isArmed: true) { _, _ in .silence }
        for await _ in fixture.transport.silences { break }
        fixture.clock.advance(by: .seconds(3 * 3600))
        await fixture.told {
            $0.contains { if case .freshnessChanged(_, isDegraded: true, _, _) = $0 { true } else { false } }
        }
        try await fixture.end()
    }

    @Test func whoWaitsHoldsNoPlace() async throws {
        let toml = Self.toml(daemon: "max_parallel_requests = 2", more: Self.source("busy") + Self.source("news"))
        let fixture = try await PipelineFixture(toml) { request, _ in
            request.address.origin.host == "news.example" ? Self.list : .response(status: 503)
        }
        try await fixture.pipeline.sync("api", cause: .control, wait: false)
        try await fixture.pipeline.sync("busy", cause: .control, wait: false)
        await fixture.told { $0.count { if case .retrying = $0 { true } else { false } } == 2 }
        #expect(try await fixture.pipeline.sync("news", cause: .control, wait: true).map(\.outcome) == [.succeeded])
        try await fixture.end()
    }

    // MARK: Parking

    @Test func noServerParksForLongerThanMaxParkAndResumeLiftsIt() async throws {
        let fixture = try await PipelineFixture(Self.toml(), isArmed: true, savesAtOnce: true) { _, index in
            index == 0 ? .response(status: 429, headers: ["Retry-After": "31622400"]) : Self.list
        }
        try await fixture.finished(1)
        #expect(await Self.status(fixture)?.parkedUntil == fixture.clock.wallTime.addingTimeInterval(86_400))
        fixture.clock.advance(by: .seconds(60))
        try await fixture.pipeline.resume("api/people")
        try await fixture.finished(2)
        #expect(fixture.reports.last?.outcome == .succeeded)
        #expect(await Self.status(fixture)?.parkedUntil == nil)
        try await fixture.end()
    }

    // MARK: Carrying out

    // Each event makes the next: there is no end to them until the test says so.
    @Test func whoHandsSomethingInIsNotKeptByWhatOthersHandIn() async throws {
        let start = Date(timeIntervalSince1970: 1_735_689_600), isOver = Atomic(false), count = Atomic(0)
        let fixture = try await PipelineFixture(Self.toml(), now: start, isArmed: true, savesAtOnce: true) { _, _ in Self.list }
        await fixture.told { $0.reports.count == 1 }
        let pipeline = fixture.pipeline, scope = ResourceScope(source: "api", resource: "people")
        let goOn = { @Sendable in
            let later = start.addingTimeInterval(3_600 + Double(count.add(1, ordering: .relaxed).newValue % 80_000))
            pipeline.handle(.told(scope, until: later))
        }
        fixture.listen { event in
            if case .scheduled = event, !isOver.load(ordering: .relaxed) { goOn() }
        }
        goOn()
        let made = count.load(ordering: .relaxed)
        while count.load(ordering: .relaxed) < made + 100 { await Task.yield() }
        isOver.store(true, ordering: .relaxed)
        fixture.listen(nil)
        try await fixture.end()
    }

    // MARK: Stop

    @Test func aStopDoesNotSitOutAWait() async throws {
        let fixture = try await PipelineFixture(Self.toml(), isArmed: true) { _, _ in .response(status: 503, headers: ["Retry-After": "290"]) }
        await fixture.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(290))) }
        // The clock stands still: the grace is not used.
        await fixture.pipeline.stop(grace: .seconds(20))
        #expect(fixture.reports.map(\.outcome) == [.cancelled])
        try await fixture.end()
    }

    @Test func aStopEndsASecondAfterItsGraceWhateverWaits() async throws {
        let release = Gate()
        let fixture = try await PipelineFixture(Self.toml(), isArmed: true) { _, _ in
            // Deaf to being cancelled.
            await release.wait()
            return Self.list
        }
        while fixture.transport.requests.isEmpty { await Task.yield() }
        let stop = Task { await fixture.pipeline.stop(grace: .seconds(20)) }
        await fixture.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(20))) }
        fixture.clock.advance(by: .seconds(20))
        await fixture.clock.deadlines { $0.contains(SyncInstant(sinceOrigin: .seconds(21))) }
        fixture.clock.advance(by: .seconds(1))
        await stop.value
        release.open()
        await fixture.told { $0.reports.count == 1 }
        try await fixture.end()
    }
}
