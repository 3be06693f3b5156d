import Foundation
import SyncConfiguration
import SyncReports

extension PipelineState {
    /// All resources by scope, and in order whatever the machine needs at every step, so that an input costs no more with many resources.
    struct Resources: Sendable {
        private var all: [ResourceScope: Resource] = [:]
        /// Those that have a due time.
        private(set) var due = Timeline()
        /// Those that are current, with the times until which they are.
        private(set) var current = Timeline()
        private(set) var running: Set<ResourceScope> = []
        /// Those whose due times depend on what the wall clock shows.
        private(set) var ofClock: Set<ResourceScope> = []
        /// Those with a run that is not cancelled, with its deadline.
        private(set) var deadlines = Timeline()
        /// Those with a run that nobody has noticed yet, with the time from which on it is noticeable.
        private(set) var notices = Timeline()
        /// Those that have parts for what a resource lists, by that resource.
        private(set) var children: [ResourceScope: Set<ResourceScope>] = [:]
        /// Those that run and have children, with the time when they began.
        private(set) var runningParents = Timeline()
        /// Those that ask a place, removed ones included.
        private(set) var places: [PacingPlace: Set<ResourceScope>] = [:]
        /// Those that were set since `changes` was asked last.
        private var changed: Set<ResourceScope> = []

        var keys: Dictionary<ResourceScope, Resource>.Keys { all.keys }
        var values: Dictionary<ResourceScope, Resource>.Values { all.values }

        subscript(scope: ResourceScope) -> Resource? {
            get { all[scope] }
            set {
                let parents = all[scope]?.parents
                move(scope, from: all[scope]?.place, to: newValue?.place)
                all[scope] = newValue
                if parents != newValue?.parents {
                    if let parents { children[parents]?.remove(scope) }
                    if let parents = newValue?.parents { children[parents, default: []].insert(scope) }
                    for changed in [parents, newValue?.parents].compactMap(\.self) { runningParents.set(changed, parentsStart(changed)) }
                }
                runningParents.set(scope, parentsStart(scope))
                due.set(scope, newValue?.due)
                current.set(scope, newValue.flatMap(Self.end))
                let run = newValue?.run
                if run == nil { running.remove(scope) } else { running.insert(scope) }
                if let resource = newValue, resource.isOfClock { ofClock.insert(scope) } else { ofClock.remove(scope) }
                deadlines.set(scope, run.flatMap(Self.deadline))
                notices.set(scope, run.flatMap(Self.notice))
                changed.insert(scope)
            }
        }

        /// Those whose status may have changed since the last call: what was set since, and what has grown too old by `now`.
        mutating func changes(at now: SyncInstant) -> [ResourceScope] {
            defer { changed = [] }
            return changed.union(current.until(now).map(\.scope)).sorted()
        }

        private mutating func move(_ scope: ResourceScope, from old: PacingPlace?, to new: PacingPlace?) {
            guard old != new else { return }
            if let old {
                places[old]?.remove(scope)
                if places[old]?.isEmpty == true { places[old] = nil }
            }
            if let new { places[new, default: []].insert(scope) }
        }

        private func parentsStart(_ scope: ResourceScope) -> SyncInstant? { children[scope]?.isEmpty == false ? all[scope]?.run?.started : nil }

        private static func end(of resource: Resource) -> SyncInstant? { resource.isPollable && !resource.isStale ? resource.staleTime : nil }

        private static func deadline(of run: Run) -> SyncInstant? { run.isCancelled ? nil : run.deadline }

        private static func notice(of run: Run) -> SyncInstant? { run.isNoticed ? nil : run.started.advanced(by: noticeable) }

        /// What is wrong with the order, in words; nil: nothing.
        var violation: String? {
            for (scope, resource) in all {
                if places[resource.place]?.contains(scope) != true { return "\(scope) asks another place" }
                if due.times[scope] != resource.due { return "\(scope) has another due time" }
                if current.times[scope] != Self.end(of: resource) { return "\(scope) is current for another time" }
                if running.contains(scope) != (resource.run != nil) { return "\(scope) has another run" }
                if deadlines.times[scope] != resource.run.flatMap(Self.deadline) { return "\(scope) has another deadline" }
                if ofClock.contains(scope) != resource.isOfClock { return "\(scope) looks at another clock" }
                if runningParents.times[scope] != parentsStart(scope) { return "\(scope) lists parents since another time" }
                if notices.times[scope] != resource.run.flatMap(Self.notice) { return "\(scope) is noticeable at another time" }
            }
            if places.values.reduce(0, { $0 + $1.count }) != all.count { return "a place is asked by somebody who does not ask it" }
            let timelines = [due, current, deadlines, notices, runningParents], known = timelines.reduce(running) { $0.union($1.times.keys) }
            return timelines.allSatisfy(\.isSorted) && known.isSubset(of: all.keys) ? nil : "\(known.count) entries are out of order"
        }
    }

