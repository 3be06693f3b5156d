import Foundation
import SyncConfiguration

@testable import SyncPipeline

/// A machine with a clock that is moved by hand.
struct MachineBench {
    static let people = ResourceScope(source: "api", resource: "people")
    static let teams = ResourceScope(source: "api", resource: "teams")
    /// Of another origin.
    static let news = ResourceScope(source: "press", resource: "news")

    var state = PipelineState(chance: RandomSource { 0.5 })
    var now = Moment(wall: Date(timeIntervalSince1970: 1_735_689_600), instant: SyncInstant(sinceOrigin: .zero))

    /// A resource that is polled every hour, ten seconds apart at the least.
    static func plan(_ scope: ResourceScope, _ change: (inout ResourceConfiguration) -> Void = { _ in }) -> ResourceConfiguration {
        var plan = ResourceConfiguration(
            name: scope.resource, source: scope.source, url: "https://\(scope.source).example/\(scope.resource)", entity: "Person", key: ["id"])
        plan.schedule.every = .hours(1)
        plan.schedule.minInterval = .seconds(10)
        change(&plan)
        return plan
    }

    static func daemon(_ change: (inout DaemonConfiguration) -> Void = { _ in }) -> DaemonConfiguration {
        var daemon = DaemonConfiguration()
        daemon.start = .now
        change(&daemon)
        return daemon
    }

    /// Configured and started; the first polls are under way.
    static func running(_ plans: ResourceConfiguration...) -> MachineBench {
        var bench = MachineBench()
        bench.configure(plans.isEmpty ? [plan(people)] : plans)
        bench.tell(.started(isArmed: true))
        return bench
    }

    /// Configured, started, and polled once with success.
    static func polled(_ plans: ResourceConfiguration...) -> MachineBench {
        var bench = MachineBench()
        bench.configure(plans.isEmpty ? [plan(people)] : plans)
        bench.tell(.started(isArmed: true))
        for scope in bench.state.resources.keys.sorted() { bench.end(scope) }
        return bench
    }

    @discardableResult
    mutating func tell(_ input: PipelineState.Input) -> [PipelineState.Output] {
        state.handle(input, at: now)
    }

    @discardableResult
    mutating func configure(
        _ plans: [ResourceConfiguration], _ daemon: DaemonConfiguration = daemon(), stored: [ResourceScope: ResourceStatus] = [:],
        schedules: [StoredSchedule] = []
    ) -> [PipelineState.Output] {
        tell(.configured(plans, daemon, stored: stored, schedules: Dictionary(uniqueKeysWithValues: schedules.map { ($0.scope, $0) })))
    }

    /// Time passes, and the timer says so.
    @discardableResult
    mutating func pass(_ duration: Duration) -> [PipelineState.Output] {
        now = Moment(wall: now.wall.advanced(by: duration), instant: now.instant.advanced(by: duration))
        return tell(.due)
    }

    /// The open run of a resource ends.
    @discardableResult
    mutating func end(
        _ scope: ResourceScope, _ outcome: RunOutcome = .succeeded, parkedFor: Duration? = nil, pacing: ServerPacing? = nil, held: Int = 0
    ) -> [PipelineState.Output] {
        guard let run = state.resources[scope]?.run else { return [] }
        return tell(.ended(scope, run: run.id, conclusion(scope, run.id, outcome, parkedFor: parkedFor, pacing: pacing, held: held)))
    }

    /// The report names the run: its UUID ends in the run's number.
    func conclusion(
        _ scope: ResourceScope, _ run: Int, _ outcome: RunOutcome = .succeeded, parkedFor: Duration? = nil, pacing: ServerPacing? = nil,
        held: Int = 0, counts: RecordCounts = RecordCounts()
    ) -> SyncRun.Conclusion {
        SyncRun.Conclusion(
            report: RunReport(
                run: Self.uuid(run), scope: scope, cause: .schedule, startedAt: now.wall, endedAt: now.wall, outcome: outcome,
                isComplete: outcome == .succeeded, pages: 1, notModifiedPages: 0, bytes: 10, counts: counts, httpStatus: 200, error: nil,
                nextPollAt: nil),
            parkedUntil: parkedFor.map { now.wall.advanced(by: $0) }, pacing: pacing, heldDeletes: held, guardName: held > 0 ? "max_count" : nil,
            isCaughtUp: outcome == .succeeded)
    }

    static func uuid(_ run: Int) -> UUID {
        let low = UInt8(run & 0xff), high = UInt8(run >> 8 & 0xff)
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, high, low))
    }

    /// What an earlier process left.
    func stored(
        _ scope: ResourceScope, next: Duration? = nil, parked: Duration? = nil, lastSuccess: Duration? = nil, isPaused: Bool = false
    ) -> ResourceStatus {
        var status = ResourceStatus(scope)
        status.nextPollAt = next.map { now.wall.advanced(by: $0) }
        status.parkedUntil = parked.map { now.wall.advanced(by: $0) }
        status.lastSuccess = lastSuccess.map { now.wall.advanced(by: $0) }
        status.isPaused = isPaused
        return status
    }

    func due(_ scope: ResourceScope) -> Duration? { state.resources[scope]?.due.map { now.instant.duration(to: $0) } }
    func run(_ scope: ResourceScope) -> Int? { state.resources[scope]?.run?.id }
    func status(_ scope: ResourceScope) -> ResourceStatus? { state.statuses(at: now).first { $0.scope == scope } }
}

extension [PipelineState.Output] {
    var started: [ResourceScope] { orders.map(\.scope) }
    var orders: [PipelineState.RunOrder] { compactMap { if case .start(let order) = $0 { order } else { nil } } }
    var stored: [StoredSchedule] { compactMap { if case .store(let schedule) = $0 { schedule } else { nil } } }
    var cancelled: [ResourceScope] { compactMap { if case .cancel(let scope, _) = $0 { scope } else { nil } } }
    var answers: [Int: RunReport?] {
        reduce(into: [:]) { answers, output in
            if case .answer(let waiter, let report) = output { answers.updateValue(report, forKey: waiter) }
        }
    }
    var wake: SyncInstant?? { compactMap { if case .wake(let instant) = $0 { .some(instant) } else { nil } }.last }
    var degraded: [ResourceScope: Bool] {
        reduce(into: [:]) { degraded, output in
            if case .announce(.freshnessChanged(let scope, let isDegraded, _, _)) = output { degraded[scope] = isDegraded }
        }
    }
    var reports: [RunReport] { compactMap { if case .announce(.runFinished(let report)) = $0 { report } else { nil } } }
}
