import Foundation
import SyncConfiguration
import Synchronization

/// Lets the requests of a place out as its budgets allow, and so many at a time: first come, first served.
///
/// One of those that wait has its turn. It waits for the budget, then for a slot, and once it goes out the next one has its turn. So what a
/// budget gave goes out at once, and nobody takes a slot and waits for a budget in it, but who is redirected: such a one has its slot already, and goes
/// before those that wait.
final class RequestGate: Sendable {
    /// What resources say of their place. All of it holds for each of them.
    struct Rules: Sendable, Hashable {
        var limits: Set<RateBudget.Limit> = []
        /// Nil: as many as there are slots.
        var concurrency: Int?

        var isEmpty: Bool { limits.isEmpty && concurrency == nil }

        /// Takes in what one more resource says.
        mutating func add(_ rate: RateConfiguration) {
            if let limit = RateBudget.Limit(rate) { limits.insert(limit) }
            if rate.concurrency > 0 { concurrency = min(concurrency ?? .max, rate.concurrency) }
        }
    }

    /// How the wait for a turn ends.
    private enum Turn {
        case own, tooLate, cancelled
    }

    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Turn, Never>
    }

    private struct State {
        var budgets: [RateBudget] = []
        var concurrency: Int?
        var underWay = 0
        /// Somebody has the turn.
        var isTaken = false
        var waiting: [Waiter] = []
        var cancelled: Set<Int> = []
        var nextID = 0

        /// Whether somebody may have the turn.
        var isFree: Bool { !isTaken && underWay < concurrency ?? .max }

        func next(at now: SyncInstant) -> SyncInstant { budgets.map { $0.next(at: now) }.max() ?? now }

        /// The same once so many others have gone out, each as soon as it may.
        func next(at now: SyncInstant, after others: Int) -> SyncInstant {
            var later = self, time = now
            for _ in 0..<others {
                time = later.next(at: time)
                later.take(at: time)
            }
            return later.next(at: time)
        }

        mutating func take(at time: SyncInstant) {
            for index in budgets.indices { budgets[index].take(at: time) }
        }

        /// The next one that has its turn, who must be told.
        mutating func serveNext() -> Waiter? {
            guard isFree, !waiting.isEmpty else { return nil }
            isTaken = true
            return waiting.removeFirst()
        }
    }

    private let clock: any SyncClock
    private let state = Mutex(State())

    /// A gate that lets everything out, until it is given rules.
    init(clock: any SyncClock) {
        self.clock = clock
    }

    /// Other rules hold from now on.
    ///
    /// - Parameter isUnused: nothing has ever been asked of the place.
    func change(_ rules: Rules, isUnused: Bool) {
        let now = clock.instant
        let next = state.withLock { state -> Waiter? in
            let known = state.budgets.filter { rules.limits.contains($0.limit) }
            let new = rules.limits.subtracting(known.map(\.limit))
            state.budgets = known + new.map { RateBudget($0, isUnused: isUnused, at: now) }
            state.concurrency = rules.concurrency
            return state.serveNext()
        }
        next?.continuation.resume(returning: .own)
    }

    /// How many wait for their turn.
    var waiting: Int { state.withLock { $0.waiting.count } }

    // MARK: Requests

    /// A request's way through the gate. It has the turn until it goes out, and counts until it leaves.
    final class Pass: Sendable {
        private enum Phase {
            case turn, underWay, over
        }

        private let gate: RequestGate
        private let phase = Mutex(Phase.turn)

        fileprivate init(_ gate: RequestGate) {
            self.gate = gate
        }

        /// Returns when the budget allows a request.
        /// - Throws: `FetchError` of the class `budget` at once if that takes longer than `patience`; `CancellationError`.
        func ready(patience: Duration, tell: (Duration) -> Void) async throws {
            while let wait = try gate.wait(patience: patience) {
                tell(wait)
                try await gate.clock.sleep(for: wait)
            }
        }

        /// The request goes out. False: somebody whose request goes on has taken what there was; it is to wait once more.
        func admit() -> Bool {
            guard gate.admit() else { return false }
            phase.withLock { $0 = .underWay }
            return true
        }

        /// The request is over, or will not be made.
        func leave() {
            let last = phase.withLock { phase in
                defer { phase = .over }
                return phase
            }
            if last != .over { gate.leave(isUnderWay: last == .underWay) }
        }
    }

    /// Returns when it is the caller's turn.
    ///
    /// - Parameters:
    ///   - deadline: when the caller has to give up; nil: it is cancelled then.
    ///   - tell: hears how long that takes, or how long it may take at the most where nobody knows. Called only if somebody comes before.
    /// - Throws: `FetchError` of the class `budget` if it is not its turn by the deadline; `CancellationError`.
    func enter(until deadline: SyncInstant? = nil, tell: (Duration) -> Void) async throws -> Pass {
        let now = clock.instant
        let (id, wait) = state.withLock { state -> (Int, Duration?) in
            state.nextID += 1
            if state.isFree, state.waiting.isEmpty { return (state.nextID, nil) }
            let before = state.waiting.count + (state.isTaken ? 1 : 0)
            return (state.nextID, now.duration(to: state.next(at: now, after: before)))
        }
        if let wait {
            let most = deadline.map { now.duration(to: $0) } ?? wait, told = wait > .zero ? min(wait, most) : most
            if told > .zero { tell(told) }
        }
        switch await turn(of: id, until: wait == nil ? nil : deadline) {
        case .own: return Pass(self)
        case .cancelled: throw CancellationError()
        case .tooLate:
            throw FetchError(.budget, detail: "others of its place came first, and it was not its turn until its run had to end", attempts: 0)
        }
    }

    /// A request that is under way goes on with another one, or one is made that has no turn: it takes what the budget gives next.
    ///
    /// - Throws: `FetchError` of the class `budget` at once if that takes longer than `patience`; `CancellationError`.
    func follow(patience: Duration, tell: (Duration) -> Void) async throws {
        let wait = try state.withLock { state -> Duration in
            let now = clock.instant, next = state.next(at: now), wait = now.duration(to: next)
            if wait > patience { throw exhausted(wait) }
            state.take(at: next)
            return wait
        }
        guard wait > .zero else { return }
        tell(wait)
        try await clock.sleep(for: wait)
    }

    /// It has no time before which nobody asks: no server has asked for one, and whoever comes next waits here as well.
    private func exhausted(_ wait: Duration) -> FetchError {
        FetchError(
            .budget, detail: "rate.requests allows the next one in \(Int(wait.inSeconds.rounded(.up))) s, which is too late for this run", attempts: 0
        )
    }

    private func wait(patience: Duration) throws -> Duration? {
        let now = clock.instant, wait = now.duration(to: state.withLock { $0.next(at: now) })
        if wait > patience { throw exhausted(wait) }
        return wait > .zero ? wait : nil
    }

    private func admit() -> Bool {
        let now = clock.instant
        let (isAdmitted, next) = state.withLock { state -> (Bool, Waiter?) in
            guard state.next(at: now) <= now else { return (false, nil) }
            state.take(at: now)
            state.isTaken = false
            state.underWay += 1
            return (true, state.serveNext())
        }
        next?.continuation.resume(returning: .own)
        return isAdmitted
    }

    private func leave(isUnderWay: Bool) {
        let next = state.withLock { state -> Waiter? in
            if isUnderWay { state.underWay -= 1 } else { state.isTaken = false }
            return state.serveNext()
        }
        next?.continuation.resume(returning: .own)
    }

    private func turn(of id: Int, until deadline: SyncInstant?) async -> Turn {
        let end = deadline.map { deadline in clock.call(at: deadline) { [weak self] in self?.giveUp(id, .tooLate) } }
        defer { end?.cancel() }
        let turn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Turn? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .cancelled }
                    if state.isFree, state.waiting.isEmpty {
                        state.isTaken = true
                        return .own
                    }
                    // The call may have come already.
                    if let deadline, clock.instant >= deadline { return .tooLate }
                    state.waiting.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            giveUp(id, .cancelled)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        return turn
    }

    /// Who waits for its turn waits no longer; who is cancelled will not begin to.
    private func giveUp(_ id: Int, _ reason: Turn) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                if reason == .cancelled { state.cancelled.insert(id) }
                return nil
            }
            return state.waiting.remove(at: index)
        }
        waiter?.continuation.resume(returning: reason)
    }
}

