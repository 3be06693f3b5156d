import Foundation
import GRDB
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

extension RecordComparisonTests {
    // MARK: Rows that others write

    // What the others wrote while they were there has to go.
    @Test func whatOthersHaveWrittenOfWhatRecordsHoldIsReadOver() async throws {
        let alone = Self.badges(reads: ", read = false")
        let fixture = try await api.fixture(alone), one = #"{"id": 1, "badges": [{"id": 7, "color": "red"}]}"#
        serve(one + #", {"id": 2}"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        try await fixture.pipeline.reload(
            PipelineFixture.configuration(Self.badges(ScriptedAPI.resource("badges", of: "Badge"), reads: ", read = false")))
        api.set("/badges", #"[{"id": 7, "color": "blue"}]"#)
        try await fixture.sync("api/badges")
        try await fixture.pipeline.reload(PipelineFixture.configuration(alone))
        serve(one + #", {"id": 2, "name": "b"}"#, etag: "\"2\"")
        try await fixture.sync("api/people")
        #expect(try await fixture.values("color", of: "Badge") == ["red"])
        try await fixture.end()
    }

    // While people are not asked for, badges are; then it is the other way round.
    @Test(arguments: [false, true]) func whatOthersWroteWhileTheResourceWasAwayIsReadOver(isRestarted: Bool) async throws {
        let entities = Self.badges(reads: ", read = false")
        let begin = try #require(entities.range(of: "[[source.resource]]")), end = try #require(entities.range(of: "[entity.Person]"))
        let badges = entities.replacingCharacters(in: begin.lowerBound..<end.lowerBound, with: ScriptedAPI.resource("badges", of: "Badge"))
        var fixture = try await api.fixture(entities), one = #"{"id": 1, "badges": [{"id": 7, "color": "red"}]}"#
        func configure(_ toml: String) async throws {
            if !isRestarted { return try await fixture.pipeline.reload(PipelineFixture.configuration(toml)) }
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
            fixture = try await PipelineFixture(toml, folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in api.answer(request) }
        }
        serve(one + #", {"id": 2}"#, etag: "\"1\"")
        try await fixture.sync("api/people")
        #expect(try await Self.comparedPages(fixture) == 1)
        try await configure(badges)
        api.set("/badges", #"[{"id": 7, "color": "blue"}]"#)
        try await fixture.sync("api/badges")
        try await configure(entities)
        serve(one + #", {"id": 2, "name": "b"}"#, etag: "\"2\"")
        try await fixture.sync("api/people")
        #expect(try await fixture.values("color", of: "Badge") == ["red"])
        try await fixture.end()
    }

    // Its page was being saved when the resource was taken out.
    @Test func aPageThatIsSavedAfterItsResourceWentIsReadOver() async throws {
        func configuration(_ resource: String) -> String { ScriptedAPI.configuration(ScriptedAPI.resource(resource, of: "Person", Self.listing)) }
        var fixture = try await api.fixture(configuration("people"))
        serve(#"{"id": 1, "name": "a"}, {"id": 2}"#)
        api.set("/staff", #"{"items": [{"id": 1, "name": "x"}]}"#)
        let hold = ParseHold(fixture.pipeline, resource: "people", at: .saving)
        fixture.clock.advance(by: .seconds(3600))
        let pipeline = fixture.pipeline
        async let reports = pipeline.sync("api/people", cause: .control, wait: true)
        await hold.isReached()
        try await pipeline.reload(PipelineFixture.configuration(configuration("staff")))
        hold.letGo()
        _ = try await reports
        await pipeline.ended()
        #expect(try await Self.comparedPages(fixture) == 1)
        try await fixture.sync("api/staff")
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        fixture = try await PipelineFixture(configuration("people"), folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in
            api.answer(request)
        }
        serve(#"{"id": 1, "name": "a"}, {"id": 2, "name": "b"}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil"])
        try await fixture.end()
    }

    // Another resource of the same entity writes a row while the first is away.
    @Test(arguments: [false, true]) func whatAnotherListingSaidWhileTheResourceWasAwayIsReadOver(isRestarted: Bool) async throws {
        func configuration(_ resource: String) -> String { ScriptedAPI.configuration(ScriptedAPI.resource(resource, of: "Person", Self.listing)) }
        var fixture = try await api.fixture(configuration("people"))
        func configure(_ toml: String) async throws {
            if !isRestarted { return try await fixture.pipeline.reload(PipelineFixture.configuration(toml)) }
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
            fixture = try await PipelineFixture(toml, folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in api.answer(request) }
        }
        serve(#"{"id": 1, "name": "a"}, {"id": 2}"#)
        try await fixture.sync("api/people")
        try await configure(configuration("staff"))
        api.set("/staff", #"{"items": [{"id": 1, "name": "x"}]}"#)
        try await fixture.sync("api/staff")
        try await configure(configuration("people"))
        serve(#"{"id": 1, "name": "a"}, {"id": 2, "name": "b"}"#)
        try await fixture.sync("api/people")
        #expect(try await Self.rows(fixture) == ["1 a nil", "2 b nil"])
        try await fixture.end()
    }

    /// A program that knows nothing of sums.
    private static func meddle(_ sql: String, _ fixture: PipelineFixture) throws {
        let queue = try DatabaseQueue(path: fixture.document.storeURL.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    // Also where the page has not changed.
    @Test(arguments: [false, true], [false, true]) func whatOthersChangedOfWhatRecordsHoldIsReadAnew(isRestarted: Bool, isUnmodified: Bool)
        async throws
    {
        let configuration = Self.badges(reads: ", read = false")
        var fixture = try await api.fixture(configuration), one = #"{"id": 1, "badges": [{"id": 7, "color": "red"}]}, {"id": 2, "name": "a"}"#
        serve(one, etag: "\"1\"")
        for _ in 1...2 { try await fixture.sync("api/people") }
        if isRestarted {
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
        }
        try Self.meddle("UPDATE ZBADGE SET ZCOLOR = 'blue'", fixture)
        if isRestarted {
            fixture = try await PipelineFixture(configuration, folder: fixture.folder, now: fixture.clock.wallTime) { [api] request, _ in
                api.answer(request)
            }
        }
        if !isUnmodified {
            one = one.replacing(#""name": "a""#, with: #""name": "b""#)
            serve(one, etag: "\"2\"")
        }
        // The answer whether somebody else has written comes beside the first run that asks, or before the second.
        for _ in 0..<20 where try await fixture.values("color", of: "Badge") != ["red"] { try await fixture.sync("api/people") }
        #expect(try await fixture.values("color", of: "Badge") == ["red"])
        #expect(fixture.events.compactMap { if case .rowsChangedElsewhere(_, let count) = $0 { count } else { nil } } == [1])
        try await fixture.end()
    }

    @Test func whatOthersRemovedOfWhatRecordsHoldIsThereAgainWhenItsPageIsRead() async throws {
        let fixture = try await api.fixture(Self.badges(reads: ", read = false")), one = #"{"id": 1, "badges": [{"id": 7, "color": "red"}]}"#
        serve(one + #", {"id": 2}"#)
        for _ in 1...2 { try await fixture.sync("api/people") }
        try Self.meddle("DELETE FROM ZBADGE", fixture)
        for name in 0..<20 where try await fixture.values("color", of: "Badge") != ["red"] {
            serve(one + #", {"id": 2, "name": "\#(name)"}"#)
            try await fixture.sync("api/people")
        }
        #expect(try await fixture.values("color", of: "Badge") == ["red"])
        try await fixture.end()
    }
}
