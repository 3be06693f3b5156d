import Foundation
import OpenCoreData
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Where runs that ask for what has changed meet other things.
extension IncrementRunTests {
    // Its records are no good: who goes on behind them never sees them again.
    @Test func aRunInOrderIsNotContinuedBehindWhatWasSetAside() async throws {
        for id in 1...6 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { state in
            state.pageSize = 2
            state.order = { ($0.changed ?? 0, $0.id) < ($1.changed ?? 0, $1.id) }
            state.spoilt = [1, 2]
            state.broken = [2]
        }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", order = \"asc\""))
        #expect(try await fixture.sync("api/people").outcome == .failed)
        #expect(try await cursor(fixture) == nil)
        api.change { $0.spoilt = [] }
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == api.live)
        try await fixture.end()
    }

    // A record on a page that was read already changes, and so does one on the last page: the number of the last is not how far the run has come.
    @Test func aNumberThatGrowsWhileARunReadsIsNotPassedOver() async throws {
        for id in 1...4 { api.put(id, at: Double(id)) }
        api.change { state in
            state.pageSize = 2
            state.isNumber = true
        }
        let fixture = try await api.fixture(ChangingAPI.people("kind = \"integer\", since = \"since\""))
        try await fixture.sync("api/people")
        for id in 1...4 { api.put(id, at: Double(100 + id), name: "new") }
        let count = fixture.transport.requests.count
        api.change { $0.meanwhile = (count + 1, [.init(id: 1, changed: 201, name: "newer"), .init(id: 4, changed: 202, name: "newer")]) }
        try await fixture.sync("api/people")
        try await fixture.sync("api/people")
        #expect(try await fixture.values("name", of: "Person") == ["new", "new", "newer", "newer"])
        try await fixture.end()
    }

    // A whole new mapping that was not read must not be taken for read.
    @Test func aChangedMappingIsReadAlsoWhereTheOrderIsNotKept() async throws {
        for id in 1...4 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { $0.pageSize = 2 }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("increment-\(UUID().uuidString)")
        let toml = ChangingAPI.people("since = \"since\", order = \"asc\"")
        var fixture = try await api.fixture(toml, folder: folder)
        try await fixture.sync("api/people")
        await fixture.pipeline.stop(grace: .zero)
        try await fixture.document.close()
        fixture = try await api.fixture(
            toml.replacingOccurrences(of: "name = { type = \"string\" }", with: "name = { type = \"string\", path = \"$.at\" }"), folder: folder)
        api.change { state in state.order = { $0.id > $1.id } }
        #expect(try await fixture.sync("api/people").outcome == .failed)
        api.change { $0.order = nil }
        #expect(try await fixture.sync("api/people").isComplete)
        #expect(try await fixture.values("name", of: "Person").allSatisfy { $0.hasPrefix("2024-12-31T") })
        try await fixture.end()
    }

    // The requests are others: what came by the old ones says nothing.
    @Test func otherRequestsAskForEverything() async throws {
        api.put(1, at: begin - 100)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("increment-\(UUID().uuidString)")
        let toml = ChangingAPI.people("since = \"since\"")
        for (old, new) in [
            ("", ""), ("since = \"since\"", "since = \"since\", request_format = \"unix\""), ("size_param = \"\"", "size_param = \"per\""),
        ] {
            let fixture = try await api.fixture(old.isEmpty ? toml : toml.replacingOccurrences(of: old, with: new), folder: folder)
            _ = api.asked()
            #expect(try await fixture.sync("api/people").isComplete)
            #expect(api.asked().first?.contains("since") == false)
            await fixture.pipeline.stop(grace: .zero)
            try await fixture.document.close()
        }
        try FileManager.default.removeItem(at: folder)
    }

    // Somebody has accepted deletions, and that run fails: the next one has to ask for everything, too.
    @Test func acceptedDeletionsAreForTheNextListing() async throws {
        for id in 1...4 { api.put(id, at: begin - 100) }
        let toml = ChangingAPI.people("since = \"since\"", deletion: "snapshot").replacingOccurrences(
            of: "max_fraction = 1.0", with: "max_fraction = 0.1")
        let fixture = try await api.fixture(toml)
        try await fixture.sync("api/people")
        api.remove(1, 2)
        try await fixture.sync("api/people", full: true)
        #expect(try await fixture.live() == ["1", "2", "3", "4"])
        api.change { [count = fixture.transport.requests.count] in $0.broken = [count] }
        let ended = fixture.reports.count
        try await fixture.pipeline.acceptDeletes("api/people")
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.finished(ended + 1)
        #expect(fixture.reports.last?.outcome == .failed)
        #expect(try await fixture.sync("api/people").counts.deleted == 2)
        try await fixture.end()
    }

    // It was missing once, then it changed: it is there, and has to be missing twice again.
    @Test func whatHasChangedIsNotMissing() async throws {
        for id in 1...3 { api.put(id, at: begin - 100) }
        let toml = ChangingAPI.people("since = \"since\"", deletion: "snapshot").replacingOccurrences(
            of: "confirm_runs = 1", with: "confirm_runs = 2")
        let fixture = try await api.fixture(toml)
        try await fixture.sync("api/people")
        api.remove(1)
        try await fixture.sync("api/people", full: true)
        api.put(1, at: begin)
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        api.remove(1)
        #expect(try await fixture.sync("api/people", full: true).counts.deleted == 0)
        #expect(try await fixture.sync("api/people", full: true).counts.deleted == 1)
        try await fixture.end()
    }

    // Everything is listed once a day, and found as it was: then changes are asked for again.
    @Test func aListingThatFindsEverythingAsItWasIsOne() async throws {
        api.put(1, 2, at: begin - 100)
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\", full_every = \"24h\""))
        try await fixture.sync("api/people")
        fixture.clock.advance(by: .seconds(86_400))
        _ = api.asked()
        let listing = try await fixture.sync("api/people")
        #expect(listing.isComplete && listing.notModifiedPages == listing.pages, "\(listing)")
        #expect(api.asked().first == "page=1")
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        #expect(api.asked().first == "since=2024-12-31T23:58:20Z&page=1")
        try await fixture.end()
    }

    // The newest first, and nothing is new: the first page says so, although it is not read.
    @Test func aRunOfTheNewestFirstEndsWithAPageThatHasNotChanged() async throws {
        for id in 1...10 { api.put(id, at: begin - 1000 + Double(id)) }
        api.change { state in
            state.pageSize = 2
            state.order = { ($0.changed ?? 0) > ($1.changed ?? 0) }
        }
        let fixture = try await api.fixture(ChangingAPI.people("order = \"desc\""))
        try await fixture.sync("api/people")
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded && report.notModifiedPages == report.pages && report.pages <= 2, "\(report)")
        try await fixture.end()
    }

    // Several records have the time of the cursor, one of them on the next page, and that one is new.
    @Test func aRunOfTheNewestFirstReadsAllOfTheTimeThatItHasComeTo() async throws {
        for id in 1...2 { api.put(id, at: begin - 100) }
        api.change { state in
            state.pageSize = 2
            state.order = { ($0.changed ?? 0, -$0.id) > ($1.changed ?? 0, -$1.id) }
        }
        let fixture = try await api.fixture(ChangingAPI.people("order = \"desc\""))
        try await fixture.sync("api/people")
        api.put(3, at: begin - 100)
        try await fixture.sync("api/people")
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    // Days overlap: the last record of one step may be newer than the first of the next.
    @Test func stepsAreInOrderEachForItself() async throws {
        api.put(1, at: begin - 90_000)
        api.put(2, at: begin - 86_400 * 1.5)
        api.change { state in
            state.order = { ($0.changed ?? 0) < ($1.changed ?? 0) }
            state.ignoresSince = true
        }
        let fixture = try await api.fixture(
            ChangingAPI.people("since = \"since\", until = \"until\", window = \"1d\", start = \"-3d\", order = \"asc\"", ""))
        #expect(try await fixture.sync("api/people").outcome == .succeeded)
        try await fixture.end()
    }

    // What a listing of everything has set aside stays until that is repaired.
    @Test func whatWasSetAsideStaysWhereARunAsksForWhatHasChanged() async throws {
        api.put(1, at: begin - 200)
        for id in 2...4 { api.put(id, at: begin - 100) }
        api.change { $0.spoilt = [1] }
        let fixture = try await api.fixture(ChangingAPI.people("since = \"since\""))
        try await fixture.sync("api/people")
        api.put(2, at: begin)
        try await fixture.sync("api/people")
        let count = try await fixture.document.withWorker { try StateRow<QuarantineTable>.all(in: $0).count }
        #expect(count == 1)
        try await fixture.end()
    }
}