/// The gates of all places that have rules.
final class RequestGates: Sendable {
    private struct State {
        var gates: [PacingPlace: RequestGate] = [:]
        var places: [ResourceScope: PacingPlace] = [:]
    }

    private let clock: any SyncClock
    private let state = Mutex(State())

    init(clock: any SyncClock) {
        self.clock = clock
    }

    /// A configuration is about to be in force. Where rules stay as they are, what was let out counts on.
    ///
    /// - Parameter wasAsked: whether the resource's source was asked for anything before.
    func configure(_ plans: [ResourceConfiguration], wasAsked: (ResourceConfiguration) -> Bool) {
        var rules: [PacingPlace: RequestGate.Rules] = [:], places: [ResourceScope: PacingPlace] = [:], asked: Set<PacingPlace> = []
        for plan in plans {
            let place = PacingPlace(plan)
            places[ResourceScope(source: plan.source, resource: plan.name)] = place
            rules[place, default: .init()].add(plan.rate)
            if wasAsked(plan) { asked.insert(place) }
        }
        state.withLock { state in
            state.places = places
            for (place, rules) in rules where !rules.isEmpty || state.gates[place] != nil {
                let gate = state.gates[place] ?? RequestGate(clock: clock)
                gate.change(rules, isUnused: !asked.contains(place) && state.gates[place] == nil)
                state.gates[place] = gate
            }
            state.gates = state.gates.filter { rules[$0.key] != nil }
        }
    }

    /// The gate that the requests of a resource go through; nil: there are no rules.
    func gate(of scope: ResourceScope) -> RequestGate? {
        state.withLock { state in state.places[scope].flatMap { state.gates[$0] } }
    }

    /// How many requests wait for their turn.
    var waiting: Int { state.withLock { Array($0.gates.values) }.map(\.waiting).reduce(0, +) }
}
