import Foundation
import Synchronization
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

/// Whether a run handled so much that its memory is given back.
@Suite struct MemoryReturnTests {
    private final class Count: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private let released = Count(), scope = ResourceScope(source: "github", resource: "issues")

    private func counts(inserted: Int = 0, unchanged: Int = 0) -> RecordCounts {
        var counts = RecordCounts()
        counts.inserted = inserted
        counts.unchanged = unchanged
        return counts
    }

    private func page(_ run: UUID, _ counts: RecordCounts) -> SyncEvent {
        .pageSaved(PageReport(scope: scope, run: run, page: 1, url: "https://x/", status: 200, bytes: 10, counts: counts, duration: .zero))
    }

    private func end(_ run: UUID, bytes: Int = 10, notModified: Int = 0, counts: RecordCounts = RecordCounts()) -> SyncEvent {
        .runFinished(
            RunReport(
                run: run, scope: scope, cause: .schedule, startedAt: .distantPast, endedAt: .distantPast, outcome: .succeeded, isComplete: true,
                pages: 1, notModifiedPages: notModified, bytes: bytes, counts: counts))
    }

    private func keeper() -> MemoryReturn { MemoryReturn { [released] in released.add() } }

    @Test func aRunOfManyRecordsGivesItsMemoryBackWhenItEnds() {
        let keeper = keeper(), run = UUID()
        for _ in 1...3 { keeper.observe(page(run, counts(inserted: 20_000, unchanged: 20_000))) }
        #expect(released.value == 0)
        keeper.observe(end(run))
        #expect(released.value == 1)
        // It is over: the same run counts anew.
        keeper.observe(end(run))
        #expect(released.value == 1)
    }

    @Test func aRunOfManyBytesGivesItsMemoryBack() {
        let keeper = keeper()
        keeper.observe(end(UUID(), bytes: 64 << 20))
        #expect(released.value == 0)
        keeper.observe(end(UUID(), bytes: 64 << 20 + 1))
        #expect(released.value == 1)
    }

    @Test func runsOfFewRecordsDoNotHoweverManyThereAre() {
        let keeper = keeper()
        for _ in 1...20 {
            let run = UUID()
            keeper.observe(page(run, counts(inserted: 10_000)))
            keeper.observe(end(run))
        }
        #expect(released.value == 0)
    }

    @Test func runsWhoseEndIsNeverToldDoNotPileUp() {
        let keeper = keeper()
        for _ in 1...2_500 { keeper.observe(page(UUID(), counts(inserted: 1))) }
        #expect((1...1_000).contains(keeper.count))
        // One that comes after them counts as ever.
        let run = UUID()
        keeper.observe(page(run, counts(inserted: 100_001)))
        keeper.observe(end(run))
        #expect(released.value == 1)
    }

    @Test func aPollThatFindsAMillionRecordsUnmodifiedDoesNot() {
        keeper().observe(end(UUID(), notModified: 1, counts: counts(unchanged: 1_000_000)))
        #expect(released.value == 0)
    }
}
