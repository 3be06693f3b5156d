import Synchronization

/// Limits how many requests are under way at once, first come, first served. A fetch that waits for its next attempt holds no slot.
///
/// While others wait, a request that has taken long gives up its slot and continues without one, so that servers that never answer do not block all
/// requests: only a certain number of such requests may continue. The next request to that origin begins without a slot, until one of them is
/// answered in time.
public final class RequestSlots: Sendable {
    /// How long a request keeps its slot where others wait for one.
    static let patience = Duration.seconds(5)
    /// How many continue without one, for each slot.
    static let slowForEach = 8
    /// How many slow origins are remembered.
    private static let mostOrigins = 1024

    private struct Waiter {
        let id: Int
        let origin: Origin
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Holder {
        let since: SyncInstant
        let origin: Origin
    }

    private struct State {
        var count: Int
        /// Negative if there were more before: holders keep theirs.
        var free: Int
        /// Who has a slot.
        var holders: [Int: Holder] = [:]
        /// Who continues without a slot.
        var slow: [Int: Holder] = [:]
        /// Where requests have taken long last.
        var slowOrigins: Set<Origin> = []
        var waiting: [Waiter] = [] {
            didSet {
                guard waiting.isEmpty else { return }
                search?.cancel()
                search = nil
            }
        }
        /// Looks for slots that were kept for too long, while anybody waits.
        var search: Task<Void, Never>?
        var cancelled: Set<Int> = []
        var nextID = 0

        var mostSlow: Int { count * RequestSlots.slowForEach }
    }

    private let state: Mutex<State>
    private let clock: any SyncClock

    /// So many slots.
    /// - Precondition: there is at least one.
    public init(_ count: Int, clock: any SyncClock) {
        precondition(count > 0, "there must be at least one request slot")
        state = Mutex(State(count: count, free: count))
        self.clock = clock
    }

    /// Changes the number of slots. Holders keep theirs.
    /// - Precondition: there is at least one.
    func resize(_ count: Int) {
        precondition(count > 0, "there must be at least one request slot")
        let next = state.withLock { state in
            state.free += count - state.count
            state.count = count
            var next: [Waiter] = []
            while let waiter = serveNext(&state) { next.append(waiter) }
            return next
        }
        for waiter in next { waiter.continuation.resume(returning: true) }
    }

    /// How many wait for a slot.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Runs `body`, a request to that origin, in a slot.
    /// - Throws: `CancellationError` if the task is cancelled while it waits, and what `body` throws.
    func run<Value>(for origin: Origin, _ body: () async throws -> Value) async throws -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        guard await take(id, origin) else { throw CancellationError() }
        defer { give(id) }
        return try await body()
    }

    private func take(_ id: Int, _ origin: Origin) async -> Bool {
        let taken = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    let holder = Holder(since: clock.instant, origin: origin)
                    if state.slowOrigins.contains(origin), state.slow.count < state.mostSlow {
                        state.slow[id] = holder
                        return true
                    }
                    if state.free > 0 {
                        state.free -= 1
                        state.holders[id] = holder
                        return true
                    }
                    state.waiting.append(Waiter(id: id, origin: origin, continuation: continuation))
                    state.search = state.search ?? Task { [weak self] in await self?.search() }
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil as Waiter?
                }
                return state.waiting.remove(at: index)
            }
            waiter?.continuation.resume(returning: false)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        return taken
    }

    /// As long as somebody waits: makes those continue without a slot that have held theirs for too long.
    private func search() async {
        while !Task.isCancelled {
            let now = clock.instant
            let (found, next) = state.withLock { state in
                var found: [Waiter] = []
                while let waiter = besides(now, &state) ?? takeFromSlowest(now, &state) { found.append(waiter) }
                let oldest = state.holders.values.map(\.since).min()?.advanced(by: Self.patience) ?? now
                return (found, oldest > now ? oldest : now.advanced(by: Self.patience))
            }
            for waiter in found { waiter.continuation.resume(returning: true) }
            do { try await clock.sleep(until: next) } catch { return }
        }
    }

    /// The slot that was held longest, if too long, goes to the one that has waited longest.
    private func takeFromSlowest(_ now: SyncInstant, _ state: inout State) -> Waiter? {
        guard state.slow.count < state.mostSlow, !state.waiting.isEmpty,
            let (id, holder) = state.holders.min(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) }), isSlow(holder, now)
        else { return nil }
        state.slow[id] = holder
        if state.slowOrigins.count == Self.mostOrigins { state.slowOrigins = [] }
        state.slowOrigins.insert(holder.origin)
        return pass(id, &state)
    }

    /// One that waits and may continue without a slot, since its origin has just turned out to be slow.
    private func besides(_ now: SyncInstant, _ state: inout State) -> Waiter? {
        guard state.slow.count < state.mostSlow, let index = state.waiting.firstIndex(where: { state.slowOrigins.contains($0.origin) }) else {
            return nil
        }
        let waiter = state.waiting.remove(at: index)
        state.slow[waiter.id] = Holder(since: now, origin: waiter.origin)
        return waiter
    }

    private func isSlow(_ holder: Holder, _ now: SyncInstant) -> Bool { holder.since.advanced(by: Self.patience) <= now }

    private func give(_ id: Int) {
        let now = clock.instant
        let next = state.withLock { state -> Waiter? in
            let slow = state.slow.removeValue(forKey: id)
            if let holder = slow ?? state.holders[id], !isSlow(holder, now) { state.slowOrigins.remove(holder.origin) }
            return slow == nil ? pass(id, &state) : nil
        }
        next?.continuation.resume(returning: true)
    }

    /// The freed slot goes to the one that has waited longest, who must be told; nil: it stays free. One of a slow origin gets it only if nobody else
    /// waits.
    private func pass(_ id: Int, _ state: inout State) -> Waiter? {
        state.holders[id] = nil
        state.free += 1
        return serveNext(&state)
    }

    private func serveNext(_ state: inout State) -> Waiter? {
        guard state.free > 0, !state.waiting.isEmpty else { return nil }
        state.free -= 1
        let index = state.waiting.firstIndex { !state.slowOrigins.contains($0.origin) } ?? 0, next = state.waiting.remove(at: index)
        state.holders[next.id] = Holder(since: clock.instant, origin: next.origin)
        return next
    }
}
