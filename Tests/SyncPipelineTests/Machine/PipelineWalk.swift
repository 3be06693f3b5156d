import Foundation
import SyncConfiguration

@testable import SyncPipeline

/// A random walk of the machine, and what must hold after every step of it. The walk is a function of its seed.
struct PipelineWalk {
    static let scopes = [
        ResourceScope(source: "a", resource: "one"), ResourceScope(source: "a", resource: "two"), ResourceScope(source: "b", resource: "one"),
        ResourceScope(source: "b", resource: "two"),
    ]
    private static let expressions = ["*/20 * * * *", "30 2 * * *", "0 */6 * * *", "59 23 * * *"].compactMap { try? CronExpression(parsing: $0) }
    private static let quietHours = ["22:00-06:00", "12:00-13:30"].compactMap(QuietHours.init)
    /// Times are rounded on their way through dates.
    private static let rounding = Duration.microseconds(10)

    private struct OpenRun {
        let id: Int
        let scope: ResourceScope
        let started: SyncInstant
        /// It asks no server.
        let isReplay: Bool
        /// When it asked for its first page, the last time.
        var asked: SyncInstant?
        var isCancelled = false
    }

    private var bench = MachineBench()
    private var random: SeededNumbers
    /// What is in the store: what a restart finds.
    private var stored: [ResourceScope: StoredSchedule] = [:]
    /// What this process has committed, and what of it waits to be, until when.
    private var committed: [ResourceScope: StoredSchedule] = [:]
    private var late: [ResourceScope: (schedule: StoredSchedule, end: SyncInstant)] = [:]
    /// When a process before this one would have polled next, as long as nobody asks for anything else.
    private var expected: [ResourceScope: Date] = [:]
    /// Read by a reload that has not been put into force yet.
    private var loaded: [ResourceScope: ResourceStatus]?
    private var plans: [ResourceConfiguration] = []
    private var open: [OpenRun] = []
    private var lastStarted: [ResourceScope: SyncInstant] = [:]
    /// Since when a resource with times of `cron` has not been polled, as long as nothing else makes it due.
    private var unpolled: [ResourceScope: Date] = [:]
    /// What servers asked for, by origin.
    private var told: [String: SyncInstant] = [:]
    /// Origins whose breakers have opened and not closed since, until when nobody may ask, and who was let through after that.
    private var opened: [String: SyncInstant] = [:]
    private var probing: [String: Int] = [:]
    /// Who waits: since which run.
    private var waiters: [Int: (scope: ResourceScope, after: Int)] = [:]
    private var waiterCount = 0
    /// Who has something forgotten, and whether nothing runs meanwhile.
    private var resets: [Int: (scope: ResourceScope, mayReset: Bool)] = [:]
    private var lastRun = 0
    private var stopEnd: SyncInstant?
    /// How many kills in a row came while a run was open, and when this process began.
    private var kills: [ResourceScope: Suspicion] = [:]
    private var suspects: Set<ResourceScope> = []
    private var begin = SyncInstant(sinceOrigin: .zero)
    private var isStopped = false
    private var steps: [String] = []
    /// The first thing that was wrong, with the steps that led there.
    private(set) var failure: String?

    init(seed: Int) {
        random = SeededNumbers(seed)
        start(isFirst: true)
    }

    mutating func walk(steps count: Int) {
        for _ in 0..<count where failure == nil { step() }
        if failure == nil { settle() }
    }

    // MARK: Steps

