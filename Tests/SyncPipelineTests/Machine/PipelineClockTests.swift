import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Times of `cron`, quiet hours and clocks that are set: the pipeline over a real document, and what its server is asked.
@Suite(.timeLimit(.minutes(60))) struct PipelineClockTests {
    private static func toml(_ schedule: String) -> String {
        """
        version = 1
        [daemon]
        contact = "test@localhost"
        start = "now"
        [defaults.schedule]
        \(schedule)
        [[source]]
        name = "api"
        base_url = "https://api.example"
          [[source.resource]]
          name = "people"
          entity = "Person"
          path = "/people"
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        """
    }

    private static func fixture(_ schedule: String, at wall: String, folder: URL? = nil) async throws -> PipelineFixture {
        try await PipelineFixture(toml(schedule), folder: folder, now: try Date(wall, strategy: .iso8601), isArmed: true, savesAtOnce: true) { _, _ in
            .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(#"[{"id": 1}]"#.utf8))
        }
    }

    /// Lets so many minutes pass, one after the other, and every run that begins end. How often the server was asked meanwhile.
    private static func live(_ fixture: PipelineFixture, minutes: Int) async throws -> Int {
        let before = fixture.transport.requests.count
        for _ in 0..<minutes { try await step(fixture, .seconds(60)) }
        return fixture.transport.requests.count - before
    }

    private static func step(_ fixture: PipelineFixture, _ duration: Duration) async throws {
        fixture.clock.advance(by: duration)
        // As the timer does, but before anything else.
        fixture.pipeline.handle(.due)
        try await fixture.finished(fixture.begun)
    }

    private static func next(_ fixture: PipelineFixture) async -> String? {
        await fixture.pipeline.status().resources.first?.nextPollAt?.formatted(.iso8601)
    }

    @Test func timesAreKeptThroughClocksThatAreSet() async throws {
        let fixture = try await Self.fixture("cron = \"0 * * * *\"", at: "2025-01-01T00:30:00Z")
        #expect(try await Self.live(fixture, minutes: 60) == 1)
        for step in [-1.0, 1, -3600, 3600, -86_400, 86_400] {
            fixture.clock.setWallTime(fixture.clock.wallTime.addingTimeInterval(step))
            let count = try await Self.live(fixture, minutes: 120)
            // Forward, what was left out is made up for.
            #expect(count == (step < 3600 ? 2 : 3), "\(step)")
        }
        for wall in ["1970-01-01T00:30:00Z", "2038-01-19T03:14:07Z", "2100-01-01T00:30:00Z", "2025-01-01T00:30:00Z"] {
            fixture.clock.setWallTime(try Date(wall, strategy: .iso8601))
            #expect((2...3).contains(try await Self.live(fixture, minutes: 120)), "\(wall)")
        }
        try await fixture.end()
    }

    @Test func aChangeOfTheClockInAZoneIsPolledOnce() async throws {
        let fixture = try await Self.fixture("cron = \"30 2 * * *\"\ntimezone = \"Europe/Zurich\"", at: "2025-03-29T22:00:00Z")
        #expect(await Self.next(fixture) == "2025-03-30T01:00:00Z")
        #expect(try await Self.live(fixture, minutes: 240) == 1)
        #expect(await Self.next(fixture) == "2025-03-31T00:30:00Z")
        try await fixture.end()
    }

    @Test func aSleepOfEightHoursIsMadeUpForOnceOrNotAtAll() async throws {
        for (catchUp, count) in [("one", 1), ("none", 0)] {
            let fixture = try await Self.fixture("cron = \"0 * * * *\"\ncatch_up = \"\(catchUp)\"", at: "2025-01-01T00:30:00Z")
            try await Self.step(fixture, .seconds(8 * 3600))
            #expect(fixture.transport.requests.count == count)
            #expect(await Self.next(fixture) == "2025-01-01T09:00:00Z")
            try await fixture.end()
        }
    }

    @Test func whatWasMissedWhileNobodyRanIsMadeUpForOnceOrNotAtAll() async throws {
        for (catchUp, count) in [("one", 1), ("none", 0)] {
            let schedule = "cron = \"0 6 * * *\"\ncatch_up = \"\(catchUp)\""
            let first = try await Self.fixture(schedule, at: "2025-01-01T05:00:00Z")
            try await first.pipeline.writer.written()
            await first.pipeline.stop(grace: .zero)
            try await first.document.close()
            let second = try await Self.fixture(schedule, at: "2025-01-01T09:00:00Z", folder: first.folder)
            try await second.finished(count)
            #expect(second.transport.requests.count == count)
            #expect(await Self.next(second) == "2025-01-02T06:00:00Z")
            try await second.end()
        }
    }

    @Test func quietHoursHoldTheScheduleAndNobodyElse() async throws {
        let fixture = try await Self.fixture("every = \"30m\"\njitter = \"0%\"\nquiet_hours = [\"22:00-06:00\"]", at: "2025-01-01T21:45:00Z")
        try await fixture.finished(1)
        #expect(await Self.next(fixture) == "2025-01-02T06:00:00Z")
        #expect(try await Self.live(fixture, minutes: 60) == 0)
        #expect(try await fixture.pipeline.sync(nil, cause: .control, wait: true).map(\.outcome) == [.succeeded])
        #expect(await Self.next(fixture) == "2025-01-02T06:00:00Z")
        #expect(try await Self.live(fixture, minutes: 7 * 60 + 14) == 0)
        #expect(try await Self.live(fixture, minutes: 1) == 1)
        try await fixture.end()
    }

    @Test func theIntervalThatAdaptedIsKeptOverARestart() async throws {
        let schedule = "every = \"1h\"\njitter = \"0%\"\nadaptive = true"
        let first = try await Self.fixture(schedule, at: "2025-01-01T00:00:00Z")
        try await first.finished(1)
        // Nothing has changed, twice.
        #expect(try await Self.live(first, minutes: 60 + 90) == 2)
        #expect(await first.pipeline.status().resources.first?.intervalSeconds == 8100)
        await first.pipeline.stop(grace: .zero)
        try await first.document.close()
        let second = try await Self.fixture(schedule, at: "2025-01-01T02:40:00Z", folder: first.folder)
        #expect(await second.pipeline.status().resources.first?.intervalSeconds == 8100)
        try await second.end()
    }
}

extension PipelineFixture {
    /// How many runs have begun.
    fileprivate var begun: Int { pipeline.state.withLock { $0.machine.runCount } }
}
