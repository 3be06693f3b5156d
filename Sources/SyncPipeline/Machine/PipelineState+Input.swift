import Foundation
import SyncConfiguration

extension PipelineState {
    /// What happens.
    enum Input: Sendable {
        /// A configuration is in force, at the start or by a reload. `stored` is what earlier runs left for its resources; it counts only for
        /// resources that are new here, because more is already known about the others. `schedules` are those in the store, including those of
        /// resources that are no longer in the configuration.
        case configured(
            [ResourceConfiguration], DaemonConfiguration, stored: [ResourceScope: ResourceStatus], schedules: [ResourceScope: StoredSchedule] = [:])
        /// The previous process ended while runs of these were open. Sent before the configuration.
        case leftOpen([ResourceScope: Suspicion])
        /// Polling may begin. Unless `isArmed`, only what is requested is polled.
        case started(isArmed: Bool)
        /// The time that `Output.wake` named has come, or may have.
        case due
        /// Somebody wants a poll that begins after this, without conditions if `isFull`. Each `waiter` gets one answer.
        case asked(ResourceScope, RunCause, waiter: Int? = nil, acceptsDeletes: Bool = false, isFull: Bool = false)
        /// Somebody wants what is archived to be mapped once more. It asks no server, so that no limit holds for it but that nothing else of the resource
        /// runs beside it; a poll that falls due meanwhile waits. A `waiter` gets one answer.
        case replayAsked(ResourceScope, waiter: Int? = nil)
        /// Its run asks for its first page, for the first time or again: the limits between polls count from here.
        case asking(ResourceScope)
        /// Its run has got a page for the first time.
        case answered(ResourceScope)
        /// A server wants to be left alone; the run waits or is about to end.
        case told(ResourceScope, until: Date)
        case ended(ResourceScope, run: Int, SyncRun.Conclusion)
        case paused(ResourceScope)
        /// Ends a pause, or a wait that a server asked for or that its failures brought about.
        case resumed(ResourceScope)
        /// Somebody is about to have something forgotten of it. Its run, if there is one, is cut off and made up for later; `Output.mayReset` says when it
        /// has ended, and no other begins before `wasReset`. The number names who it is.
        case resetting(ResourceScope, reset: Int)
        /// That is over, well or badly.
        case wasReset(ResourceScope, reset: Int)
        /// What its server failed before is forgotten: its breaker closes, and it is due as soon as it may be.
        case forgiven(ResourceScope)
        /// No more work is taken; runs have this long for their open pages. If repeated, the shorter time counts.
        case stopping(grace: Duration)
        /// What `Output.save` began has ended, well or badly.
        case committed
    }

    /// What is to be done about it, in this order.
    enum Output: Sendable, Equatable {
        case start(RunOrder)
        /// Somebody waits for this run: it need not wait for the document's own save.
        case hurry(ResourceScope, run: Int)
        case endAfterPage(ResourceScope, run: Int)
        case cancel(ResourceScope, run: Int)
        /// The only timer: `due` is sent when it fires; nil stops it.
        case wake(SyncInstant?)
        case store(StoredSchedule)
        /// Commit everything, because runs may wait for it; `committed` says when that is done.
        case save
        case announce(SyncEvent)
        /// The answer to `asked`; nil if nothing will be polled.
        case answer(waiter: Int, RunReport?)
        /// The answer to `resetting`: nothing of the resource runs, or, if false, a stop came first.
        case mayReset(reset: Int, Bool)
        case stopped
    }

    /// A run to begin.
    struct RunOrder: Sendable, Equatable {
        /// Counts runs; `ended` names it.
        let id: Int
        let scope: ResourceScope
        let resource: ResourceConfiguration
        /// `replay`: nothing is asked for, and what is archived is mapped once more.
        let cause: RunCause
        let isWaitedFor: Bool
        let acceptsDeletes: Bool
        /// Asks for every page without conditions.
        let isFull: Bool
    }
}

/// Now, on both clocks: links the instants that decide to the wall times that are shown and stored.
struct Moment: Sendable, Hashable {
    let wall: Date
    let instant: SyncInstant

    /// The wall time of another instant, as seen now.
    func wall(of other: SyncInstant) -> Date { wall.advanced(by: instant.duration(to: other)) }

    /// The instant of another wall time, as seen now.
    func instant(of date: Date) -> SyncInstant { instant.advanced(by: wall.duration(to: date)) }
}

extension SyncClock {
    /// Both clocks at once.
    var moment: Moment { Moment(wall: wallTime, instant: instant) }
}
