import Foundation
import SyncPipeline
import Systemd
import Testing

@testable import SyncDaemon

@Suite struct JournalFormatterTests {
    private func field(_ entry: JournalEntry?, _ name: String) -> String? { entry?.fields.first { $0.name == name }?.value }

    @Test func aRunWithChangesIsOneLineWithItsFields() {
        var formatter = JournalFormatter()
        #expect(formatter.entry(for: Example.started())?.priority == .debug)
        #expect(formatter.entry(for: Example.page(1))?.priority == .debug)
        let entry = formatter.entry(for: .runFinished(Example.report(counts: Example.counts(12, updated: 3, unchanged: 5, deleted: 1))))
        #expect(entry?.messageID == .runFinished)
        #expect(entry?.priority == .info)
        #expect(entry?.message == "iso/countries: 12 inserted, 3 updated, 1 deleted in 1 page, 6783 bytes")
        let expected = [
            "CISTERN_SOURCE": "iso", "CISTERN_RESOURCE": "countries", "CISTERN_RUN": "0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7", "CISTERN_INSERTED": "12",
            "CISTERN_UPDATED": "3", "CISTERN_UNCHANGED": "5", "CISTERN_DELETED": "1", "CISTERN_QUARANTINED": "0", "CISTERN_BYTES": "6783",
            "CISTERN_DURATION_USEC": "2000000", "CISTERN_HTTP_STATUS": "200",
        ]
        for (name, value) in expected { #expect(field(entry, name) == value, "\(name)") }
    }

    @Test func aRunWithoutChangesIsNotWorthALine() {
        var formatter = JournalFormatter()
        #expect(formatter.entry(for: .pageNotModified(scope: Example.countries, run: Example.run, page: 1))?.priority == .debug)
        #expect(formatter.entry(for: .runFinished(Example.report(counts: Example.counts(unchanged: 249), status: 304)))?.priority == .debug)
        #expect(formatter.entry(for: .scheduled(next: Example.countries, at: Example.start)) == nil)
    }

    @Test func equalFailuresCollapseToPowersOfTwo() {
        var formatter = JournalFormatter()
        let failed = SyncEvent.runFinished(Example.report(.init(source: "iso", resource: "countries"), .failed, status: nil, error: "cannot connect"))
        let said = (1...20).compactMap { _ in formatter.entry(for: failed)?.message }
        #expect(said.count == 5)
        #expect(said.first == "iso/countries: the run failed: cannot connect")
        #expect(said.last == "iso/countries: the run failed: cannot connect (16 times)")
    }

    @Test func aServerThatWordsEachErrorAnewDoesNotFillTheJournal() {
        var formatter = JournalFormatter()
        func said(_ numbers: ClosedRange<Int>) -> [String] {
            numbers.compactMap { number in
                formatter.entry(for: .runFinished(Example.report(Example.countries, .failed, status: 500, error: "status 500: “\(number)”")))?.message
            }
        }
        #expect(said(1...8).count == 8)
        let later = said(9...1000)
        #expect(later.count == 10)
        #expect(later.last == "iso/countries: the run failed: status 500: “520” (512 times)")
        // What was said before is told apart still, and a success ends it all.
        #expect(said(3...3) == ["iso/countries: the run failed: status 500: “3” (2 times)"])
        _ = formatter.entry(for: .runFinished(Example.report()))
        #expect(said(1001...1001) == ["iso/countries: the run failed: status 500: “1001”"])
    }

    // It is as true of each run, and of each part.
    @Test func whatAServerMakesOfARequestIsSaidOnce() {
        var formatter = JournalFormatter()
        let events: [SyncEvent] = [
            .sinceIgnored(scope: Example.countries, run: Example.run, since: "2024-01-01T00:00:00Z", oldest: "2020-01-01T00:00:00Z"),
            .cursorMissing(scope: Example.countries, run: Example.run, page: 1, field: "$.at"),
            .tokenMissing(scope: Example.countries, run: Example.run, reason: "the last page has none at $.delta"),
            .identityMismatch(
                scope: Example.countries, run: Example.run, reason: "tls.client_key: key.pem holds a key that does not belong to the certificate"),
        ]
        for event in events {
            let said = formatter.entry(for: event)
            #expect(said?.priority == .warning && formatter.entry(for: event) == nil, "\(said?.message ?? "")")
        }
        let refused = SyncEvent.cursorRejected(scope: Example.countries, run: Example.run, cursor: "2024-01-01T00:00:00Z", status: 410)
        #expect(
            formatter.entry(for: refused)?.message
                == "iso/countries: the server does not take 2024-01-01T00:00:00Z to ask from (410); everything is asked for")
        #expect(field(formatter.entry(for: refused), "CISTERN_CURSOR") == "2024-01-01T00:00:00Z")
    }

