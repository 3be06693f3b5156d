import Foundation
import Testing

@testable import SyncControl

/// What is on the wire is read by other people's programs: names and forms stay.
@Suite struct WireFormatTests {
    private func json(_ value: some Encodable) throws -> String { String(decoding: try ControlCoding.encode(value), as: UTF8.self) }

    @Test func aSnapshotHasTheDocumentedNames() throws {
        var resource = StatusSnapshot.Resource(scope: "a/b", state: .degraded, consecutiveFailures: 2)
        resource.lastSuccessAt = Date(timeIntervalSince1970: 1_800_000_000)
        resource.ageSeconds = 60
        resource.heldDeletes = 3
        var snapshot = SnapshotExample.make([resource])
        snapshot.document.oldestUnsavedSeconds = 1.5
        #expect(
            try json(snapshot) == #"{"daemon":{"configuration_generation":1,"configuration_loaded_at":"2027-01-15T08:00:00Z","#
                + #""name":"cisternd","pid":7,"started_at":"2027-01-15T08:00:00Z","state":"ready","status":"Idle","version":"1","#
                + #""watchdog":{"enabled":true,"failing":[],"interval_s":60}},"document":{"oldest_unsaved_s":1.5,"path":"/var/lib/cistern","#
                + #""unsaved_changes":0},"generated_at":"2027-01-15T08:01:00Z","resources":[{"age_s":60,"consecutive_failures":2,"#
                + #""held_deletes":3,"last_success_at":"2027-01-15T08:00:00Z","scope":"a/b","state":"degraded"}]}"#)
        #expect(try ControlCoding.decode(StatusSnapshot.self, from: ControlCoding.encode(snapshot)) == snapshot)
    }

    @Test func anErrorHasAnExitStatusAsItsCode() throws {
        let error = ControlError("it is so", advice: "do this", code: .configuration, problems: ["x:1: y"])
        #expect(try json(error) == #"{"advice":"do this","code":78,"error":"it is so","problems":["x:1: y"]}"#)
        #expect(error.description == "it is so; do this\nx:1: y")
    }

    static let run = ControlExitCodeTests.run("succeeded")

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
