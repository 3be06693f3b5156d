import Foundation
import SyncConfiguration

@testable import SyncPipeline

/// A machine that lives on: time passes to whatever it waits for, and its runs end by themselves. The wall clock may be set meanwhile.
struct ClockLife {
    private static let people = MachineBench.people

    var bench = MachineBench()
    /// How long a run takes.
    var runTime = Duration.seconds(2)
    /// Where the wall clock stood when polls began, by the instants too.
    private(set) var polls: [Moment] = []
    /// How often the machine was told something: each costs a wake-up.
    private(set) var wakes = 0

    init(_ wall: String, _ change: (inout ScheduleConfiguration) throws -> Void) throws {
        bench.now = Moment(wall: try Date(wall, strategy: .iso8601), instant: bench.now.instant)
        var plan = MachineBench.plan(Self.people)
        plan.schedule.jitter = Percentage(percent: 0)
        plan.schedule.minInterval = .seconds(60)
        try change(&plan.schedule)
        bench.configure([plan])
        take(bench.tell(.started(isArmed: true)))
    }

    /// With `cron`, and nothing else.
    init(_ wall: String, cron: String, _ zone: String = "UTC", _ change: (inout ScheduleConfiguration) -> Void = { _ in }) throws {
        try self.init(wall) {
            $0.cron = try CronExpression(parsing: cron)
            $0.timeZone = zone
            change(&$0)
        }
    }

    private mutating func take(_ outputs: [PipelineState.Output]) {
        wakes += 1
        for _ in outputs.started { polls.append(bench.now) }
    }

    /// When the run that is open ends.
    private var runEnd: SyncInstant? { bench.state.resources[Self.people]?.run?.started.advanced(by: runTime) }

    /// Lets so much time pass, and tells the machine whenever it wants to be told.
    mutating func live(_ duration: Duration) {
        let end = bench.now.instant.advanced(by: duration)
        while true {
            let next = [bench.state.wakeTime, runEnd].compactMap(\.self).min() ?? end
            guard next <= end else { break }
            pass(bench.now.instant.duration(to: next))
            if let runEnd, runEnd <= bench.now.instant { take(bench.end(Self.people)) } else { take(bench.tell(.due)) }
            // A machine that waits for a time that has passed would go on for ever.
            if wakes > 100_000 { return }
        }
        pass(bench.now.instant.duration(to: end))
    }

    /// The machine sleeps: time passes, and nobody is told before its end.
    mutating func sleep(_ duration: Duration) {
        pass(duration)
        take(bench.tell(.due))
    }

    private mutating func pass(_ duration: Duration) {
        bench.now = Moment(wall: bench.now.wall.advanced(by: duration), instant: bench.now.instant.advanced(by: duration))
    }

    /// The wall clock is set. Nobody is told.
    mutating func set(by duration: Duration) { bench.now = Moment(wall: bench.now.wall.advanced(by: duration), instant: bench.now.instant) }

    mutating func set(to wall: String) throws { bench.now = Moment(wall: try Date(wall, strategy: .iso8601), instant: bench.now.instant) }

    /// The wall times of the polls, to the minute.
    var times: [String] { polls.map { Date(timeIntervalSince1970: ($0.wall.timeIntervalSince1970 / 60).rounded() * 60).formatted(.iso8601) } }

    /// How many seconds passed between polls.
    var gaps: [Double] { zip(polls, polls.dropFirst()).map { $0.instant.duration(to: $1.instant).inSeconds.rounded() } }

    var due: String? { bench.status(Self.people)?.nextPollAt?.formatted(.iso8601) }
}