    private mutating func step() {
        if isStopped { return goOn() }
        let scope = Self.scopes[random.next(upTo: Self.scopes.count)]
        switch random.next(upTo: 25) {
        case 0..<5: pass([.zero, .seconds(1), .seconds(30), .minutes(10), .hours(1), .hours(5)][random.next(upTo: 6)])
        case 5..<7: ask(scope, waits: false)
        case 7..<9: ask(scope, waits: true)
        case 9..<12: endRun()
        case 12: askServer()
        case 13: tellRun()
        case 14: tell(.paused(scope), "pause \(scope)")
        case 15:
            told[scope.source] = nil
            // The others of its server go on as well.
            expected = [:]
            opened[scope.source] = opened[scope.source].map { min($0, bench.now.instant) }
            tell(.resumed(scope), "resume \(scope)")
        case 16:
            // Read now, put into force in some later step.
            loaded = storedStatuses()
            steps.append("load")
        case 17: reload()
        case 18 where random.next(upTo: 2) == 0: stop()
        case 18: restart()
        case 19: replay(scope, waits: false)
        case 20: replay(scope, waits: true)
        case 21: reset(scope)
        case 22:
            close(scope)
            tell(.forgiven(scope), "forgive \(scope)")
        case 23: answerRun()
        default: tell(.due, "due")
        }
    }

    private mutating func start(isFirst: Bool) {
        // Another process: what is not stored is gone.
        if !isFirst { steps.append("restart") }
        bench.state = PipelineState(chance: RandomSource { 0.5 })
        open = []
        waiters = [:]
        resets = [:]
        // What was cut off is known.
        lastStarted = kills.mapValues { bench.now.instant(of: $0.began) }
        unpolled = [:]
        lastRun = 0
        stopEnd = nil
        isStopped = false
        loaded = nil
        committed = [:]
        plans = Self.scopes.map { plan($0) }
        suspects = Set(kills.filter { $0.value.ends > 0 }.keys)
        begin = bench.now.instant
        probing = [:]
        expected = stored.compactMapValues(\.nextPollAt).merging(kills.compactMapValues(\.nextPoll)) { max($0, $1) }
            // No start believes in a longer interval.
            .mapValues { min($0, bench.now.wall.addingTimeInterval(86_400)) }
        tell(.leftOpen(kills), "suspect \(kills.mapValues(\.ends))")
        tell(.configured(plans, MachineBench.daemon(), stored: storedStatuses(), schedules: stored), "configure")
        tell(.started(isArmed: true), "start")
    }

    private mutating func plan(_ scope: ResourceScope) -> ResourceConfiguration {
        let every = [0.2, 1, 3][random.next(upTo: 3)], isEnabled = random.next(upTo: 6) > 0
        let cron = random.next(upTo: 4) == 0 ? Self.expressions[random.next(upTo: Self.expressions.count)] : nil
        let quietHours = random.next(upTo: 4) == 0 ? Self.quietHours : [], isQueued = random.next(upTo: 2) == 0, adapts = random.next(upTo: 4) == 0
        // Some have parts for what another lists, some of these for what a third does.
        let failures = 1 + random.next(upTo: 3), number = Self.scopes.firstIndex(of: scope) ?? 0, hasParents = number > 0 && random.next(upTo: 3) > 0
        return MachineBench.plan(scope) {
            $0.schedule.every = .minutes(Int64(every * 60))
            $0.schedule.minInterval = .seconds(30)
            $0.schedule.cron = cron
            $0.schedule.timeZone = "Europe/Zurich"
            $0.schedule.quietHours = quietHours
            $0.schedule.overlap = isQueued ? .queueOne : .skip
            $0.schedule.adaptive = cron == nil && adapts
            $0.isEnabled = isEnabled
            $0.limits.maxRunTime = .minutes(20)
            $0.breaker.failures = failures
            if hasParents {
                $0.partitions = PartitionConfiguration(as: "p", .parents(.init(resource: "\(Self.scopes[number - 1])", entity: "Person")))
            }
        }
    }

    private func storedStatuses() -> [ResourceScope: ResourceStatus] {
        stored.mapValues { schedule in
            var status = ResourceStatus(schedule.scope)
            status.nextPollAt = schedule.nextPollAt
            status.parkedUntil = schedule.parkedUntil
            status.isPaused = schedule.isPaused
            return status
        }
    }

    private mutating func pass(_ duration: Duration) {
        bench.now = Moment(wall: bench.now.wall.advanced(by: duration), instant: bench.now.instant.advanced(by: duration))
        if late.values.contains(where: { $0.end <= bench.now.instant }) { commit() }
        // A timer is never early, and sometimes late.
        if let wake = bench.state.wakeTime, wake <= bench.now.instant { tell(.due, "pass \(duration)") } else { steps.append("pass \(duration)") }
    }

