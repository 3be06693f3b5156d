import Foundation
import SyncConfiguration
import Testing

@testable import SyncDaemon

@Suite struct BackupScheduleTests {
    private let now = Example.start

    @Test func withoutAnIntervalNoneIsDue() {
        #expect(BackupSchedule(newest: now.addingTimeInterval(-1e9)).due(at: now) == nil)
    }

    @Test func theFirstIsDueAtOnceAndTheNextWhenThatIsOldEnough() {
        #expect(BackupSchedule(every: .hours(24)).due(at: now) == now)
        let newest = now.addingTimeInterval(-3600)
        #expect(BackupSchedule(every: .hours(24), newest: newest).due(at: now) == newest.addingTimeInterval(86_400))
    }

    @Test func whatFailedIsTriedAgainAfterAQuarterOfAnHour() {
        let failed = BackupSchedule(every: .hours(24), failedAt: now)
        #expect(failed.due(at: now) == now.addingTimeInterval(900))
        // But no later than it would be made anyway, and no sooner.
        #expect(BackupSchedule(every: .minutes(5), failedAt: now).due(at: now) == now.addingTimeInterval(300))
        let newest = now.addingTimeInterval(-60)
        #expect(BackupSchedule(every: .hours(24), newest: newest, failedAt: now).due(at: now) == newest.addingTimeInterval(86_400))
    }

    @Test func aTimeAheadOfTheClockCountsAsNow() {
        let ahead = now.addingTimeInterval(1e9)
        #expect(BackupSchedule(every: .hours(24), newest: ahead, failedAt: ahead).due(at: now) == now.addingTimeInterval(86_400))
    }
}