    /// Resources in the order of their times.
    struct Timeline: Sendable {
        struct Entry: Sendable, Comparable {
            let time: SyncInstant
            let scope: ResourceScope

            static func < (left: Self, right: Self) -> Bool { (left.time, left.scope) < (right.time, right.scope) }
        }

        private(set) var entries: [Entry] = []
        private(set) var times: [ResourceScope: SyncInstant] = [:]

        var isSorted: Bool { zip(entries, entries.dropFirst()).allSatisfy { $0 < $1 } && entries.count == times.count }

        mutating func set(_ scope: ResourceScope, _ time: SyncInstant?) {
            let old = times[scope]
            if old == time { return }
            if let old { entries.remove(at: index(of: Entry(time: old, scope: scope))) }
            times[scope] = time
            guard let time else { return }
            let entry = Entry(time: time, scope: scope)
            entries.insert(entry, at: index(of: entry))
        }

        /// Those with a time up to then.
        func until(_ time: SyncInstant) -> ArraySlice<Entry> { entries[..<count { $0.time <= time }] }

        /// Where it is, or belongs.
        private func index(of entry: Entry) -> Int { count { $0 < entry } }

        /// How many come first of which this is true; it is true of none behind them.
        private func count(_ isBefore: (Entry) -> Bool) -> Int {
            var low = 0, high = entries.count
            while low < high {
                let middle = (low + high) / 2
                if isBefore(entries[middle]) { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}

extension PipelineState.Resources: Sequence {
    func makeIterator() -> Dictionary<ResourceScope, PipelineState.Resource>.Iterator { all.makeIterator() }
}

extension PipelineState {
    /// A run that is under way.
    struct Run: Sendable {
        let id: Int
        let started: SyncInstant
        /// It should end by itself before that; then it is cancelled.
        let deadline: SyncInstant
        let cause: RunCause
        /// Whom it asks, whatever its resource is configured to meanwhile.
        let place: PacingPlace
        let isFull: Bool
        /// Who gets its report.
        var waiters: [Int]
        var isCancelled = false
        /// It has taken long enough that readers of the store should know.
        var isNoticed = false
        /// Its resource was configured in another way since it began.
        var isOutdated = false
        /// It got as far as to ask for its first page.
        var hasAsked = false
        /// The time of `cron` that it serves, and what was known of such times before it began; nil: it began for another reason.
        var appointed: Appointed?
        /// Of a replay: when the poll is due that waits until it has ended.
        var heldDue: SyncInstant?
    }

    /// What a run has taken of the times of `cron`, so that it can be given back.
    struct Appointed: Sendable {
        let appointment: Appointment
        let served: Served?
        let countedFrom: Date?
    }

    /// One resource: what it was configured to, how it stands, and when it is due.
    struct Resource: Sendable {
        var plan: ResourceConfiguration {
            didSet { parents = Self.parents(of: plan) }
        }
        /// What lists the objects that it has parts for.
        private(set) var parents: ResourceScope?
        var place: PacingPlace
        var status: ResourceStatus
        /// When it is polled next; nil while it runs, is paused or disabled.
        var due: SyncInstant?
        var run: Run?
        /// When its last run, in whatever process, requested its first page, or began, if it never got that far: on the clock that decides, and on
        /// the one that is stored.
        var lastStarted: SyncInstant?
        var startedAt: Date?
        /// When everything was last seen, or waiting for it began.
        var freshSince: SyncInstant
        /// How long from then on that counts as current.
        var patience = Duration.zero
        /// The interval in force, which the server may have lengthened; with `cron`, what the server asks for at the least.
        var interval: Duration
        /// What `adaptive` has made of `every`.
        var adapted: Duration?
        /// The time of `cron` that it is due for; nil: it is due for another reason.
        var appointment: Appointment?
        /// The last such time for which it was polled.
        var served: Served?
        /// From when on times of `cron` have not been counted yet: when its last run began.
        var countedFrom: Date?
        /// When it would be due if there were no quiet hours; nil: they have not changed it.
        var regular: SyncInstant?
        var pacing: ServerPacing?
        var isStale = false
        /// It is no longer in the configuration. It stays known: if it comes back, the limits count from its last run.
        var isRemoved = false
        /// Its last run had nothing to ask for, since what lists its parents was never read.
        var lacksParents = false
        /// Its server answered its last run with what does not change by asking again: the schedule asks no sooner than then.
        var refusedUntil: SyncInstant?
        /// Its run was open when the process before ended uncleanly, several times in a row: the schedule asks no sooner than then.
        var suspectUntil: SyncInstant?
        /// Who asked for the next run, and who waits for it.
        var asked: RunCause?
        var waiters: [Int] = []
        /// What is archived is to be mapped once more, and who waits for that.
        var isReplayAsked = false
        var replayWaiters: [Int] = []
        /// What else the next run is to do.
        var acceptsDeletes = false
        var isFull = false
        /// Who has something forgotten of it: no run begins meanwhile. While one is open they wait for its end.
        var resets: Set<Int> = []

        init(_ plan: ResourceConfiguration, _ status: ResourceStatus, at now: Moment) {
            self.plan = plan
            parents = Self.parents(of: plan)
            self.status = status
            self.status.isEnabled = plan.isEnabled
            place = PacingPlace(plan)
            freshSince = status.lastSuccess.map { min(now.instant(of: $0), now.instant) } ?? now.instant
            interval = plan.schedule.cron == nil ? plan.schedule.every.duration : .zero
            if plan.schedule.adaptive { adapted = schedule.adapted(from: nil) }
            renewPatience(now)
        }

        private static func parents(of plan: ResourceConfiguration) -> ResourceScope? {
            plan.partitions?.parents.flatMap { ResourceScope($0.resource) }
        }

        var schedule: Schedule { Schedule(plan.schedule) }
        var isPollable: Bool { status.isEnabled && !status.isPaused && !isRemoved }

        var isOfClock: Bool { isPollable && schedule.isOfClock }

        var isRefused: Bool { refusedUntil != nil }

        /// Before that only somebody who asks is served; nil: the schedule may as well.
        var heldUntil: SyncInstant? { [refusedUntil, suspectUntil].compactMap(\.self).max() }

        /// Whom its run asks, or the next one will.
        var askedPlace: PacingPlace { run?.place ?? place }

        /// When it is polled next, also while a replay holds that back.
        var pending: SyncInstant? {
            get { due ?? run?.heldDue }
            set { if run == nil { due = newValue } else { run?.heldDue = newValue } }
        }

        /// When what was last seen stops counting as current.
        var staleTime: SyncInstant { freshSince.advanced(by: patience) }

        /// As soon as `min_interval` allows.
        func soonest(at now: Moment) -> SyncInstant {
            let date = schedule.pollOnRequest(now: now.wall, lastStarted: lastStarted.map { now.wall(of: $0) }, parkedUntil: nil)
            return date <= now.wall ? now.instant : now.instant(of: date)
        }
    }
}

extension ResourceStatus {
    /// A resource as its earlier runs left it.
    init(_ scope: ResourceScope, _ stored: RunState) {
        self.init(
            scope, lastSuccess: stored.lastSuccess, completeAt: stored.completeAt, nextPollAt: stored.nextPollAt,
            objects: stored.completeAt == nil ? nil : stored.rows, httpStatus: stored.httpStatus == 0 ? nil : stored.httpStatus,
            error: stored.lastError, consecutiveFailures: stored.failures, heldDeletes: stored.heldDeletes)
        isPaused = stored.isPaused
        parkedUntil = stored.parkedUntil
        isDegraded = heldDeletes > 0
    }

    /// Takes in how a run ended.
    ///
    /// - Parameter isCaughtUp: all that it asked for was read: everything, or what had changed.
    mutating func take(_ report: RunReport, heldDeletes: Int, guardName: String?, isCaughtUp: Bool, parkedUntil: Date?) {
        lastReport = report
        httpStatus = report.httpStatus ?? httpStatus
        self.parkedUntil = parkedUntil
        objects = report.objects(known: objects)
        switch report.outcome {
        case .succeeded:
            lastSuccess = report.endedAt
            if report.isComplete { completeAt = report.endedAt }
            if isCaughtUp {
                self.heldDeletes = heldDeletes
                // What has changed says nothing of what is held.
                self.guardName = report.isComplete || heldDeletes == 0 ? guardName : guardName ?? self.guardName
            }
            error = nil
            consecutiveFailures = 0
        case .incomplete:
            error = report.error
        case .failed, .parked:
            error = report.error
            consecutiveFailures += 1
        case .cancelled: break
        }
    }
}