    private mutating func ask(_ scope: ResourceScope, waits: Bool) {
        guard waits else { return tell(.asked(scope, .signal), "ask \(scope)") }
        waiterCount += 1
        waiters[waiterCount] = (scope, lastRun)
        tell(.asked(scope, .control, waiter: waiterCount), "ask \(scope) and wait as \(waiterCount)")
    }

    private mutating func replay(_ scope: ResourceScope, waits: Bool) {
        guard waits else { return tell(.replayAsked(scope), "replay \(scope)") }
        waiterCount += 1
        waiters[waiterCount] = (scope, lastRun)
        tell(.replayAsked(scope, waiter: waiterCount), "replay \(scope) and wait as \(waiterCount)")
    }

    /// One begins, or one of those that may is over.
    private mutating func reset(_ scope: ResourceScope) {
        if random.next(upTo: 2) == 0 { return endResets() }
        waiterCount += 1
        resets[waiterCount] = (scope, false)
        tell(.resetting(scope, reset: waiterCount), "reset \(scope) as \(waiterCount)")
    }

    private mutating func endResets() {
        for (reset, entry) in resets.sorted(by: { $0.key < $1.key }) where entry.mayReset {
            resets[reset] = nil
            tell(.wasReset(entry.scope, reset: reset), "\(entry.scope) was reset by \(reset)")
        }
    }

    private mutating func endRun() {
        guard !open.isEmpty else { return }
        let run = open.remove(at: random.next(upTo: open.count))
        if run.isReplay {
            let outcome = run.isCancelled ? RunOutcome.cancelled : [.succeeded, .failed, .incomplete][random.next(upTo: 3)]
            return tell(
                .ended(run.scope, run: run.id, bench.conclusion(run.scope, run.id, outcome)), "end the replay \(run.scope) \(run.id) \(outcome)")
        }
        // Its time is still to be served, or its run to be made up for.
        if run.asked == nil || run.isCancelled { unpolled[run.scope] = nil }
        var outcome = run.isCancelled ? RunOutcome.cancelled : [.succeeded, .succeeded, .failed, .incomplete, .parked][random.next(upTo: 5)]
        if stopEnd != nil, random.next(upTo: 2) == 0 { outcome = .cancelled }
        let wait: Duration? = outcome == .parked ? [.minutes(10), .hours(6), .hours(9000)][random.next(upTo: 3)] : nil
        if let wait { park(run.scope, wait) }
        forgive(run.scope)
        if outcome == .succeeded { listParents(run.scope) }
        var conclusion = bench.conclusion(run.scope, run.id, outcome, parkedFor: wait)
        conclusion.evidence = evidence(of: outcome, run)
        conclusion.lacksParents = outcome == .failed && bench.state.resources[run.scope]?.parents != nil && random.next(upTo: 2) == 0
        tell(.ended(run.scope, run: run.id, conclusion), "end \(run.scope) \(run.id) \(outcome)")
    }

    /// What the server did, and what follows from it: whether it fails all that ask it is for the machine to say.
    private mutating func evidence(of outcome: RunOutcome, _ run: OpenRun) -> Breaker.Evidence {
        if probing[run.scope.source] == run.id { probing[run.scope.source] = nil }
        switch outcome {
        case .succeeded, .incomplete: close(run.scope)
        case .failed: break
        case .cancelled, .parked: return .none
        }
        guard outcome == .failed else { return .works }
        let evidence: Breaker.Evidence = [.unreachable, .unreachable, .fails, .fails, .works, .permanent(404), .none][random.next(upTo: 7)]
        if evidence == .works || evidence == .permanent(404) { close(run.scope) }
        return evidence
    }

    private mutating func close(_ scope: ResourceScope) {
        opened[scope.source] = nil
        probing[scope.source] = nil
        // What was held back by it goes on.
        expected = expected.filter { $0.key.source != scope.source }
    }

