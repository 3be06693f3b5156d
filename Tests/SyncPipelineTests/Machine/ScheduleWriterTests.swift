import Foundation
import GRDB
import NIOHTTP1
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// When schedules reach the store.
@Suite struct ScheduleWriterTests {
    private static let scope = ResourceScope(source: "api", resource: "people")

    /// A resource that was seen as it should be at second 100, and is out of date at second 200.
    private let before = StoredSchedule(
        scope: scope, startedAt: second(99), nextPollAt: second(150), lastSuccess: second(100), staleAt: second(200))

    private static func second(_ number: Double) -> Date { Date(timeIntervalSince1970: number) }

    private func seenAgain(_ change: (inout StoredSchedule) -> Void = { _ in }) -> StoredSchedule {
        var next = StoredSchedule(
            scope: Self.scope, startedAt: Self.second(149), nextPollAt: Self.second(200), lastSuccess: Self.second(150), staleAt: Self.second(250))
        change(&next)
        return next
    }

    @Test func thatAllWasSeenOnceMoreMayWaitUntilReadersWouldTakeItForOutOfDate() {
        #expect(seenAgain().wait(after: before, at: Self.second(150)) == .seconds(50))
        #expect(seenAgain().wait(after: before, at: Self.second(201)) == .seconds(-1))
    }

    @Test func whatMattersToTheNextProcessMayNotWait() {
        let changes: [(String, (inout StoredSchedule) -> Void)] = [
            ("a run that has seen nothing", { $0.lastSuccess = Self.second(100) }),
            ("a wait that its server asks for", { $0.parkedUntil = Self.second(500) }),
            ("a pause", { $0.isPaused = true }),
            ("one that is disabled", { $0.isEnabled = false }),
            ("one that is removed", { $0.isRemoved = true }),
            ("a run that takes its time", { $0.runsUntil = Self.second(400) }),
        ]
        for (name, change) in changes { #expect(seenAgain(change).wait(after: before, at: Self.second(150)) == nil, "\(name)") }
        // And the end of each.
        for (name, change) in changes.dropFirst() {
            var before = before
            change(&before)
            #expect(seenAgain().wait(after: before, at: Self.second(150)) == nil, "\(name)")
        }
    }

    /// A mirror of two resources whose server has nothing new, polled once.
    private func mirror() async throws -> PipelineFixture {
        let fixture = try await PipelineFixture(ScriptedAPI.people()) { request, _ in
            request.headers.contains(name: "If-None-Match")
                ? .response(status: 304, headers: ["ETag": "\"1\""])
                : .response(status: 200, headers: ["ETag": "\"1\"", "Content-Type": "application/json"], body: Array("[{\"id\": 1}]".utf8))
        }
        try await fixture.sync()
        return fixture
    }

    /// Polls, and nobody waits for what is committed.
    private func poll(_ fixture: PipelineFixture) async throws {
        fixture.clock.advance(by: .seconds(3600))
        let count = fixture.reports.count
        try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        await fixture.told { $0.reports.count > count }
        #expect(fixture.reports.last?.notModifiedPages == 1)
    }

    /// As another program reads it.
    private func lastSuccess(_ fixture: PipelineFixture) throws -> [Date] {
        let queue = try DatabaseQueue(path: fixture.folder.appendingPathComponent("StoreContent/persistentStore").path)
        return try queue.read { try Date.fetchAll($0, sql: "SELECT last_success FROM cistern_status") }
    }

    @Test func aPollThatFoundNothingNewIsCommittedWithinTheIntervalOfTheDocument() async throws {
        let fixture = try await mirror(), first = fixture.clock.wallTime
        try await poll(fixture)
        let end = fixture.clock.instant.advanced(by: .seconds(15))
        await fixture.clock.deadlines { $0.contains(end) }
        #expect(try lastSuccess(fixture) == [first])
        fixture.clock.advance(by: .seconds(15))
        while try lastSuccess(fixture) == [first] { await Task.yield() }
        #expect(try lastSuccess(fixture) == [first.addingTimeInterval(3600)])
        try await fixture.end()
    }

    @Test func whoWaitsForItHasItCommittedAtOnce() async throws {
        let fixture = try await mirror(), first = fixture.clock.wallTime
        try await poll(fixture)
        try await fixture.pipeline.writer.written()
        #expect(try lastSuccess(fixture) == [first.addingTimeInterval(3600)])
        try await fixture.end()
    }

    @Test func aStopCommitsWhatCouldWait() async throws {
        let fixture = try await mirror(), first = fixture.clock.wallTime
        try await poll(fixture)
        await fixture.pipeline.stop(grace: .zero)
        #expect(try lastSuccess(fixture) == [first.addingTimeInterval(3600)])
        try await fixture.end()
    }

    @Test func aPauseTakesAlongWhatCouldWait() async throws {
        let fixture = try await mirror(), first = fixture.clock.wallTime
        try await poll(fixture)
        try await fixture.pipeline.pause("api/people")
        #expect(try lastSuccess(fixture) == [first.addingTimeInterval(3600)])
        try await fixture.end()
    }
}
