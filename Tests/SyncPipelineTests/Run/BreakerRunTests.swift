import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// What servers that fail are spared, from the text of a configuration to what they see.
@Suite(.timeLimit(.minutes(60))) struct BreakerRunTests {
    private let api = ScriptedAPI()

    /// Two failures open it.
    private static let toml = ScriptedAPI.configuration(
        ScriptedAPI.resource("people"), defaults: "[defaults.retry]\nattempts = 1\n[defaults.breaker]\nfailures = 2\nmax_open = \"3h\"")

    private func breaker(_ fixture: PipelineFixture) async -> BreakerStatus? { await fixture.pipeline.status().resources.first?.breaker }

    /// Polls at once, as far as anybody is served.
    private func ask(_ fixture: PipelineFixture) async throws -> RunReport {
        try #require(try await fixture.pipeline.sync("api/people", cause: .control, wait: true).first)
    }

    @Test(arguments: [
        StubTransport.Answer.response(status: 503), .failure(FetchError(.connect)), .failure(FetchError(.timeout(.firstByte))),
        .failure(FetchError(.tls)),
    ])
    func aServerThatFailsIsLeftAloneAndItIsSaidUntilWhen(_ answer: StubTransport.Answer) async throws {
        let fixture = try await PipelineFixture(Self.toml) { _, _ in answer }
        try await fixture.sync()
        #expect(await breaker(fixture) == nil)
        try await fixture.sync()
        let until = fixture.clock.wallTime.addingTimeInterval(60)
        #expect(await breaker(fixture) == BreakerStatus(.open, until: until, openings: 1))
        #expect(
            fixture.events.contains(
                .breakerOpened(
                    scope: ResourceScope(source: "api", resource: "people"), cause: .failures(count: 2, server: "https://api.example"), until: until))
        )
        let report = try await ask(fixture)
        #expect(report.outcome == .parked && report.nextPollAt == until && fixture.transport.requests.count == 2)
        #expect(report.error?.contains("cisternctl resume api/people") == true)
        try await fixture.end()
    }

    // It answers: what it says is wrong with this request.
    @Test(arguments: [400, 404, 429]) func aServerThatAnswersIsNotLeftAlone(status: Int) async throws {
        let fixture = try await PipelineFixture(Self.toml) { _, _ in .response(status: status) }
        for _ in 1...4 { try await fixture.sync() }
        #expect(await breaker(fixture) == nil && fixture.transport.requests.count == 4)
        try await fixture.end()
    }

    @Test func aRestartLeavesItAloneAndResumeAsksIt() async throws {
        api.set("/people", "", status: 503)
        let fixture = try await api.fixture(Self.toml)
        try await fixture.sync()
        try await fixture.sync()
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        let now = fixture.clock.wallTime.addingTimeInterval(20)
        let next = try await PipelineFixture(Self.toml, folder: fixture.folder, now: now) { [api] request, _ in api.answer(request) }
        #expect(await breaker(next) == BreakerStatus(.open, until: now.addingTimeInterval(40), openings: 1))
        #expect(try await ask(next).outcome == .parked && next.transport.requests.isEmpty)
        next.clock.advance(by: .seconds(60))
        // It has failed for longer than anybody was patient, and does again.
        #expect(try await ask(next).outcome == .failed)
        #expect(await breaker(next) == BreakerStatus(.open, until: next.clock.wallTime.addingTimeInterval(120), openings: 2))
        api.set("/people", "[{\"id\": 1}]")
        next.clock.advance(by: .seconds(90))
        let count = next.reports.count
        try await next.pipeline.resume("api/people")
        try await next.finished(count + 1)
        #expect(next.reports.last?.outcome == .succeeded)
        #expect(await breaker(next) == nil)
        try await next.end()
    }

    @Test func whatIsResetIsAskedAsConfigured() async throws {
        api.set("/people", "", status: 503)
        let fixture = try await api.fixture(Self.toml)
        try await fixture.sync()
        try await fixture.sync()
        try await fixture.pipeline.reset("api/people", [.breaker])
        #expect(await breaker(fixture) == nil)
        fixture.clock.advance(by: .seconds(60))
        #expect(try await ask(fixture).outcome == .failed)
        // The count begins anew.
        #expect(await breaker(fixture) == nil)
        try await fixture.end()
    }

    @Test func whatDoesNotChangeByAskingIsLeftToWhoeverAsks() async throws {
        api.set("/people", "", status: 404)
        let fixture = try await api.fixture(Self.toml)
        try await fixture.sync()
        let status = try #require(await fixture.pipeline.status().resources.first)
        #expect(status.nextPollAt == fixture.clock.wallTime.addingTimeInterval(3 * 3600) && status.breaker == nil)
        api.set("/people", "[{\"id\": 1}]")
        fixture.clock.advance(by: .seconds(60))
        #expect(try await ask(fixture).outcome == .succeeded)
        try await fixture.end()
    }

    // A part that is not there says nothing of the others, and a list that is gone is what the configuration waits for.
    @Test func whatIsGoneIsNotARefusal() async throws {
        api.set("/people", "{\"id\": 1}")
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource("people", of: "Person", "records = \"$\"\ndeletion = { detect = \"gone-status\", max_fraction = 1.0 }"))
        let fixture = try await api.fixture(toml)
        try await fixture.sync()
        api.set("/people", "", status: 410)
        try await fixture.sync()
        #expect(!fixture.events.contains { if case .breakerOpened = $0 { true } else { false } })
        try await fixture.end()
    }
}