    /// A run gets its first page.
    private mutating func answerRun() {
        let polls = open.filter { !$0.isReplay }
        guard !polls.isEmpty else { return }
        let run = polls[random.next(upTo: polls.count)]
        if probing[run.scope.source] == run.id { close(run.scope) }
        tell(.answered(run.scope), "\(run.scope) is answered")
    }

    /// What was never polled with success may be polled as soon as its parents are listed.
    private mutating func listParents(_ scope: ResourceScope) {
        for (child, resource) in bench.state.resources where resource.parents == scope && resource.lacksParents {
            expected[child] = nil
            unpolled[child] = nil
        }
    }

    private mutating func askServer() {
        guard !open.isEmpty else { return }
        let index = random.next(upTo: open.count), scope = open[index].scope
        if open[index].isReplay { return }
        open[index].asked = bench.now.instant
        lastStarted[scope] = bench.now.instant
        tell(.asking(scope), "\(scope) asks its server")
    }

    private mutating func forgive(_ scope: ResourceScope) {
        kills[scope] = nil
        suspects.remove(scope)
    }

    private mutating func tellRun() {
        guard !open.isEmpty else { return }
        let scope = open[random.next(upTo: open.count)].scope, wait = [Duration.seconds(5), .minutes(4), .hours(2)][random.next(upTo: 3)]
        park(scope, wait)
        tell(.told(scope, until: bench.now.wall.advanced(by: wait)), "tell \(scope) \(wait)")
    }

    private mutating func park(_ scope: ResourceScope, _ wait: Duration) {
        let end = bench.now.instant.advanced(by: min(wait, .hours(24)))
        told[scope.source] = max(told[scope.source] ?? end, end)
    }

    private mutating func reload() {
        expected = [:]
        unpolled = [:]
        plans = Self.scopes.filter { _ in random.next(upTo: 5) > 0 }.map { plan($0) }
        opened = opened.filter { source, _ in plans.contains { $0.source == source } }
        tell(.configured(plans, MachineBench.daemon(), stored: loaded ?? storedStatuses()), "reload \(plans.map(\.scope))")
        loaded = nil
    }

    private mutating func stop() {
        let grace = [Duration.zero, .seconds(20)][random.next(upTo: 2)]
        let end = bench.now.instant.advanced(by: grace)
        stopEnd = min(stopEnd ?? end, end)
        tell(.stopping(grace: grace), "stop \(grace)")
        if random.next(upTo: 2) == 0 { tell(.committed, "settled") }
    }

    /// A kill.
    private mutating func restart() {
        leaveOpen(1)
        start(isFirst: false)
    }

    /// After a stop, which does not wait for a run for ever.
    private mutating func goOn() {
        leaveOpen(0)
        start(isFirst: false)
    }

    private mutating func leaveOpen(_ ends: Int) {
        for (scope, entry) in late {
            kills[scope] = Suspicion(ends: 0, began: entry.schedule.startedAt ?? .distantPast, nextPoll: entry.schedule.nextPollAt)
        }
        late = [:]
        for run in open where !run.isReplay {
            kills[run.scope] = Suspicion(ends: (kills[run.scope]?.ends ?? 0) + ends, began: bench.now.wall(of: run.asked ?? run.started))
        }
    }

    /// That all was seen once more is committed a little later, unless something else is.
    private mutating func store(_ schedule: StoredSchedule) {
        let scope = schedule.scope, wait = committed[scope].flatMap { schedule.wait(after: $0, at: bench.now.wall) } ?? .zero
        late[scope] = (schedule, min(late[scope]?.end ?? .never, bench.now.instant.advanced(by: min(wait, .seconds(15)))))
        if stopEnd != nil || wait <= .zero { commit() }
    }

    private mutating func commit() {
        for (scope, entry) in late {
            stored[scope] = entry.schedule
            committed[scope] = entry.schedule
            if kills[scope]?.ends == 0 { kills[scope] = nil }
        }
        late = [:]
    }

