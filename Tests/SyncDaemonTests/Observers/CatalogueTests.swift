import Foundation
import SyncControl
import Synchronization
import Systemd
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

/// What the journal's catalogue explains is said by somebody, with the fields that its texts show.
@Suite(.timeLimit(.minutes(60))) struct CatalogueTests {
    /// Everything that happens in the lives of a daemon, as the journal gets it.
    private func everyEntry() async throws -> [JournalEntry] {
        let bench = DaemonBench()
        let isSet = Mutex(false)
        // The machine's clock is an hour further each time somebody looks.
        bench.clocks.withLock { clocks in
            clocks = MachineClocks(
                read: {
                    .init(
                        wall: isSet.withLock { isSet in
                            defer { isSet = true }
                            return isSet ? .seconds(3600) : .zero
                        }, running: .zero)
                }, wake: 1)
        }
        bench.pipeline.set(PipelineLiveness(forgotten: Example.countries))
        bench.migration.withLock { $0 = "Store brought to the changed model: City.mayor is new" }
        let daemon = bench.daemon(watchdogTimeout: .milliseconds(30))
        async let status = daemon.run()
        var messages = bench.messages.makeAsyncIterator()
        while let message = await messages.next(), message["READY"] == nil {}
        for event in Self.events { daemon.hub.send(event) }
        let client = bench.client()
        _ = try await client.reload(wait: true)
        bench.write(TestConfiguration.text.replacing("every", with: "evry"))
        await #expect(throws: ControlError.self) { try await client.reload(wait: true) }
        await client.shutdown()
        daemon.deliver(.dumpStatus)
        var missing = Set([MessageID.statusDump, .watchdogMissed, .clockJumped])
        for await entry in bench.written {
            if let id = entry.messageID { missing.remove(id) }
            if missing.isEmpty { break }
        }
        // Last: it ends the daemon.
        daemon.hub.send(.saveFailed(reason: "disk I/O error", cause: .disk))
        let end = await status
        #expect(end == .ioError)
        return bench.entries.all
    }

    /// All that a pipeline tells of which the journal may have an entry of the catalogue, in every form.
    private static let events: [SyncEvent] = {
        let scope = Example.countries, run = Example.run, now = Example.start
        return [
            .runFinished(Example.report(counts: Example.counts(1))),
            .runFinished(Example.report(scope, .failed, status: nil, error: "cannot connect", failure: .fetch)),
            .runFinished(Example.report(counts: Example.counts(2))),
            .runFinished(Example.report(scope, .incomplete, error: "a page is missing")),
            .runFinished(Example.report(scope, .failed, status: nil, error: "expired", failure: .tls)),
            .freshnessChanged(scope: scope, isDegraded: true, since: now, heldDeletes: 0),
            .freshnessChanged(scope: scope, isDegraded: false, since: now, heldDeletes: 0),
            .freshnessChanged(scope: scope, isDegraded: true, since: nil, heldDeletes: 7),
            .parked(scope: scope, until: now),
            .breakerOpened(scope: scope, cause: .failures(count: 5, server: "https://x"), until: now),
            .quarantined(scope: scope, run: run, page: 1, count: 2, first: "no key"),
            .deletesHeld(scope: scope, run: run, count: 40, known: 50, guardName: "deletion.max_fraction"),
            .authenticationRejected(scope: scope, url: "https://x/", status: 401),
            .refused(scope: scope, url: "https://x/", reason: "too large", isAddress: false),
            .refused(scope: scope, url: "https://x/", reason: "private", isAddress: true),
            .held(.lowDisk(free: 3 << 20, minimum: "256MiB")),
            .archiveFailed(scope: scope, reason: "the body of page 1 cannot be kept"),
            .saveFailed(reason: "nothing more fits", cause: .full),
            .backupMade(name: "cistern-20270115T080000Z", bytes: 3 << 20, removed: 1),
            .backupFailed(reason: "nothing more fits"),
        ]
    }()

    @Test func everyIDIsSentWithTheFieldsThatItsTextShows() async throws {
        let entries = try await everyEntry()
        let sent = Set(entries.compactMap(\.messageID))
        #expect(Set(MessageID.allCases).subtracting(sent).isEmpty, "nobody sends these")
        let shown = try Self.placeholders()
        #expect(shown.count == MessageID.allCases.count)
        for entry in entries {
            guard let id = entry.messageID else { continue }
            let missing = try #require(shown[id.rawValue]).subtracting(entry.fields.map(\.name))
            #expect(missing.isEmpty, "\(id): \(entry.message)")
        }
    }

    /// The fields that the catalogue's texts show, by id.
    private static func placeholders() throws -> [String: Set<String>] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../systemd/cisternd.catalog")
        let text = try String(contentsOf: file, encoding: .utf8)
        var fields: [String: Set<String>] = [:]
        for entry in text.split(separator: "\n-- ").dropFirst() {
            fields[String(entry.prefix(32))] = Set(entry.matches(of: /@([A-Z_]+)@/).map { String($0.1) })
        }
        return fields
    }
}
