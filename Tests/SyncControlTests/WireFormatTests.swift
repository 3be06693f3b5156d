import Foundation
import SyncReports
import Testing

@testable import SyncControl

/// What is on the wire is read by other people's programs: names and forms stay.
@Suite struct WireFormatTests {
    private func json(_ value: some Encodable) throws -> String { String(decoding: try ControlCoding.encode(value), as: UTF8.self) }

    @Test func aSnapshotHasTheDocumentedNames() throws {
        let resource = ResourceStatus(
            ResourceScope(source: "a", resource: "b"), .degraded, lastSuccess: Date(timeIntervalSince1970: 1_800_000_000), ageSeconds: 60,
            parkedUntil: Date(timeIntervalSince1970: 1_800_003_600), consecutiveFailures: 2, heldDeletes: 3, guardName: "deletion.max_count")
        var snapshot = SnapshotExample.make([resource])
        snapshot.document.oldestUnsavedSeconds = 1.5
        #expect(
            try json(snapshot) == #"{"daemon":{"configuration_generation":1,"configuration_loaded_at":"2027-01-15T08:00:00Z","#
                + #""name":"cisternd","pid":7,"started_at":"2027-01-15T08:00:00Z","state":"ready","status":"Idle","version":"1","#
                + #""watchdog":{"enabled":true,"failing":[],"interval_s":60}},"document":{"oldest_unsaved_s":1.5,"path":"/var/lib/cistern","#
                + #""unsaved_changes":0},"generated_at":"2027-01-15T08:01:00Z","resources":[{"age_s":60,"consecutive_failures":2,"#
                + #""held_by":"deletion.max_count","held_deletes":3,"last_success_at":"2027-01-15T08:00:00Z","#
                + #""parked_until":"2027-01-15T09:00:00Z","scope":"a/b","state":"degraded"}]}"#)
        #expect(try ControlCoding.decode(StatusSnapshot.self, from: ControlCoding.encode(snapshot)) == snapshot)
    }

