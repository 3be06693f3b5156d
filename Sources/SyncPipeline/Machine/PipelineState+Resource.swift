import Foundation
import SyncConfiguration

extension PipelineState {
    /// A run that is under way.
    struct Run: Sendable {
        let id: Int
        let started: SyncInstant
        /// It ends by itself before; then it is cancelled.
        let deadline: SyncInstant
        /// Who gets its report.
        var waiters: [Int]
        var isCancelled = false
        /// It takes long enough for readers of the store to be told.
        var isNoticed = false
    }

    /// One resource: what it was configured to, how it stands, and when it is due.
    struct Resource: Sendable {
        var plan: ResourceConfiguration
        var place: PacingPlace
        var status: ResourceStatus
        /// When it is polled next; nil while it runs, is paused or disabled.
        var due: SyncInstant?
        var run: Run?
        /// When its last run asked for its first page, in whatever process, or began, where it did not come to ask: on the clock that decides, and on
        /// the one that is stored.
        var lastStarted: SyncInstant?
        var startedAt: Date?
        /// When everything was last seen, or waiting for it began.
        var freshSince: SyncInstant
        /// The interval in force, which the server may have lengthened.
        var interval: Duration
        var pacing: ServerPacing?
        var isStale = false
        /// The configuration has it no more. It stays known: should it come back, the limits count from its last run.
        var isRemoved = false
        /// Who asked for the run that comes next, and who waits for it.
        var asked: RunCause?
        var waiters: [Int] = []
        /// What the run that comes next is to do beside.
        var acceptsDeletes = false
        var isFull = false

        init(_ plan: ResourceConfiguration, _ status: ResourceStatus, at now: Moment) {
            self.plan = plan
            self.status = status
            self.status.isEnabled = plan.isEnabled
            place = PacingPlace(plan)
            freshSince = status.lastSuccess.map { min(now.instant(of: $0), now.instant) } ?? now.instant
            interval = plan.schedule.every.duration
        }

        var schedule: Schedule { Schedule(plan.schedule) }
        var isPollable: Bool { status.isEnabled && !status.isPaused && !isRemoved }

        /// When what was last seen stops counting as current.
        var staleTime: SyncInstant {
            let origin = Date(timeIntervalSinceReferenceDate: 0)
            return freshSince.advanced(by: origin.duration(to: schedule.staleTime(lastSuccess: origin, interval: interval)))
        }

        /// As soon as `min_interval` allows.
        func soonest(at now: Moment) -> SyncInstant {
            let date = schedule.pollOnRequest(now: now.wall, lastStarted: lastStarted.map { now.wall(of: $0) }, parkedUntil: nil)
            return date <= now.wall ? now.instant : now.instant(of: date)
        }
    }
}