    /// In the end every run ends, every stop has ended, and everything that is to be polled has been polled.
    private mutating func settle() {
        if stopEnd != nil, !isStopped {
            pass(.seconds(21))
            if failure == nil, !isStopped { fail("the stop did not end") }
        }
        if isStopped { goOn() }
        loaded = nil
        var polled: Set<ResourceScope> = []
        // The longest wait there is, a day, and what may be open now; and whenever the time that passes at once ends in quiet hours, once more.
        for _ in 0..<5 where failure == nil {
            polled.formUnion(open.filter { !$0.isReplay }.map(\.scope))
            while let run = open.first, failure == nil {
                open.removeFirst()
                var conclusion = bench.conclusion(run.scope, run.id)
                if !run.isReplay {
                    // What a reset cut off is made up for as soon as it may.
                    if run.isCancelled { unpolled[run.scope] = nil }
                    forgive(run.scope)
                    listParents(run.scope)
                    close(run.scope)
                    conclusion.evidence = .works
                }
                tell(.ended(run.scope, run: run.id, conclusion), "end \(run.scope) \(run.id)")
                polled.formUnion(open.filter { !$0.isReplay }.map(\.scope))
            }
            endResets()
            pass(.hours(13))
        }
        if failure == nil, !resets.isEmpty { fail("\(resets.keys.sorted()) still wait to have something forgotten") }
        for plan in plans where failure == nil && plan.isEnabled {
            let scope = ResourceScope(source: plan.source, resource: plan.name)
            if bench.state.resources[scope]?.status.isPaused != true, !polled.contains(scope) { fail("\(scope) was not polled in a day") }
        }
        if failure == nil, !waiters.isEmpty { fail("\(waiters.keys.sorted()) were never answered") }
    }

    // MARK: What must hold

    private mutating func tell(_ input: PipelineState.Input, _ text: String) {
        guard failure == nil else { return }
        steps.append(text)
        for output in bench.tell(input) { check(output) }
        if let violation = bench.state.violation(at: bench.now) { fail(violation) }
        if let stopEnd, !isStopped, bench.now.instant >= stopEnd.advanced(by: PipelineState.patience), case .due = input { fail("the stop goes on") }
        checkFreshness()
    }

    private mutating func check(_ output: PipelineState.Output) {
        switch output {
        case .start(let order): checkStart(order)
        case .cancel(let scope, let id):
            guard let index = open.firstIndex(where: { $0.scope == scope && $0.id == id }) else { return fail("\(scope) \(id) does not run") }
            if open[index].isCancelled { fail("\(scope) \(id) was cancelled twice") }
            open[index].isCancelled = true
        case .store(let schedule): store(schedule)
        case .save: commit()
        case .answer(let waiter, let report): checkAnswer(waiter, report)
        case .mayReset(let reset, let may): checkReset(reset, may)
        case .stopped: isStopped = true
        case .hurry(let scope, let id), .endAfterPage(let scope, let id):
            if !open.contains(where: { $0.scope == scope && $0.id == id }) { fail("\(scope) \(id) does not run") }
        case .announce(.breakerOpened(let scope, .failures, let until)):
            let end = bench.now.instant(of: until)
            if bench.now.instant.duration(to: end) > .hours(1) + Self.rounding { fail("\(scope) is left alone until \(until)") }
            opened[scope.source] = end
            probing[scope.source] = nil
        case .wake, .announce: break
        }
    }

    private mutating func checkReset(_ reset: Int, _ may: Bool) {
        guard let entry = resets[reset], !entry.mayReset else { return fail("\(reset) was told twice, or is nobody") }
        if !may, stopEnd == nil, bench.state.resources[entry.scope] != nil { fail("\(reset) was refused without a stop") }
        if may, open.contains(where: { $0.scope == entry.scope }) { fail("\(reset) was let in beside a run of \(entry.scope)") }
        if may { resets[reset]?.mayReset = true } else { resets[reset] = nil }
    }

