import Foundation
import GRDB
import NIOHTTP1
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// What the next process learns of runs that were open.
@Suite struct OpenRunsTests {
    private let folder: URL
    private let one = ResourceScope(source: "api", resource: "one")
    private let two = ResourceScope(source: "api", resource: "two")
    private var file: URL { folder.appendingPathComponent(OpenRuns.fileName) }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// What a process that ends now leaves behind.
    private var left: [ResourceScope: Int] { OpenRuns(folder: folder).suspects.mapValues(\.ends).filter { $0.value > 0 } }
    private let time = Date(timeIntervalSince1970: 1_735_689_600)

    @Test func aRunThatEndsLeavesNothingAndAnOpenOneItsName() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = OpenRuns(folder: folder)
        #expect(runs.suspects.isEmpty)
        runs.begin(one, at: time)
        runs.begin(two, at: time)
        #expect(left == [one: 1, two: 1])
        runs.end(two)
        #expect(left == [one: 1])
        runs.end(one)
        #expect(left.isEmpty)
    }

    @Test func uncleanEndsAreCountedUntilARunEnds() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for count in 1...3 {
            let runs = OpenRuns(folder: folder)
            #expect(runs.suspects.mapValues(\.ends) == (count == 1 ? [:] : [one: count - 1]))
            runs.begin(one, at: time)
        }
        // A process that did not ask it again knows no more of it.
        OpenRuns(folder: folder).begin(two, at: time)
        #expect(left == [one: 3, two: 1])
        let runs = OpenRuns(folder: folder)
        runs.begin(one, at: time)
        runs.end(one)
        #expect(left == [two: 1])
    }

    @Test func whenARunBeganIsKnownUntilTheStoreSaysSo() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = OpenRuns(folder: folder)
        runs.begin(one, at: time)
        #expect(runs.ended(one) == nil)
        runs.end(one)
        #expect(runs.ended(one) == time)
        #expect(OpenRuns(folder: folder).suspects == [one: Suspicion(ends: 0, began: time)])
        runs.stored(one, began: time.addingTimeInterval(-1))
        #expect(runs.ended(one) == time)
        runs.stored(one, began: time)
        #expect(runs.ended(one) == nil && OpenRuns(folder: folder).suspects.isEmpty)
        // The next one has begun meanwhile.
        runs.begin(one, at: time)
        runs.stored(one, began: time)
        #expect(OpenRuns(folder: folder).suspects == [one: Suspicion(ends: 1, began: time)])
    }

    @Test func aRunTouchesItsOwnLineOnly() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = OpenRuns(folder: folder)
        for scope in [one, two] { runs.begin(scope, at: time) }
        let both = try String(contentsOf: file, encoding: .utf8)
        try both.replacing("api/two", with: "API/TWO").write(to: file, atomically: false, encoding: .utf8)
        for _ in 0..<3 {
            runs.end(one)
            runs.stored(one, began: time)
            runs.begin(one, at: time)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == both.replacing("api/two", with: "API/TWO"))
        runs.end(one)
        runs.stored(one, began: time)
        #expect(OpenRuns(folder: folder).suspects == [ResourceScope(source: "API", resource: "TWO"): Suspicion(ends: 1, began: time)])
        runs.close()
        #expect(OpenRuns(folder: folder).suspects == [two: Suspicion(ends: 0, began: time)])
    }

    @Test func whenTheNextPollIsDueIsKnownUntilTheStoreSaysSo() {
        defer { try? FileManager.default.removeItem(at: folder) }
        let next = time.addingTimeInterval(3600)
        let runs = OpenRuns(folder: folder)
        // Of a run that is open there is no next one yet.
        runs.begin(one, at: time)
        runs.expect(one, at: next)
        #expect(OpenRuns(folder: folder).suspects == [one: Suspicion(ends: 1, began: time)])
        runs.end(one)
        runs.expect(one, at: next)
        #expect(OpenRuns(folder: folder).suspects == [one: Suspicion(ends: 0, began: time, nextPoll: next)])
        runs.begin(one, at: next)
        #expect(OpenRuns(folder: folder).suspects == [one: Suspicion(ends: 1, began: next)])
        runs.end(one)
        #expect(OpenRuns(folder: folder).suspects == [one: Suspicion(ends: 0, began: next)])
        runs.stored(one, began: next)
        // The store was quicker.
        runs.expect(one, at: next)
        #expect(OpenRuns(folder: folder).suspects.isEmpty)
    }

    @Test func theFileHoldsNobodyOfThePastAfterAStart() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = OpenRuns(folder: folder)
        for index in 0..<50 { runs.begin(ResourceScope(source: "api", resource: "r\(index)"), at: time) }
        for index in 0..<50 {
            runs.end(ResourceScope(source: "api", resource: "r\(index)"))
            runs.stored(ResourceScope(source: "api", resource: "r\(index)"), began: time)
        }
        #expect(OpenRuns(folder: folder).suspects.isEmpty)
        OpenRuns(folder: folder).begin(one, at: time)
        #expect(try String(contentsOf: file, encoding: .utf8) == "01 001735689600000 --------------- api/one\n.\n")
    }

    @Test func theNextProcessLearnsWhenTheLastRunThatWasOpenBegan() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        OpenRuns(folder: folder).begin(one, at: time)
        let runs = OpenRuns(folder: folder)
        #expect(runs.suspects == [one: Suspicion(ends: 1, began: time)])
        runs.begin(two, at: time.addingTimeInterval(1))
        #expect(OpenRuns(folder: folder).suspects[one] == Suspicion(ends: 1, began: time))
        runs.begin(one, at: time.addingTimeInterval(90.5))
        #expect(OpenRuns(folder: folder).suspects[one] == Suspicion(ends: 2, began: time.addingTimeInterval(90.5)))
    }

    @Test func anOrderlyEndLeavesNobodyUnderSuspicion() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = OpenRuns(folder: folder)
        runs.begin(one, at: time)
        runs.close()
        #expect(left.isEmpty)
        // That it ends after all comes too late.
        runs.end(one)
        #expect(OpenRuns(folder: folder).suspects == [one: Suspicion(ends: 0, began: time)])
    }

    @Test func thatARunFoundNothingNewIsKnownBesideTheStoreUntilItIsCommitted() async throws {
        let fixture = try await PipelineFixture(ScriptedAPI.people()) { request, _ in
            request.headers.contains(name: "If-None-Match")
                ? .response(status: 304, headers: ["ETag": "\"1\""])
                : .response(status: 200, headers: ["ETag": "\"1\"", "Content-Type": "application/json"], body: Array("[{\"id\": 1}]".utf8))
        }
        try await fixture.sync()
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        await fixture.told { $0.reports.count >= 2 }
        #expect(fixture.reports.last?.notModifiedPages == 1)
        while let left = OpenRuns(folder: fixture.folder).suspects.values.first, left.ends > 0 { await Task.yield() }
        #expect(OpenRuns(folder: fixture.folder).suspects.values.map(\.began) == [fixture.clock.wallTime])
        try await fixture.pipeline.writer.written()
        #expect(OpenRuns(folder: fixture.folder).suspects.isEmpty)
        try await fixture.end()
    }

    @Test func aStopThatGoesOnWithoutARunLeavesNobodyUnderSuspicion() async throws {
        let fixture = try await PipelineFixture(ScriptedAPI.people()) { _, _ in
            .response(status: 200, headers: [:], body: Array("[{\"id\": 1}]".utf8))
        }
        let (parses, parsing) = AsyncStream.makeStream(of: Void.self)
        let isHeld = DispatchSemaphore(value: 0)
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(batchSize: 1) { _, _ in
                parsing.yield()
                isHeld.wait()
            }
        }
        fixture.clock.advance(by: .seconds(3600))
        try await fixture.pipeline.sync(nil, cause: .control, wait: false)
        for await _ in parses { break }
        #expect(OpenRuns(folder: fixture.folder).suspects.count == 1)
        let stop = Task { await fixture.pipeline.stop(grace: .zero) }
        // The patience of a stop with what it has cancelled.
        await fixture.clock.deadlines { $0.contains { $0 == SyncInstant(sinceOrigin: .seconds(3601)) } }
        fixture.clock.advance(by: .seconds(1))
        await stop.value
        #expect(OpenRuns(folder: fixture.folder).suspects.values.map(\.ends) == [0])
        // More than it waits for: a thread that waited for ever would be missed by other tests.
        for _ in 0..<8 { isHeld.signal() }
        try await fixture.end()
    }

    @Test(arguments: [
        "", "x\n", "1\n", "1 0\n", "1 a/b\n", "-3 0 a/b\n", "1 0 ab\n", "1 x a/b\n", "99999999999999999999 0 a/b\n", "\u{0}\u{FF}",
        ".\n1 0 a/b\n",
    ])
    func aDamagedFileTellsNothing(_ text: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try text.write(to: file, atomically: false, encoding: .utf8)
        #expect(left.isEmpty)
    }

    @Test func aLinkInItsPlaceIsNotFollowed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = folder.appendingPathComponent("other")
        try "mine".write(to: other, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        OpenRuns(folder: folder).begin(one, at: time)
        #expect(try String(contentsOf: other, encoding: .utf8) == "mine")
    }
}