    @Test(arguments: [
        (BreakerStatus(.halfOpen, openings: 3), #""breaker":{"openings":3,"state":"half-open"}"#),
        (
            BreakerStatus(.open, until: Date(timeIntervalSince1970: 1_800_000_000), openings: 1),
            #""breaker":{"openings":1,"state":"open","until":"2027-01-15T08:00:00Z"}"#
        ),
    ])
    func aServerThatIsLeftAloneHasTheDocumentedNames(_ breaker: BreakerStatus, _ text: String) throws {
        let status = ResourceStatus(ResourceScope(source: "a", resource: "b"), .degraded, consecutiveFailures: 1, breaker: breaker)
        #expect(try json(status).contains(text))
        #expect(try ControlCoding.decode(ResourceStatus.self, from: ControlCoding.encode(status)) == status)
    }

    @Test func aRunHasTheDocumentedNames() throws {
        var counts = RecordCounts()
        (counts.inserted, counts.updated, counts.unchanged, counts.deleted, counts.quarantined) = (1, 2, 3, 4, 5)
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let id = try #require(UUID(uuidString: "0E1F2A3B-4C5D-6E7F-8091-A2B3C4D5E6F7"))
        let run = RunReport(
            run: id, scope: ResourceScope(source: "a", resource: "b"), cause: .schedule, startedAt: start, endedAt: start, outcome: .failed,
            isComplete: false, pages: 6, notModifiedPages: 7, bytes: 8, counts: counts, httpStatus: 500, error: "no",
            failure: .page, nextPollAt: start)
        #expect(
            try json(run) == #"{"bytes":8,"cause":"schedule","complete":false,"deleted":4,"ended_at":"2027-01-15T08:00:00Z","error":"no","#
                + #""failure":"page","http_status":500,"inserted":1,"next_poll_at":"2027-01-15T08:00:00Z","not_modified_pages":7,"outcome":"failed","pages":6,"#
                + #""quarantined":5,"run":"0E1F2A3B-4C5D-6E7F-8091-A2B3C4D5E6F7","scope":"a/b","started_at":"2027-01-15T08:00:00Z","unchanged":3,"#
                + #""updated":2}"#)
        #expect(try ControlCoding.decode(RunReport.self, from: ControlCoding.encode(run)) == run)
        // What a later version tells does not make the rest unreadable.
        let later = try json(run).replacing("\"page\"", with: "\"unheard-of\"")
        #expect(try ControlCoding.decode(RunReport.self, from: Data(later.utf8)).failure == nil)
    }

    @Test func aRecordThatWasSetAsideHasTheDocumentedNames() throws {
        let start = Date(timeIntervalSince1970: 1_800_000_000), scope = ResourceScope(source: "a", resource: "b")
        let entry = QuarantineEntry(
            digest: "d", scope: scope, run: 1, page: 2, record: 3, reason: "r", path: "$.p", raw: "{}", seenAt: start, count: 4)
        #expect(
            try json(entry) == #"{"count":4,"id":"d","page":2,"path":"$.p","raw":"{}","reason":"r","record":3,"run":1,"scope":"a/b","#
                + #""seen_at":"2027-01-15T08:00:00Z"}"#)
        #expect(try ControlCoding.decode(QuarantineEntry.self, from: ControlCoding.encode(entry)) == entry)
        let bare = QuarantineEntry(digest: "d", scope: scope, run: 1, page: 2, record: 3, reason: "r", seenAt: start)
        #expect(try !json(bare).contains("path") && !json(bare).contains("raw"))
        #expect(try ControlCoding.decode(QuarantineEntry.self, from: ControlCoding.encode(bare)) == bare)
    }

    @Test(arguments: ["\"a\"", "\"a/\"", "\"/b\""])
    func whatNamesNoResourceIsNoScope(_ text: String) {
        #expect(throws: DecodingError.self) { try ControlCoding.decode(ResourceScope.self, from: Data(text.utf8)) }
    }

    @Test func anErrorHasAnExitStatusAsItsCode() throws {
        let error = ControlError("it is so", advice: "do this", code: .configuration, problems: ["x:1: y"])
        #expect(try json(error) == #"{"advice":"do this","code":78,"error":"it is so","problems":["x:1: y"]}"#)
        #expect(error.description == "it is so; do this\nx:1: y")
    }

    static let run = ControlExitCodeTests.run(.succeeded)

    @Test(arguments: [
        SyncProgress.accepted(resources: ["a/b"]), .runStarted(scope: "a/b"), .page(scope: "a/b", page: 2, records: 200, notModified: false),
        .retrying(scope: "a/b", page: 2, attempt: 1, delaySeconds: 1.5, reason: "reset"),
        .parked(scope: "a/b", until: Date(timeIntervalSince1970: 1_800_000_000)), .runFinished(run), .finished(runs: [run, run]),
        .failed(ControlError("no", code: .software)),
    ])
    func everyLineOfProgressSurvivesTheWire(_ progress: SyncProgress) throws {
        let data = try ControlCoding.encode(progress)
        #expect(try ControlCoding.decode(SyncProgress.self, from: data) == progress)
        #expect(!data.contains(UInt8(ascii: "\n")))
    }

    @Test func aLineOfProgressNamesItsEvent() throws {
        #expect(
            try json(SyncProgress.page(scope: "a/b", page: 7, records: 700, notModified: false))
                == #"{"event":"page","not_modified":false,"page":7,"records":700,"scope":"a/b"}"#)
        #expect(try json(SyncProgress.runFinished(Self.run)).contains(#""event":"run_finished","http_status":200"#))
    }

    @Test(
        arguments: [
            (0, "0s"), (42.4, "42s"), (89, "89s"), (90, "2min"), (240, "4min"), (5399, "90min"), (5400, "2h"), (86400, "24h"), (172_800, "2d"),
            (-5, "0s"),
        ] as [(Double, String)])
    func spansAreSaidAsAPersonSaysThem(_ seconds: Double, _ text: String) {
        #expect(RelativeTime.text(seconds) == text)
    }
}