    // It is as true of each run that finds it so, and begins anew when one has found it otherwise.
    @Test func aPairThatIsHalfRenewedIsToldEachTimeThatItBegins() {
        var formatter = JournalFormatter()
        func mismatch(_ run: UUID) -> SyncEvent {
            .identityMismatch(scope: Example.countries, run: run, reason: "tls.client_key: k.pem holds a key that does not belong to the certificate")
        }
        let end = SyncEvent.runFinished(Example.report())
        #expect(formatter.entry(for: mismatch(Example.run)) != nil)
        _ = formatter.entry(for: end)
        #expect(formatter.entry(for: mismatch(Example.run)) == nil)
        _ = formatter.entry(for: end)
        // Another resource's runs and replays say nothing of it.
        _ = formatter.entry(for: mismatch(UUID()))
        _ = formatter.entry(for: .runFinished(Example.report(Example.languages)))
        _ = formatter.entry(for: replay(.succeeded))
        #expect(formatter.entry(for: mismatch(UUID())) == nil)
        // A run without it.
        _ = formatter.entry(for: end)
        #expect(formatter.entry(for: mismatch(UUID()))?.priority == .warning)
    }

    private func replay(_ outcome: RunOutcome, updated: Int = 0, error: String? = nil) -> SyncEvent {
        .runFinished(
            RunReport(
                run: Example.run, scope: Example.countries, cause: .replay, startedAt: Example.start, endedAt: Example.start, outcome: outcome,
                isComplete: false, pages: 3, notModifiedPages: 0, bytes: 10, counts: Example.counts(updated: updated), httpStatus: 200, error: error))
    }

    // A server that fails does not work again because of what it said before.
    @Test func aReplayIsNoSignOfRecovery() {
        var formatter = JournalFormatter()
        _ = formatter.entry(for: .runFinished(Example.report(Example.countries, .failed, status: 503, error: "status 503")))
        let entry = formatter.entry(for: replay(.succeeded, updated: 2))
        #expect(entry?.messageID == .runFinished && entry?.message == "iso/countries: 3 archived pages mapped again; 2 updated")
        #expect(field(entry, "CISTERN_CAUSE") == "replay")
        #expect(formatter.entry(for: .runFinished(Example.report()))?.messageID == .sourceRecovered)
        let incomplete = formatter.entry(for: replay(.incomplete, error: "1 of 4 pages are not in the archive"))
        #expect(incomplete?.messageID == .runFailed && incomplete?.message.hasSuffix(": 1 of 4 pages are not in the archive") == true)
    }

    @Test func whatIsNotArchivedIsSaidAndCollapses() {
        var formatter = JournalFormatter()
        let event = SyncEvent.archiveFailed(scope: Example.countries, reason: "the body of page 1 cannot be kept: No space left on device")
        let said = (1...4).compactMap { _ in formatter.entry(for: event) }
        #expect(said.count == 3 && said.first?.messageID == .archiveFailed && said.first?.priority == .warning)
    }

