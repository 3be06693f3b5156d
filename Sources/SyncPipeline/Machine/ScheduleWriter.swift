import Foundation
import OpenCoreData
import Synchronization

/// Commits what the machine wants remembered: the newest state of each resource, all pending ones in one small transaction, one transaction after the
/// other.
///
/// If a poll has only found that everything is unchanged, or as it should be, its commit waits for others as long as the rows themselves would.
final class ScheduleWriter: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>
    /// A schedule, and when its run began: until it is committed, only the file of open runs says that.
    private typealias Entry = (schedule: StoredSchedule, began: Date?)

    private struct State {
        var pending: [ResourceScope: Entry] = [:]
        /// What was last committed of them, or is being committed.
        var committed: [ResourceScope: StoredSchedule] = [:]
        var isWriting = false
        /// What is pending waits no longer.
        var isUrgent = false
        /// When what may wait is written.
        var end: SyncInstant?
        var timer: WakeTimer?
        /// Who waits for what is pending, and for what is being written.
        var next: [Waiter] = []
        var current: [Waiter] = []
    }

    private let document: UIManagedDocument
    private let clock: any SyncClock
    private let didCommit: @Sendable (ResourceScope, _ began: Date) -> Void
    private let state = Mutex(State())

    /// - Parameter didCommit: told for each schedule that was handed over with the time when a run began.
    init(document: UIManagedDocument, clock: any SyncClock, didCommit: @escaping @Sendable (ResourceScope, _ began: Date) -> Void) {
        self.document = document
        self.clock = clock
        self.didCommit = didCommit
        state.withLock { $0.timer = WakeTimer(clock: clock) { [weak self] in self?.hurry() } }
    }

    /// When what is pending is written if nothing happens before.
    var waitsUntil: SyncInstant? { state.withLock { $0.end } }

    /// Writes it soon, or, if it may wait, after `patience` at the latest.
    ///
    /// - Returns: whether it waits.
    func write(_ schedule: StoredSchedule, began: Date?, patience: Duration) -> Bool {
        let now = clock.instant, wall = clock.wallTime
        let (waits, begins) = state.withLock { state in
            let scope = schedule.scope
            let wait = state.committed[scope].flatMap { schedule.wait(after: $0, at: wall) }.map { min($0, patience) } ?? .zero
            state.pending[scope] = (schedule, began ?? state.pending[scope]?.began)
            guard wait > .zero else { return (false, Self.begins(&state)) }
            let end = now.advanced(by: wait)
            if state.end.map({ end < $0 }) ?? true {
                state.end = end
                state.timer?.set(end)
            }
            return (true, false)
        }
        if begins { Task.immediate { await drain() } }
        return waits
    }

    /// Returns when everything that was handed over before the call is committed. Throws what the store says.
    func written() async throws {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
            let (isIdle, begins) = state.withLock { state in
                if state.pending.isEmpty {
                    if state.isWriting { state.current.append(waiter) }
                    return (!state.isWriting, false)
                }
                state.next.append(waiter)
                return (false, Self.begins(&state))
            }
            if isIdle { waiter.resume() }
            if begins { Task.immediate { await drain() } }
        }
    }

    /// What could wait has waited.
    private func hurry() {
        let begins = state.withLock { state in !state.pending.isEmpty && Self.begins(&state) }
        if begins { Task.immediate { await drain() } }
    }

    /// What is pending is written now; whether that is to be begun.
    private static func begins(_ state: inout State) -> Bool {
        state.isUrgent = true
        disarm(&state)
        defer { state.isWriting = true }
        return !state.isWriting
    }

    /// Nobody is woken for what waits.
    private static func disarm(_ state: inout State) {
        guard state.end != nil else { return }
        state.end = nil
        state.timer?.set(nil)
    }

    private func drain() async {
        while let batch = take() {
            let result: Result<Void, any Error>
            do {
                try await document.withWorker { worker in
                    for entry in batch { try entry.schedule.write(in: worker) }
                    try worker.save()
                }
                try await document.save()
                for entry in batch { if let began = entry.began { didCommit(entry.schedule.scope, began) } }
                result = .success(())
            } catch {
                // The document tells of it and tries again; who waits is told here.
                result = .failure(error)
                state.withLock { state in for entry in batch { state.committed[entry.schedule.scope] = nil } }
            }
            let (waiters, goesOn) = finish()
            for waiter in waiters { waiter.resume(with: result) }
            if !goesOn { return }
        }
    }

    private func take() -> [Entry]? {
        state.withLock { state in
            guard !state.pending.isEmpty else { return nil }
            state.current = state.next
            state.next = []
            state.isUrgent = false
            Self.disarm(&state)
            for (scope, entry) in state.pending { state.committed[scope] = entry.schedule }
            defer { state.pending = [:] }
            return state.pending.values.sorted { $0.schedule.scope < $1.schedule.scope }
        }
    }

    /// In one step: whoever calls from now on waits for what is still pending, or for nothing.
    private func finish() -> (waiters: [Waiter], goesOn: Bool) {
        state.withLock { state in
            state.isWriting = state.isUrgent
            defer { state.current = [] }
            return (state.current, state.isWriting)
        }
    }
}

/// The part of a resource's schedule that outlives the process, and what readers of the store could not know otherwise. It shares the resource's row
/// with what runs conclude; each writes its own columns.
struct StoredSchedule: Sendable, Hashable {
    let scope: ResourceScope
    /// When it was polled last: `min_interval` counts from then, whatever process that was.
    var startedAt: Date?
    /// A restart polls no sooner.
    var nextPollAt: Date?
    /// What the server asked for; nil once that has passed.
    var parkedUntil: Date?
    var isPaused = false
    var isEnabled = true
    /// It is no longer in the configuration.
    var isRemoved = false
    /// When everything was last seen, changed or not.
    var lastSuccess: Date?
    /// From when on that is too old.
    var staleAt: Date?
    /// A long run is under way, and will be over by then.
    var runsUntil: Date?
    /// What `adaptive` has made of the interval.
    var interval: Duration?
    /// Its server failed, and is not asked before that.
    var openUntil: Date?
    /// How often that was so in a row; 0: it works, as far as is known.
    var openings = 0

    func write(in worker: NSManagedObjectContext) throws {
        var row = try ResourceTable.row(of: scope, in: worker)
        row.schedule = self
        row.write(in: worker)
    }

    /// How long it may wait to be stored if the store has `before`; nil: not at all. That everything was seen once more is just as true a little
    /// later, as long as nobody reads in the meantime that it is out of date.
    func wait(after before: StoredSchedule, at now: Date) -> Duration? {
        guard lastSuccess != nil, lastSuccess != before.lastSuccess else { return nil }
        var same = self
        (same.startedAt, same.nextPollAt, same.lastSuccess, same.staleAt) = (before.startedAt, before.nextPollAt, before.lastSuccess, before.staleAt)
        same.interval = before.interval
        guard same == before else { return nil }
        return before.staleAt.map { now.duration(to: $0) } ?? .seconds(86_400)
    }
}
