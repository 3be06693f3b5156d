import Foundation
import SyncConfiguration

/// Replays: runs that ask no server. The schedule, the pacing and what is known of how fresh a resource is stay as they are.
extension PipelineState {
    mutating func askReplay(_ scope: ResourceScope, waiter: Int?, _ now: Moment) {
        guard phase == .running, let resource = resources[scope], resource.isPollable else {
            if let waiter { outputs.append(.answer(waiter: waiter, nil)) }
            return
        }
        resources[scope]?.isReplayAsked = true
        if let waiter { resources[scope]?.replayWaiters.append(waiter) }
        // Also where that is a replay: the configuration that it began with may have been another one.
        if let run = resource.run, waiter != nil { outputs.append(.hurry(scope, run: run.id)) }
        beginReplay(scope, now)
    }

    /// Begins a replay that somebody has asked for, if nothing of the resource runs.
    mutating func beginReplay(_ scope: ResourceScope, _ now: Moment) {
        guard phase == .running, var resource = resources[scope], resource.isReplayAsked, resource.run == nil, resource.resets.isEmpty else { return }
        runCount += 1
        outputs.append(
            .start(
                RunOrder(
                    id: runCount, scope: scope, resource: resource.plan, cause: .replay, isWaitedFor: !resource.replayWaiters.isEmpty,
                    acceptsDeletes: false, isFull: false)))
        resource.run = Run(
            id: runCount, started: now.instant, deadline: now.instant.advanced(by: resource.plan.limits.maxRunTime.duration + Self.overrun),
            cause: .replay, place: resource.place, isFull: false, waiters: resource.replayWaiters, heldDue: resource.due)
        resource.due = nil
        resource.isReplayAsked = false
        resource.replayWaiters = []
        resources[scope] = resource
    }

    mutating func endReplay(_ scope: ResourceScope, _ run: Run, _ conclusion: SyncRun.Conclusion, _ now: Moment) {
        guard var resource = resources[scope] else { return }
        resource.run = nil
        // What a server told others meanwhile holds for the poll that has waited.
        let next = max(run.heldDue ?? resource.soonest(at: now), notBefore(resource, now))
        if resource.isPollable {
            if let appointment = resource.appointment {
                resource.due = limited(now.instant(of: appointment.due), resource, now)
            } else if resource.schedule.isOfTimes {
                appoint(&resource, now)
            } else {
                resource.due = next
            }
        }
        resources[scope] = resource
        record(scope, next: resource.isRemoved ? next : nil, now)
        let reported = conclusion.report.due(resource.due.map { now.wall(of: $0) })
        outputs.append(.announce(.runFinished(reported)))
        for waiter in run.waiters { outputs.append(.answer(waiter: waiter, reported)) }
        if resource.asked != nil {
            // Asked for while it ran.
            answerIfParked(scope, now)
            ask(scope, .control, waiter: nil, now)
        }
        allowResets(of: scope)
        beginReplay(scope, now)
    }

    /// Nobody's archive is mapped any more.
    mutating func forgetReplay(_ resource: inout Resource) {
        release(&resource.replayWaiters)
        resource.isReplayAsked = false
    }
}