    @Test func thatValuesAreNullIsSaidOnceOfEachAttribute() {
        func nulled(_ attribute: String, _ count: Int) -> SyncEvent {
            .valuesNulled(
                scope: Example.countries, run: Example.run, page: 2, attribute: attribute, count: count, first: "age: \"x\" is not an integer")
        }
        var formatter = JournalFormatter()
        let first = formatter.entry(for: nulled("Country.age", 3))
        #expect(
            first?.message == "iso/countries: 3 values of Country.age are null, being of another type (page 2): age: \"x\" is not an integer"
                && first?.priority == .warning)
        #expect(formatter.entry(for: nulled("Country.age", 1)) == nil)
        #expect(formatter.entry(for: nulled("Country.size", 1))?.message.contains("1 value of Country.size is null") == true)
    }

    @Test func whatNothingIsMadeOfIsSaidOnce() {
        func unknown(_ names: String...) -> SyncEvent { .fieldsUnknown(scope: Example.countries, run: Example.run, page: 2, names: names) }
        var formatter = JournalFormatter()
        let first = formatter.entry(for: unknown("Country.flag", "Country.king"))
        #expect(
            first?.message.hasPrefix("iso/countries: nothing is made of Country.flag, Country.king (page 2); ") == true && first?.priority == .notice)
        #expect(formatter.entry(for: unknown("Country.king")) == nil)
        #expect(formatter.entry(for: unknown("Country.king", "Country.size"))?.message.contains("made of Country.size (page 2)") == true)
    }

    @Test func aPageThatIsIgnoredIsSaidOnceAndThenOnlyInDetail() {
        func ignored(_ message: String) -> SyncEvent {
            .pageIgnored(scope: Example.countries, run: Example.run, page: 2, status: 400, message: message)
        }
        var formatter = JournalFormatter()
        let first = formatter.entry(for: ignored("no data"))
        #expect(first?.message == "iso/countries: page 2 is taken for one without records (ignore_if): no data" && first?.priority == .notice)
        #expect(field(first, "CISTERN_HTTP_STATUS") == "400")
        #expect(formatter.entry(for: ignored("other"))?.priority == .debug)
        formatter.isDetailed = false
        #expect(formatter.entry(for: ignored("")) == nil)
    }

    @Test func aPageSaysHowItWasAskedFor() {
        var formatter = JournalFormatter()
        let page = PageReport(
            scope: Example.countries, run: Example.run, page: 1, method: "POST", url: "https://a.example/", status: 200, bytes: 1,
            counts: Example.counts(1), duration: .zero)
        #expect(field(formatter.entry(for: .pageSaved(page)), "CISTERN_HTTP_METHOD") == "POST")
    }

    @Test func aRefreshTokenThatIsLostIsAnError() {
        var formatter = JournalFormatter()
        let entry = formatter.entry(for: .refreshTokenUnsaved(reason: "the disk is full"))
        #expect(entry?.priority == .error && entry?.message.hasPrefix("a new refresh token is lost: the disk is full; ") == true)
        #expect(field(entry, "CISTERN_ERROR") == "the disk is full")
    }

    @Test func aRecoveryIsSaidOnceAndAFailureAfterItAnew() {
        var formatter = JournalFormatter()
        let failed = SyncEvent.runFinished(Example.report(Example.countries, .failed, status: 503, error: "status 503"))
        for _ in 0..<3 { _ = formatter.entry(for: failed) }
        let recovered = formatter.entry(for: .runFinished(Example.report(counts: Example.counts(1))))
        #expect(recovered?.messageID == .sourceRecovered)
        #expect(recovered?.message == "iso/countries: works again after 3 failed runs; 1 inserted")
        #expect(formatter.entry(for: .runFinished(Example.report(counts: Example.counts(1))))?.messageID == .runFinished)
        #expect(formatter.entry(for: failed)?.message == "iso/countries: the run failed: status 503")
    }

    @Test func aDegradedResourceRecoversWithOneLine() {
        var formatter = JournalFormatter()
        _ = formatter.entry(for: .runFinished(Example.report(Example.countries, .failed, status: nil, error: "cannot connect")))
        let degraded = formatter.entry(for: .freshnessChanged(scope: Example.countries, isDegraded: true, since: Example.start, heldDeletes: 0))
        #expect(degraded?.messageID == .sourceDegraded)
        #expect(degraded?.message == "iso/countries: older than schedule.max_age allows, last success 2027-01-15T08:00:00Z")
        #expect(formatter.entry(for: .runFinished(Example.report()))?.priority == .debug)
        let recovered = SyncEvent.freshnessChanged(scope: Example.countries, isDegraded: false, since: nil, heldDeletes: 0)
        #expect(formatter.entry(for: recovered)?.messageID == .sourceRecovered)
        #expect(formatter.entry(for: recovered) == nil)
        let held = formatter.entry(for: .freshnessChanged(scope: Example.countries, isDegraded: true, since: nil, heldDeletes: 7))
        #expect(held?.message == "iso/countries: 7 deletions are held back; look at them, then `cisternctl accept-deletes iso/countries`")
    }

    @Test func theCatalogueEntriesHaveTheFieldsTheirTextsName() {
        var formatter = JournalFormatter()
        let held = formatter.entry(
            for: .deletesHeld(scope: Example.countries, run: Example.run, count: 40, known: 50, guardName: "deletion.max_fraction"))
        #expect(held?.messageID == .deletesBlocked)
        #expect(field(held, "CISTERN_DELETED") == "40")
        #expect(held?.message.hasSuffix("cisternctl accept-deletes iso/countries") == true)
        let parked = formatter.entry(for: .parked(scope: Example.countries, until: Example.start))
        #expect(parked?.messageID == .rateLimited)
        #expect(field(parked, "CISTERN_RETRY_AT") == "2027-01-15T08:00:00Z")
        let open = formatter.entry(
            for: .breakerOpened(scope: Example.countries, cause: .failures(count: 5, server: "https://x"), until: Example.start))
        #expect(open?.messageID == .breakerOpened && open?.priority == .warning)
        #expect(field(open, "CISTERN_RETRY_AT") == "2027-01-15T08:00:00Z")
        #expect(open?.message.contains("https://x failed 5 runs in a row; nobody asks it until") == true)
        let permanent = formatter.entry(for: .breakerOpened(scope: Example.countries, cause: .permanent(status: 404), until: Example.start))
        #expect(permanent?.message.hasSuffix("then cisternctl sync iso/countries") == true)
        #expect(field(permanent, "CISTERN_HTTP_STATUS") == "404")
        let rejected = formatter.entry(for: .authenticationRejected(scope: Example.countries, url: "https://x/", status: 401))
        #expect(rejected?.messageID == .authRejected)
        #expect(rejected?.priority == .error)
        #expect(field(rejected, "CISTERN_HTTP_STATUS") == "401")
        let quarantined = formatter.entry(for: .quarantined(scope: Example.countries, run: Example.run, page: 3, count: 2, first: "no key"))
        #expect(quarantined?.messageID == .recordsQuarantined)
        #expect(field(quarantined, "CISTERN_QUARANTINED") == "2")
    }

    @Test func addressesAndBodiesAreRefusedUnderTheirOwnIDs() {
        var formatter = JournalFormatter()
        #expect(formatter.entry(for: .refused(scope: Example.countries, url: "u", reason: "private", isAddress: true))?.messageID == .redirectRefused)
        #expect(
            formatter.entry(for: .refused(scope: Example.countries, url: "u", reason: "too large", isAddress: false))?.messageID == .responseRefused)
        let tls = formatter.entry(for: .runFinished(Example.report(Example.countries, .failed, status: nil, error: "expired", failure: .tls)))
        #expect(tls?.messageID == .tlsFailed)
        // What a server sent decides nothing.
        let said = formatter.entry(
            for: .runFinished(Example.report(Example.countries, .failed, status: 500, error: "status 500: “TLS failed”", failure: .fetch)))
        #expect(said?.messageID == .runFailed)
    }

    @Test func aFullDiskIsCriticalAndCollapses() {
        var formatter = JournalFormatter()
        let full = SyncEvent.saveFailed(reason: "nothing more fits", cause: .full)
        let said = (1...9).compactMap { _ in formatter.entry(for: full) }
        #expect(said.count == 4)
        #expect(said.allSatisfy { $0.messageID == .diskLow && $0.priority == .critical })
        #expect(formatter.entry(for: .saveRecovered)?.message == "saving works again")
        #expect(formatter.entry(for: full)?.message.hasSuffix("times)") == false)
        #expect(formatter.entry(for: .saveFailed(reason: "disk I/O error", cause: .disk))?.messageID == .storeCorrupt)
    }

    @Test func lessUrgentEntriesAreLeftOut() {
        let entries = EntryList()
        let reporter = JournalReporter(threshold: .notice) { entries.append($0) }
        reporter.observe(.runFinished(Example.report(counts: Example.counts(1))))
        #expect(entries.all.isEmpty)
        reporter.setThreshold(.info)
        reporter.observe(.runFinished(Example.report(counts: Example.counts(1))))
        #expect(entries.all.count == 1)
    }
}