    private mutating func checkStart(_ order: PipelineState.RunOrder) {
        let scope = order.scope, now = bench.now.instant
        if stopEnd != nil { fail("\(scope) began while stopping") }
        if open.contains(where: { $0.scope == scope }) { fail("\(scope) runs twice") }
        if resets.values.contains(where: { $0.scope == scope }) { fail("\(scope) began while something of it is forgotten") }
        if bench.state.resources[scope]?.isPollable != true { fail("\(scope) is not to be polled") }
        if order.cause == .replay {
            // It asks nobody, so that no limit holds for it.
            lastRun = order.id
            return open.append(OpenRun(id: order.id, scope: scope, started: now, isReplay: true))
        }
        if let last = lastStarted[scope], last.duration(to: now) < .seconds(30) - Self.rounding { fail("\(scope) began before min_interval") }
        if let end = told[scope.source], now.duration(to: end) > Self.rounding { fail("\(scope) began before its server allowed it") }
        if let next = expected.removeValue(forKey: scope), order.cause == .schedule, order.resource.schedule.cron == nil,
            next > bench.now.wall.advanced(by: PipelineState.leeway)
        {
            fail("\(scope) was polled before the time that was known before the restart")
        }
        if let since = unpolled[scope], order.cause == .schedule, order.resource.schedule.cron != nil,
            let time = Schedule(order.resource.schedule).nextTime(after: since), time > bench.now.wall.advanced(by: Schedule.tolerance)
        {
            fail("\(scope) was polled before its time")
        }
        unpolled[scope] = bench.now.wall
        checkSuspicion(scope, now)
        checkBreaker(scope, order.id, now)
        let parents = order.resource.partitions?.parents?.resource, isLong = now.advanced(by: .zero - PipelineState.parentPatience)
        if let beside = open.first(where: { "\($0.scope)" == parents && $0.started > isLong }) {
            fail("\(scope) began beside \(beside.scope), which lists its parents")
        }
        lastStarted[scope] = now
        lastRun = order.id
        open.append(OpenRun(id: order.id, scope: scope, started: now, isReplay: false))
    }

    /// Nobody begins while a breaker is open, and one after that until it is known how that went.
    private mutating func checkBreaker(_ scope: ResourceScope, _ id: Int, _ now: SyncInstant) {
        guard let end = opened[scope.source] else { return }
        if now.duration(to: end) > Self.rounding { fail("\(scope) began while nobody was to ask its server") }
        if let probe = probing[scope.source] { fail("\(scope) began beside run \(probe), which is to find out whether its server works") }
        probing[scope.source] = id
    }

    /// Who may have ended the process before is polled with nobody beside it; nobody waits for that longer than five minutes.
    private mutating func checkSuspicion(_ scope: ResourceScope, _ now: SyncInstant) {
        let isLong = now.advanced(by: .zero - PipelineState.suspectPatience)
        if let beside = open.first(where: { suspects.contains($0.scope) && $0.started > isLong }) { fail("\(scope) began beside \(beside.scope)") }
        if suspects.contains(scope), !open.isEmpty, begin > isLong { fail("\(scope) did not begin alone") }
    }

    private mutating func checkAnswer(_ waiter: Int, _ report: RunReport?) {
        guard let (scope, after) = waiters.removeValue(forKey: waiter) else { return fail("\(waiter) was answered twice") }
        guard let report else { return }
        if report.scope != scope { fail("\(waiter) was answered for \(report.scope)") }
        let run = Int(report.run.uuid.14) << 8 | Int(report.run.uuid.15)
        if report.run.uuid.13 == 0 {
            if report.nextPollAt ?? .distantPast <= bench.now.wall { fail("\(waiter) was told of a wait that is over") }
        } else if run <= after {
            fail("\(waiter) was answered by run \(run), which began before run \(after)")
        }
    }

    private mutating func checkFreshness() {
        guard let wake = bench.state.wakeTime, wake > bench.now.instant else { return }
        for (scope, resource) in bench.state.resources where resource.isPollable {
            if resource.status.isDegraded != (resource.staleTime <= bench.now.instant) { fail("\(scope) is not as fresh as it says") }
        }
    }

    private mutating func fail(_ text: String) {
        failure = failure ?? "\(text), after:\n  " + steps.joined(separator: "\n  ")
    }
}
